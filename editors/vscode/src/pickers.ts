// Quick picks: sessions, models and agents, all actions.

import * as vscode from "vscode";

import type { Agent } from "./agent";
import type { Attention } from "./attention";
import { valueName } from "./chat/head";
import { isOpenQuestion } from "./chat/transcript";
import type { Client } from "./client";
import type { Exports } from "./exports";
import { tell } from "./notices";
import type {
  AgentSession,
  BackgroundCommand,
  CommandInfo,
  SessionInfo,
  Setting,
} from "./protocol";
import { reporting } from "./review";

/** Shows the chat, for who has chosen what to go on with there. */
export type Focus = () => Promise<void>;

type SessionItem = vscode.QuickPickItem & { session?: SessionInfo };

export async function pickSession(
  agent: Agent,
  exports: Exports,
  attention: Attention,
  focus: Focus,
): Promise<void> {
  const button = (icon: string, tooltip: string) => ({
    iconPath: new vscode.ThemeIcon(icon),
    tooltip,
  });
  const rename = button("edit", "Rename");
  const show = button("markdown", "Show as Markdown");
  const remove = button("trash", "Delete");
  const picker = vscode.window.createQuickPick<SessionItem>();
  picker.title = "The agent's sessions";
  picker.placeholder = "Choose one to go on with it";
  const list = async (): Promise<void> => {
    const found = (await agent.sessions()).filter((session) => !isUnused(agent, session));
    const items = found.map((session) => ({
      ...sessionItem(agent, session, attention.isUnread(session.sessionId)),
      buttons: session.status === "elsewhere" ? [show] : [rename, show, remove],
    }));
    picker.items = [{ label: "$(add) New session" }, ...items];
  };
  picker.onDidTriggerItemButton(({ item: { session }, button: pressed }) =>
    reporting(async () => {
      if (session === undefined) return;
      if (pressed === show) return exports.show(session);
      if (pressed === rename) {
        const title = await vscode.window.showInputBox({
          prompt: "The session's title",
          value: session.title ?? "",
        });
        if (title?.trim()) await agent.rename(session.sessionId, title);
        return;
      }
      await agent.delete(session.sessionId);
      await list();
    }),
  );
  picker.onDidAccept(() =>
    reporting(async () => {
      const [chosen] = picker.selectedItems;
      picker.hide();
      if (chosen === undefined) return;
      if (chosen.session === undefined) await agent.newSession();
      else await choose(agent, chosen.session);
      await focus();
    }),
  );
  picker.onDidHide(() => picker.dispose());
  await list();
  picker.show();
}

/** Those that the agent itself has kept of the folder, from its own terminal client for one. */
export async function pickOwnSession(agent: Agent, focus: Focus): Promise<void> {
  const chosen = await pick("Go on with a session of the agent's own", async () => {
    const { client, sessionId } = await open(agent);
    await agent.refreshState(sessionId);
    const { sessions } = await client.request<{ sessions: AgentSession[] }>("agentSessions", {
      sessionId,
    });
    if (sessions.length === 0) throw new Nothing("The agent has kept no other session of this folder.");
    return sessions.map(({ ref, title, updated }) => ({
      label: title ?? ref,
      description: updated ? new Date(updated * 1000).toLocaleString() : "",
      ref,
    }));
  });
  if (chosen === undefined) return;
  await agent.continueOwn(chosen.ref);
  await focus();
}

/** A conversation that is here is shown; one that is not is taken up. */
async function choose(agent: Agent, { sessionId, stored }: SessionInfo): Promise<void> {
  if (stored && !agent.chats.has(sessionId)) await agent.resume(sessionId);
  else agent.switchTo(sessionId);
}

/** Begun, as for another agent's sake, and left before anything was said. */
function isUnused(agent: Agent, { sessionId, title }: SessionInfo): boolean {
  return sessionId !== agent.current && !title && agent.chats.get(sessionId)?.turns.length === 0;
}

/** A session asks before it works, and is read before it is old. */
function sessionItem(agent: Agent, session: SessionInfo, isUnread: boolean): SessionItem {
  const chat = agent.chats.get(session.sessionId);
  const isBusy = chat !== undefined && agent.isBusy(chat);
  const isAsking = chat?.turns.some(({ parts }) => parts.some(isOpenQuestion)) ?? false;
  const isCurrent = session.sessionId === agent.current;
  const when = session.updated ? new Date(session.updated * 1000).toLocaleString() : "";
  const state = session.status === "elsewhere" ? "open elsewhere" : session.stored ? when : "";
  const description = isAsking
    ? "$(question) waits for you"
    : isBusy
      ? "$(loading~spin) working"
      : isUnread
        ? "unread"
        : isCurrent
          ? "current"
          : state;
  return {
    label: `${isUnread ? "$(circle-filled) " : ""}${chat?.title || session.title || "New session"}`,
    description,
    detail: [session.agent, chat && turns(chat.turns.length)].filter(Boolean).join(" · "),
    session,
  };
}

