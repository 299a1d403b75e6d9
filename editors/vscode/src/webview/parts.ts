// The parts of a turn as elements.

import type { Mend } from "../connect/mend";
import type { FromView } from "../chat/messages";
import type { ChangedFile } from "../chat/changed_files";
import type { Part, PlanPart, QuestionPart, Turn } from "../chat/transcript";
import { thoughtTook, took } from "../chat/timing";
import { isAsked, progressOf } from "../chat/transcript";
import { DENY_WITH_REASON } from "../toasts";
import { renderTool } from "./calls";
import { changes } from "./changes";
import { button, el, icon } from "./dom";
import type { Folds } from "./fold";
import { fold, pre } from "./fold";
import { streamed } from "./streamed";
import { renderThought } from "./thoughts";

export type Post = (message: FromView) => void;

/** One part of a turn; `drawn` is called when a text has grown. */
export function renderPart(
  turn: Turn,
  index: number,
  folds: Folds,
  post: Post,
  drawn: () => void,
): HTMLElement {
  const part = turn.parts[index] as Part;
  const key = `${turn.id}:${index}`;
  const text = (said: string) => streamed(said, (type, code) => post({ type, text: code }), drawn);
  switch (part.kind) {
    case "text":
      return text(part.text);
    case "thinking":
      return renderThought(part, thoughtTime(turn, index), key, folds, () => text(part.text));
    case "said":
      return renderPrompt(part.text, part.context, part.began);
    case "notice":
      return el(
        "p",
        { class: `notice ${part.level}` },
        icon(noticeIcon(part.level)),
        el("span", { class: "plain" }, part.text),
      );
    case "tool":
      return renderTool(part, isAsked(turn, part), key, folds, post);
    case "plan":
      return renderPlan(part, key, folds);
    case "question":
      return renderQuestion(part, post);
  }
}

/** How long the agent has thought; absent while it does. */
export function thoughtTime(turn: Turn, index: number): string | undefined {
  const isOver = index + 1 < turn.parts.length || turn.state === "ended";
  return isOver ? thoughtTook(turn, index) : undefined;
}

/** What the person said, with the labels of what was sent along; `began` in seconds since 1970. */
export function renderPrompt(
  text: string,
  context: string[],
  began?: number,
  goBack?: () => void,
): HTMLElement {
  const when = began === undefined ? undefined : new Date(began * 1000).toLocaleString();
  const chips = context.map((label) => el("li", {}, icon("file"), el("span", {}, label)));
  return el(
    "div",
    { class: "prompt", title: when },
    el("div", { class: "plain" }, text),
    chips.length > 0 && el("ul", { class: "chips", "aria-label": "Sent along" }, ...chips),
    goBack && button("", goBack, { class: "icon back", icon: "edit", label: "Back to Here, to Edit and Resend" }),
  );
}

/** Characters of a text. The rest is in the conversation; a megabyte was laid out for a second. */
const MOST_SPOKEN = 5000;

/** In words, for who listens; "" where nothing is worth it. */
export function spoken(part: Part): string {
  switch (part.kind) {
    case "text":
      return part.text.length > MOST_SPOKEN ? `${part.text.slice(0, MOST_SPOKEN)}…` : part.text;
    case "tool":
      return `${part.tool} ${part.subject}: ${part.state}`;
    case "notice":
      return part.text;
    case "plan":
      return spokenPlan(part);
    case "question":
      return part.answer === undefined ? `Question: ${part.question.title}` : "";
    case "thinking":
    case "said":
      return "";
  }
}

const STEPS = { pending: "To do", in_progress: "In progress", completed: "Done" };
const STEP_ICONS = {
  pending: "circle-large",
  in_progress: "arrow-circle-right",
  completed: "pass-filled",
};
/** A plan of more steps is folded at first. */
const SHORT_PLAN = 8;

function renderPlan(part: PlanPart, key: string, folds: Folds): HTMLElement {
  const { count, current } = progressOf(part);
  const head = [
    icon("checklist"),
    el("span", { class: "name" }, `Plan ${count}`),
    el("span", { class: "current", title: current }, current),
  ];
  const isShort = part.entries.length <= SHORT_PLAN;
  const made = fold(
    key,
    folds,
    "plan",
    head,
    () => [el("ul", { "aria-label": "Steps of the plan" }, ...part.entries.map(renderStep))],
    isShort,
  );
  made.hidden = part.entries.length === 0;
  return made;
}

function renderStep({ content, status }: PlanPart["entries"][number]): HTMLElement {
  const sign = icon(STEP_ICONS[status], STEPS[status]);
  sign.title = STEPS[status];
  return el("li", { class: status }, sign, el("span", {}, content));
}

