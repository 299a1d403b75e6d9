// The one prompt that several comments are sent as, in the words that Neovim has as well. Pure.

import type { Lines } from "./lines";

export interface Commented {
  /** As the agent knows it. */
  path: string;
  lines: Lines;
  text: string;
  /** The change that it is about; none of lines that are nobody's. */
  hunk?: { oldText: string; newText: string; status: string } | undefined;
}

/** Of a longer change the agent knows the rest, and has its lines as context. */
const MOST_LINES = 80;

export function commentPrompt(comments: Commented[]): string {
  const lines = [
    comments.length === 1
      ? "A comment from my review. Do what it asks."
      : `${comments.length} comments from my review. Do what each asks.`,
  ];
  comments.forEach((comment, at) => {
    lines.push("", `${at + 1}. ${place(comment)}`, "");
    if (comment.hunk) lines.push(...diff(comment.hunk), "");
    lines.push(comment.text.trim());
  });
  return lines.join("\n");
}

function place({ path, lines: [first, last], hunk }: Commented): string {
  const lines = last > first ? `lines ${first + 1}-${last + 1}` : `line ${first + 1}`;
  const of = hunk ? (hunk.status === "proposed" ? ", your proposal" : ", your change") : "";
  return `${path}, ${lines}${of}:`;
}

function diff({ oldText, newText }: { oldText: string; newText: string }): string[] {
  const all = [...signed(oldText, "-"), ...signed(newText, "+")];
  const lines = all.length > MOST_LINES ? [...all.slice(0, MOST_LINES), "…"] : all;
  let fence = "```";
  while (lines.some((line) => line.includes(fence))) fence += "`";
  return [`${fence}diff`, ...lines, fence];
}

function signed(text: string, sign: string): string[] {
  if (text === "") return [];
  return text.replace(/\n$/, "").split("\n").map((line) => sign + line);
}
