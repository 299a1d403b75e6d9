// What the server was asked, whole, by turns that may have to be asked again: one that failed is
// sent as it was even by another window, which has only what is kept. Pure.

import type { ContextItem } from "../protocol";
import { emptyDraft } from "./drafts";
import type { Draft, Image } from "./messages";
import type { Chat, Turn } from "./transcript";

export type Picture = Omit<Image, "label">;

export interface Request {
  text: string;
  context: ContextItem[];
  images: Picture[];
  /** Whether only the ranges of `context` may be changed. */
  range?: "free" | "confined";
}

export interface Kept {
  request: Request;
  /** What stood then in the ranges of its context. */
  texts: (string | null)[];
}

/** Puts what could not be sent into the composer, with the reason. */
export type GiveBack = (draft: Draft, why: string) => void;

/** What that turn was asked. */
export function keep(chat: Chat, turnId: string, kept: Kept): void {
  chat.requests = { ...chat.requests, [turnId]: kept };
  prune(chat);
}

/** Only the last turn can be sent again, and only once it failed. Images are large. */
export function prune(chat: Chat): void {
  if (chat.requests === undefined) return;
  const last = chat.turns.at(-1);
  const mayBe = (turn: Turn): boolean =>
    turn.state !== "ended" || (turn === last && turn.stopReason === "error");
  const ids = new Set(chat.turns.filter(mayBe).map(({ id }) => id));
  const kept = Object.entries(chat.requests).filter(([id]) => ids.has(id));
  chat.requests = Object.fromEntries(kept);
}

/** Of a turn of which nothing was kept but what is shown: it came from elsewhere, or an earlier
 * version kept it. */
export function giveBackShown({ prompt, context }: Turn, giveBack: GiveBack): void {
  const along = context.length > 0 ? ` It went with ${context.join(", ")}.` : "";
  const why = `Not sent again: only this was kept of the prompt.${along}`;
  giveBack({ ...emptyDraft(), text: prompt }, why);
}

/** Of a turn that would go with other lines than it did. */
export function giveBackWhole({ context }: Turn, { text, images, range }: Request, giveBack: GiveBack): void {
  const lines = `the lines that it went with have changed: ${context.join(", ")}.`;
  const only = range === "confined" ? " Only they were to be changed." : "";
  const labelled = images.map((image, at) => ({ ...image, label: `image ${at + 1}` }));
  giveBack({ ...emptyDraft(), text, images: labelled }, `Not sent again: ${lines}${only}`);
}