/** What else the agent can be set to: its mode, how much it thinks. */
export async function pickOption(agent: Agent): Promise<void> {
  const chosen = await pick("Agent options", async () => {
    const { client, sessionId } = await open(agent);
    const { options } = await client.request<{ options: Setting[] }>("options", { sessionId });
    if (options.length === 0) throw new Nothing("The agent has no options.");
    return options.map((option) => ({
      label: option.name,
      description: valueName(option),
      detail: option.description ?? "",
      option,
    }));
  });
  if (chosen === undefined) return;
  const { id, name, value: current, values } = chosen.option;
  const choices = values.map(({ value, name: label, description }) => ({
    label,
    description: value === current ? "current" : "",
    detail: description ?? "",
    value,
  }));
  const choice = await vscode.window.showQuickPick(choices, { title: name });
  if (choice === undefined) return;
  const { client, sessionId } = await open(agent);
  await client.request("setOption", { sessionId, id, value: choice.value });
  await agent.refreshState(sessionId);
}

/** The commands that run in the background; the chosen one is ended. */
export async function pickBackgroundCommand(agent: Agent): Promise<void> {
  const chosen = await pick("End a background command", async () => {
    const { client, sessionId } = await open(agent);
    const { commands } = await client.request<{
      commands: (BackgroundCommand & { lines: string[] })[];
    }>("backgroundCommands", { sessionId });
    const running = commands.filter(({ state }) => state === "running");
    if (running.length === 0) throw new Nothing("No command runs in the background.");
    return running.map(({ id, command, since, lines }) => ({
      label: command,
      description: `${id} · since ${new Date(since * 1000).toLocaleTimeString()}`,
      detail: lines.at(-1) ?? "",
      id,
      sessionId,
    }));
  });
  if (chosen === undefined) return;
  const { client } = await open(agent);
  await client.request("stopBackgroundCommand", {
    sessionId: chosen.sessionId,
    id: chosen.id,
  });
}

/** What the agent and its extensions offer; `insert` puts the chosen one into the prompt. */
export async function pickCommand(
  agent: Agent,
  insert: (text: string) => Promise<void>,
): Promise<void> {
  const chosen = await pick("Slash commands", async () => {
    const { client, sessionId } = await open(agent);
    const { commands } = await client.request<{ commands: CommandInfo[] }>("commands", { sessionId });
    if (commands.length === 0) throw new Nothing("The agent offers no slash commands.");
    return commands.map(({ name, description }) => ({
      label: `/${name}`,
      description: description ?? "",
    }));
  });
  if (chosen) await insert(`${chosen.label} `);
}

/** What can be done now, for the status bar. */
export async function pickAction(agent: Agent, changes: number): Promise<void> {
  const actions: [string, string][] = [["lspAgent.chat.open", "$(comment-discussion) Open chat"]];
  if (agent.isAnyBusy) actions.push(["lspAgent.chat.stop", "$(debug-stop) Stop"]);
  if (changes > 0) {
    actions.push(
      ["lspAgent.review.next", "$(arrow-down) Next change"],
      ["lspAgent.review.open", "$(diff-multiple) Review changes side by side"],
      ["lspAgent.review.keepAll", "$(check-all) Keep all changes"],
      ["lspAgent.review.undoAll", "$(discard) Undo all changes of the latest turn"],
    );
  }
  actions.push(
    ["lspAgent.chat.new", "$(add) New session"],
    ["lspAgent.chat.sessions", "$(history) Switch session"],
    ["lspAgent.chat.rewind", "$(discard) Back to an earlier prompt"],
    ["lspAgent.chat.fork", "$(repo-forked) New session from an earlier prompt"],
    ["lspAgent.chat.model", "$(settings) Choose model or agent"],
    ["lspAgent.chat.connect", "$(plug) Connect an agent"],
    ["lspAgent.chat.options", "$(tools) Agent options"],
    ["lspAgent.chat.command", "$(terminal) Run a slash command"],
    ["lspAgent.chat.background", "$(server-process) Background commands"],
    ["lspAgent.chat.permissions", "$(shield) Permissions"],
    ["lspAgent.server.restart", "$(refresh) Restart server"],
    ["lspAgent.server.log", "$(output) Show log"],
  );
  const items = actions.map(([command, label]) => ({ label, command }));
  const chosen = await vscode.window.showQuickPick(items, { title: "Agent" });
  if (chosen) await vscode.commands.executeCommand(chosen.command);
}

/** There is nothing to choose from; the message says so. */
export class Nothing extends Error {}

/** Shown at once, as it may take an agent's start until there is what to choose from. */
export async function pick<T extends vscode.QuickPickItem>(
  title: string,
  items: () => Promise<T[]>,
): Promise<T | undefined> {
  try {
    return await vscode.window.showQuickPick(items(), { title });
  } catch (error) {
    if (!(error instanceof Nothing)) throw error;
    tell(error.message);
    return undefined;
  }
}

/** The current session, open in the running server. Raises Error. */
export async function open(agent: Agent): Promise<{ client: Client; sessionId: string }> {
  const client = await agent.connection.ensure();
  return { client, sessionId: await agent.openSession() };
}

function turns(count: number): string {
  return count === 1 ? "1 turn" : `${count} turns`;
}
