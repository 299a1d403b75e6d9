// The agent as the extension sees it: the sessions' conversations, and what a person asks of them.
// No decision of the agent's is made here.

import * as vscode from "vscode";

import { ChatStore } from "./chat/store";
import type { Chat, Touched, Turn } from "./chat/transcript";
import { cut, endAll, excerpt, newChat, take, takeDecision } from "./chat/transcript";
import { emptyDraft, joined } from "./chat/drafts";
import type { Draft } from "./chat/messages";
import type { Asker, Client, CommandOverrides } from "./client";
import { kindOf } from "./client";
import type { Mend } from "./connect/mend";
import { Connection } from "./connection";
import { prune } from "./chat/requests";
import { retell } from "./chat/retelling";
import type { CommandPrompt } from "./prompting";
import { Prompting } from "./prompting";
import type {
  AgentEvent,
  Edit,
  Message,
  PromptStarted,
  SessionInfo,
  State,
} from "./protocol";

export interface Surroundings {
  ask: Asker;
  commands: CommandOverrides;
  isWatched(): boolean;
  /** The server ended; what it asked is heard by nobody. */
  stopped(): void;
}

const ENDED = "The agent's server ended.";

export class Agent implements vscode.Disposable {
  readonly chats = new Map<string, Chat>();
  readonly states = new Map<string, State>();
  readonly connection: Connection;
  readonly prompting = new Prompting(this, () => this.store.changed());
  draft: Draft | undefined;
  current: string | undefined;

  private readonly openings = new Map<string | undefined, Promise<string>>();
  private readonly store: ChatStore;
  private readonly touches = new vscode.EventEmitter<{ chat: Chat; touched: Touched }>();
  private readonly changes = new vscode.EventEmitter<void>();
  private readonly switches = new vscode.EventEmitter<void>();
  private readonly edits = new vscode.EventEmitter<Edit>();

  /** A conversation went on. */
  readonly onTouch = this.touches.event;
  /** The server's state or what is known of a session changed. */
  readonly onChange = this.changes.event;
  /** Another conversation is the current one. */
  readonly onSwitch = this.switches.event;
  /** An edit came or was decided. */
  readonly onEdit = this.edits.event;

  constructor(
    context: vscode.ExtensionContext,
    log: vscode.LogOutputChannel,
    private readonly surroundings: Surroundings,
  ) {
    const hooks = {
      ...surroundings,
      commands: {
        ...surroundings.commands,
        "lspAgent.prompt": (argument: unknown) => this.prompting.byCommand(argument as CommandPrompt),
      },
      event: (event: AgentEvent) => this.take(event),
      decided: (edits: Edit[]) => this.decided(edits),
      stopped: () => this.stopped(),
      changed: () => this.changes.fire(),
    };
    this.connection = new Connection(context, log, hooks);
    this.store = new ChatStore(context.storageUri?.fsPath, () => ({
      current: this.current,
      draft: this.unsent,
      chats: [...this.chats.values()],
    }));
    const stored = this.store.load();
    this.draft = stored.draft;
    for (const chat of stored.chats) this.chats.set(chat.sessionId, chat);
    if (stored.current !== undefined && this.chats.has(stored.current)) {
      this.current = stored.current;
    }
  }

  get chat(): Chat | undefined {
    return this.current === undefined ? undefined : this.chats.get(this.current);
  }

  get state(): State | undefined {
    return this.current === undefined ? undefined : this.states.get(this.current);
  }

  isBusy(chat = this.chat): boolean {
    return chat?.turns.some((turn) => turn.state !== "ended") ?? false;
  }

  /** The session's turn that can be steered. */
  running(sessionId = this.current): Turn | undefined {
    if (sessionId === undefined) return undefined;
    if (this.states.get(sessionId)?.capabilities["steer"] !== true) return undefined;
    return this.chats.get(sessionId)?.turns.find((turn) => turn.state === "running");
  }

  get isAnyBusy(): boolean {
    return [...this.chats.values()].some((chat) => this.isBusy(chat));
  }

  /** All that was written and did not reach the server. */
  private get unsent(): Draft | undefined {
    const { sending } = this.prompting;
    const written = this.draft ? [...sending, this.draft] : sending;
    return written.length === 0 ? undefined : written.reduce(joined);
  }

  /** The server ended. */
  stopped(): void {
    this.surroundings.stopped();
    for (const chat of this.chats.values()) {
      if (this.isBusy(chat)) this.store.changed(chat);
      endAll(chat, ENDED);
      prune(chat);
      chat.earlier = true;
    }
    this.states.clear();
    this.switches.fire();
    this.store.changed();
  }