function spokenPlan(part: PlanPart): string {
  if (part.entries.length === 0) return "";
  const { count, current } = progressOf(part);
  return current === "" ? `Plan ${count}` : `Plan ${count}: ${current}`;
}

/** The id of its title. */
export function questionElement(questionId: string): string {
  return `question-${questionId}`;
}

const UNREAD_MILLISECONDS = 300;
/** When a question was first painted: never yet is Infinity. */
const firstShown = new Map<string, number>();

/** Whether the question had been seen long enough for this to be an answer to it. By when it was
 * pressed: where this window stands still that is long before it is heard here. */
function isMeant(pressed: Event, questionId: string): boolean {
  return pressed.timeStamp - (firstShown.get(questionId) ?? Infinity) >= UNREAD_MILLISECONDS;
}

/** The second frame from now begins once the first one has been painted. */
function noteShown(questionId: string): void {
  if (firstShown.has(questionId)) return;
  firstShown.set(questionId, Infinity);
  requestAnimationFrame(() => requestAnimationFrame((now) => firstShown.set(questionId, now)));
}

function renderQuestion({ question, answer }: QuestionPart, post: Post): HTMLElement {
  const id = questionElement(question.questionId);
  const made = el(
    "section",
    {
      class: answer === undefined ? "question open" : "question",
      role: "group",
      "aria-labelledby": id,
      tabindex: "-1",
    },
    el(
      "p",
      { class: "title", id, title: question.title },
      icon(questionIcon(question.kind)),
      el("span", {}, question.title),
    ),
  );
  if (answer === undefined) {
    noteShown(question.questionId);
    if (question.detail) made.append(pre("detail", question.detail));
    const buttons = question.options.flatMap((option, index) => {
      const { questionId } = question;
      const press = (name: string, type: "answer" | "denyWithReason") =>
        button(
          name,
          (event) => {
            if (isMeant(event, questionId)) post({ type, questionId, optionId: option.optionId });
          },
          { class: index === 0 && option.kind !== "deny" ? "primary" : "secondary" },
        );
      const plain = press(option.name, "answer");
      return option.kind === "deny" ? [plain, press(DENY_WITH_REASON, "denyWithReason")] : [plain];
    });
    made.append(el("div", { class: "buttons" }, ...buttons));
    return made;
  }
  const chosen = question.options.find((option) => option.optionId === answer);
  made.append(el("p", { class: "answer" }, icon("reply"), chosen?.name ?? "Dismissed"));
  return made;
}

/** What stands under a turn: how it ended, and what is to be done with its changes. */
export function renderFooter(turn: Turn, files: Map<string, ChangedFile[]>, post: Post): HTMLElement {
  const made = el("footer", {});
  if (turn.state === "queued") {
    made.append(
      el("span", { class: "faint" }, icon("clock"), "Waits for the running turn"),
      button("Drop", () => post({ type: "drop", turnId: turn.id }), { class: "link" }),
    );
    return made;
  }
  if (turn.state === "running") return made;
  const ending = ended(turn);
  if (ending !== undefined) made.append(ending);
  if (turn.stopReason === "error") {
    const retry = button("Try Again", () => post({ type: "retry" }), { class: "secondary", icon: "refresh" });
    made.append(el("div", { class: "buttons retry" }, retry));
  }
  if (turn.mend !== undefined) made.append(renderMend(turn.mend, post));
  const time = took(turn);
  if (time !== "") made.append(el("p", { class: "took" }, `Took ${time}`));
  if (files.size > 0) made.append(changes(turn, files, post));
  return made;
}

function renderMend({ title, chosen }: Mend, post: Post): HTMLElement {
  const press = (): void =>
    post(chosen ? { type: "connect", chosen } : { type: "command", command: "lspAgent.chat.connect" });
  return el("div", { class: "buttons" }, button(title, press, { class: "primary" }));
}

const ENDINGS: Record<string, string> = {
  aborted: "Stopped",
  maxTokens: "Stopped at the model's limit of tokens",
  maxSteps: "Stopped at the limit of steps",
  refusal: "The model refused",
  error: "Failed",
};

function ended({ stopReason, error, parts }: Turn): HTMLElement | undefined {
  const said = stopReason === undefined ? undefined : ENDINGS[stopReason];
  if (said === undefined) return undefined;
  const isError = stopReason === "error";
  const last = parts.at(-1);
  if (isError && last?.kind === "notice" && last.text === error) return undefined; // it stands there
  return el(
    "p",
    { class: isError ? "notice error" : "notice", role: isError ? "alert" : undefined },
    icon(isError ? "error" : "circle-slash"),
    error === undefined ? said : `${said}: ${error}`,
  );
}

function noticeIcon(level: string): string {
  return level === "error" || level === "warning" ? level : "info";
}

function questionIcon(kind: string): string {
  return kind === "permission" ? "shield" : "question";
}
