// Quick picks: sessions, models and agents, all actions.

import * as vscode from "vscode";

import type { Agent } from "./agent";
import type { ModelInfo } from "./protocol";

export async function pickSession(agent: Agent): Promise<void> {
  const close = { iconPath: new vscode.ThemeIcon("trash"), tooltip: "Close and forget" };
  const items = (): vscode.QuickPickItem[] & { sessionId?: string }[] => [
    { label: "$(add) New session" },
    ...[...agent.chats.values()].reverse().map((chat) => ({
      label: chat.title || "New session",
      description: agent.isBusy(chat) ? "$(loading~spin) working" : chat.earlier ? "earlier" : "",
      detail: [agent.states.get(chat.sessionId)?.agent, turns(chat.turns.length)]
        .filter(Boolean)
        .join(" · "),
      buttons: [close],
      sessionId: chat.sessionId,
    })),
  ];
  const picker = vscode.window.createQuickPick<vscode.QuickPickItem & { sessionId?: string }>();
  picker.title = "The agent's sessions";
  picker.items = items();
  picker.onDidTriggerItemButton(async ({ item }) => {
    if (item.sessionId !== undefined) await agent.close(item.sessionId);
    picker.items = items();
  });
  picker.onDidAccept(async () => {
    const [chosen] = picker.selectedItems;
    picker.hide();
    if (chosen?.sessionId !== undefined) agent.switchTo(chosen.sessionId);
    else if (chosen !== undefined) await agent.newSession();
  });
  picker.onDidHide(() => picker.dispose());
  picker.show();
}

/** Another model for the current session, or a new session with another agent. */
export async function pickModel(agent: Agent): Promise<void> {
  const client = await agent.ensure();
  const sessionId = agent.chat?.earlier === false ? agent.chat.sessionId : await agent.newSession();
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
