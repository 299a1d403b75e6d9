// Reads that follow one another, as one that opens to all of them.

import { readsAround, readsTold } from "../chat/reads";
import type { Part, ToolPart } from "../chat/transcript";
import { stateIcon } from "./calls";
import { el, icon } from "./dom";
import type { Folds } from "./fold";
import { fold } from "./fold";

/** A turn's parts, each with its element, and by the first of them the boxes of reads. */
export interface Laid {
  turn: { id: string; parts: Part[] };
  parts: HTMLElement;
  elements: HTMLElement[];
  reads: Map<number, HTMLDetailsElement>;
}

/** Puts the reads around that one into a box; one alone stays as it is. */
export function gather(laid: Laid, index: number, folds: Folds): void {
  const [first, last] = readsAround(laid.turn.parts, index);
  if (first === last) return;
  const box = laid.reads.get(first) ?? begun(laid, first, folds);
  for (const [at, each] of laid.reads) {
    if (at <= first || at > last) continue;
    each.remove(); // of what was two before
    laid.reads.delete(at);
  }
  const { told, state } = readsTold(laid.turn.parts.slice(first, last + 1) as ToolPart[]);
  box.className = `fold reads ${state}`;
  const summary = box.querySelector(":scope > summary");
  summary?.replaceChildren(icon("files"), el("span", { class: "subject" }, told), stateIcon(state));
  const inside = box.querySelector(":scope > .inside");
  laid.elements.slice(first, last + 1).forEach((each, at) => {
    if (!box.open) each.remove();
    else if (inside?.children[at] !== each) inside?.insertBefore(each, inside.children[at] ?? null);
  });
}

function begun(laid: Laid, first: number, folds: Folds): HTMLDetailsElement {
  const body = (): HTMLElement[] => {
    const [from, to] = readsAround(laid.turn.parts, first);
    return laid.elements.slice(from, to + 1);
  };
  const place = document.createComment("");
  laid.elements[first]?.before(place);
  const box = fold(`${laid.turn.id}:${first}:reads`, folds, "reads", [], body);
  place.replaceWith(box);
  laid.reads.set(first, box);
  return box;
}
