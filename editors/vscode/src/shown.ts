// Documents that the server has shown.

import * as vscode from "vscode";
import type { ShowDocumentParams } from "vscode-languageclient";

/** A busy window tells seconds later where its cursor is; no longer than this, as the editor may be
 * of a kind that tells nothing. */
const MOST_MILLISECONDS = 10_000;

/** Once `showing` is over, and the cursor of the active editor was told to be there, if only until
 * a person moved it on: to be called as soon as it begins. Raises what `showing` does. */
export async function arrived(
  { uri, selection }: ShowDocumentParams,
  showing: Promise<unknown>,
): Promise<void> {
  if (selection === undefined) {
    await showing;
    return;
  }
  const shown = vscode.Uri.parse(uri).toString();
  const isThere = (): boolean => {
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.uri.toString() !== shown) return false;
    const last = editor.document.lineCount - 1;
    return editor.selection.active.line === Math.min(selection.start.line, last);
  };
  const listening: vscode.Disposable[] = [];
  let limit: NodeJS.Timeout | undefined;
  const told = new Promise<void>((resolve) => {
    const look = (): void => {
      if (isThere()) resolve();
    };
    listening.push(
      vscode.window.onDidChangeActiveTextEditor(look),
      vscode.window.onDidChangeTextEditorSelection(look),
    );
    look();
    limit = setTimeout(resolve, MOST_MILLISECONDS);
  });
  try {
    await showing;
    await told;
  } finally {
    clearTimeout(limit);
    for (const each of listening) each.dispose();
  }
}
