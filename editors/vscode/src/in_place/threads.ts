// Threads in the text, of VS Code's comments: where a person writes at some lines, and what became
// of it beside them.

import * as vscode from "vscode";

import type { Range } from "../protocol";
import type { Lines } from "./lines";
import { linesOf, moved } from "./lines";

const ID = "lspAgent";
/** VS Code asks for the ranges once or twice, 200 ms apart, and takes the last answer. */
const QUIET_MILLISECONDS = 300;
const MOST_MILLISECONDS = 3000;

export class Threads implements vscode.Disposable {
  private readonly controller = vscode.comments.createCommentController(ID, "Agent");
  private readonly places = new Map<vscode.CommentThread, Range>();
  private readonly watching: vscode.Disposable;

  constructor() {
    this.controller.options = {
      prompt: "What the agent is to do",
      placeHolder: "Change these lines, or comment on them for later",
    };
    this.watching = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      for (const [thread, place] of this.places) {
        if (thread.uri.toString() !== document.uri.toString()) continue;
        this.places.set(thread, contentChanges.reduce(moved, place));
      }
    });
  }

  /** Opens an empty one, with the cursor in it, at lines of the active editor: only of those that
   * may be commented on VS Code opens one so, and these are all that may. */
  async open(editor: vscode.TextEditor, range: vscode.Range): Promise<void> {
    const { uri } = editor.document;
    await new Promise<void>((resolve) => {
      let quiet = setTimeout(resolve, MOST_MILLISECONDS);
      this.controller.commentingRangeProvider = {
        provideCommentingRanges: (document) => {
          if (document.uri.toString() !== uri.toString()) return [];
          clearTimeout(quiet);
          quiet = setTimeout(resolve, QUIET_MILLISECONDS);
          return [range];
        },
      };
    });
    editor.selection = new vscode.Selection(range.start, range.end);
    await vscode.commands.executeCommand("workbench.action.addComment");
  }

  /** A thread at these lines, whose box is nobody's. */
  add(uri: vscode.Uri, range: vscode.Range): vscode.CommentThread {
    const thread = this.controller.createCommentThread(uri, range, []);
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    return thread;
  }

  /** What was written in a thread stands there, and its lines are followed from now on. */
  say(thread: vscode.CommentThread, text: string): void {
    if (!this.places.has(thread)) {
      this.places.set(thread, thread.range ?? new vscode.Range(0, 0, 0, 0));
    }
    const mode = vscode.CommentMode.Preview;
    thread.comments = [...thread.comments, { body: text, mode, author: { name: "You" } }];
  }

  tell(thread: vscode.CommentThread, label: string, state: string): void {
    thread.label = label;
    thread.contextValue = state;
  }

  /** Where its lines are now. */
  lines(thread: vscode.CommentThread, document: vscode.TextDocument): Lines {
    const { start, end } = this.places.get(thread) ?? new vscode.Range(0, 0, 0, 0);
    return linesOf({ start, end }, (line) => document.lineAt(line).text.length);
  }

  /** The one with a place at that line. */
  at(document: vscode.TextDocument, line: number): vscode.CommentThread | undefined {
    return [...this.places.keys()].find((thread) => {
      if (thread.uri.toString() !== document.uri.toString()) return false;
      const [first, last] = this.lines(thread, document);
      return first <= line && line <= last;
    });
  }

  close(thread: vscode.CommentThread): void {
    this.places.delete(thread);
    thread.dispose();
  }

  dispose(): void {
    this.watching.dispose();
    this.controller.dispose();
  }
}

/** Whole lines of a document, as the server takes a range. */
export function rangeOf(document: vscode.TextDocument, [first, last]: Lines): vscode.Range {
  return document.validateRange(new vscode.Range(first, 0, last, Number.MAX_SAFE_INTEGER));
}
