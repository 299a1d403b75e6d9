// Quick picks: sessions, models and agents, all actions.

import * as vscode from "vscode";

import type { Agent } from "./agent";
import type { AgentSession, CommandInfo, ModelInfo, Option, SessionInfo } from "./protocol";
import { reporting } from "./review";

type SessionItem = vscode.QuickPickItem & { session?: SessionInfo };

export async function pickSession(agent: Agent): Promise<void> {
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
    const items = (await agent.sessions()).map((session) => ({
      ...sessionItem(agent, session),
      buttons: session.status === "elsewhere" ? [show] : [rename, show, remove],
    }));
    picker.items = [{ label: "$(add) New session" }, ...items];
  };
  picker.onDidTriggerItemButton(({ item: { session }, button: pressed }) =>
    reporting(async () => {
      if (session === undefined) return;
      if (pressed === show) return showMarkdown(await agent.exported(session.sessionId));
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
    }),
  );
  picker.onDidHide(() => picker.dispose());
  await list();
  picker.show();
}

/** Those that the agent itself has kept of the folder, from its own terminal client for one. */
export async function pickOwnSession(agent: Agent): Promise<void> {
  const client = await agent.ensure();
  const sessionId = await agent.openSession();
  await agent.refreshState(sessionId);
  const { sessions } = await client.request<{ sessions: AgentSession[] }>("agentSessions", {
    sessionId,
  });
  if (sessions.length === 0) {
    void vscode.window.showInformationMessage("The agent has kept no other session of this folder.");
    return;
  }
  const items = sessions.map(({ ref, title, updated }) => ({
    label: title ?? ref,
    description: updated ? new Date(updated * 1000).toLocaleString() : "",
    ref,
  }));
  const title = "Go on with a session of the agent's own";
  const chosen = await vscode.window.showQuickPick(items, { title });
  if (chosen) await agent.continueOwn(chosen.ref);
}

/** A conversation that is here is shown; one that is not is taken up. */
async function choose(agent: Agent, { sessionId, stored }: SessionInfo): Promise<void> {
  if (stored && !agent.chats.has(sessionId)) await agent.resume(sessionId);
  else agent.switchTo(sessionId);
}

function sessionItem(agent: Agent, session: SessionInfo): SessionItem {
  const chat = agent.chats.get(session.sessionId);
  const isBusy = chat !== undefined && agent.isBusy(chat);
  const when = session.updated ? new Date(session.updated * 1000).toLocaleString() : "";
  const state = session.status === "elsewhere" ? "open elsewhere" : session.stored ? when : "";
  return {
    label: chat?.title || session.title || "New session",
    description: isBusy ? "$(loading~spin) working" : state,
    detail: [session.agent, chat && turns(chat.turns.length)].filter(Boolean).join(" · "),
    session,
  };
}

async function showMarkdown(content: string): Promise<void> {
  const document = await vscode.workspace.openTextDocument({ content, language: "markdown" });
  await vscode.window.showTextDocument(document);
}

/** Another model for the current session, or a new session with another agent. */
export async function pickModel(agent: Agent): Promise<void> {
  const client = await agent.ensure();
  const sessionId = await agent.openSession();
  const state = await agent.refreshState(sessionId);
  const { models, current } = await client.request<{ models: ModelInfo[]; current?: string }>(
    "models",
    { sessionId },
  );
  type Item = vscode.QuickPickItem & { model?: string; agent?: string };
  const items: Item[] = [
    { label: "Models of this session", kind: vscode.QuickPickItemKind.Separator },
    ...models.map(({ id, provider, contextWindow }) => ({
      label: id,
      description: [provider, id === current && "current"].filter(Boolean).join(" · "),
      detail: contextWindow ? `${Math.round(contextWindow / 1000)}k tokens of context` : "",
      model: id,
    })),
    { label: "A new session with another agent", kind: vscode.QuickPickItemKind.Separator },
    ...(state?.agents ?? []).map((name) => ({
      label: name,
      description: name === state?.agent ? "current" : "",
      agent: name,
    })),
  ];
  const chosen = await vscode.window.showQuickPick(items, { title: "Model or agent" });
  if (chosen?.model !== undefined) {
    await client.request("setModel", { sessionId, model: chosen.model });
    await agent.refreshState(sessionId);
  } else if (chosen?.agent !== undefined) {
    await agent.newSession({ agent: chosen.agent });
  }
}

/** What else the agent can be set to: its mode, how much it thinks. */
export async function pickOption(agent: Agent): Promise<void> {
  const client = await agent.ensure();
  const sessionId = await agent.openSession();
  const { options } = await client.request<{ options: Option[] }>("options", { sessionId });
  if (options.length === 0) {
    void vscode.window.showInformationMessage("The agent has no options.");
    return;
  }
  const items = options.map((option) => ({
    label: option.name,
    description: option.values.find(({ value }) => value === option.value)?.name ?? option.value,
    detail: option.description ?? "",
    option,
  }));
  const chosen = await vscode.window.showQuickPick(items, { title: "Agent options" });
  if (chosen === undefined) return;
  const { id, name, value: current, values } = chosen.option;
  const choices = values.map(({ value, name: label, description }) => ({
    label,
    description: value === current ? "current" : "",
    detail: description ?? "",
    value,
  }));
  const choice = await vscode.window.showQuickPick(choices, { title: name });
  if (choice) await client.request("setOption", { sessionId, id, value: choice.value });
}

/** What the agent and its extensions offer; `insert` puts the chosen one into the prompt. */
export async function pickCommand(
  agent: Agent,
  insert: (text: string) => Promise<void>,
): Promise<void> {
  const client = await agent.ensure();
  const params = { sessionId: agent.chat?.sessionId };
  const { commands } = await client.request<{ commands: CommandInfo[] }>("commands", params);
  if (commands.length === 0) {
    void vscode.window.showInformationMessage("The agent offers no slash commands.");
    return;
  }
  const items = commands.map(({ name, description }) => ({
    label: `/${name}`,
    description: description ?? "",
  }));
  const chosen = await vscode.window.showQuickPick(items, { title: "Slash commands" });
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
    ["lspAgent.chat.model", "$(settings) Choose model or agent"],
    ["lspAgent.chat.command", "$(terminal) Run a slash command"],
    ["lspAgent.server.restart", "$(refresh) Restart server"],
    ["lspAgent.server.log", "$(output) Show log"],
  );
  const items = actions.map(([command, label]) => ({ label, command }));
  const chosen = await vscode.window.showQuickPick(items, { title: "Agent" });
  if (chosen) await vscode.commands.executeCommand(chosen.command);
}

function turns(count: number): string {
  return count === 1 ? "1 turn" : `${count} turns`;
}
