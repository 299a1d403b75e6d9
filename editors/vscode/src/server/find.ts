// Where the server is: the setting, PATH, or the one that comes with the extension.

import { homedir } from "node:os";
import * as vscode from "vscode";

import { SECTION } from "../settings";
import { Installation } from "./installation";
import { isProgram, onPath } from "./programs";
import { ServerError } from "./server_error";

/** The server's program, if it is there already. Raises ServerError where the setting is wrong. */
export async function findServer(context: vscode.ExtensionContext): Promise<string | undefined> {
  const setting = vscode.workspace.getConfiguration(SECTION).get<string>("server.path", "").trim();
  if (setting !== "") {
    const path = setting.replace(/^~(?=[/\\])/, homedir());
    if (await isProgram(path)) return path;
    throw new ServerError(`The setting lspAgent.server.path names no program: ${path}`, "path");
  }
  return (await onPath("lsp-agent")) ?? (await (await Installation.bundled(context))?.found());
}

/** Installs the server that comes with the extension; its program. Raises ServerError. */
export async function installServer(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
): Promise<string> {
  const bundled = await Installation.bundled(context);
  if (bundled === undefined) throw new ServerError("This package comes without a server.", "install");
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: "Setting up the agent's server",
  };
  return vscode.window.withProgress(options, (progress) =>
    bundled.make(log, (message) => progress.report({ message })),
  );
}
