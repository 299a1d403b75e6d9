// Images that go along with a prompt.

import { extname } from "node:path";
import * as vscode from "vscode";

import type { Image } from "./messages";

const TYPES: Record<string, string> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};

/** A file of a kind that models take. Raises Error where it cannot be read. */
export async function imageAt(uri: vscode.Uri): Promise<Omit<Image, "label"> | undefined> {
  const mimeType = TYPES[extname(uri.path).toLowerCase()];
  if (mimeType === undefined) return undefined;
  const bytes = await vscode.workspace.fs.readFile(uri);
  return { mimeType, data: Buffer.from(bytes).toString("base64") };
}
