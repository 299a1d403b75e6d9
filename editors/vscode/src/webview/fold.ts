// What can be opened: its body is made when it is seen.

import { el } from "./dom";

/** Which of the foldable parts a person has opened or closed, by their keys. */
export type Folds = Map<string, boolean>;

export function fold(
  key: string,
  folds: Folds,
  name: string,
  head: (Node | string | undefined)[],
  body: () => HTMLElement[],
  isOpenAtFirst = false,
): HTMLDetailsElement {
  const made = el("details", { class: `fold ${name}` });
  made.open = folds.get(key) ?? isOpenAtFirst;
  const summary = el("summary", {}, ...head);
  made.append(summary);
  const inside = el("div", { class: "inside" });
  if (made.open) inside.append(...body());
  made.append(inside);
  made.addEventListener("toggle", () => {
    if (made.open === (folds.get(key) ?? isOpenAtFirst)) return;
    folds.set(key, made.open);
    inside.replaceChildren(...(made.open ? body() : []));
    made.parentElement?.querySelector(":scope > .newest")?.remove();
    showEnds(inside);
  });
  return made;
}

/** What follows its end is shown there. */
export function showEnds(root: Element): void {
  for (const each of root.querySelectorAll(".follows")) each.scrollTop = each.scrollHeight;
}

/** Whether it follows its end, and nobody has scrolled elsewhere. */
export function isAtEnd(element: Element): boolean {
  const below = element.scrollHeight - element.scrollTop - element.clientHeight;
  return element.matches(".follows") && below < 4;
}

export function pre(name: string, ...text: (Node | string)[]): HTMLElement {
  const label = name.split(" ", 1)[0];
  return el("pre", { class: name, tabindex: "0", "aria-label": label }, ...text);
}
