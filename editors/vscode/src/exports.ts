// Sessions as Markdown, in documents that can be read and saved elsewhere, and closed unasked.

import * as vscode from "vscode";

import type { Agent } from "./agent";
import type { SessionInfo } from "./protocol";

const SCHEME = "lsp-agent-session";

export class Exports implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changes = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changes.event;
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);

  constructor(private readonly agent: Agent) {}

  /** Shows the session as it is now. Raises Error. */
  async show({ sessionId, title }: SessionInfo): Promise<void> {
    const name = (title || "Session").replace(/[/\\]/g, "-");
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}.md`, query: sessionId });
    this.changes.fire(uri);
    await vscode.window.showTextDocument(uri);
  }

  provideTextDocumentContent({ query }: vscode.Uri): Promise<string> {
    return this.agent.exported(query);
  }

  dispose(): void {
    this.registration.dispose();
    this.changes.dispose();
  }
}
