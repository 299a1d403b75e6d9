// What `@` and `/` in the prompt offer.

import * as vscode from "vscode";

import type { Agent } from "../agent";
import type { CommandInfo } from "../protocol";
import type { Attachment, Suggestion } from "./messages";

const MOST = 20;
const SEARCHED = 5000;

/** Commands of the chat itself; those of the agent come after them. */
export const SLASH_COMMANDS: Record<string, { detail: string; run: (agent: Agent) => Promise<void> }> =
  {
    new: { detail: "Start a new session", run: (agent) => agent.newSession().then(() => {}) },
    sessions: { detail: "Switch to another session", run: command("lspAgent.chat.sessions") },
    model: { detail: "Choose the model or the agent", run: command("lspAgent.chat.model") },
    review: { detail: "Show all open changes side by side", run: command("lspAgent.review.open") },
    keep: { detail: "Keep all open changes", run: command("lspAgent.review.keepAll") },
    undo: { detail: "Undo the changes of the latest turn", run: command("lspAgent.review.undoAll") },
    compact: {
      detail: "Have the agent summarise the conversation",
      run: (agent) => inSession(agent, "compact"),
    },
    clear: { detail: "Forget this conversation", run: (agent) => agent.clear() },
    stop: { detail: "Stop what runs and drop what waits", run: (agent) => agent.stop() },
  };

export async function slashCommands(agent: Agent, query: string): Promise<Suggestion[]> {
  const own = Object.entries(SLASH_COMMANDS).map(([name, { detail }]) => ({ name, detail }));
  const agents = (await agentCommands(agent)).map(({ name, description }) => ({
    name,
    detail: description ?? "",
  }));
  return [...own, ...agents]
    .filter(({ name }) => name.startsWith(query.toLowerCase()))
    .map(({ name, detail }) => ({ insert: `/${name}`, label: `/${name}`, detail }));
}

/** The agent's own; empty where it has none or no session runs. */
export async function agentCommands(agent: Agent): Promise<CommandInfo[]> {
  if (agent.chat === undefined || agent.chat.earlier) return [];
  const params = { sessionId: agent.chat.sessionId };
  const found = await agent.connection.running?.request<{ commands: CommandInfo[] }>("commands", params);
  return found?.commands ?? [];
}

/** Files of the workspace whose path has the letters of the query in order; open ones first. */
export async function files(query: string): Promise<Suggestion[]> {
  const open = vscode.workspace.textDocuments
    .filter((each) => each.uri.scheme === "file" && vscode.workspace.getWorkspaceFolder(each.uri))
    .map((each) => each.uri);
  const found = await vscode.workspace.findFiles("**/*", undefined, SEARCHED);
  const paths = new Map([...open, ...found].map((uri) => [uri.toString(), uri]));
  const wanted = query.toLowerCase();
  return [...paths.values()]
    .map((uri) => ({ uri, path: vscode.workspace.asRelativePath(uri) }))
    .map((file) => ({ ...file, distance: distance(file.path.toLowerCase(), wanted) }))
    .filter((file) => file.distance < Infinity)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MOST)
    .map(({ uri, path }) => {
      const name = path.split("/").at(-1) ?? path;
      const folder = path.slice(0, -name.length - 1);
      return { insert: `@${path}`, label: name, detail: folder, attachment: attachment(uri) };
    });
}

/** A document, or the lines of a selection in it. */
export function attachment(uri: vscode.Uri, selection?: vscode.Selection): Attachment {
  const path = vscode.workspace.asRelativePath(uri);
  if (selection === undefined || selection.isEmpty) return { uri: uri.toString(), label: path };
  const { start, end } = selection;
  const last = end.character === 0 && end.line > start.line ? end.line : end.line + 1;
  const lines = last > start.line + 1 ? `${start.line + 1}-${last}` : `${start.line + 1}`;
  const range = {
    start: { line: start.line, character: start.character },
    end: { line: end.line, character: end.character },
  };
  return { uri: uri.toString(), range, label: `${path}:${lines}` };
}

/** How badly the query fits; infinite where it does not. The file's name counts most. */
function distance(path: string, query: string): number {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name.startsWith(query)) return 0;
  if (name.includes(query)) return 1;
  if (path.includes(query)) return 2;
  let at = -1;
  for (const letter of query) {
    at = path.indexOf(letter, at + 1);
    if (at < 0) return Infinity;
  }
  return 3;
}

function command(name: string): () => Promise<void> {
  return async () => vscode.commands.executeCommand(name);
}

async function inSession(agent: Agent, method: string): Promise<void> {
  if (agent.chat === undefined || agent.chat.earlier) return;
  await agent.connection.running?.request(method, { sessionId: agent.chat.sessionId });
}
