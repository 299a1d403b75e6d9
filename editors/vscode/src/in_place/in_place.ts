// Changes that are asked for in place, confined to the lines, and comments that are sent together.

import * as vscode from "vscode";

import type { Agent } from "../agent";
import type { ReviewAction } from "../chat/messages";
import type { Turn } from "../chat/transcript";
import { registerKeyCommand } from "../key_commands";
import { tell } from "../notices";
import type { PromptStarted } from "../protocol";
import type { Review } from "../review";
import { reporting, setContext, toLines } from "../review";
import type { Commented } from "./comment_prompt";
import { commentPrompt } from "./comment_prompt";
import type { Comment, Round } from "./rounds";
import { drop, isIn, put, takeBack, waiting } from "./rounds";
import { stateOf } from "./state";
import { rangeOf, Threads } from "./threads";

interface Asked {
  /** What was asked last. */
  text: string;
  /** Its turns: the first, and what refined it. */
  turns: PromptStarted[];
  isAnswered: boolean;
}

export class InPlace implements vscode.Disposable {
  private readonly threads = new Threads();
  private readonly asked = new Map<vscode.CommentThread, Asked>();
  private readonly comments = new Map<vscode.CommentThread, Comment>();
  private readonly rounds = new Set<Round>();
  private readonly disposables: vscode.Disposable[];

  constructor(
    private readonly agent: Agent,
    private readonly review: Review,
  ) {
    this.disposables = [
      this.threads,
      agent.onTouch(({ touched: { turn } }) => turn && this.follow(turn)),
      ...this.commands(),
    ];
  }

  dispose(): void {
    for (const each of this.disposables) each.dispose();
  }

  private commands(): vscode.Disposable[] {
    const onKeys: Record<string, () => Promise<unknown>> = {
      "inline.open": () => this.open(),
      "comments.write": () => this.write(),
    };
    const others: Record<string, (argument: never) => Promise<unknown>> = {
      "inline.send": ({ thread, text }: vscode.CommentReply) => this.ask(thread, text),
      "inline.keep": (thread?: vscode.CommentThread) => this.decide("keep", thread),
      "inline.undo": (thread?: vscode.CommentThread) => this.decide("undo", thread),
      "inline.again": (thread?: vscode.CommentThread) => this.again(thread),
      "inline.close": async (thread: vscode.CommentThread) => this.forget(thread),
      "comments.add": ({ thread, text }: vscode.CommentReply) => this.comment(thread, text),
      "comments.send": () => this.sendComments(),
    };
    return [
      ...Object.entries(onKeys).map(([name, run]) =>
        registerKeyCommand(`lspAgent.${name}`, () => reporting(run)),
      ),
      ...Object.entries(others).map(([name, run]) =>
        vscode.commands.registerCommand(`lspAgent.${name}`, (argument: unknown) =>
          reporting(() => run(argument as never)),
        ),
      ),
    ];
  }

  private async open(): Promise<void> {
    const editor = await this.review.activeEditor();
    if (editor !== undefined) await this.threads.open(editor, await this.place(editor));
  }

  /** The selection, else the change at the cursor, else its line. */
  private async place({ selection, document }: vscode.TextEditor): Promise<vscode.Range> {
    const found = selection.isEmpty
      ? await this.review.hunkIn(document.uri, selection.active.line)
      : undefined;
    const { start, end } = found ? toLines(found.hunk) : selection;
    const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
    return rangeOf(document, [start.line, last]);
  }

  // Changes in place

  private async ask(thread: vscode.CommentThread, text: string): Promise<void> {
    if (!text.trim()) return;
    this.threads.say(thread, text);
    await this.send(thread, text);
  }

  private async send(thread: vscode.CommentThread, text: string): Promise<void> {
    const asked = { turns: [], ...this.asked.get(thread), text, isAnswered: false };
    this.asked.set(thread, asked);
    this.threads.tell(thread, "agent: waits", "waits");
    try {
      asked.turns.push(await this.prompt(text, [thread], "confined"));
    } catch (error) {
      this.threads.tell(thread, `agent: failed: ${(error as Error).message}`, "failed");
      return;
    }
    this.show(thread, asked);
  }

  private async prompt(
    text: string,
    threads: vscode.CommentThread[],
    range: "free" | "confined",
  ): Promise<PromptStarted> {
    const context = await Promise.all(
      threads.map(async (thread) => {
        const document = await vscode.workspace.openTextDocument(thread.uri);
        const { start, end } = rangeOf(document, this.threads.lines(thread, document));
        const at = ({ line, character }: vscode.Position) => ({ line, character });
        return { uri: document.uri.toString(), range: { start: at(start), end: at(end) } };
      }),
    );
    return vscode.commands.executeCommand("lspAgent.prompt", { text, context, range });
  }

  private follow(turn: Turn): void {
    for (const [thread, asked] of this.asked) {
      if (asked.turns.some(({ turnId }) => turnId === turn.id)) this.show(thread, asked);
    }
    if (turn.state !== "ended") return;
    for (const round of this.rounds) {
      const end = turn.stopReason === "endTurn" ? drop : takeBack;
      if (round.turnId === turn.id) this.endRound(round, end);
    }
  }

  private show(thread: vscode.CommentThread, asked: Asked): void {
    const state = stateOf(this.turnsOf(asked.turns), thread.uri.toString());
    if (state === undefined) return;
    const { is, told } = state;
    if (asked.isAnswered && is === "unchanged") return this.forget(thread); // all of it is decided
    asked.isAnswered = is === "answered";
    this.threads.tell(thread, told, is);
  }

