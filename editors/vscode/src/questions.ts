// The agent's questions: asked in the chat and, where nobody looks at that, in a notification.

import * as vscode from "vscode";

import type { Option, Question } from "./protocol";

type Answer = { optionId: string } | null;

interface Open {
  question: Question;
  isNotified: boolean;
  settle(answer: Answer): void;
}

export class Questions implements vscode.Disposable {
  private readonly open = new Map<string, Open>();
  private readonly changes = new vscode.EventEmitter<void>();
  readonly onChange = this.changes.event;

  constructor(private readonly isWatched: (sessionId: string) => boolean) {}

  /** Answers agent/ask: the first answer counts, wherever it is given; null dismisses. */
  ask = async (question: Question, token: vscode.CancellationToken): Promise<Answer> => {
    const answer = new Promise<Answer>((resolve) => {
      this.open.set(question.questionId, { question, isNotified: false, settle: resolve });
    });
    const withdrawn = token.onCancellationRequested(() => this.settle(question.questionId, null));
    this.changes.fire();
    this.notifyUnwatched();
    try {
      return await answer;
    } finally {
      withdrawn.dispose();
    }
  };

  /** Whether the question was still open. */
  answer(questionId: string, optionId: string): boolean {
    return this.settle(questionId, { optionId });
  }

  list(): Question[] {
    return [...this.open.values()].map((each) => each.question);
  }

  /** Asks in notifications what nobody sees in the chat. */
  notifyUnwatched(): void {
    for (const open of this.open.values()) {
      if (open.isNotified || this.isWatched(open.question.sessionId)) continue;
      open.isNotified = true;
      void this.notify(open.question);
    }
  }

  /** By quick pick, for the keyboard and the status bar. */
  async pick(question = this.list()[0]): Promise<void> {
    if (question === undefined) return;
    const options = question.options.map((option) => ({ label: option.name, option }));
    const title = question.title;
    const placeHolder = question.detail?.split("\n", 1)[0] ?? "";
    const chosen = await vscode.window.showQuickPick(options, { title, placeHolder });
    if (chosen) this.answer(question.questionId, chosen.option.optionId);
  }

  dispose(): void {
    for (const id of this.open.keys()) this.settle(id, null);
    this.changes.dispose();
  }

  private settle(questionId: string, answer: Answer): boolean {
    const open = this.open.get(questionId);
    if (open === undefined) return false;
    this.open.delete(questionId);
    open.settle(answer);
    this.changes.fire();
    return true;
  }

  private async notify(question: Question): Promise<void> {
    const show =
      question.kind === "permission"
        ? vscode.window.showWarningMessage
        : vscode.window.showInformationMessage;
    const chosen = await show<Item>(toldOf(question), ...items(question.options));
    if (!this.open.has(question.questionId)) {
      if (chosen) void vscode.window.showInformationMessage("The question was answered already.");
    } else if (chosen?.option) {
      this.answer(question.questionId, chosen.option.optionId);
    } else if (chosen) {
      await this.pick(question);
    } else if (!this.isWatched(question.sessionId)) {
      this.settle(question.questionId, null); // closed, and not seen anywhere else
    }
  }
}

/** A button of a notification; without an option it leads to all of them. */
interface Item {
  title: string;
  option?: Option;
}

/** More than three have no room for their words: then those that yes and no are. */
function items(options: Option[]): Item[] {
  const [first, ...rest] = options.map((option) => ({ title: option.name, option }));
  const deny = rest.find(({ option }) => option.kind === "deny");
  if (rest.length < 3 || first === undefined || deny === undefined) {
    return first === undefined ? [] : [first, ...rest];
  }
  return [first, deny, { title: "More…" }];
}

/** Its title and what its detail says beyond that. */
function toldOf({ title, detail }: Question): string {
  const paragraphs = (detail ?? "").split("\n\n").filter((text) => !title.includes(text.trim()));
  return [title, ...paragraphs].join("\n");
}
