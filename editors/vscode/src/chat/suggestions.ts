// The files that `@` in the prompt offers, and what goes along with a prompt.

import * as vscode from "vscode";

import type { Range } from "../protocol";
import { fitting, globOf } from "./fitting";
import type { Attachment, Suggestion } from "./messages";

const MOST = 20;
const SEARCHED = 5000;

/** Files of the workspace and their folders that fit the query; open files first. */
export async function files(query: string): Promise<Suggestion[]> {
  const open = vscode.workspace.textDocuments
    .filter((each) => each.uri.scheme === "file" && vscode.workspace.getWorkspaceFolder(each.uri))
    .map((each) => each.uri);
  const found = await searched(query);
  const paths = new Map(
    [...open, ...found].map((uri) => [vscode.workspace.asRelativePath(uri), uri]),
  );
  return fitting([...paths.keys()], query, MOST).map((path) => {
    const name = path.split("/").at(-1) || `${path.split("/").at(-2)}/`;
    const suggestion = {
      insert: `@${path}`,
      label: name,
      detail: path.slice(0, -name.length - 1),
    };
    const uri = paths.get(path);
    // Of a folder the agent is told the name: what is in it, it looks at by itself.
    return uri ? { ...suggestion, attachment: attachment(uri) } : suggestion;
  });
}

/** Some of a large workspace, and of all of it those that fit; without what a search leaves out. */
async function searched(query: string): Promise<vscode.Uri[]> {
  const left = vscode.workspace.getConfiguration("search").get<Record<string, unknown>>("exclude", {});
  const excluded = Object.keys(left).filter((glob) => left[glob] === true);
  const exclude = excluded.length > 0 ? `{${excluded.join(",")}}` : undefined;
  const some = await vscode.workspace.findFiles("**/*", exclude, SEARCHED);
  const glob = globOf(query);
  if (some.length < SEARCHED || glob === undefined) return some;
  return [...some, ...(await vscode.workspace.findFiles(glob, exclude, SEARCHED))];
}

/** A document, or the lines of a selection in it. */
export function attachment(uri: vscode.Uri, selection?: vscode.Selection): Attachment {
  if (selection === undefined || selection.isEmpty) return { uri: uri.toString(), label: labelOf(uri) };
  const { start, end } = selection;
  const range = {
    start: { line: start.line, character: start.character },
    end: { line: end.line, character: end.character },
  };
  return { uri: uri.toString(), range, label: labelOf(uri, range) };
}

/** The path in the workspace, with the lines. */
export function labelOf(uri: vscode.Uri, range?: Range): string {
  const path = vscode.workspace.asRelativePath(uri);
  if (range === undefined) return path;
  const { start, end } = range;
  const last = end.character === 0 && end.line > start.line ? end.line : end.line + 1;
  const lines = last > start.line + 1 ? `${start.line + 1}-${last}` : `${start.line + 1}`;
  return `${path}:${lines}`;
}
