// The server's edits, saves and reloads of documents, each answered as it went.

import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import * as vscode from "vscode";
import type { ApplyWorkspaceEditParams, ApplyWorkspaceEditResult } from "vscode-languageclient";
import { TextDocumentEdit } from "vscode-languageclient";

const RELOAD_MILLISECONDS = 2000;

export type ApplyNext = (params: ApplyWorkspaceEditParams) => Promise<ApplyWorkspaceEditResult>;

/** workspace/applyEdit: `next` applies; a refusal says why. */
export async function applyEdit(
  params: ApplyWorkspaceEditParams,
  next: ApplyNext,
): Promise<ApplyWorkspaceEditResult> {
  for (const change of params.edit.documentChanges ?? []) {
    if (!TextDocumentEdit.is(change)) continue;
    const { uri, version } = change.textDocument;
    const document = openDocument(uri);
    if (version !== null && document === undefined) {
      return { applied: false, failureReason: `${uri} is not open in the editor` };
    }
    if (version !== null && document?.version !== version) {
      const failureReason = `the document is at version ${document?.version}, not ${version}`;
      return { applied: false, failureReason };
    }
  }
  const answer = await next(params);
  if (answer.applied || answer.failureReason) return answer;
  return { ...answer, failureReason: "the editor refused: the document changed meanwhile" };
}

/** agent/saveDocument: with a `version` only what the document was at it, and no keys since. The file
 * of a document that is empty then is deleted where that is what is saved. */
export async function saveDocument(params: {
  uri: string;
  version?: number | null;
  removes?: boolean;
}): Promise<{ saved: boolean }> {
  const version = params.version ?? undefined;
  // The window tells of its keys in order: once it has answered, all from before are known here.
  if (version !== undefined) {
    await vscode.commands.executeCommand("setContext", "lspAgent.saving", true);
  }
  const document = openDocument(params.uri);
  if (document === undefined) return { saved: false };
  if (version !== undefined && document.version !== version) return { saved: false };
  const saved = !document.isDirty || (await document.save());
  if (saved && params.removes && lines(document.getText()).trim() === "") {
    await vscode.workspace.fs.delete(document.uri);
  }
  return { saved };
}

/** agent/reloadDocument: VS Code reads a changed file again by itself where nothing is unsaved;
 * the answer comes when it has. */
export async function reloadDocument(params: { uri: string }): Promise<{ reloaded: boolean }> {
  const deadline = Date.now() + RELOAD_MILLISECONDS;
  for (;;) {
    const document = openDocument(params.uri);
    if (document === undefined || document.isDirty) return { reloaded: false };
    const onDisk = await readFile(document.uri.fsPath, "utf8").catch(() => undefined);
    if (onDisk === undefined) return { reloaded: false };
    if (sameText(document.getText(), onDisk)) return { reloaded: true };
    if (Date.now() > deadline) return { reloaded: false };
    await sleep(30);
  }
}

/** agent/diagnostics: what the language servers say; not what this one hints at. */
export function diagnostics(params: { uris?: string[] | null }): { files: object[] } {
  const files = params.uris
    ? params.uris.map((uri) => [uri, vscode.languages.getDiagnostics(vscode.Uri.parse(uri))] as const)
    : vscode.languages.getDiagnostics().map(([uri, found]) => [uri.toString(), found] as const);
  return {
    files: files
      .map(([uri, found]) => ({ uri, diagnostics: found.filter(isOfOthers).map(toWire) }))
      .filter((file) => params.uris || file.diagnostics.length > 0),
  };
}

export function openDocument(uri: string): vscode.TextDocument | undefined {
  const wanted = vscode.Uri.parse(uri).toString();
  return vscode.workspace.textDocuments.find((each) => each.uri.toString() === wanted);
}

function isOfOthers(diagnostic: vscode.Diagnostic): boolean {
  return diagnostic.source !== "lsp-agent";
}

function toWire(diagnostic: vscode.Diagnostic): object {
  const { range, code } = diagnostic;
  return {
    range: {
      start: { line: range.start.line, character: range.start.character },
      end: { line: range.end.line, character: range.end.character },
    },
    severity: diagnostic.severity + 1,
    code: typeof code === "object" ? code.value : code,
    source: diagnostic.source,
    message: diagnostic.message,
  };
}

function sameText(shown: string, onDisk: string): boolean {
  return lines(shown) === lines(onDisk.replace(/^\uFEFF/, ""));
}

function lines(text: string): string {
  return text.replaceAll("\r\n", "\n");
}
