// The agent's changes where they are: marks in the editor, keys on the hunk at the cursor, diffs.
// The server's code lenses come with the language client.

import * as vscode from "vscode";

import type { Agent } from "./agent";
import type { ChangedFile } from "./chat/changed_files";
import { changedFiles } from "./chat/changed_files";
import type { ReviewAction } from "./chat/messages";
import type { Turn } from "./chat/transcript";
import type { Client } from "./client";
import { registerKeyCommand } from "./key_commands";
import { Line } from "./line";
import { tell, tellError } from "./notices";
import type { ListEdits, OpenHunk } from "./open_hunks";
import { OpenHunks, openHunks } from "./open_hunks";
import type { Edit, Hunk, NextChange, RevertResult } from "./protocol";
import { tellLeft } from "./rewind";

const SCHEME = "lsp-agent-text";
const REFRESH_MILLISECONDS = 150;

/** Which of an edit's two texts a virtual document shows, and of which hunks of it. */
interface Shown {
  editId: string;
  hunks?: string[];
  side: "before" | "after";
}

export class Review implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private agent!: Agent;
  private readonly open = new OpenHunks((uri) => vscode.Uri.parse(uri).toString());
  private shownCount = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly refreshes = new Line();
  /** A decision that is typed ahead is on the change that the key before it goes to. */
  private readonly line = new Line();
  private readonly changes = new vscode.EventEmitter<void>();
  /** `count` changed. */
  readonly onChange = this.changes.event;

  private readonly changed = mark("lspAgent.changeBorder");
  private readonly proposed = mark("lspAgent.proposalBorder", "dashed");
  private readonly removed = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    borderWidth: "2px 0 0 0",
    borderStyle: "solid",
    borderColor: new vscode.ThemeColor("lspAgent.changeBorder"),
    overviewRulerColor: new vscode.ThemeColor("lspAgent.changeBorder"),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
  private readonly disposables: vscode.Disposable[] = [
    this.changed,
    this.proposed,
    this.removed,
    this.changes,
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
    vscode.window.onDidChangeVisibleTextEditors(() => this.refreshSoon()),
    vscode.window.onDidChangeActiveTextEditor(() => this.refreshSoon()),
    // The server calls a file by the URI of its document, while that is open.
    vscode.workspace.onDidOpenTextDocument(() => this.refreshSoon()),
    vscode.workspace.onDidCloseTextDocument(() => this.refreshSoon()),
    vscode.workspace.onDidChangeTextDocument(({ document: { uri } }) => {
      if (uri.scheme === "file" && this.count > 0) this.refreshSoon(uri.toString());
    }),
    ...this.commands(),
  ];

  attach(agent: Agent): void {
    this.agent = agent;
    this.disposables.push(
      agent.onEdit(({ uri }) => this.refreshSoon(uri)),
      agent.onChange(() => this.refreshSoon()),
    );
  }

  /** How many hunks wait for a decision, in all files. */
  get count(): number {
    return this.open.count;
  }

  /** What the extension shows better than the server's commands can. */
  readonly overrides = {
    "lspAgent.previewEdit": async (argument: unknown): Promise<void> => {
      const { editId, hunks } = argument as { editId: string; hunks?: string[] };
      const edit = await this.edit(editId);
      const shown = hunks === undefined ? { editId } : { editId, hunks };
      await vscode.commands.executeCommand(
        "vscode.diff",
        virtual(edit.uri, { ...shown, side: "before" }),
        virtual(edit.uri, { ...shown, side: "after" }),
        `${nameOf(edit.uri)} (the agent's proposal)`,
      );
    },
  };

  /** All files of a turn, or one, in the multi-diff editor: as they were before it, as they are now. */
  async openTurn(turn: Turn, uri?: string): Promise<void> {
    const edits = changed(turn, uri);
    await this.openChanges(`Agent: ${turn.prompt.split("\n", 1)[0] ?? ""}`, edits);
  }

  /** Applies what a turn proposed, in all files or in one. Raises Error at the first that cannot be applied. */
  async applyTurn(turn: Turn, uri?: string): Promise<void> {
    const client = await this.agent.connection.ensure();
    for (const { editId, status } of changed(turn, uri)) {
      if (status === "proposed") await apply(client, { editId });
    }
  }

  /** Decides on what a turn changed, in all files or in one. Raises Error. */
  async decideTurn(sessionId: string, turn: Turn, action: ReviewAction, uri?: string): Promise<void> {
    if (action === "open") return this.openTurn(turn, uri);
    const client = await this.agent.connection.ensure();
    const params = { sessionId, turnId: turn.id, ...(uri !== undefined && { uri }) };
    if (action === "apply") await this.applyTurn(turn, uri);
    else if (action === "keep") await client.request("keepAll", params);
    else if (action === "undo") await client.request("undoAll", params);
    else tellLeft(await client.request<RevertResult>("revert", { ...params, only: true }));
  }

  /** The editor that is the active one when all is done that was typed before this was asked. */
  async activeEditor(): Promise<vscode.TextEditor | undefined> {
    await this.line.over();
    return vscode.window.activeTextEditor;
  }

  /** The hunk at that line that waits for a decision. */
  async hunkIn(uri: vscode.Uri, line: number): Promise<OpenHunk | undefined> {
    const client = this.agent.connection.running;
    const hunks = client === undefined ? [] : await openHunks(lister(client), uri.toString());
    return hunks.find(
      ({ hunk }) => toLines(hunk).start.line <= line && line <= toLines(hunk).end.line,
    );
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const { editId, hunks, side } = JSON.parse(uri.query) as Shown;
    const params = hunks === undefined ? { editId } : { editId, hunks };
    const client = await this.agent.connection.ensure();
    const texts = await client.request<{ before: string; after: string }>("editText", params);
    return texts[side];
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const each of this.disposables) each.dispose();
  }

  private commands(): vscode.Disposable[] {
    const onKeys: Record<string, () => Promise<unknown>> = {
      keep: () => this.decide("keep"),
      undo: () => this.decide("undo"),
      next: () => this.go(false),
      previous: () => this.go(true),
    };
    const others: Record<string, () => Promise<unknown>> = {
      keepAll: async () => (await this.agent.connection.ensure()).request("keepAll"),
      // Without arguments the command means the latest turn; the request means everything.
      undoAll: async () => (await this.agent.connection.ensure()).command("undoAll", {}),
      open: () => this.openAll(),
    };
    return [
      ...Object.entries(onKeys).map(([name, run]) =>
        registerKeyCommand(`lspAgent.review.${name}`, () => reporting(() => this.line.inTurn(run))),
      ),
      ...Object.entries(others).map(([name, run]) =>
        vscode.commands.registerCommand(`lspAgent.review.${name}`, () => reporting(run)),
      ),
    ];
  }

  // Marks

  /** Of these files, or of all. */
  private refreshSoon(...uris: string[]): void {
    this.open.change(...uris);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.refreshes.inTurn(() => this.refresh());
    }, REFRESH_MILLISECONDS);
  }

  private async refresh(): Promise<void> {
    const client = this.agent.connection.running;
    if (client === undefined) this.open.clear();
    else await this.open.refresh(lister(client)).catch(() => undefined); // asked again at the next change
    for (const editor of vscode.window.visibleTextEditors) this.decorate(editor);
    const active = vscode.window.activeTextEditor?.document.uri.toString();
    setContext("hasChanges", this.count > 0);
    setContext("fileHasChanges", active !== undefined && this.open.in(active).length > 0);
    if (this.shownCount === this.count) return;
    this.shownCount = this.count;
    this.changes.fire();
  }

  private decorate(editor: vscode.TextEditor): void {
    const hunks = this.open.in(editor.document.uri.toString());
    const options = (wanted: (each: OpenHunk) => boolean): vscode.DecorationOptions[] =>
      hunks.filter(wanted).map(({ hunk }) => ({ range: toLines(hunk), hoverMessage: hover(hunk) }));
    const isProposal = ({ hunk }: OpenHunk): boolean => hunk.status === "proposed";
    const isRemoval = ({ hunk }: OpenHunk): boolean => hunk.newText === "";
    editor.setDecorations(this.proposed, options(isProposal));
    editor.setDecorations(this.removed, options((each) => !isProposal(each) && isRemoval(each)));
    editor.setDecorations(this.changed, options((each) => !isProposal(each) && !isRemoval(each)));
  }

  // Decisions

  private async decide(decision: "keep" | "undo"): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined) return;
    const client = await this.agent.connection.ensure();
    const found = await this.hunkIn(editor.document.uri, editor.selection.active.line);
    if (found === undefined) {
      vscode.window.setStatusBarMessage("There is no change of the agent's at the cursor.", 4000);
      return;
    }
    const params = { editId: found.edit.editId, hunks: [found.hunk.hunkId] };
    if (decision === "undo") await client.request("rejectEdit", params);
    else if (found.hunk.status !== "proposed") await client.request("keepEdit", params);
    else await apply(client, params);
  }

  private async go(previous: boolean): Promise<void> {
    const client = await this.agent.connection.ensure();
    const editor = vscode.window.activeTextEditor;
    const isFile = editor?.document.uri.scheme === "file";
    const params = isFile
      ? { uri: editor.document.uri.toString(), position: position(editor), previous }
      : { previous };
    const { uri } = await client.request<NextChange>("nextChange", params);
    await client.shown(); // the server asks for it before it answers
    if (uri === undefined) {
      vscode.window.setStatusBarMessage("No change of the agent's waits for review.", 4000);
    }
  }

  // Diffs

  private async openAll(): Promise<void> {
    const hunks = await openHunks(lister(await this.agent.connection.ensure()));
    const edits = new Map(hunks.map(({ edit }) => [edit.editId, edit]));
    await this.openChanges("The agent's changes", [...edits.values()]);
  }

  private async openChanges(
    title: string,
    edits: { editId: string; uri: string; status: string }[],
  ): Promise<void> {
    const files = new Map<string, { first: string; proposal?: string }>();
    for (const { editId, uri, status } of edits) {
      const file = files.get(uri) ?? { first: editId };
      if (status === "proposed") file.proposal = editId;
      files.set(uri, file);
    }
    if (files.size === 0) {
      tell("The agent has changed no file.");
      return;
    }
    const resources = await Promise.all(
      [...files].map(async ([uri, { first, proposal }]) => {
        const label = vscode.Uri.parse(uri);
        const isThere = await vscode.workspace.fs.stat(label).then(
          () => true,
          () => false,
        );
        const now = proposal ? virtual(uri, { editId: proposal, side: "after" }) : label;
        return [
          label,
          virtual(uri, { editId: first, side: "before" }),
          isThere || proposal ? now : undefined,
        ];
      }),
    );
    await vscode.commands.executeCommand("vscode.changes", title, resources);
  }

  private async edit(editId: string): Promise<Edit> {
    const { edits } = await (await this.agent.connection.ensure()).request<{ edits: Edit[] }>("edits");
    const found = edits.find((each) => each.editId === editId);
    if (found === undefined) throw new Error("That change of the agent's is not known any more.");
    return found;
  }
}

