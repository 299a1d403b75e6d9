// To an agent that can answer: which are here, and what makes one the agent of new sessions.

import * as vscode from "vscode";

import type { Agent } from "../agent";
import type { Chat, Turn } from "../chat/transcript";
import type { Card, ConnectBy } from "../chat/messages";
import type { Client } from "../client";
import type { AgentInfo, AgentsHere } from "../protocol";
import { setContext } from "../review";
import { SECTION } from "../settings";
import { usePlace } from "./keys";
import { mendOf } from "./mend";
import { runShown } from "./terminal";

/** The agent that comes along. */
export const BUILTIN = "builtin";
const TARGET = vscode.ConfigurationTarget.Global;

export class Connect implements vscode.Disposable {
  /** Settings change by what is done here, and the server is started anew for it. */
  isAtWork = false;

  private here: AgentsHere | undefined;
  private lookedIn: Client | undefined;
  private isAsked = false;
  private doing: string | undefined;
  private failure: string | undefined;
  private readonly changes = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  readonly onChange = this.changes.event;

  constructor(
    private readonly agent: Agent,
    private readonly secrets: vscode.SecretStorage,
    private readonly focus: () => Promise<void>,
  ) {
    this.subscriptions = [
      agent.onChange(() => {
        const { running } = agent.connection;
        if (running !== undefined && running !== this.lookedIn) void this.look(running);
      }),
      agent.onSwitch(() => {
        if (!this.isAtWork) this.close();
      }),
      agent.onTouch(({ chat, touched: { turn } }) => {
        if (turn?.state !== "ended" || turn.mend !== undefined) return;
        if (turn.stopReason === "error") this.offerMend(chat, turn);
        else if (turn.stopReason === "endTurn") setContext("asked", true);
      }),
    ];
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
    this.changes.dispose();
  }

  /** Whether the session's agent, or a new one's, can answer, as far as is known. */
  get isConnected(): boolean {
    if (this.here === undefined) return true;
    const current = this.agent.state?.agent;
    return this.here.agents.some(
      ({ name, chosen, usable }) => usable && (current === undefined ? chosen : name === current),
    );
  }

  /** In place of the conversation; undefined where that is to be seen. */
  get card(): Card | undefined {
    const isNew = (this.agent.chat?.turns.length ?? 0) === 0;
    const isWanted = this.isAsked || (!this.isConnected && isNew);
    if (!isWanted) return undefined;
    if (!this.isAtWork && this.agent.connection.state.kind !== "ready") return undefined;
    return {
      ...(this.here ?? { agents: [], servers: [] }),
      isConnected: this.isConnected,
      ...(this.doing && { doing: this.doing }),
      ...(this.failure && { failure: this.failure }),
    };
  }

  /** Shows the card. Raises Error. */
  async open(): Promise<void> {
    this.isAsked = true;
    this.failure = undefined;
    this.changes.fire();
    await this.focus();
    await this.look(await this.agent.connection.ensure());
  }

  close(): void {
    this.isAsked = false;
    this.failure = undefined;
    this.changes.fire();
  }

  /** What is here by now. Raises Error. */
  async agents(): Promise<AgentInfo[]> {
    await this.look(await this.agent.connection.ensure());
    return this.here?.agents ?? [];
  }

  /** Does what was chosen on the card; it says what went wrong. */
  async by(chosen: ConnectBy): Promise<void> {
    this.isAsked = true;
    this.failure = undefined;
    this.isAtWork = true;
    try {
      await this.act(chosen);
    } catch (error) {
      this.failure = (error as Error).message;
    } finally {
      this.isAtWork = false;
      this.doing = undefined;
      this.changes.fire();
    }
  }

  private async act(chosen: ConnectBy): Promise<void> {
    switch (chosen.by) {
      case "agent":
        return this.use(chosen.name);
      case "install":
        return this.install(await this.named(chosen.name));
      case "signIn":
        return this.signIn(await this.named(chosen.name));
      case "key":
        this.requireIdle();
        await usePlace({ provider: chosen.provider }, chosen.key, this.secrets);
        return this.use(BUILTIN);
      case "server": {
        this.requireIdle();
        const { model } = chosen;
        const address = addressOf(chosen.address);
        await usePlace({ provider: "openai", address, model }, chosen.key, this.secrets);
        return this.use(BUILTIN);
      }
      case "look":
        return void (await this.agents());
    }
  }

  /** A key is told to the server when that starts, which would end what runs. Raises Error. */
  private requireIdle(): void {
    if (this.agent.isAnyBusy) throw new Error("An agent is at work: let it finish, or stop it first.");
  }

  /** Has new sessions use it, and begins one. Raises Error. */
  private async use(name: string): Promise<void> {
    this.does("Connecting…");
    await vscode.workspace.getConfiguration(SECTION).update("agent", name, TARGET);
    if (this.agent.isAnyBusy) await this.agent.connection.ensure();
    else await this.agent.connection.restart();
    await this.agent.newSession({ agent: name });
    this.close();
    await this.focus();
  }

  /** Brings an agent, or its newest version, and uses it. Raises Error. */
  async install(info: AgentInfo): Promise<void> {
    const line = info.installCommand;
    if (line === undefined) throw new Error(`To install ${info.title}: ${info.install ?? "see its site"}.`);
    this.does(`Installing ${info.title}…`);
    const code = await runShown(`Install ${info.title}`, line);
    if (code !== 0) throw new Error(`${info.title} was not installed; the terminal says why.`);
    const { path } = await this.named(info.name);
    if (path === undefined) {
      throw new Error(`${info.title} is installed, but not on the PATH that VS Code was started with.`);
    }
    await this.use(info.name);
  }

  /** Raises Error. */
  async signIn(info: AgentInfo): Promise<void> {
    const line = info.signInCommand;
    if (line === undefined) throw new Error(`To sign in to ${info.title}: ${info.signIn ?? "see its site"}.`);
    this.does(`Signing in to ${info.title}…`);
    const code = await runShown(`Sign in to ${info.title}`, line);
    if (code !== 0) throw new Error(`The sign-in to ${info.title} was not finished.`);
    this.close();
    await this.focus();
  }

  private offerMend(chat: Chat, turn: Turn): void {
    const name = this.agent.states.get(chat.sessionId)?.agent;
    const info = this.here?.agents.find((each) => each.name === name);
    const mend = info && mendOf(info, turn.error ?? "", hasSaid(turn));
    if (mend !== undefined) this.agent.mendable(chat, turn, mend);
  }

  private async named(name: string): Promise<AgentInfo> {
    const found = (await this.agents()).find((each) => each.name === name);
    if (found === undefined) throw new Error(`There is no agent ${name}.`);
    return found;
  }

  private does(doing: string): void {
    this.doing = doing;
    this.changes.fire();
  }

  private async look(client: Client): Promise<void> {
    this.lookedIn = client;
    // A server of the person's own may be older, and not know the question: then nothing is offered.
    this.here = await client.request<AgentsHere>("agents").catch(() => undefined);
    setContext("connected", this.here !== undefined && this.isConnected);
    this.changes.fire();
  }
}

/** It runs, whatever is wrong. */
function hasSaid({ parts }: Turn): boolean {
  return parts.some(({ kind }) => kind === "text" || kind === "tool");
}

/** As an address is typed: with a scheme or without. Raises Error. */
function addressOf(typed: string): string {
  const text = typed.trim().replace(/\/+$/, "");
  const address = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (text === "" || !URL.canParse(address)) throw new Error(`This is no address of a server: ${typed}`);
  return address;
}
