// What is kept of a tool call, to be shown. Pure.

import type { Block, ToolKind } from "../protocol";

/** What is kept of a tool's output, in characters; the beginning and the end of longer ones. */
const OUTPUT_LIMIT = 20_000;

/** A command, the paths, or else the first words among the arguments: a pattern, an address. */
export function subjectOf(kind: ToolKind, args: unknown, paths: string[]): string {
  if (kind === "command" && typeof args === "object" && args !== null && "command" in args) {
    return String(args.command);
  }
  if (paths.length > 0) return paths.join(", ");
  return values(args).find((value): value is string => typeof value === "string") ?? "";
}

/** As JSON; "" where the subject says all of it. */
export function shownArgs(args: unknown, subject: string): string {
  const all = values(args);
  if (all.length === 0 || (all.length === 1 && all[0] === subject)) return "";
  return shortened(JSON.stringify(args, null, 2));
}

function values(args: unknown): unknown[] {
  if (args === null || args === undefined) return [];
  return typeof args === "object" ? Object.values(args) : [args];
}

/** A result's words; an image is named where it stands. */
export function shownContent(content: Block[]): string {
  const words = content.map(({ type, text, mimeType }) =>
    type === "image" ? `[an image, ${mimeType ?? "of an unknown kind"}]\n` : (text ?? ""),
  );
  return shortened(words.join(""));
}

/** Of what is too long only the beginning and the end. */
export function shortened(text: string): string {
  if (text.length <= OUTPUT_LIMIT) return text;
  const half = OUTPUT_LIMIT / 2;
  return `${text.slice(0, half)}\n… ${text.length - OUTPUT_LIMIT} characters …\n${text.slice(-half)}`;
}
