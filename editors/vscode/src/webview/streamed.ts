// A text of the agent's as it comes: what cannot change any more is made once, and stays.

import { Blocks } from "./blocks";
import type { UseCode } from "./code";
import { el } from "./dom";
import { markdown } from "./markdown";

/** How many times as long as it took to draw the rest is left alone, so that most frames stay short
 * however fast it comes and however long a block gets; and the longest that one waits for more. */
const REST = 10;
const MOST_REST_MILLISECONDS = 1000;

const streams = new WeakMap<Element, Streamed>();

/** The text as an element that `grow` takes; `drawn` is called when there is more of it. */
export function streamed(text: string, use: UseCode, drawn: () => void): HTMLElement {
  const made = new Streamed(use, drawn);
  made.grow(text);
  streams.set(made.element, made);
  return made.element;
}

/** Adds to a text; one that is not shown has all of it when it is. */
export function grow(element: Element, text: string): void {
  const shown = streams.has(element) ? element : element.querySelector(".text");
  if (shown !== null) streams.get(shown)?.grow(text);
}

class Streamed {
  readonly element = el("div", { class: "text" });
  private readonly blocks = new Blocks();
  private readonly settled: string[] = [];
  private open: ChildNode[] = [];
  private more = "";
  private isWaiting = false;
  private rested = 0;

  constructor(
    private readonly use: UseCode,
    private readonly drawn: () => void,
  ) {}

  grow(text: string): void {
    this.more += text;
    if (this.isWaiting) return;
    const wait = this.rested - performance.now();
    if (wait <= 0) return this.draw();
    this.isWaiting = true;
    setTimeout(() => this.draw(), wait);
  }

  private draw(): void {
    const began = performance.now();
    this.isWaiting = false;
    const defined = this.blocks.definitions;
    const settled = this.blocks.grow(this.more);
    this.more = "";
    this.settled.push(...settled);
    for (const each of this.open) each.remove();
    const isDefinedNow = this.blocks.definitions !== defined;
    if (isDefinedNow) this.element.replaceChildren(); // what was said before may link to it
    for (const block of isDefinedNow ? this.settled : settled) this.append(block);
    this.open = this.append(this.blocks.open);
    this.drawn();
    const now = performance.now();
    this.rested = now + Math.min(REST * (now - began), MOST_REST_MILLISECONDS);
  }

  private append(block: string): ChildNode[] {
    const made = [...markdown(this.blocks.definitions + block, this.use).childNodes];
    this.element.append(...made);
    return made;
  }
}
