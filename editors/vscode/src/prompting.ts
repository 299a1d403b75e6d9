// What a session is asked: prompts of the chat's and of commands, and once more one that failed.

import * as vscode from "vscode";

import type { Agent } from "./agent";
import { sentAlong, textsOf } from "./chat/along";
import type { Draft } from "./chat/messages";
import type { GiveBack, Kept, Request } from "./chat/requests";
import { giveBackShown, giveBackWhole, keep } from "./chat/requests";
import { labelOf } from "./chat/suggestions";
import type { Chat, Turn } from "./chat/transcript";
import { accept, excerpt, steer } from "./chat/transcript";
import type { Client } from "./client";
import { kindOf } from "./client";
import type { Sending } from "./outbox";
import { Outbox } from "./outbox";
import type { PromptStarted } from "./protocol";

/** As `lspAgent.prompt` takes it. */
export type CommandPrompt = Pick<Request, "text"> & Partial<Request> & { sessionId?: string };

/** A prompt as the chat shows it. */
type Said = Pick<Turn, "prompt" | "context">;

export class Prompting {
  private readonly outbox: Outbox;

  constructor(
    private readonly agent: Agent,
    changed: () => void,
  ) {
    this.outbox = new Outbox(changed);
  }

  /** The prompts that are on their way to the server, in order. */
  get sending(): Draft[] {
    return this.outbox.sending.map(({ draft }) => draft);
  }

  /** Prompts for a session go to the one in its place. */
  redirect(former: string | undefined, sessionId: string): void {
    this.outbox.redirect(former, sessionId);
  }

  /** Sends a prompt to the session that is the current one now, or to a new one, after those before
   * it. Where a turn runs it waits, or with `steers` is for that turn, if it can take it. Raises
   * Error. */
  async send(draft: Draft, steers = false, sessionId = this.agent.current): Promise<void> {
    await this.outbox.send({ draft, sessionId }, (sending) => this.sendDraft(sending, steers));
  }

  private async sendDraft(sending: Sending, steers: boolean): Promise<void> {
    const { text, attachments, images } = sending.draft;
    const client = await this.agent.connection.ensure();
    const running = steers ? this.agent.running(sending.sessionId) : undefined;
    const sessionId = await this.agent.openSession(sending.sessionId);
    const request = { text, ...(await sentAlong(attachments, images)) };
    const kept = await whole(request);
    const whenBusy = running === undefined ? "queue" : "steer";
    const params = { sessionId, ...request, whenBusy };
    const started = await client.command<PromptStarted>("prompt", params);
    const labels = [...images, ...attachments].map(({ label }) => label);
    if (running?.id !== started.turnId) {
      this.begun(client, started, { prompt: text, context: labels }, kept);
      return;
    }
    this.agent.touched(this.agent.chatOf(sessionId), steer(running, text, labels));
    this.endedSince(client);
  }

  /** What a code action or a key asks: goes on with the conversation that is shown, unless that is
   * of another folder than the document. */
  byCommand(asked: CommandPrompt): Promise<PromptStarted> {
    return this.outbox.inTurn(() => this.sendCommand(asked));
  }

  private async sendCommand(asked: CommandPrompt): Promise<PromptStarted> {
    const { agent } = this;
    const client = await agent.connection.ensure();
    const { text, context = [], images = [], range } = asked;
    const uri = context[0]?.uri;
    const folder = uri && vscode.workspace.getWorkspaceFolder(vscode.Uri.parse(uri));
    const isOfFolder = !folder || folder.uri.fsPath === agent.state?.cwd;
    const current = agent.chat !== undefined && isOfFolder ? await agent.openSession() : undefined;
    const kept = await whole({ text, context, images, ...(range && { range }) });
    const params = { sessionId: current, ...asked };
    const started = await client.command<PromptStarted>("prompt", params);
    const { sessionId } = agent.chatOf(started.sessionId);
    if (sessionId !== agent.current && !agent.isBusy()) agent.switchTo(sessionId);
    const labels = context.map((item) => labelOf(vscode.Uri.parse(item.uri), item.range));
    this.begun(client, started, { prompt: excerpt(text), context: labels }, kept);
    return started;
  }

  /** Sends the prompt of the last turn once more, which failed: by the server, or, where that does
   * not know the turn any more, from what is kept. Raises Error. */
  async retry(giveBack: GiveBack): Promise<void> {
    const { chat } = this.agent;
    const failed = chat?.turns.at(-1);
    if (chat === undefined || failed === undefined) throw new Error("No turn has failed.");
    const kept = chat.requests?.[failed.id];
    if (!chat.earlier && (await this.retryByServer(chat, failed, kept))) return;
    if (failed.stopReason !== "error") throw new Error("No turn has failed.");
    if (kept === undefined) return giveBackShown(failed, giveBack);
    const texts = await textsOf(kept.request.context);
    const isSame = texts.every((text, at) => text === kept.texts[at]);
    if (!isSame) return giveBackWhole(failed, kept.request, giveBack);
    await this.outbox.inTurn(() => this.resend(chat, failed, kept));
  }

  /** False where it has taken up the session without the turn. */
  private async retryByServer(
    { sessionId }: Chat,
    failed: Turn,
    kept: Kept | undefined,
  ): Promise<boolean> {
    const client = await this.agent.connection.ensure();
    try {
      const { turnId } = await client.command<PromptStarted>("retry", { sessionId });
      this.begun(client, { sessionId, turnId }, failed, kept);
      return true;
    } catch (error) {
      if (kindOf(error) === "conflict") return false;
      throw error;
    }
  }

  private async resend(chat: Chat, failed: Turn, kept: Kept): Promise<void> {
    if (chat.turns.at(-1) !== failed) return; // asked for twice
    const client = await this.agent.connection.ensure();
    const sessionId = await this.agent.openSession(chat.sessionId);
    const params = { sessionId, ...kept.request };
    const started = await client.command<PromptStarted>("prompt", params);
    this.begun(client, started, failed, kept);
  }

  /** The server has accepted it. */
  private begun(
    client: Client,
    { sessionId, turnId }: PromptStarted,
    { prompt, context }: Said,
    kept: Kept | undefined,
  ): void {
    const chat = this.agent.chatOf(sessionId);
    const turn = accept(chat, turnId, prompt, context);
    if (kept !== undefined) keep(chat, turnId, kept);
    this.agent.touched(chat, { turn });
    this.endedSince(client);
  }

  private endedSince(client: Client): void {
    if (this.agent.connection.running !== client) this.agent.stopped();
  }
}

async function whole(request: Request): Promise<Kept> {
  return { request, texts: await textsOf(request.context) };
}
