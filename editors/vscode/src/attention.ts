// What a person who is elsewhere has not seen: a badge on the view, a mark in the list of sessions,
// and, where they are in another window, a notification of their system. Never for what is seen.

import * as vscode from "vscode";

import type { Agent } from "./agent";
import type { Turn } from "./chat/transcript";
import type { Question } from "./protocol";
import { SECTION } from "./settings";
import type { Tell } from "./system_notification";

/** The chat, as far as it matters here. */
export interface Shown {
  readonly isVisible: boolean;
  readonly onVisibility: vscode.Event<boolean>;
  showBadge(badge: vscode.ViewBadge | undefined): void;
}

export interface Asking {
  list(): Question[];
  readonly onChange: vscode.Event<void>;
}

const UNREAD = "unread";

export class Attention implements vscode.Disposable {
  /** The sessions with turns that ended unseen, and how many. */
  private readonly unread: Map<string, number>;
  private readonly running = new Set<Turn>();
  private asked = new Set<string>();
  private readonly disposables: vscode.Disposable[];

  constructor(
    private readonly agent: Agent,
    private readonly questions: Asking,
    private readonly chat: Shown,
    private readonly kept: vscode.Memento,
    private readonly tell: Tell,
  ) {
    this.unread = new Map(kept.get<[string, number][]>(UNREAD));
    const look = (): void => this.look();
    this.disposables = [
      agent.onTouch(({ chat: { sessionId }, touched: { turn } }) => turn && this.follow(sessionId, turn)),
      agent.onSwitch(look),
      chat.onVisibility(look),
      vscode.window.onDidChangeWindowState(look),
      questions.onChange(() => this.hear()),
    ];
    this.look();
  }

  /** Whether a turn of the session ended and nobody has seen it since. */
  isUnread(sessionId: string): boolean {
    return this.unread.has(sessionId);
  }

  dispose(): void {
    for (const each of this.disposables) each.dispose();
  }

  private isSeen(sessionId: string): boolean {
    return vscode.window.state.focused && this.chat.isVisible && this.agent.current === sessionId;
  }

  private follow(sessionId: string, turn: Turn): void {
    if (turn.state !== "ended") {
      this.running.add(turn);
    } else if (this.running.delete(turn) && turn.stopReason !== "aborted") {
      this.unread.set(sessionId, (this.unread.get(sessionId) ?? 0) + 1);
      this.tellAway(turn.stopReason === "error" ? "The agent failed" : "The agent is done", turn.prompt);
      this.look(); // where it is seen it is not unread any more
    }
  }

  /** Of questions that have come up, or were answered. */
  private hear(): void {
    const open = this.questions.list();
    for (const { questionId, title } of open) {
      if (!this.asked.has(questionId)) this.tellAway("The agent asks", title);
    }
    this.asked = new Set(open.map(({ questionId }) => questionId));
    this.look();
  }

  private tellAway(title: string, text: string): void {
    const isWanted = vscode.workspace.getConfiguration(SECTION).get<boolean>("chat.notify");
    if (isWanted && !vscode.window.state.focused) this.tell(title, text);
  }

  private look(): void {
    const { current, chats } = this.agent;
    if (current !== undefined && this.isSeen(current)) this.unread.delete(current);
    for (const sessionId of this.unread.keys()) {
      if (!chats.has(sessionId)) this.unread.delete(sessionId);
    }
    void this.kept.update(UNREAD, [...this.unread]);
    const asking = this.questions.list().filter(({ sessionId }) => !this.isSeen(sessionId)).length;
    const ended = [...this.unread.values()].reduce((sum, each) => sum + each, 0);
    const words = [
      asking > 0 && (asking === 1 ? "1 question waits" : `${asking} questions wait`),
      ended > 0 && (ended === 1 ? "1 turn ended" : `${ended} turns ended`),
    ];
    const value = asking + ended;
    const badge = { value, tooltip: words.filter(Boolean).join(", ") };
    this.chat.showBadge(value > 0 ? badge : undefined);
  }
}
