// Markdown that grows, in blocks of which all but the last one stay as they are. Pure.

import type { Token } from "marked";
import { lexer } from "marked";

export class Blocks {
  /** What may yet change: the last block as far as it has come, and what it may be joined with. */
  open = "";
  /** Link definitions among the blocks before it. */
  definitions = "";
  private looked = 0;

  /** Takes in what follows; returns the blocks that nothing can change any more but a definition
   * of what they link to. */
  grow(text: string): string[] {
    // A line's end may come in two halves.
    this.open = (this.open + text).replace(/\r\n|\r(?=[^\n])/g, "\n");
    const whole = this.open.lastIndexOf("\n") + 1; // half a line may become anything
    if (whole === this.looked) return [];
    this.looked = whole;
    const settled = settledIn(lexer(this.open.slice(0, whole)));
    const source = settled.map(({ raw }) => raw).join("");
    // Not so of a list that goes on in a quotation (marked 18).
    if (!this.open.startsWith(source)) return [];
    for (const { type, raw } of settled) if (type === "def") this.definitions += `${raw}\n`;
    this.open = this.open.slice(source.length);
    this.looked -= source.length;
    return settled.filter(({ type }) => type !== "space").map(({ raw }) => raw);
  }
}

/** Blocks that an empty line ends, whatever follows. */
const ENDED = new Set(["paragraph", "heading", "hr", "table"]);

/** Without an empty line between them two blocks may yet become one: a heading is underlined. */
function settledIn(tokens: Token[]): Token[] {
  const last = tokens.findLastIndex(({ type }) => type !== "space");
  const { type = "", raw: end = "" } = tokens[last] ?? {};
  const isOver = ENDED.has(type) || (type === "code" && isWholeCode(end));
  const isApart = ({ raw }: Token, at: number): boolean =>
    (isOver || at < last) && raw.endsWith("\n\n");
  return tokens.slice(0, tokens.findLastIndex(isApart) + 1);
}

/** Whether a block of code has its closing fence. */
export function isWholeCode(raw: string): boolean {
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1];
  if (fence === undefined) return false;
  const last = raw.trimEnd().split("\n").slice(1).at(-1)?.trim() ?? "";
  return last.startsWith(fence) && last.replaceAll(fence.charAt(0), "") === "";
}
