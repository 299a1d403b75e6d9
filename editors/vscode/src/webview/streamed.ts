// A text of the agent's as it comes: what cannot change any more is made once, and stays.

import { Blocks } from "./blocks";
import type { UseCode } from "./code";
import { el } from "./dom";
import { markdown } from "./markdown";

/** In one go it is drawn for so long at most, then as long is left for its layout and for keys. */
const SLICE_MILLISECONDS = 8;
/** How much more is looked at in one go, or as much as is open. */
const PIECE = 4096;
/** How many times as long as it took to draw what is open that is left alone, so that most frames
 * stay short however long a block gets; and the longest that one waits for more. */
const REST = 10;
const MOST_REST_MILLISECONDS = 1000;
/** Blocks that stand in an element of their own: another one's growth costs them nothing. */
const RUN = 50;

const streams = new WeakMap<Element, Streamed>();

/** The text as an element that `grow` takes; `drawn` is called when there is more of it. */
export function streamed(text: string, use: UseCode, drawn: () => void): HTMLElement {
  const made = new Streamed(use, drawn);
  made.begin(text);
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
  private run = this.element.appendChild(el("div", { class: "run" }));
  private open: ChildNode[] = [];
  private defined = "";
  private more = "";
  private isWaiting = false;
  private rested = 0;

  constructor(
    private readonly use: UseCode,
    private readonly drawn: () => void,
  ) {}

  /** Drawn at once, however much it is. */
  begin(text: string): void {
    this.settle(this.blocks.grow(text));
    this.drawOpen();
  }

  grow(text: string): void {
    this.more += text;
    if (!this.isWaiting) this.drawLater();
  }

  private drawLater(): void {
    const wait = this.rested - performance.now();
    if (wait <= 0) return this.draw();
    this.isWaiting = true;
    setTimeout(() => this.draw(), wait);
  }

  private draw(): void {
    this.isWaiting = false;
    const limit = document.hidden ? Infinity : SLICE_MILLISECONDS; // timers are slow then
    const began = performance.now();
    while (this.more !== "" && performance.now() - began < limit) {
      const size = Math.max(PIECE, this.blocks.open.length);
      const piece = this.more.slice(0, size);
      this.more = this.more.slice(size);
      this.settle(this.blocks.grow(piece));
    }
    const isWhole = this.more === "";
    const settled = performance.now();
    if (isWhole) this.drawOpen();
    this.drawn();
    const now = performance.now();
    this.rested = now + (isWhole ? Math.min(REST * (now - settled), MOST_REST_MILLISECONDS) : now - began);
    if (!isWhole) this.drawLater();
  }

  private settle(blocks: string[]): void {
    if (blocks.length === 0) return;
    this.removeOpen();
    this.settled.push(...blocks);
    if (this.blocks.definitions === this.defined) return blocks.forEach((block) => this.append(block));
    this.defined = this.blocks.definitions;
    this.element.replaceChildren(); // what was said before may link to it
    this.beginRun();
    for (const block of this.settled) this.append(block);
  }

  private drawOpen(): void {
    this.removeOpen();
    this.open = this.append(this.blocks.open);
  }

  private removeOpen(): void {
    for (const each of this.open) each.remove();
    this.open = [];
  }

  private append(block: string): ChildNode[] {
    if (this.run.childElementCount >= RUN) this.beginRun();
    const made = [...markdown(this.defined + block, this.use).childNodes];
    this.run.append(...made);
    return made;
  }

  private beginRun(): void {
    this.run = this.element.appendChild(el("div", { class: "run" }));
  }
}
