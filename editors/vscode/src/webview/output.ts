// A command's output, in the terminal's colours, its places in files as links.

import type { Styled } from "../chat/ansi";
import { plain, styled } from "../chat/ansi";
import { places } from "../chat/places";
import { el } from "./dom";

/** Of a failure, what is seen of it before it is opened. */
const LAST_LINES = 5;

export function shownOutput(output: string): Node[] {
  const pieces = styled(output);
  const links = places(pieces.map(({ text }) => text).join(""));
  const made: Node[] = [];
  let offset = 0;
  for (const { text, classes } of pieces) {
    for (let at = 0; at < text.length; ) {
      while ((links[0]?.to ?? Infinity) <= offset + at) links.shift();
      const place = links[0];
      const isIn = place !== undefined && place.from <= offset + at;
      const until = Math.min(text.length, ((isIn ? place.to : place?.from) ?? Infinity) - offset);
      const piece = spanOf({ text: text.slice(at, until), classes });
      const last = made.at(-1);
      if (isIn && place.from < offset + at && last instanceof Element) last.append(piece);
      else made.push(isIn ? el("a", { href: place.href }, piece) : piece);
      at = until;
    }
    offset += text.length;
  }
  return made;
}

/** The last line that says something. */
export function lastLine(output: string): Node[] {
  return lines(output, 1);
}

export function lastLines(output: string): Node[] {
  return lines(output, LAST_LINES);
}

function lines(output: string, most: number): Node[] {
  const last = output.trimEnd().split("\n").slice(-2 * most);
  const said = last.filter((line) => plain(line).trim() !== "");
  return styled(said.slice(-most).join("\n")).map(spanOf);
}

function spanOf({ text, classes }: Styled): Node {
  if (classes.length === 0) return document.createTextNode(text);
  return el("span", { class: classes.join(" ") }, text);
}
