// Puts the parts together.

import * as vscode from "vscode";

import { Agent } from "./agent";
import { Attention } from "./attention";
import { attachment } from "./chat/suggestions";
import { ChatView, VIEW } from "./chat/view";
import { Connect } from "./connect/connect";
import { runShown } from "./connect/terminal";
import { Exports } from "./exports";
import { InPlace } from "./in_place/in_place";
import {
  pickAction,
  pickBackgroundCommand,
  pickCommand,
  pickOption,
  pickOwnSession,
  pickSession,
} from "./pickers";
import { pickModel } from "./pick_model";
import { pickPermission } from "./permissions";
import { Questions } from "./questions";
import { Review, reporting } from "./review";
import { fork, goBack } from "./rewind";
import { SECTION, initializationOptions } from "./settings";
import { StatusBar } from "./status";
import { tell } from "./system_notification";

/** How the files of conversations end. */
const CONVERSATION = ".chat.md";
const ASIDE = "workbench.view.extension.lspAgentAside";
const GET_PYTHON = "https://www.python.org/downloads/";
/** As https://docs.astral.sh/uv/getting-started/installation/ has it. */
const GET_UV =
  process.platform === "win32"
    ? 'powershell -ExecutionPolicy ByPass -c "irm https://astral.sh/uv/install.ps1 | iex"'
    : "curl -LsSf https://astral.sh/uv/install.sh | sh";

let agent: Agent | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Agent", { log: true });
  const isWatched = (): boolean => chat.isVisible;
  const questions = new Questions(
    (sessionId) => isWatched() && made.current === sessionId,
    async ({ sessionId, questionId }) => {
      if (made.current !== sessionId) made.switchTo(sessionId);
      await chat.showQuestion(questionId);
    },
  );
  const review = new Review();
  const made = new Agent(context, log, {
    ask: questions.ask,
    commands: review.overrides,
    isWatched,
    stopped: () => questions.closeAll(),
  });
  agent = made;
  review.attach(made);
  const connect = new Connect(made, context.secrets, () => chat.focus());
  const chat = new ChatView(context.extensionUri, made, questions, review, connect);
  const exports = new Exports(made);
  // Where it was used before, changes may wait for review; else it starts with the first use, which
  // may be a conversation in an editor: what can be done with it comes from the server.
  const startIfNeeded = (): void => {
    const isUsed = chat.isVisible || made.chats.size > 0 || showsConversation();
    if (isUsed) void made.connection.startIfThere();
  };
  const inPlace = new InPlace(made, review);
  const attention = new Attention(made, questions, chat, context.workspaceState, tell);
  const status = new StatusBar(made, questions, review);
  context.subscriptions.push(
    ...[log, questions, review, made, chat, connect, exports, status, attention, inPlace],
    ...commands(made, chat, connect, exports, questions, review, attention, log),
    chat.onVisibility(() => questions.notifyUnwatched()),
    made.onSwitch(() => questions.notifyUnwatched()),
    vscode.workspace.onDidGrantWorkspaceTrust(startIfNeeded),
    vscode.workspace.onDidChangeWorkspaceFolders(startIfNeeded),
    vscode.window.onDidChangeVisibleTextEditors(() => {
      if (made.connection.state.kind === "stopped" && showsConversation()) startIfNeeded();
    }),
    followSettings(made, connect),
  );
  startIfNeeded();
}

export async function deactivate(): Promise<void> {
  await agent?.shutDown();
}

