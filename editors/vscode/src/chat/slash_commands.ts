// The slash commands: those of the chat itself, and those of the agent.

import * as vscode from "vscode";

import type { Agent } from "../agent";
import { tell } from "../notices";
import type { CommandInfo, RunCommandResult } from "../protocol";
import type { Draft, Suggestion } from "./messages";
import { changedFiles, isOpen } from "./changed_files";
import type { GiveBack } from "./requests";

interface Own {
  detail: string;
  run: (agent: Agent, giveBack: GiveBack) => Promise<unknown>;
}

const OWN: Record<string, Own> = {
  new: { detail: "Start a new session", run: (agent) => agent.newSession() },
  sessions: { detail: "Switch to another session", run: command("lspAgent.chat.sessions") },
  model: { detail: "Choose the model or the agent", run: command("lspAgent.chat.model") },
  review: { detail: "Show all open changes side by side", run: command("lspAgent.review.open") },
  keep: { detail: "Keep all open changes", run: command("lspAgent.review.keepAll") },
  undo: { detail: "Undo the changes of the latest turn", run: undoLatest },
  retry: {
    detail: "Send the prompt of the turn that failed again",
    run: (agent, giveBack) => agent.prompting.retry(giveBack),
  },
  compact: { detail: "Have the agent summarise the conversation", run: compact },
  clear: { detail: "Forget this conversation", run: (agent) => agent.clear() },
  stop: { detail: "Stop what runs and drop what waits", run: (agent) => agent.stop() },
};

/** What of a prompt is a command: its name and the words behind it. */
export interface Named {
  name: string;
  words: string;
}

/** Undefined where a prompt is none. */
export function named(prompt: string): Named | undefined {
  const [, name, words = ""] = /^\/([\w.:-]+)(?:\s+([^]*))?$/.exec(prompt.trim()) ?? [];
  return name === undefined ? undefined : { name, words };
}

export class SlashCommands {
  /** The agent is being asked: who asks meanwhile waits for the same answer. */
  private readonly asked = new Map<string, Promise<CommandInfo[]>>();

  constructor(
    private readonly agent: Agent,
    private readonly insert: (text: string) => void,
    private readonly giveBack: GiveBack,
  ) {}

  /** Shows all: the chat's own at once, with the agent's as soon as it tells them. */
  async suggest(show: (items: Suggestion[]) => void): Promise<void> {
    const own = Object.entries(OWN).map(([name, { detail }]) => suggestion(name, detail));
    show(own);
    const { chat, connection } = this.agent;
    if (chat === undefined || chat.earlier || connection.running === undefined) return;
    const told = await this.told(chat.sessionId).catch(() => []); // it is said where one is run
    const agents = told
      .filter(({ name }) => !Object.hasOwn(OWN, name))
      .map(({ name, description }) => suggestion(name, description ?? ""));
    if (agents.length > 0) show([...own, ...agents]);
  }

  /** Runs what the draft names. Whether its files went out too: most commands have no use for them.
   * Raises Error. */
  async run({ name, words }: Named, draft: Draft): Promise<boolean> {
    const own = Object.hasOwn(OWN, name) ? OWN[name] : undefined;
    if (own !== undefined && words === "") {
      await own.run(this.agent, this.giveBack);
      return false;
    }
    if (name === "new") {
      const sessionId = await this.agent.newSession();
      await this.agent.prompting.send({ ...draft, text: words }, false, sessionId);
      return true;
    }
    const sessionId = await this.agent.openSession();
    // One that the agent has not told of may still come from an extension that is slow to start.
    if (own === undefined || (await this.told(sessionId)).some((each) => each.name === name)) {
      return this.runAgents(sessionId, name, words, draft);
    }
    throw new Error(`/${name} takes no words.`);
  }

  private async runAgents(
    sessionId: string,
    name: string,
    args: string,
    draft: Draft,
  ): Promise<boolean> {
    const client = await this.agent.connection.ensure();
    const params = { sessionId, name, args };
    const { action, text } = await client
      .request<RunCommandResult>("runCommand", params)
      .catch((error: unknown) => {
        if (!isUnsupported(error)) throw error;
        throw new Error(`There is no command /${name}.`);
      });
    if (action === "insert" && text) this.insert(text);
    if (action === "display" && text) tell(text);
    if (action !== "prompt" || !text) return false;
    await this.agent.prompting.send({ ...draft, text }, false, sessionId);
    return true;
  }

  private told(sessionId: string): Promise<CommandInfo[]> {
    const asked =
      this.asked.get(sessionId) ??
      this.ask(sessionId).finally(() => this.asked.delete(sessionId));
    this.asked.set(sessionId, asked);
    return asked;
  }

  private async ask(sessionId: string): Promise<CommandInfo[]> {
    const client = await this.agent.connection.ensure();
    return (await client.request<{ commands: CommandInfo[] }>("commands", { sessionId })).commands;
  }
}

function isUnsupported(error: unknown): boolean {
  return (error as { data?: { kind?: string } }).data?.kind === "unsupported";
}

function suggestion(name: string, detail: string): Suggestion {
  return { insert: `/${name}`, label: `/${name}`, detail };
}

function command(name: string): () => Promise<void> {
  return async () => vscode.commands.executeCommand(name);
}

async function compact(agent: Agent): Promise<void> {
  if (agent.chat === undefined) return;
  const client = await agent.connection.ensure();
  await client.request("compact", { sessionId: await agent.openSession() });
}

/** Of this conversation, whichever other sessions have changed since. */
async function undoLatest({ chat, connection }: Agent): Promise<void> {
  const latest = chat?.turns.findLast((turn) =>
    [...changedFiles(turn).values()]
      .flat()
      .some(({ status }) => isOpen(status)),
  );
  if (chat === undefined || latest === undefined) {
    throw new Error("No change of this conversation waits for a decision.");
  }
  const params = { sessionId: chat.sessionId, turnId: latest.id };
  await (await connection.ensure()).request("undoAll", params);
}