  private async decide(action: ReviewAction, at?: vscode.CommentThread): Promise<void> {
    const thread = at ?? (await this.here());
    const asked = thread && this.asked.get(thread);
    if (thread && asked) await this.decideOn(action, asked.turns, thread.uri.toString());
  }

  private async decideOn(action: ReviewAction, turns: PromptStarted[], uri: string): Promise<void> {
    for (const started of [...turns].reverse()) {
      for (const turn of this.turnsOf([started])) {
        if (action === "keep") await this.review.applyTurn(turn, uri); // what is only proposed
        await this.review.decideTurn(started.sessionId, turn, action, uri);
      }
    }
  }

  /** Undoes what is left of the answer and asks the same once more. */
  private async again(at?: vscode.CommentThread): Promise<void> {
    const thread = at ?? (await this.here());
    const asked = thread && this.asked.get(thread);
    if (thread === undefined || asked === undefined) return;
    this.asked.delete(thread); // with no changes left it would be over
    try {
      if (asked.isAnswered) await this.decideOn("undo", asked.turns, thread.uri.toString());
    } finally {
      this.asked.set(thread, asked);
    }
    await this.send(thread, asked.text);
  }

  private turnsOf(started: PromptStarted[]): Turn[] {
    return started.flatMap(({ sessionId, turnId }) => {
      const turn = this.agent.chats.get(sessionId)?.turns.find(({ id }) => id === turnId);
      return turn ?? [];
    });
  }

  private async here(): Promise<vscode.CommentThread | undefined> {
    const editor = await this.review.activeEditor();
    return editor && this.threads.at(editor.document, editor.selection.active.line);
  }

  private forget(thread: vscode.CommentThread): void {
    this.asked.delete(thread);
    this.comments.delete(thread);
    this.threads.close(thread);
    this.tellCount();
  }

  // Comments

  /** By keyboard: in a thread's box Tab indents, so that its second button is for the mouse. */
  private async write(): Promise<void> {
    const editor = await this.review.activeEditor();
    if (editor === undefined) return;
    const range = await this.place(editor);
    const there = this.threads.at(editor.document, range.start.line);
    const prompt = "Stands at these lines until Agent: Send Comments sends all as one prompt.";
    const box = { title: "Comment for Later", prompt, ignoreFocusOut: true };
    const said = await vscode.window.showInputBox(box);
    if (!said?.trim()) return;
    const isMore = there !== undefined && this.comments.has(there);
    await this.comment(isMore ? there : this.threads.add(editor.document.uri, range), said);
  }

  private async comment(thread: vscode.CommentThread, text: string): Promise<void> {
    if (!text.trim()) return;
    this.threads.say(thread, text);
    const line = thread.range?.start.line ?? 0;
    const isMore = this.comments.has(thread);
    const hunk = isMore ? undefined : (await this.review.hunkIn(thread.uri, line))?.hunk;
    const comment = this.comments.get(thread) ?? { hunk, said: [] };
    comment.said.push({ text });
    this.comments.set(thread, comment);
    this.tellComment(thread, comment);
  }

  private tellComment(thread: vscode.CommentThread, comment: Comment): void {
    const isSent = waiting(comment) === "";
    this.threads.tell(thread, isSent ? "Comment (sent)" : "Comment", isSent ? "sent" : "comment");
    this.tellCount();
  }

  /** Sends what is not sent as one prompt; what is said from now on is for the next. */
  private async sendComments(): Promise<void> {
    const sent = [...this.comments].filter(([, comment]) => waiting(comment) !== "");
    if (sent.length === 0) {
      tell("There are no comments to send.");
      return;
    }
    const round: Round = {};
    this.rounds.add(round);
    const asked = sent.map(([thread, comment]) => {
      const said = { thread, hunk: comment.hunk, text: waiting(comment) };
      put(comment, round);
      this.tellComment(thread, comment);
      return said;
    });
    const started = await this.promptComments(asked).catch((error: unknown) => {
      this.endRound(round, takeBack);
      throw error;
    });
    round.turnId = started.turnId;
    for (const turn of this.turnsOf([started])) this.follow(turn); // it may have ended by now
  }

  private async promptComments(
    asked: (Pick<Commented, "text" | "hunk"> & { thread: vscode.CommentThread })[],
  ): Promise<PromptStarted> {
    const placed = await Promise.all(
      asked.map(async (said) => {
        const document = await vscode.workspace.openTextDocument(said.thread.uri);
        const path = vscode.workspace.asRelativePath(said.thread.uri, false);
        return { ...said, path, lines: this.threads.lines(said.thread, document) };
      }),
    );
    placed.sort((one, other) => one.path.localeCompare(other.path) || one.lines[0] - other.lines[0]);
    return this.prompt(commentPrompt(placed), placed.map(({ thread }) => thread), "free");
  }

  /** Has the comments lose what was in that round, or take it back. */
  private endRound(round: Round, end: typeof drop | typeof takeBack): void {
    this.rounds.delete(round);
    for (const [thread, comment] of this.comments) {
      if (!isIn(comment, round)) continue;
      end(comment, round);
      if (comment.said.length === 0) this.forget(thread);
      else this.tellComment(thread, comment);
    }
  }

  private tellCount(): void {
    setContext("hasComments", [...this.comments.values()].some((each) => waiting(each) !== ""));
  }
}
