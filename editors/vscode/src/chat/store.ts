// The conversations on disk, a file each, so that they are still there when the window is reloaded.

import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Draft } from "./messages";
import { prune } from "./requests";
import type { Chat } from "./transcript";
import { endAll } from "./transcript";

const KEPT_CHATS = 20;
const SAVE_MILLISECONDS = 1000;
/** While a turn runs: the server has its words too, and all of a long one are written each time. */
const RUNNING_MILLISECONDS = 15_000;
const FORMAT = 3;
const INDEX = "chats.json";

export interface Conversations {
  current?: string | undefined;
  /** What was written and not sent. */
  draft?: Draft | undefined;
  /** The one used last is the last. */
  chats: Chat[];
}

interface Index {
  format: typeof FORMAT;
  current?: string | undefined;
  draft?: Draft | undefined;
  /** The sessions' ids. */
  chats: string[];
}

export class ChatStore {
  private timer: NodeJS.Timeout | undefined;
  private due = Infinity;
  private readonly changedChats = new Set<string>();
  private isClosed = false;

  /** Without a folder nothing is kept. */
  constructor(
    private readonly folder: string | undefined,
    private readonly read: () => Conversations,
  ) {}

  /** What earlier runs left. */
  load(): Conversations {
    const index = this.stored<Index>(INDEX);
    if (index?.format !== FORMAT) return { chats: [] };
    const chats = index.chats
      .map((id) => this.stored<Chat>(fileOf(id)))
      .filter((chat) => chat !== undefined);
    for (const chat of chats) {
      chat.earlier = true;
      endAll(chat, "The window was closed or reloaded.");
      prune(chat);
    }
    return { current: index.current, draft: index.draft, chats };
  }

  /** Saves soon; many changes are saved together. Without a chat, what stands around them changed. */
  changed(chat?: Chat): void {
    if (chat !== undefined) this.changedChats.add(chat.sessionId);
    const isRunning = chat?.turns.some(({ state }) => state === "running") ?? false;
    const due = Date.now() + (isRunning ? RUNNING_MILLISECONDS : SAVE_MILLISECONDS);
    if (due >= this.due) return;
    clearTimeout(this.timer);
    this.due = due;
    this.timer = setTimeout(() => this.save(), due - Date.now());
  }

  /** Saves now what changed, each in one step: a window that goes does not wait. */
  save(): void {
    clearTimeout(this.timer);
    this.due = Infinity;
    if (this.folder === undefined || this.isClosed) return;
    const { current, draft, chats } = this.read();
    const told = chats.filter((chat) => chat.turns.length > 0);
    const newest = new Set(told.slice(-KEPT_CHATS));
    const kept = told.filter((chat) => newest.has(chat) || chat.sessionId === current);
    mkdirSync(this.folder, { recursive: true });
    const stored = new Set(readdirSync(this.folder)); // one that was dropped may be kept again
    for (const chat of kept) {
      const name = fileOf(chat.sessionId);
      if (this.changedChats.has(chat.sessionId) || !stored.has(name)) this.write(name, chat);
    }
    this.changedChats.clear();
    const ids = kept.map(({ sessionId }) => sessionId);
    this.write(INDEX, { format: FORMAT, current, draft, chats: ids } satisfies Index);
    this.drop(new Set(ids.map(fileOf)));
  }

  /** Saves for the last time: what fails as the server ends is no change to be kept. */
  close(): void {
    this.save();
    this.isClosed = true;
  }

  /** Removes those that are not kept any more. */
  private drop(kept: Set<string>): void {
    if (this.folder === undefined) return;
    for (const name of readdirSync(this.folder)) {
      if (/^chat-.*\.json$/.test(name) && !kept.has(name)) rmSync(join(this.folder, name));
    }
  }

  private write(name: string, value: object): void {
    if (this.folder === undefined) return;
    const path = join(this.folder, name);
    writeFileSync(`${path}.new`, JSON.stringify(value));
    renameSync(`${path}.new`, path);
  }

  /** Undefined where there is none that can be read as one. */
  private stored<T>(name: string): T | undefined {
    if (this.folder === undefined) return undefined;
    try {
      return JSON.parse(readFileSync(join(this.folder, name), "utf8")) as T;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT" || error instanceof SyntaxError) {
        return undefined;
      }
      throw error;
    }
  }
}

/** An id is the server's, and may have any letters. */
function fileOf(sessionId: string): string {
  return `chat-${encodeURIComponent(sessionId)}.json`;
}
