// The conversations on disk, so that they are still there when the window is reloaded.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import type { Draft } from "./messages";
import type { Chat } from "./transcript";
import { endAll } from "./transcript";

const KEPT_CHATS = 20;
const SAVE_MILLISECONDS = 1000;
const FORMAT = 2;

export interface Conversations {
  current?: string | undefined;
  /** A prompt that is being written. */
  draft?: Draft | undefined;
  chats: Chat[];
}

type Stored = Conversations & { format: typeof FORMAT };

export class ChatStore {
  private timer: NodeJS.Timeout | undefined;
  private readonly file: string | undefined;

  /** Without a folder nothing is kept. */
  constructor(
    folder: string | undefined,
    private readonly read: () => Conversations,
  ) {
    this.file = folder && join(folder, "chats.json");
  }

  /** What earlier runs left, oldest first. */
  load(): Conversations {
    const empty = { chats: [] };
    if (this.file === undefined) return empty;
    let stored: Stored;
    try {
      stored = JSON.parse(readFileSync(this.file, "utf8")) as Stored;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT" || error instanceof SyntaxError) {
        return empty;
      }
      throw error;
    }
    if (stored.format !== FORMAT) return empty;
    for (const chat of stored.chats) {
      chat.earlier = true;
      endAll(chat, "The window was closed or reloaded.");
    }
    return stored;
  }

  /** Soon; many changes are saved together. */
  changed(): void {
    this.timer ??= setTimeout(() => this.save(), SAVE_MILLISECONDS);
  }

  /** Now, in one step: a window that goes does not wait. */
  save(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.file === undefined) return;
    const found = this.read();
    const chats = found.chats.filter((chat) => chat.turns.length > 0).slice(-KEPT_CHATS);
    const stored: Stored = { ...found, format: FORMAT, chats };
    mkdirSync(dirname(this.file), { recursive: true });
    writeFileSync(`${this.file}.new`, JSON.stringify(stored));
    renameSync(`${this.file}.new`, this.file);
  }
}
