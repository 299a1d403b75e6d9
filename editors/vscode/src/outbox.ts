// Prompts on their way to the server: one after the other, each kept until it is there.

import type { Draft } from "./chat/messages";
import { Line } from "./line";

/** A prompt, for the session in which it was written; undefined where none was open. */
export interface Sending {
  readonly draft: Draft;
  sessionId: string | undefined;
}

export class Outbox {
  /** In order. */
  readonly sending: Sending[] = [];

  private readonly line = new Line();

  constructor(private readonly changed: () => void) {}

  /** Sends a prompt after those before it. Raises what `send` does. */
  async send(sending: Sending, send: (sending: Sending) => Promise<void>): Promise<void> {
    this.sending.push(sending);
    this.changed();
    try {
      await this.inTurn(() => send(sending));
    } finally {
      this.sending.splice(this.sending.indexOf(sending), 1);
      this.changed();
    }
  }

  /** One after the other: the first may open the session in which the next go on. */
  inTurn<T>(run: () => Promise<T>): Promise<T> {
    return this.line.inTurn(run);
  }

  /** Prompts for a session go to the one in its place. */
  redirect(former: string | undefined, sessionId: string): void {
    for (const each of this.sending) if (each.sessionId === former) each.sessionId = sessionId;
  }
}
