// Puts the parts together.

import * as vscode from "vscode";

import { Agent } from "./agent";
import { attachment } from "./chat/suggestions";
import { ChatView } from "./chat/view";
import { Exports } from "./exports";
import {
  pickAction,
  pickCommand,
  pickModel,
  pickOption,
  pickOwnSession,
  pickSession,
} from "./pickers";
import { Questions } from "./questions";
import { Review, reporting } from "./review";
import { SECTION, initializationOptions } from "./settings";
import { StatusBar } from "./status";

const GET_PYTHON = "https://www.python.org/downloads/";

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
  const chat = new ChatView(context.extensionUri, made, questions, review);
  const exports = new Exports(made);
  const status = new StatusBar(made, questions, review);
  context.subscriptions.push(
    ...[log, questions, review, made, chat, exports, status],
    ...commands(made, chat, exports, questions, review, log),
    chat.onVisibility(() => questions.notifyUnwatched()),
    made.onSwitch(() => questions.notifyUnwatched()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void made.connection.startIfThere()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => void made.connection.startIfThere()),
    followSettings(made),
  );
  void made.connection.startIfThere();
}

export async function deactivate(): Promise<void> {
  await agent?.shutDown();
}

function commands(
  made: Agent,
  chat: ChatView,
  exports: Exports,
  questions: Questions,
  review: Review,
  log: vscode.LogOutputChannel,
): vscode.Disposable[] {
  const focus = (): Promise<void> => chat.focus();
  const run: Record<string, (...passed: unknown[]) => Promise<unknown>> = {
    "chat.open": focus,
    "chat.askSelection": async () => {
      const editor = vscode.window.activeTextEditor;
      if (editor) await chat.attach(attachment(editor.document.uri, editor.selection));
    },
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
    "chat.sessions": () => pickSession(made, exports, focus),
    "chat.continueOwn": () => pickOwnSession(made, focus),
    "chat.model": () => pickModel(made, focus),
    "chat.options": () => pickOption(made),
    "chat.command": () => pickCommand(made, (text) => chat.insert(text)),
    "chat.stop": () => made.stopAll(),
    "chat.answer": () => questions.pick(),
    "server.restart": () => made.connection.restart(),
    "server.log": async () => log.show(),
    "server.settings": async () =>
      vscode.commands.executeCommand("workbench.action.openSettings", "lspAgent.server.path"),
    "server.getPython": async () => vscode.env.openExternal(vscode.Uri.parse(GET_PYTHON)),
    menu: () => pickAction(made, review.count),
  };
  return Object.entries(run).map(([name, action]) =>
    vscode.commands.registerCommand(`lspAgent.${name}`, (...passed: unknown[]) =>
      reporting(() => action(...passed)),
    ),
  );
}

/** A workspace's settings are read by the server; a person's own need a new one. */
function followSettings(made: Agent): vscode.Disposable {
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
    const restart = "Restart Server";
    const text = "The agent's server must be started again to use the changed settings.";
    if ((await vscode.window.showInformationMessage(text, restart)) === restart) {
      await reporting(() => made.connection.restart());
    }
  });
}
