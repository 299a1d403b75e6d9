// What goes along with a prompt: images, and documents that the server reads as they are shown.

import { extname } from "node:path";
import * as vscode from "vscode";

import type { ContextItem } from "../protocol";
import type { Attachment, Image } from "./messages";
import type { Picture } from "./requests";

const TYPES: Record<string, string> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};

/** As the server takes it. Raises Error where a file cannot be read. */
export async function sentAlong(
  attachments: Attachment[],
  pasted: Image[],
): Promise<{ context: ContextItem[]; images: Picture[] }> {
  const context: ContextItem[] = [];
  const images: Picture[] = pasted.map(({ mimeType, data }) => ({ mimeType, data }));
  for (const { uri, range } of attachments) {
    const image = await imageAt(vscode.Uri.parse(uri));
    if (image) images.push(image);
    else {
      await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
      context.push(range ? { uri, range } : { uri });
    }
  }
  return { context, images };
}

/** A file of a kind that models take. Raises Error where it cannot be read. */
async function imageAt(uri: vscode.Uri): Promise<Picture | undefined> {
  const mimeType = TYPES[extname(uri.path).toLowerCase()];
  if (mimeType === undefined) return undefined;
  const bytes = await vscode.workspace.fs.readFile(uri);
  return { mimeType, data: Buffer.from(bytes).toString("base64") };
}

/** What stands in each of those ranges now; null of a whole document, or of one that is gone. */
export function textsOf(context: ContextItem[]): Promise<(string | null)[]> {
  return Promise.all(
    context.map(async ({ uri, range }) => {
      if (range === undefined) return null;
      const { start, end } = range;
      const lines = new vscode.Range(start.line, start.character, end.line, end.character);
      return vscode.workspace.openTextDocument(vscode.Uri.parse(uri)).then(
        (document) => document.getText(lines),
        () => null,
      );
    }),
  );
}
