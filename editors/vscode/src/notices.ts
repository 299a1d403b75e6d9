// What VS Code shows in a notification. It makes links of `[words](address)` there, and one to
// `command:` runs what it names, so that no text of an agent's, of a repository's or of an error
// goes there as it is.

import * as vscode from "vscode";

/** As VS Code's `linkedText.ts` has it. */
const LINK = /\]\((?=(?:https?|command|file):)/gi;

export function tell(text: string): void {
  void vscode.window.showInformationMessage(unlinked(text));
}

export function warn(text: string): void {
  void vscode.window.showWarningMessage(unlinked(text));
}

export function tellError(text: string): void {
  void vscode.window.showErrorMessage(unlinked(text));
}

export function unlinked(text: string): string {
  return text.replaceAll(LINK, "] (");
}
