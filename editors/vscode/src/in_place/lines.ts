// A stretch of a document that moves as the document changes. Pure.

import type { Position, Range } from "../protocol";

/** The first and the last line, from 0. */
export type Lines = [number, number];

export interface Change {
  range: Range;
  text: string;
}

/** Where it is after a change: what is put in at its ends is part of it. */
export function moved({ start, end }: Range, { range, text }: Change): Range {
  const put = text.split("\n");
  const line = range.start.line + put.length - 1;
  const before = put.length > 1 ? 0 : range.start.character;
  const after = { line, character: before + (put.at(-1) ?? "").length };
  const shifted = (place: Position): Position => ({
    line: place.line + after.line - range.end.line,
    character:
      place.line === range.end.line
        ? place.character + after.character - range.end.character
        : place.character,
  });
  return {
    start: isBefore(range.end, start)
      ? shifted(start)
      : isBefore(range.start, start)
        ? range.start
        : start,
    end: isBefore(range.end, end) ? shifted(end) : isBefore(end, range.start) ? end : after,
  };
}

/** Its lines; one of which it has but the end, or the start, is none of them. */
export function linesOf({ start, end }: Range, lengthOf: (line: number) => number): Lines {
  const several = end.line > start.line;
  const isAtEnd = start.character > 0 && start.character >= lengthOf(start.line);
  const first = several && isAtEnd ? start.line + 1 : start.line;
  return [first, end.character === 0 && end.line > first ? end.line - 1 : end.line];
}

function isBefore(one: Position, other: Position): boolean {
  return one.line < other.line || (one.line === other.line && one.character < other.character);
}