/** Runs what a person asked for; says what went wrong. */
export async function reporting(run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    tellError((error as Error).message);
  }
}

const contexts = new Map<string, boolean>();

/** For the when clauses of keys and menus. */
export function setContext(name: string, value: boolean): void {
  if (contexts.get(name) === value) return;
  contexts.set(name, value);
  void vscode.commands.executeCommand("setContext", `lspAgent.${name}`, value);
}

async function apply(client: Client, params: { editId: string; hunks?: string[] }): Promise<void> {
  type Answer = { applied: boolean; failureReason?: string };
  const { applied, failureReason } = await client.request<Answer>("applyEdit", params);
  if (!applied) throw new Error(failureReason ?? "The proposal is not in.");
}

function lister(client: Client): ListEdits {
  return async (params) => (await client.request<{ edits: Edit[] }>("edits", params)).edits;
}

function mark(color: string, style = "solid"): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("diffEditor.insertedLineBackground"),
    borderWidth: "0 0 0 3px",
    borderStyle: style,
    borderColor: new vscode.ThemeColor(color),
    overviewRulerColor: new vscode.ThemeColor(color),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
}

/** The lines of a hunk; of one that only removed, the line it stands before. */
export function toLines({ range: { start, end } }: Hunk): vscode.Range {
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return new vscode.Range(start.line, 0, last, 0);
}

function hover({ status, oldText }: Hunk): vscode.MarkdownString {
  const what = status === "proposed" ? "The agent proposes this" : "The agent changed this";
  const text = new vscode.MarkdownString();
  if (oldText === "") return text.appendText(`${what}; it is new.`);
  return text.appendText(`${what}. Before:`).appendCodeblock(oldText);
}

function position(editor: vscode.TextEditor): { line: number; character: number } {
  const { line, character } = editor.selection.active;
  return { line, character };
}

function virtual(uri: string, shown: Shown): vscode.Uri {
  return vscode.Uri.parse(uri).with({ scheme: SCHEME, query: JSON.stringify(shown) });
}

function nameOf(uri: string): string {
  return vscode.Uri.parse(uri).path.split("/").at(-1) ?? uri;
}

/** What a turn changed, in all files or in one. */
function changed(turn: Turn, uri?: string): ChangedFile[] {
  return [...changedFiles(turn).values()].flat().filter((edit) => uri === undefined || edit.uri === uri);
}
