// What the server is told of the settings. A person's own go into initializationOptions; those of
// a workspace are answered to workspace/configuration, where the server lets them only narrow.

import * as vscode from "vscode";

export const SECTION = "lspAgent";

/** What the server calls by a name that says nothing in a list of settings. */
const SERVER_NAMES: Record<string, string> = {
  "edits.holdLargeDeletions": "edits.hold_shrink",
  "limits.endSilentAgentAfterSeconds": "limits.idle_seconds",
  "limits.longestLineInBytes": "limits.line_bytes",
};

type Source = "own" | "workspace";

/** The settings of the server that are set in that source, nested by their dots. */
export function serverSettings(source: Source, scope?: vscode.Uri): Record<string, unknown> {
  const configuration = vscode.workspace.getConfiguration(SECTION, scope ?? null);
  const found: Record<string, unknown> = {};
  for (const name of serverSettingNames()) {
    const values = configuration.inspect<unknown>(name);
    const value =
      source === "own"
        ? values?.globalValue
        : (values?.workspaceFolderValue ?? values?.workspaceValue);
    if (value !== undefined) put(found, (SERVER_NAMES[name] ?? name).split("."), value);
  }
  return found;
}

/** initializationOptions. The extension marks changes itself: hints only where they are wanted. */
export function initializationOptions(): Record<string, unknown> {
  const own = serverSettings("own");
  return { ...own, edits: { hints: "off", ...(own["edits"] as object | undefined) } };
}

function serverSettingNames(): string[] {
  const extension = vscode.extensions.getExtension("lsp-agent.lsp-agent");
  const declared = extension?.packageJSON.contributes.configuration.properties as object;
  return Object.keys(declared)
    .map((name) => name.slice(SECTION.length + 1))
    .filter((name) => !/^(server|chat)\./.test(name)); // those are read here
}

function put(target: Record<string, unknown>, path: string[], value: unknown): void {
  const [name, ...rest] = path;
  if (name === undefined) return;
  if (rest.length === 0) target[name] = value;
  else put((target[name] ??= {}) as Record<string, unknown>, rest, value);
}
