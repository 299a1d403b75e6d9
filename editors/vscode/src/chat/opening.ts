// What is opened in the editor: a place in a file, and what a link leads to.

import { isAbsolute, normalize } from "node:path";
import * as vscode from "vscode";

import { linkOf } from "./links";

/** The file, with the cursor at that line. */
export async function openAt(uri: vscode.Uri, line: number): Promise<void> {
  const place = new vscode.Position(line, 0);
  await vscode.window.showTextDocument(uri, { selection: new vscode.Range(place, place) });
}

/** A link of the agent's: a page outside, or a file of the workspace. Raises Error where it leads
 * to anything else. */
export async function openLink(href: string): Promise<void> {
  const link = linkOf(href);
  if (link?.to === "page") {
    await vscode.env.openExternal(vscode.Uri.parse(link.url));
    return;
  }
  const uri = link && (await inWorkspace(link.path));
  if (uri === undefined) throw new Error(`Not opened: the workspace has no such file: ${href}`);
  await openAt(uri, link?.line ?? 0);
}

/** The file of that path: of the first folder that has it, where it is relative. Whether a folder
 * has it is told by how the path begins, so that no `..` may be left in it. */
async function inWorkspace(path: string): Promise<vscode.Uri | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const found = isAbsolute(path)
    ? [vscode.Uri.file(normalize(path))]
    : folders.map((folder) => vscode.Uri.joinPath(folder.uri, path));
  for (const uri of found) {
    if (vscode.workspace.getWorkspaceFolder(uri) === undefined) continue;
    const isThere = await vscode.workspace.fs.stat(uri).then(
      () => true,
      () => false,
    );
    if (isThere) return uri;
  }
  return undefined;
}
