// Documents that the server has shown.

import * as vscode from "vscode";
import type { ShowDocumentParams } from "vscode-languageclient";

/** An editor that is told of late has the cursor where it was before. */
const MOST_MILLISECONDS = 1000;

/** Once the cursor of the active editor is told to be where it was shown. A person may have moved it
 * on by then, so it is not waited for long. */
export async function arrived({ uri, selection }: ShowDocumentParams): Promise<void> {
  if (selection === undefined) return;
  const shown = vscode.Uri.parse(uri).toString();
  const isThere = (): boolean => {
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.uri.toString() !== shown) return false;
    const last = editor.document.lineCount - 1;
    return editor.selection.active.line === Math.min(selection.start.line, last);
  };
  const listening: vscode.Disposable[] = [];
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (isThere()) resolve();
    };
    listening.push(
      vscode.window.onDidChangeActiveTextEditor(look),
      vscode.window.onDidChangeTextEditorSelection(look),
    );
    setTimeout(resolve, MOST_MILLISECONDS);
    look();
  });
  for (const each of listening) each.dispose();
}
