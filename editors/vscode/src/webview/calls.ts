// Tool calls as elements.

import type { ChangedFile } from "../chat/changed_files";
import type { FromView } from "../chat/messages";
import type { ToolPart } from "../chat/transcript";
import { counts } from "./changes";
import { button, el, icon } from "./dom";
import type { Folds } from "./fold";
import { fold, pre } from "./fold";
import { linked } from "./places";

type Post = (message: FromView) => void;

const STATES = { running: "running", done: "done", failed: "failed", stopped: "stopped" };
const STATE_ICONS = {
  running: "loading codicon-modifier-spin",
  done: "check",
  failed: "error",
  stopped: "circle-slash",
};
const KIND_ICONS = { read: "file", edit: "edit", command: "terminal", other: "tools" };

export function renderTool(part: ToolPart, key: string, folds: Folds, post: Post): HTMLElement {
  const head = [
    icon(KIND_ICONS[part.toolKind]),
    el("span", { class: "name" }, part.tool),
    el("span", { class: "subject", title: part.subject }, firstLine(part.subject)),
    counts(part.files),
    icon(STATE_ICONS[part.state], STATES[part.state]),
  ];
  const folded = fold(key, folds, `tool ${part.state}`, head, () => toolBody(part, post));
  const newest = part.state === "running" ? lastLine(part.output) : reason(part);
  const made = el("div", { class: "call" }, folded);
  if (newest !== "" && !folded.open) made.append(el("div", { class: "newest" }, newest));
  return made;
}

function toolBody(part: ToolPart, post: Post): HTMLElement[] {
  const body: HTMLElement[] = [];
  const command = `$ ${part.subject}`;
  if (part.toolKind === "command") {
    // Some agents' output begins with it.
    if (!part.output.startsWith(command)) body.push(pre("command", command));
  } else if (part.files.length === 0 && part.args !== "") body.push(pre("arguments", part.args));
  for (const file of part.files) body.push(changedFile(file, post));
  if (part.output !== "" && (part.toolKind !== "edit" || part.state !== "done")) {
    body.push(pre("output", ...linked(part.output)));
  }
  if (body.length === 0) body.push(el("p", { class: "faint" }, "No output."));
  return body;
}

/** Why a call failed, in the first line of what it says; of a command that is its last one. */
function reason({ state, toolKind, output }: ToolPart): string {
  if (state !== "failed") return "";
  return toolKind === "command" ? lastLine(output) : firstLine(output);
}

function changedFile(file: ChangedFile, post: Post): HTMLElement {
  const name = decodeURIComponent(file.uri.split("/").at(-1) ?? file.uri);
  const open = button(
    `${name}:${file.line + 1}`,
    () => post({ type: "open", uri: file.uri, line: file.line }),
    { class: "link", icon: "go-to-file", label: `Open ${name} at line ${file.line + 1}` },
  );
  const made = el("div", { class: "file" }, open);
  if (file.status !== "applied") made.append(el("span", { class: "badge" }, file.status));
  for (const hunk of file.hunks) made.append(diff(hunk.old, hunk.new));
  return made;
}

function diff(before: string, after: string): HTMLElement {
  const lines = (text: string, sign: string, name: string): HTMLElement[] =>
    text === ""
      ? []
      : text
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => el("span", { class: name }, `${sign} ${line}\n`));
  return el(
    "pre",
    { class: "diff", tabindex: "0", "aria-label": "Change" },
    ...lines(before, "-", "removed"),
    ...lines(after, "+", "added"),
  );
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

function lastLine(text: string): string {
  return text.trimEnd().split(/[\r\n]/).at(-1) ?? "";
}
