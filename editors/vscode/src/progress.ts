// A turn's progress, with a Cancel that is seen. The client's own hides it in the status bar.

import * as vscode from "vscode";
import type {
  ProgressToken,
  WorkDoneProgressBegin,
  WorkDoneProgressEnd,
  WorkDoneProgressReport,
} from "vscode-languageclient";

type Value = WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd;

interface Shown {
  report(message: string): void;
  end(): void;
}

export class TurnProgress {
  private readonly shown = new Map<ProgressToken, Shown>();

  constructor(
    private readonly isWatched: () => boolean,
    private readonly cancel: (token: ProgressToken) => void,
  ) {}

  /** Whether the progress is ours to show: only what can be cancelled is. */
  take(token: ProgressToken, value: Value): boolean {
    if (value.kind === "begin") {
      if (!value.cancellable) return false;
      this.begin(token, value);
      return true;
    }
    const shown = this.shown.get(token);
    if (shown === undefined) return false;
    if (value.kind === "report") {
      if (value.message) shown.report(value.message);
      return true;
    }
    shown.end();
    this.shown.delete(token);
    return false; // the client forgets its own part, which never began
  }

  endAll(): void {
    for (const shown of this.shown.values()) shown.end();
    this.shown.clear();
  }

  private begin(token: ProgressToken, { title, message }: WorkDoneProgressBegin): void {
    // Who looks at the chat sees the turn and its Stop button there.
    if (this.isWatched()) {
      this.shown.set(token, { report: () => {}, end: () => {} });
      return;
    }
    const where = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    const ended = new Promise<void>((end) => {
      let latest = message;
      let show = (text: string): void => void (latest = text);
      this.shown.set(token, { report: (text) => show(text), end });
      void vscode.window.withProgress(where, async (progress, cancellation) => {
        show = (text) => progress.report({ message: text });
        if (latest) show(latest);
        cancellation.onCancellationRequested(() => this.cancel(token));
        await ended;
      });
    });
  }
}
