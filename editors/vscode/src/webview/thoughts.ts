// What the agent thinks: folded, with a line of it and how long it took.

import type { TextPart } from "../chat/transcript";
import { el, icon } from "./dom";
import type { Folds } from "./fold";
import { fold } from "./fold";

/** What of a thought is looked at for its last line, which comes with each word. */
const END = 400;

/** `time`: how long it took; absent while it goes on. */
export function renderThought(
  part: TextPart,
  time: string | undefined,
  key: string,
  folds: Folds,
  body: () => HTMLElement,
): HTMLElement {
  const head = [icon("lightbulb"), el("span", { class: "name" }), el("span", { class: "subject" })];
  const made = fold(key, folds, "thinking", head, () => [body()]);
  retellThought(made, part, time);
  return made;
}

/** Of one that got on: its last line; of one that is over its first, and its time. */
export function retellThought(element: Element, { text }: TextPart, time: string | undefined): void {
  const isOver = time !== undefined;
  const [name, preview] = element.querySelectorAll("summary > span:not(.codicon)");
  if (name === undefined || preview === undefined) return;
  name.textContent = !isOver ? "Thinking" : time === "" ? "Thought" : `Thought for ${time}`;
  const lines = (isOver ? text : text.slice(-END)).trim().split(/\n+/);
  preview.textContent = (isOver ? lines[0] : lines.at(-1)) ?? "";
}
