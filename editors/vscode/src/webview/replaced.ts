// An element in the place of one that it is a newer state of.

import { isAtEnd } from "./fold";

/** Who is at the keyboard in the old one is at the same place in the new one, but never on another
 * question's answer: then at `otherwise`. What was scrolled stays so, what followed its end follows. */
export function replaced<Made extends Element>(old: Element, made: Made, otherwise: HTMLElement): Made {
  const reachable = (element: Element): HTMLElement[] => [
    ...element.querySelectorAll<HTMLElement>("button, summary, a, [tabindex]"),
  ];
  const had = document.activeElement as HTMLElement;
  const focused = reachable(old).indexOf(had);
  const before = new Map<string, number>();
  for (const [key, box] of boxes(old)) before.set(key, isAtEnd(box) ? Infinity : box.scrollTop);
  old.replaceWith(made);
  if (focused >= 0) {
    const next = reachable(made)[focused];
    (next && askedBy(next) === askedBy(had) ? next : otherwise).focus();
  }
  for (const [key, box] of boxes(made)) {
    const top = before.get(key) ?? (box.matches(".follows") ? Infinity : 0);
    if (top > 0) box.scrollTop = Math.min(top, box.scrollHeight);
  }
  return made;
}

/** What can be scrolled in it, each by its kind and its number among those. */
function boxes(element: Element): [string, Element][] {
  const counts = new Map<string, number>();
  return [...element.querySelectorAll("pre")].map((box) => {
    const kind = box.getAttribute("aria-label") ?? "";
    const number = counts.get(kind) ?? 0;
    counts.set(kind, number + 1);
    return [`${kind} ${number}`, box];
  });
}

/** Which question the element is part of. */
function askedBy(element: HTMLElement): string | null {
  return element.closest(".question.open")?.getAttribute("aria-labelledby") ?? null;
}
