// What is done with a block of code in an answer, where a person asks for it.

import * as vscode from "vscode";

import { tell } from "../notices";
import { commandLine, withoutControls } from "./command_line";

const TERMINAL = "Agent";

/** In place of what is selected in the editor that was used last, as one step to undo. Raises Error
 * where there is none that takes it. */
export async function insertAtCursor(code: string): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (editor === undefined) throw new Error("Open a file first: there is no cursor to insert at.");
  const { document, viewColumn, selections } = editor;
  const text = code.replace(/\n$/, "");
  // Before it is in, so that the keys that undo it are the editor's.
  const shown = await vscode.window.showTextDocument(document, viewColumn);
  const isIn = await shown.edit((edit) => {
    for (const each of selections) edit.replace(each, text);
  });
  if (!isIn) throw new Error("Not inserted: the editor did not take it. Is the file read-only?");
}

/** Nothing runs by this: the person presses Enter. What has several lines they paste themselves, as
 * VS Code warns where the shell would run them one by one. */
export async function runInTerminal(code: string): Promise<void> {
  const command = commandLine(code);
  const known = vscode.window.terminals.find(
    ({ name, exitStatus }) => name === TERMINAL && exitStatus === undefined,
  );
  const terminal = known ?? vscode.window.createTerminal({ name: TERMINAL });
  terminal.show();
  if (command !== undefined) return terminal.sendText(command, false);
  await vscode.env.clipboard.writeText(withoutControls(code));
  const said = "The terminal could run several lines as they come: they are on the clipboard, to be pasted.";
  tell(said);
}
