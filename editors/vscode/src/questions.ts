// The agent's questions: asked in the chat and, where nobody looks at that, in a notification.

import * as vscode from "vscode";

import { tell } from "./notices";
import type { Option, Question } from "./protocol";
import type { Button } from "./toasts";
import { DENY_WITH_REASON, listTitleOf, NOT_NOW, toastOf } from "./toasts";

type Answer = { optionId: string; reason?: string } | null;

/** What is chosen in a list; `isReasoned`: the person wants to say why. */
interface Choice {
  option: Option;
  isReasoned: boolean;
}

/** What is chosen sooner after a question has come up was pressed before it was seen. */
const UNREAD_MILLISECONDS = 300;

interface Open {
  question: Question;
  isNotified: boolean;
  settle(answer: Answer): void;
  /** Closes what is shown of it elsewhere. */
  readonly closing: vscode.CancellationTokenSource;
}

export class Questions implements vscode.Disposable {
  private readonly open = new Map<string, Open>();
  private readonly changes = new vscode.EventEmitter<void>();
  readonly onChange = this.changes.event;

  constructor(
    private readonly isWatched: (sessionId: string) => boolean,
    private readonly showInChat: (question: Question) => Promise<void>,
  ) {}

  /** Answers agent/ask: the first answer counts, wherever it is given; null dismisses. */
  ask = async (question: Question, token: vscode.CancellationToken): Promise<Answer> => {
    const answer = new Promise<Answer>((resolve) => {
      const closing = new vscode.CancellationTokenSource();
      const open = { question, isNotified: false, settle: resolve, closing };
      this.open.set(question.questionId, open);
    });
    const withdrawn = token.onCancellationRequested(() => this.settle(question.questionId, null));
    this.changes.fire();
    this.notifyUnwatched();
    try {
      return await answer;
    } finally {
      withdrawn.dispose();
      this.notifyUnwatched(); // perhaps one that looks the same
    }
  };

  /** Whether the question was still open. */
  answer(questionId: string, optionId: string): boolean {
    return this.settle(questionId, { optionId });
  }

  list(): Question[] {
    return [...this.open.values()].map((each) => each.question);
  }

  /** Asks in notifications what nobody sees in the chat. Of those that would look the same one
   * after the other: VS Code closes a notification for an equal one, as a person would. */
  notifyUnwatched(): void {
    const open = [...this.open.values()];
    const messages = new Set(open.filter((each) => each.isNotified).map(messageOf));
    for (const each of open) {
      if (each.isNotified || this.isWatched(each.question.sessionId)) continue;
      if (messages.has(messageOf(each))) continue;
      messages.add(messageOf(each));
      each.isNotified = true;
      void this.notify(each);
    }
  }

  /** By quick pick, for the keyboard and the status bar; in the chat where a list cannot show all
   * that is asked. */
  async pick(question = this.list()[0]): Promise<void> {
    const open = question && this.open.get(question.questionId);
    if (question === undefined || open?.question !== question) return;
    const title = listTitleOf(question);
    if (title === undefined) return this.showInChat(question);
    const chosen = await chosenFrom(title, question.options, open.closing.token);
    if (chosen?.isReasoned) return this.denyWithReason(question.questionId, chosen.option.optionId);
    if (chosen) this.answer(question.questionId, chosen.option.optionId);
  }

  /** Asks why, for the agent to read; without an answer to that the question stays open. */
  async denyWithReason(questionId: string, optionId: string): Promise<void> {
    const open = this.open.get(questionId);
    if (open === undefined) return;
    const box = { title: DENY_WITH_REASON, prompt: "The agent reads it.", ignoreFocusOut: true };
    const said = await vscode.window.showInputBox(box, open.closing.token);
    if (said === undefined || this.open.get(questionId) !== open) return;
    this.settle(questionId, { optionId, ...(said.trim() && { reason: said.trim() }) });
  }

  /** Nobody is there any more to hear an answer. */
  closeAll(): void {
    for (const id of [...this.open.keys()]) this.settle(id, null);
  }

  dispose(): void {
    this.closeAll();
    this.changes.dispose();
  }

  private settle(questionId: string, answer: Answer): boolean {
    const open = this.open.get(questionId);
    if (open === undefined) return false;
    this.open.delete(questionId);
    open.settle(answer);
    open.closing.cancel();
    open.closing.dispose();
    this.changes.fire();
    return true;
  }

  private async notify(open: Open): Promise<void> {
    const { question } = open;
    const show =
      question.kind === "permission"
        ? vscode.window.showWarningMessage
        : vscode.window.showInformationMessage;
    const { message, buttons } = toastOf(question);
    const since = Date.now();
    const chosen = await show<Button>(message, ...buttons);
    const isUnread = Date.now() - since < UNREAD_MILLISECONDS;
    if (this.open.get(question.questionId) !== open) {
      if (chosen) tell("The question is not open any more.");
    } else if (chosen?.leads.to === "nothing") {
      return; // it stays in the status bar and the chat
    } else if (chosen?.leads.to === "answer" && isUnread) {
      open.isNotified = false;
      this.notifyUnwatched();
    } else if (chosen?.leads.to === "answer") {
      this.answer(question.questionId, chosen.leads.option.optionId);
    } else if (chosen === undefined && !this.isWatched(question.sessionId)) {
      this.settle(question.questionId, null); // closed, and not seen anywhere else
    } else {
      const isListed = chosen?.leads.to === "list";
      if (isListed) await this.pick(question);
      else if (chosen) await this.showInChat(question);
      open.isNotified = false; // where it is left unanswered it comes again
      if (isListed) this.notifyUnwatched(); // the chat tells by itself when it is hidden
    }
  }
}

function messageOf({ question }: Open): string {
  return toastOf(question).message;
}

/** From a list that takes no key for an answer before it could be read, and opens again where it
 * has lost the focus before that: the chat takes it late, which the palette gives back to it. */
function chosenFrom(
  title: string,
  options: Option[],
  closing: vscode.CancellationToken,
  timesAgain = 3,
): Promise<Choice | undefined> {
  const picker = vscode.window.createQuickPick<vscode.QuickPickItem & { choice?: Choice }>();
  picker.title = title;
  picker.items = [{ label: NOT_NOW }, ...options.flatMap(itemsOf)];
  let shownAt = Infinity;
  const isUnread = () => !(Date.now() - shownAt >= UNREAD_MILLISECONDS);
  const withdrawn = closing.onCancellationRequested(() => picker.hide());
  return new Promise((resolve) => {
    picker.onDidChangeActive(() => (shownAt = Math.min(shownAt, Date.now())));
    // Letters choose among the answers. Whoever types on at a text ends its line as well.
    picker.onDidChangeValue(() => (shownAt = Date.now()));
    picker.onDidAccept(() => {
      if (isUnread()) return;
      resolve(picker.selectedItems[0]?.choice);
      picker.hide();
    });
    const hidden = picker.onDidHide(() => {
      hidden.dispose(); // disposing of the list says once more that it is hidden
      const isClosed = picker.value !== "" || closing.isCancellationRequested;
      const isLost = isUnread() && !isClosed && timesAgain > 0;
      withdrawn.dispose();
      picker.dispose();
      resolve(isLost ? chosenFrom(title, options, closing, timesAgain - 1) : undefined);
    });
    picker.show();
  });
}

function itemsOf(option: Option): (vscode.QuickPickItem & { choice: Choice })[] {
  const plain = { label: option.name, choice: { option, isReasoned: false } };
  if (option.kind !== "deny") return [plain];
  return [plain, { label: DENY_WITH_REASON, choice: { option, isReasoned: true } }];
}