  /** That session's id, or the current one's: of an earlier run of the server it is taken up again,
   * and one that the server does not have is followed by a new one. Who asks meanwhile gets the
   * same. Raises Error. */
  async openSession(sessionId = this.current): Promise<string> {
    const opening =
      this.openings.get(sessionId) ??
      this.opened(sessionId).finally(() => this.openings.delete(sessionId));
    this.openings.set(sessionId, opening);
    return opening;
  }

  private async opened(sessionId: string | undefined): Promise<string> {
    if (sessionId === undefined) return this.newSessionFor(sessionId);
    if (this.chats.get(sessionId)?.earlier) {
      try {
        await this.takeUp(sessionId);
      } catch (error) {
        if (kindOf(error) !== "unknownSession") throw error;
        return this.newSessionFor(sessionId);
      }
      if (this.current === sessionId) this.switchTo(sessionId); // not where another is shown by now
    }
    return sessionId;
  }

  /** In place of that one, also for the prompts that wait for it. */
  private async newSessionFor(former: string | undefined): Promise<string> {
    const sessionId = await this.newSession();
    this.prompting.redirect(former, sessionId);
    return sessionId;
  }

  /** Takes up a stored session, and makes it the current one. Raises Error. */
  async resume(sessionId: string): Promise<void> {
    await this.takeUp(sessionId);
    this.switchTo(sessionId);
  }

  private async takeUp(sessionId: string): Promise<void> {
    const client = await this.connection.ensure();
    await client.request("resumeSession", { sessionId });
    const chat = this.chatOf(sessionId);
    chat.earlier = false;
    if (chat.turns.length === 0) await this.retell(client, chat);
    void this.refreshState(sessionId);
  }

  /** Goes on, in a new session, with one that the current session's agent itself has kept. Raises
   * Error. */
  async continueOwn(ref: string): Promise<void> {
    const client = await this.connection.ensure();
    const sessionId = await this.newSession({ agent: this.state?.agent, ref });
    await this.retell(client, this.chatOf(sessionId));
    this.switchTo(sessionId);
  }

  private async retell(client: Client, chat: Chat): Promise<void> {
    const params = { sessionId: chat.sessionId };
    const { messages } = await client.request<{ messages: Message[] }>("messages", params);
    retell(chat, messages);
    this.store.changed(chat);
  }

  /** All that the server has, newest first, and the conversations that only we have. */
  async sessions(): Promise<SessionInfo[]> {
    const client = await this.connection.ensure();
    const { sessions } = await client.request<{ sessions: SessionInfo[] }>("sessions");
    const known = new Set(sessions.map(({ sessionId }) => sessionId));
    const ours = [...this.chats.values()].filter(({ sessionId }) => !known.has(sessionId)).reverse();
    const old = { agent: "", status: "closed", stored: true, updated: 0 } as const;
    return [...sessions, ...ours.map(({ sessionId, title }) => ({ ...old, sessionId, title }))];
  }

  async rename(sessionId: string, title: string): Promise<void> {
    const client = await this.connection.ensure();
    await client.request("renameSession", { sessionId, title });
    const chat = this.chats.get(sessionId);
    if (chat !== undefined) chat.title = title;
    this.changes.fire();
    this.store.changed(chat);
  }

  /** As Markdown. */
  async exported(sessionId: string): Promise<string> {
    const client = await this.connection.ensure();
    return (await client.request<{ markdown: string }>("exportSession", { sessionId })).markdown;
  }

  /** Opens a session and makes it the current one; its id. */
  async newSession(
    options: { agent?: string | undefined; model?: string; ref?: string } = {},
  ): Promise<string> {
    const client = await this.connection.ensure();
    const cwd = currentFolder()?.toString();
    const { sessionId } = await client.request<PromptStarted>("newSession", { ...options, cwd });
    this.chatOf(sessionId);
    this.switchTo(sessionId);
    void this.refreshState(sessionId);
    return sessionId;
  }

  switchTo(sessionId: string): void {
    this.current = sessionId;
    this.switches.fire();
    this.store.changed();
  }

  async stop(sessionId = this.current, turnId?: string): Promise<void> {
    if (sessionId === undefined) return;
    const params = turnId === undefined ? { sessionId } : { sessionId, turnId };
    await this.connection.running?.request("abort", params);
  }

  /** Stops what runs, in whichever session. */
  async stopAll(): Promise<void> {
    const busy = [...this.chats.values()].filter((chat) => this.isBusy(chat));
    await Promise.all(busy.map((chat) => this.stop(chat.sessionId)));
  }

