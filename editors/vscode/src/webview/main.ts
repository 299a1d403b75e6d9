// The chat view: shows what the extension says, and says what is done here.

import "@vscode/codicons/dist/codicon.css";
import "./style.css";

import type { FromView, Head, ToView } from "../chat/messages";
import { isRead } from "../chat/reads";
import type { Part, QuestionPart, TextPart, Turn } from "../chat/transcript";
import { isKnown } from "../chat/retelling";
import { changedFiles } from "../chat/changed_files";
import { isAbout, isOpenQuestion, isText } from "../chat/transcript";
import { Composer } from "./composer";
import { ConnectCard } from "./connect";
import { button, el, icon, isComposed } from "./dom";
import type { Folds } from "./fold";
import { showEnds } from "./fold";
import { Later } from "./later";
import { questionElement, renderFooter, renderPart, renderPrompt, spoken, thoughtTime } from "./parts";
import type { Laid } from "./reads";
import { gather } from "./reads";
import { replaced } from "./replaced";
import { grow } from "./streamed";
import { retellThought } from "./thoughts";

interface ShownTurn extends Laid {
  turn: Turn;
  element: HTMLElement;
  prompt: HTMLElement;
  footer: HTMLElement;
}

/** Between two older turns where a browser tells not when it is idle: WebKit. */
const IDLE_MILLISECONDS = 50;

const vscode = acquireVsCodeApi<[string, boolean][]>();
const post = (message: FromView): void => vscode.postMessage(message);

const shown = new Map<string, ShownTurn>();
const folds: Folds = new Map(vscode.getState());
let sessionId = "";
let later = new Later([]);

const composer = new Composer(post);
const log = el("div", { id: "log", role: "log", "aria-live": "off", "aria-label": "Conversation", tabindex: "0" });
const around = el("div", { id: "around" });
const announcer = el("div", { class: "hidden", "aria-live": "polite" });
const toEnd = button("", () => scrollToEnd(), { class: "to-end", icon: "arrow-down", label: "To the newest message" });
const card = new ConnectCard(post);
document.body.append(log, card.element, toEnd, around, composer.element, announcer);
toEnd.hidden = true;

let isBusy = false;
let isFollowing = true;
/** Turns are being made: to look where the end is for each text of theirs took half a minute. */
let isMaking = false;
log.addEventListener("scroll", () => {
  isFollowing = log.scrollHeight - log.scrollTop - log.clientHeight < 24;
  toEnd.hidden = isFollowing;
  if (log.scrollTop < 2 * log.clientHeight) makeOlder();
});
new ResizeObserver(() => follow()).observe(log);
log.addEventListener("click", (event) => {
  const link = (event.target as Element).closest("a");
  if (link === null) return;
  event.preventDefault();
  event.stopPropagation(); // VS Code would open it as well, and more than may be opened
  post({ type: "openLink", href: link.getAttribute("href") ?? "" });
});
log.addEventListener("toggle", () => vscode.setState([...folds].slice(-200)), true);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && isBusy && !isComposed(event)) post({ type: "stop" });
});

window.addEventListener("message", ({ data }: MessageEvent<ToView>) => {
  take(data);
  follow();
});
post({ type: "ready" });

function take(message: ToView): void {
  if (later.take(message)) return;
  switch (message.type) {
    case "chat":
      return showChat(message.head, message.turns);
    case "draft":
      return composer.restore(message.draft);
    case "head":
      return showHead(message.head);
    case "turn":
      return showTurn(message.turn);
    case "part":
      return showPart(message.turnId, message.index, message.part);
    case "grown":
      return showGrown(message.turnId, message.index, message.text);
    case "suggestions":
      return composer.suggest(message.number, message.items);
    case "attach":
      return composer.attach(message.item);
    case "insert":
      return composer.insert(message.text);
    case "accepted":
      isFollowing = true;
      return composer.accepted();
    case "returned":
      return composer.takeBack(message.draft, message.message);
    case "focus":
      return composer.focus();
    case "question":
      return showQuestion(message.questionId);
  }
}

function showChat(head: Head, turns: Turn[]): void {
  if (head.sessionId !== sessionId) isFollowing = true;
  sessionId = head.sessionId;
  const read = isFollowing ? undefined : firstSeen();
  const top = read && topOf(read.element);
  shown.clear();
  log.replaceChildren();
  later = new Later(turns);
  if (turns.length === 0) log.append(welcome());
  isMaking = true;
  for (const turn of later.atOnce) log.append(made(turn));
  isMaking = false;
  while (read && later.has(read.turn.id)) makeOlder();
  const again = read && shown.get(read.turn.id);
  if (again && top !== undefined) log.scrollTop += topOf(again.element) - top;
  log.querySelectorAll("article").forEach(showEnds);
  showHead(head);
  makeWhenIdle(later);
}