function commands(
  made: Agent,
  chat: ChatView,
  connect: Connect,
  exports: Exports,
  questions: Questions,
  review: Review,
  attention: Attention,
  log: vscode.LogOutputChannel,
): vscode.Disposable[] {
  const focus = (): Promise<void> => chat.focus();
  const run: Record<string, (...passed: unknown[]) => Promise<unknown>> = {
    "chat.open": focus,
    "chat.askSelection": async () => {
      const editor = vscode.window.activeTextEditor;
      if (editor) await chat.attach(attachment(editor.document.uri, editor.selection));
    },
    "chat.changeSelection": changeSelection,
    "chat.addFile": async (pressed, selected) => {
      const uri = pressed ?? vscode.window.activeTextEditor?.document.uri;
      for (const each of Array.isArray(selected) ? selected : [uri]) {
        if (each instanceof vscode.Uri) await chat.attach(attachment(each));
      }
    },
    "chat.new": async () => {
      const isNew = made.chat?.earlier === false && made.chat.turns.length === 0;
      if (!isNew) await made.newSession();
      await focus();
    },
    "chat.sessions": () => pickSession(made, exports, attention, focus),
    "chat.continueOwn": () => pickOwnSession(made, focus),
    "chat.rewind": () => goBack(made, (text) => chat.putBack(text)),
    "chat.fork": () => fork(made, (text) => chat.putBack(text)),
    "chat.model": () => pickModel(made, connect, focus),
    "chat.moveAside": async () =>
      vscode.commands.executeCommand("vscode.moveViews", { viewIds: [VIEW], destinationId: ASIDE }),
    "chat.connect": () => connect.open(),
    "chat.options": () => pickOption(made),
    "chat.background": () => pickBackgroundCommand(made),
    "chat.command": () => pickCommand(made, (text) => chat.insert(text)),
    "chat.permissions": () => pickPermission(made),
    "chat.stop": () => made.stopAll(),
    "chat.answer": () => questions.pick(),
    "server.restart": () => made.connection.restart(),
    "server.log": async () => log.show(),
    "server.settings": async () =>
      vscode.commands.executeCommand("workbench.action.openSettings", "lspAgent.server.path"),
    "server.getUv": async () => {
      if ((await runShown("Install uv", GET_UV)) === 0) await made.connection.restart();
    },
    "server.getPython": async () => vscode.env.openExternal(vscode.Uri.parse(GET_PYTHON)),
    menu: () => pickAction(made, review.count),
  };
  return Object.entries(run).map(([name, action]) =>
    vscode.commands.registerCommand(`lspAgent.${name}`, (...passed: unknown[]) =>
      reporting(() => action(...passed)),
    ),
  );
}

/** Whether a conversation is open as a document. */
function showsConversation(): boolean {
  const paths = vscode.window.visibleTextEditors.map(({ document }) => document.uri);
  return paths.some(({ scheme, path }) => scheme === "file" && path.endsWith(CONVERSATION));
}

/** A workspace's settings are read by the server; a person's own need a new one. */
function followSettings(made: Agent, connect: Connect): vscode.Disposable {
  const own = (): string =>
    JSON.stringify([
      initializationOptions(),
      vscode.workspace.getConfiguration(SECTION).get("server.path"),
    ]);
  let before = own();
  return vscode.workspace.onDidChangeConfiguration(async (event) => {
    if (!event.affectsConfiguration(SECTION)) return;
    made.connection.running?.configurationChanged();
    if (before === (before = own()) || made.connection.state.kind === "stopped") return;
    if (connect.isAtWork) return; // which starts it anew by itself
    const restart = "Restart Server";
    const text = "The agent's server must be started again to use the changed settings.";
    if ((await vscode.window.showInformationMessage(text, restart)) === restart) {
      await reporting(() => made.connection.restart());
    }
  });
}

/** Asks for a prompt whose changes stay within the lines that are selected. */
async function changeSelection(): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return;
  const { document, selection } = editor;
  const { uri, range } = attachment(document.uri, selection);
  const text = await vscode.window.showInputBox({
    title: "Agent: Change Only the Selection",
    prompt: "What the agent is to do; it changes nothing but these lines",
  });
  if (!text?.trim()) return;
  const context = [{ uri, range }];
  await vscode.commands.executeCommand("lspAgent.prompt", { text, context, range: "confined" });
}
