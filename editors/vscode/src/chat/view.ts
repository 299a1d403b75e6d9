// The chat in the side bar: hands the conversation to the web view and does what is asked there.

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

import type { Agent } from "../agent";
import { kindOf } from "../client";
import type { Connect } from "../connect/connect";
import { tellError } from "../notices";
import type { Questions } from "../questions";
import type { Review } from "../review";
import { goBack } from "../rewind";
import { insertAtCursor, runInTerminal } from "./code_uses";
import { emptyDraft } from "./drafts";
import { head } from "./head";
import type { Attachment, Draft, FromView, Suggestion, ToView } from "./messages";
import { openAt, openLink } from "./opening";
import { SlashCommands, named } from "./slash_commands";
import { attachment, files } from "./suggestions";
import type { Touched, Turn } from "./transcript";
import { isText } from "./transcript";

export const VIEW = "lspAgent.chat";

/** What is not lost where there is no view yet; the others tell what it asks for when it is there. */
const WAITS = new Set<ToView["type"]>(["attach", "insert", "focus", "question"]);

/** Between two updates of the view; a stream that is faster is joined. */
const FRAME_MILLISECONDS = 40;

export class ChatView implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private badge: vscode.ViewBadge | undefined;
  private isReady = false;
  private readonly waiting: ToView[] = [];
  /** The turns that the view has, and of each how long the texts among its parts are there. */
  private readonly sent = new Map<string, Map<number, number>>();
  private readonly dirty = new Map<string, { touched: Touched; parts: Set<number> | "all" }>();
  private timer: NodeJS.Timeout | undefined;
  private shownHead: string | undefined;
  private readonly visibility = new vscode.EventEmitter<boolean>();
  readonly onVisibility = this.visibility.event;
  private readonly slashCommands: SlashCommands;
  private readonly disposables: vscode.Disposable[];

  constructor(
    private readonly extension: vscode.Uri,
    private readonly agent: Agent,
    private readonly questions: Questions,
    private readonly review: Review,
    private readonly connect: Connect,
  ) {
    this.slashCommands = new SlashCommands(
      agent,
      (text) => this.post({ type: "insert", text }),
      (draft, why) => this.giveBack(draft, why),
    );
    this.disposables = [
      vscode.window.registerWebviewViewProvider(VIEW, this),
      agent.onTouch(({ chat, touched }) => {
        if (chat.sessionId === agent.current) this.touch(touched);
      }),
      agent.onSwitch(() => this.showAll()),
      agent.onChange(() => this.showHead()),
      connect.onChange(() => this.showHead()),
      vscode.window.onDidChangeTextEditorSelection(() => this.showHead()),
      vscode.window.onDidChangeActiveTextEditor(() => this.showHead()),
    ];
  }

  get isVisible(): boolean {
    return this.view?.visible ?? false;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    view.badge = this.badge;
    this.isReady = false;
    view.webview.options = {
      enableScripts: true,
      localResourceRoots: [vscode.Uri.joinPath(this.extension, "dist")],
    };
    view.webview.html = this.html(view.webview);
    view.webview.onDidReceiveMessage((message: FromView) => this.handle(message));
    view.onDidChangeVisibility(() => {
      if (!view.visible) this.isReady = false; // what it shows is made anew when it is seen again
      this.visibility.fire(view.visible);
    });
    view.onDidDispose(() => {
      this.view = undefined;
      this.isReady = false;
      this.visibility.fire(false);
    });
    this.visibility.fire(true);
    void this.agent.connection.ensure().catch(() => undefined); // the view says what hinders it
  }

  showBadge(badge: vscode.ViewBadge | undefined): void {
    this.badge = badge;
    if (this.view) this.view.badge = badge;
  }

  /** Shows the chat and puts the cursor into its prompt. */
  async focus(): Promise<void> {
    await vscode.commands.executeCommand(`${VIEW}.focus`);
    this.post({ type: "focus" });
  }

  /** Shows the chat and puts the keyboard on a question in it, on none of its answers. */
  async showQuestion(questionId: string): Promise<void> {
    await vscode.commands.executeCommand(`${VIEW}.focus`);
    this.post({ type: "question", questionId });
  }

  /** Adds a document or lines of one to the prompt that is being written. */
  async attach(item: Attachment): Promise<void> {
    await this.focus();
    this.post({ type: "attach", item });
  }

  async insert(text: string): Promise<void> {
    await this.focus();
    this.post({ type: "insert", text });
  }

  /** Shows the chat with a prompt in it that is to be written anew. */
  async putBack(text: string): Promise<void> {
    await this.focus();
    this.giveBack({ ...emptyDraft(), text });
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const each of this.disposables) each.dispose();
    this.visibility.dispose();
  }

  // To the view

  private post(message: ToView): void {
    if (this.view !== undefined && this.isReady) void this.view.webview.postMessage(message);
    else if (WAITS.has(message.type)) this.waiting.push(message);
  }

  private showAll(): void {
    this.showTitle();
    this.shownHead = undefined;
    this.dirty.clear();
    this.sent.clear();
    for (const turn of this.agent.chat?.turns ?? []) this.sent.set(turn.id, lengths(turn));
    this.post({ type: "chat", head: this.head(), turns: this.agent.chat?.turns ?? [] });
  }

  private showHead(): void {
    this.showTitle();
    const shown = this.head();
    const text = JSON.stringify(shown);
    if (text !== this.shownHead) this.post({ type: "head", head: shown });
    this.shownHead = text;
  }

  private showTitle(): void {
    if (this.view) this.view.description = this.agent.chat?.title ?? "";
  }

  private head() {
    return head(this.agent, this.connect.card, selection());
  }

  private touch(touched: Touched): void {
    const { turn, part } = touched;
    if (turn !== undefined) {
      const known = this.dirty.get(turn.id) ?? { touched, parts: new Set<number>() };
      if (part === undefined) known.parts = "all";
      else if (known.parts !== "all") known.parts.add(part);
      this.dirty.set(turn.id, known);
    }
    this.timer ??= setTimeout(() => this.flush(), FRAME_MILLISECONDS);
  }

  private flush(): void {
    this.timer = undefined;
    for (const [turnId, { touched, parts }] of this.dirty) {
      const turn = touched.turn;
      if (turn === undefined) continue;
      const sent = this.sent.get(turnId);
      if (parts === "all" || sent === undefined) {
        this.sent.set(turnId, lengths(turn));
        this.post({ type: "turn", turn });
        continue;
      }
      for (const index of parts) this.sendPart(turn, index, sent);
    }
    this.dirty.clear();
    this.showHead();
  }

  /** Of a text that the view has the beginning of, only what follows. */
  private sendPart({ id: turnId, parts }: Turn, index: number, sent: Map<number, number>): void {
    const part = parts[index];
    if (part === undefined) return;
    const length = sent.get(index);
    if (isText(part)) sent.set(index, part.text.length);
    if (!isText(part) || length === undefined) return this.post({ type: "part", turnId, index, part });
    this.post({ type: "grown", turnId, index, text: part.text.slice(length) });
  }

  // From the view

  private async handle(message: FromView): Promise<void> {
    try {
      await this.act(message);
    } catch (error) {
      tellError((error as Error).message);
    }
  }

  private async act(message: FromView): Promise<void> {
    switch (message.type) {
      case "ready":
        this.isReady = true;
        this.showAll();
        if (this.agent.draft) this.post({ type: "draft", draft: this.agent.draft });
        for (const each of this.waiting.splice(0)) this.post(each);
        return;
      case "send":
        this.agent.keepDraft(emptyDraft());
        return this.send(message.draft, message.steers);
      case "draft":
        return this.agent.keepDraft(message.draft);
      case "stop":
        return this.agent.stop();
      case "drop":
        return this.agent.stop(this.agent.current, message.turnId);
      case "retry":
        return this.agent.prompting.retry((draft, why) => this.giveBack(draft, why));
      case "goBack":
        return goBack(this.agent, (text) => this.putBack(text), message.turnId);
      case "answer":
        this.questions.answer(message.questionId, message.optionId);
        return;
      case "denyWithReason":
        return this.questions.denyWithReason(message.questionId, message.optionId);
      case "suggest":
        return this.suggest(message);
      case "open":
        return openAt(vscode.Uri.parse(message.uri), message.line);
      case "openLink":
        return openLink(message.href);
      case "review":
        return this.decide(message);
      case "copy":
        return vscode.env.clipboard.writeText(message.text);
      case "insertAtCursor":
        return insertAtCursor(message.text);
      case "runInTerminal":
        return runInTerminal(message.text);
      case "connect":
        return this.connect.by(message.chosen);
      case "closeCard":
        return this.connect.close();
      case "command":
        return vscode.commands.executeCommand(message.command);
    }
  }

  private async send(draft: Draft, steers: boolean): Promise<void> {
    try {
      const sent = this.sendOrRun(draft, steers);
      this.showHead();
      await sent;
    } catch (error) {
      const isUnconnected = kindOf(error) === "notConfigured";
      this.giveBack(draft, isUnconnected ? "Connect an agent first." : (error as Error).message);
      if (isUnconnected) await this.connect.open();
    } finally {
      this.showHead();
    }
  }

  private async sendOrRun(draft: Draft, steers: boolean): Promise<void> {
    const command = named(draft.text);
    if (command === undefined) await this.agent.prompting.send(draft, steers);
    const areOut = command === undefined || (await this.slashCommands.run(command, draft));
    this.post({ type: "accepted" });
    const hasFiles = draft.attachments.length > 0 || draft.images.length > 0;
    if (hasFiles && !areOut) this.giveBack({ ...draft, text: "" });
  }

  /** The prompt is there again, with what has been written since; in the view as soon as it is
   * seen again. */
  private giveBack(draft: Draft, message?: string): void {
    if (this.isReady) return this.post({ type: "returned", draft, ...(message && { message }) });
    this.agent.takeBack(draft);
    if (message) tellError(message);
  }

  private async suggest({ number, sign, query }: FromView & { type: "suggest" }): Promise<void> {
    const show = (items: Suggestion[]): void => this.post({ type: "suggestions", number, items });
    if (sign === "@") show(await files(query));
    else await this.slashCommands.suggest(show);
  }

  private async decide({ action, turnId, uri }: FromView & { type: "review" }): Promise<void> {
    const chat = this.agent.chat;
    const turn = chat?.turns.find((each) => each.id === turnId);
    if (chat === undefined || turn === undefined) return;
    await this.review.decideTurn(chat.sessionId, turn, action, uri);
  }

  private html(webview: vscode.Webview): string {
    const nonce = randomBytes(16).toString("base64");
    const dist = vscode.Uri.joinPath(this.extension, "dist");
    const script = webview.asWebviewUri(vscode.Uri.joinPath(dist, "chat.js")).toString();
    const style = webview.asWebviewUri(vscode.Uri.joinPath(dist, "chat.css")).toString();
    const policy = [
      "default-src 'none'",
      `style-src ${webview.cspSource}`,
      `font-src ${webview.cspSource}`,
      "img-src data:",
      `script-src 'nonce-${nonce}'`,
    ].join("; ");
    return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${style}">
<title>Agent</title>
</head>
<body><script nonce="${nonce}" src="${script}"></script></body>
</html>`;
  }
}

/** Of the texts among a turn's parts. */
function lengths({ parts }: Turn): Map<number, number> {
  return new Map(parts.flatMap((part, at) => (isText(part) ? [[at, part.text.length]] : [])));
}

function selection(): Attachment | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || editor.document.uri.scheme !== "file") return undefined;
  if (editor.selection.isEmpty) return undefined;
  return attachment(editor.document.uri, editor.selection);
}