/** The turn at the top of what is seen. */
function firstSeen(): ShownTurn | undefined {
  const top = topOf(log);
  return [...shown.values()].find(({ element }) => element.getBoundingClientRect().bottom > top);
}

function topOf(element: Element): number {
  return element.getBoundingClientRect().top;
}

/** The others of a conversation, until there are none or another is shown. */
function makeWhenIdle(of: Later): void {
  const go = (): void => {
    if (of === later && makeOlder()) makeWhenIdle(of);
  };
  if ("requestIdleCallback" in window) requestIdleCallback(go);
  else setTimeout(go, IDLE_MILLISECONDS);
}

/** Puts the next older turn before the others, which stay where they are seen. */
function makeOlder(): boolean {
  const turn = later.next();
  if (turn === undefined) return false;
  const below = log.scrollHeight - log.scrollTop;
  isMaking = true;
  const element = made(turn);
  log.prepend(element);
  isMaking = false;
  showEnds(element);
  log.scrollTop = log.scrollHeight - below;
  return true;
}

function showHead(head: Head): void {
  isBusy = head.busy;
  composer.update(head);
  card.update(head.card);
  log.hidden = head.card !== undefined;
  const lines: HTMLElement[] = [];
  if (head.earlier) {
    lines.push(
      el(
        "p",
        { class: "notice" },
        icon("history"),
        "From an earlier run. Your next message goes on with it.",
      ),
    );
  }
  if (head.notice !== undefined) {
    lines.push(
      el("p", { class: "notice", role: "status" }, icon("loading codicon-modifier-spin"), head.notice),
    );
  }
  for (const text of head.waiting) {
    lines.push(el("p", { class: "notice waiting" }, icon("clock"), el("span", {}, text)));
  }
  if (head.hindrance !== undefined) {
    const { text, actions } = head.hindrance;
    const buttons = actions.map(({ command, title }, index) =>
      button(title, () => post({ type: "command", command }), {
        class: index === 0 ? "primary" : "secondary",
      }),
    );
    lines.push(
      el(
        "section",
        { class: "hindrance", role: "alert" },
        el("p", {}, text),
        el("div", { class: "buttons" }, ...buttons),
      ),
    );
  }
  // Left as it is where nothing changed: who is about to press a button keeps it.
  const made = el("div", {}, ...lines);
  if (made.innerHTML !== around.firstElementChild?.innerHTML) around.replaceChildren(made);
}

function showTurn(turn: Turn): void {
  log.querySelector(".welcome")?.remove();
  const known = shown.get(turn.id);
  if (known === undefined) {
    const element = made(turn);
    log.append(element);
    return showEnds(element);
  }
  const before = known.turn;
  known.element.setAttribute("aria-label", labelOf(turn));
  if (!isSame(saidIn(before), saidIn(turn))) known.prompt = replaced(known.prompt, promptOf(turn), log);
  known.turn = { ...turn, parts: before.parts }; // which what is folded is made from
  turn.parts.forEach((part, index) => renewPart(known, index, part));
  retellThoughtAt(known, turn.parts.length - 1);
  known.footer = replaced(known.footer, renderFooter(turn, changedFiles(turn), post), log);
  showWorking(known);
  if (before.state !== "ended" && turn.state === "ended") announce(spokenEnd(turn));
}

/** A turn that was not there. */
function made(turn: Turn): HTMLElement {
  const element = el("article", { "aria-label": labelOf(turn) });
  const prompt = promptOf(turn);
  const parts = el("div", { class: "parts" });
  const footer = renderFooter(turn, changedFiles(turn), post);
  element.append(prompt, parts, footer);
  const known = { turn, element, prompt, parts, footer, elements: [], reads: new Map() };
  shown.set(turn.id, known);
  turn.parts.forEach((_, index) => put(known, index));
  showWorking(known);
  return element;
}

function promptOf({ id: turnId, prompt, context, began }: Turn): HTMLElement {
  const goBack = (): void => post({ type: "goBack", turnId });
  return renderPrompt(prompt, context, began, isKnown(turnId) ? goBack : undefined);
}

/** What is shown of the person's own. */
function saidIn({ prompt, context, began }: Turn): unknown {
  return [prompt, context, began];
}

function labelOf(turn: Turn): string {
  return `You: ${turn.prompt.slice(0, 80)}`;
}

