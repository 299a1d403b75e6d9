// Which turns of a conversation are made when: the last ones at once, those before them from the
// newest to the oldest, one by one as there is time or as they are scrolled to. Pure.

import type { ToView } from "../chat/messages";
import type { Turn } from "../chat/transcript";
import { isText } from "../chat/transcript";

/** What fills a view, and some more. */
const AT_ONCE = 12;

export class Later {
  readonly atOnce: Turn[];
  private readonly left: Turn[];

  /** What runs or waits is among the first, however many turns are: its questions are open. */
  constructor(turns: Turn[]) {
    const open = turns.findIndex(({ state }) => state !== "ended");
    const first = Math.min(turns.length - AT_ONCE, open < 0 ? turns.length : open);
    this.atOnce = turns.slice(Math.max(0, first));
    this.left = turns.slice(0, Math.max(0, first));
  }

  /** The newest of those that are left. */
  next(): Turn | undefined {
    return this.left.pop();
  }

  has(turnId: string): boolean {
    return this.left.some(({ id }) => id === turnId);
  }

  /** Whether the message was of a turn that is left, which is made as it then stands. */
  take(message: ToView): boolean {
    if (message.type === "turn") {
      const at = this.left.findIndex(({ id }) => id === message.turn.id);
      if (at >= 0) this.left[at] = message.turn;
      return at >= 0;
    }
    if (message.type !== "part" && message.type !== "grown") return false;
    const parts = this.left.find(({ id }) => id === message.turnId)?.parts;
    const part = parts?.[message.index];
    if (message.type === "part") parts?.splice(message.index, 1, message.part);
    else if (part !== undefined && isText(part)) part.text += message.text;
    return parts !== undefined;
  }
}
