// A turn's progress, with a Cancel that is seen. The client's own hides it in the status bar.

import * as vscode from "vscode";
import type {
  ProgressToken,
  WorkDoneProgressBegin,
  WorkDoneProgressEnd,
  WorkDoneProgressReport,
} from "vscode-languageclient";

import { unlinked } from "./notices";

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

  take(token: ProgressToken, value: Value): void {
    if (value.kind === "begin") this.begin(token, value);
    else if (value.kind === "end") {
      this.shown.get(token)?.end();
      this.shown.delete(token);
    } else if (value.message) this.shown.get(token)?.report(value.message);
  }

  endAll(): void {
    for (const shown of this.shown.values()) shown.end();
    this.shown.clear();
  }

  private begin(token: ProgressToken, value: WorkDoneProgressBegin): void {
    // A tool call is named in its turn's progress, which alone can be cancelled; and who looks at
    // the chat sees all of it there, with a Stop button.
    if (!value.cancellable || this.isWatched()) return;
    const title = unlinked(value.title);
    const where = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    let latest = value.message;
    let show = (text: string): void => void (latest = text);
    const { promise, resolve } = deferred();
    this.shown.set(token, { report: (text) => show(text), end: resolve });
    void vscode.window.withProgress(where, async (progress, cancellation) => {
      show = (text) => progress.report({ message: unlinked(text) });
      if (latest) show(latest);
      cancellation.onCancellationRequested(() => this.cancel(token));
      await promise;
    });
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve!: () => void;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