/** Makes a part's element, in place of the one that it had. */
function put(known: ShownTurn, index: number): void {
  const { turn, parts, elements } = known;
  const old = elements[index];
  const made = renderPart(turn, index, folds, post, follow);
  elements[index] = made;
  if (old === undefined) parts.append(made);
  else replaced(old, made, log);
  if (isRead(turn.parts[index])) gather(known, index, folds);
}

/** What stands in for the agent's next words. */
function showWorking({ turn, element }: ShownTurn): void {
  element.querySelector(":scope > .working")?.remove();
  if (turn.state === "running") element.append(turn.parts.some(isOpenQuestion) ? waits() : working());
}

function showPart(turnId: string, index: number, part: Part): void {
  const known = shown.get(turnId);
  if (known === undefined || index > known.elements.length) return;
  renewPart(known, index, part);
  const { turn } = known;
  if (part.kind === "tool" && turn.state === "ended") {
    known.footer = replaced(known.footer, renderFooter(turn, changedFiles(turn), post), log);
  }
}

/** What has not changed stays, with what is selected in it. */
function renewPart(known: ShownTurn, index: number, part: Part): void {
  const { turn } = known;
  const before = turn.parts[index];
  if (before === undefined) {
    turn.parts[index] = part;
    put(known, index);
    retellThoughtAt(known, index - 1);
    const last = turn.parts[index - 1];
    if (last?.kind === "text") announce(spoken(last));
    if (part.kind === "question" || part.kind === "plan") announce(spoken(part));
    if (part.kind === "question") showAsked(known, part);
  } else if (isText(before) && isText(part) && isContinued(before, part)) {
    showGrown(turn.id, index, part.text.slice(before.text.length));
  } else if (!isSame(before, part)) {
    turn.parts[index] = part;
    put(known, index);
    if (part.kind === "question") showAsked(known, part);
    const hasState = part.kind === "tool" && before?.kind === "tool" && before.state !== part.state;
    if (hasState || part.kind === "plan") announce(spoken(part));
  }
}

function showGrown(turnId: string, index: number, text: string): void {
  const known = shown.get(turnId);
  const part = known?.turn.parts[index];
  const element = known?.elements[index];
  if (part === undefined || element === undefined || !isText(part)) return;
  part.text += text;
  if (text === "") return;
  grow(element, text);
  if (known !== undefined) retellThoughtAt(known, index);
}

/** A thought's line, as it gets on and as it is over. */
function retellThoughtAt({ turn, elements }: ShownTurn, index: number): void {
  const [part, element] = [turn.parts[index], elements[index]];
  if (part?.kind !== "thinking" || element === undefined) return;
  retellThought(element, part, thoughtTime(turn, index));
}

/** The call that a question is about waits with it. */
function showAsked(known: ShownTurn, question: QuestionPart): void {
  const about = known.turn.parts.findLastIndex((part) => isAbout(question, part));
  if (about >= 0) put(known, about);
  showWorking(known);
}

function isContinued(before: TextPart, part: TextPart): boolean {
  return before.kind === part.kind && part.text.startsWith(before.text);
}

/** Of values that messages can carry. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function showQuestion(questionId: string): void {
  const element = document.getElementById(questionElement(questionId))?.parentElement;
  isFollowing = false; // it may be anywhere
  element?.scrollIntoView({ block: "nearest" });
  element?.focus();
}

function spokenEnd(turn: Turn): string {
  const last = turn.parts.at(-1);
  const said = last?.kind === "text" ? `${spoken(last)}\n` : "";
  return `${said}${turn.stopReason === "endTurn" ? "The agent is done." : (turn.error ?? "Stopped.")}`;
}

function announce(text: string): void {
  if (text !== "") announcer.append(el("p", {}, text));
  while (announcer.children.length > 5) announcer.firstElementChild?.remove();
}

function welcome(): HTMLElement {
  return el(
    "div",
    { class: "welcome" },
    icon("comment-discussion"),
    el("h2", {}, "Ask the agent"),
    el("p", {}, "It works on the text that you see, unsaved changes included. You review what it changes, hunk by hunk, in the editor."),
    el("p", { class: "faint" }, "@ adds a file · a selection is sent along · / lists commands"),
  );
}

function working(): HTMLElement {
  return el(
    "div",
    { class: "working", role: "status", "aria-label": "The agent works" },
    el("i", {}),
    el("i", {}),
    el("i", {}),
  );
}

function waits(): HTMLElement {
  return el("p", { class: "working waits", role: "status" }, icon("question"), "Waits for your answer");
}

function follow(): void {
  if (isMaking) return;
  if (isFollowing) log.scrollTop = log.scrollHeight;
  toEnd.hidden = isFollowing;
}

function scrollToEnd(): void {
  isFollowing = true;
  follow();
}