  /** Keeps what is being written. */
  keepDraft(draft: Partial<Draft>): void {
    this.draft = { ...emptyDraft(), ...this.draft, ...draft };
    this.store.changed();
  }

  /** Takes back into it what could not be sent. */
  takeBack(draft: Draft): void {
    this.draft = this.draft ? joined(this.draft, draft) : draft;
    this.store.changed();
  }

  /** Asks anew what is known of a session. */
  async refreshState(sessionId: string): Promise<State | undefined> {
    const state = await this.connection.running?.request<State>("state", { sessionId }).catch(() => undefined);
    if (state !== undefined) this.states.set(sessionId, state);
    this.changes.fire();
    return state;
  }

  /** Ends a session and forgets it. Raises Error. */
  async delete(sessionId: string): Promise<void> {
    const client = await this.connection.ensure();
    await client.request("deleteSession", { sessionId }).catch((error: unknown) => {
      if (kindOf(error) !== "unknownSession") throw error;
    });
    this.chats.delete(sessionId);
    this.states.delete(sessionId);
    if (this.current === sessionId) this.current = [...this.chats.keys()].at(-1);
    this.switches.fire();
    this.store.changed();
  }

  /** Forgets what was said in the current session, and has its agent forget it. */
  async clear(): Promise<void> {
    const chat = this.chat;
    if (chat === undefined) return;
    const client = await this.connection.ensure();
    await client.request("clear", { sessionId: await this.openSession() });
    chat.turns = [];
    this.switches.fire();
    this.store.changed(chat);
  }

  private take(event: AgentEvent): void {
    const chat = this.chatOf(event.sessionId);
    if (event.type === "turnStarted") this.used(chat);
    if (event.type === "rewound") void this.shorten(chat, event.fromTurnId);
    const isOfChat = chat.turns.some((turn) => turn.id === event.turnId);
    if (event.type === "turnStarted" && !isOfChat && chat !== this.chat && !this.isBusy()) {
      this.switchTo(event.sessionId); // begun by a command or a code action
    }
    // What was typed in the chat is shown as it is when it is accepted.
    const isBegin = event.type === "turnStarted";
    this.touched(chat, take(chat, isBegin ? { ...event, prompt: excerpt(event.prompt) } : event));
    if (event.type === "turnEnded") prune(chat);
    if ("edit" in event) this.edits.fire(event.edit);
    if (["turnEnded", "agentStatus", "optionChanged"].includes(event.type)) {
      void this.refreshState(event.sessionId);
    }
  }

  /** The conversation goes on from before that turn. One that was told again is so once more. */
  private async shorten(chat: Chat, turnId: string): Promise<void> {
    const client = this.connection.running;
    if (!cut(chat, turnId) && client !== undefined) {
      chat.turns = [];
      await this.retell(client, chat).catch(() => undefined); // it has ended
    }
    if (chat === this.chat) this.switches.fire();
    this.store.changed(chat);
  }

  private decided(edits: Edit[]): void {
    for (const edit of edits) {
      const chat = this.chats.get(edit.sessionId);
      if (chat !== undefined) this.touched(chat, takeDecision(chat, edit));
      this.edits.fire(edit);
    }
  }

  chatOf(sessionId: string): Chat {
    let chat = this.chats.get(sessionId);
    if (chat === undefined) {
      chat = newChat(sessionId);
      this.chats.set(sessionId, chat);
    }
    return chat;
  }

  /** The one used last is kept longest. */
  private used(chat: Chat): void {
    this.chats.delete(chat.sessionId);
    this.chats.set(chat.sessionId, chat);
  }

  touched(chat: Chat, touched: Touched): void {
    this.touches.fire({ chat, touched });
    this.store.changed(chat);
  }

  /** A button beneath the turn's end. */
  mendable(chat: Chat, turn: Turn, mend: Mend): void {
    turn.mend = mend;
    this.touched(chat, { turn });
  }

  dispose(): void {
    this.store.save();
    for (const each of [this.touches, this.changes, this.switches, this.edits]) each.dispose();
  }

  /** Ends the server; for the extension's end. */
  async shutDown(): Promise<void> {
    this.store.close();
    await this.connection.stop();
  }
}

function currentFolder(): vscode.Uri | undefined {
  const shown = vscode.window.activeTextEditor?.document.uri;
  const folder = shown && vscode.workspace.getWorkspaceFolder(shown);
  return (folder ?? vscode.workspace.workspaceFolders?.[0])?.uri;
}
