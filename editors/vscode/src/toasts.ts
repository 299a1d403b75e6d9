// What of a question a notification or a list can hold. Both are cut where they are full, show line
// ends as blanks, and a notification makes links of `[words](address)`. So there is no answer in
// them to what is not seen in them as it is: for that the chat is shown. Pure.

import type { Option, Question } from "./protocol";

const LONGEST_TOAST = 120;
/** One line, as wide as the list, of the widest letters. */
const LONGEST_IN_LIST = 45;
const LONGEST_NAME = 50;
/** More buttons have no room for their words. */
const MOST_ANSWERS = 2;

export interface Toast {
  message: string;
  buttons: Button[];
}

/** Without an option it leads to all of them, to the chat, or nowhere. */
export interface Button {
  title: string;
  leads: { to: "answer"; option: Option } | { to: "list" } | { to: "chat" } | { to: "nothing" };
}

/** The first of a list as well, which Enter chooses. */
export const NOT_NOW = "Not Now";

/** Beside the refusal, in a list and in the chat. */
export const DENY_WITH_REASON = "Deny with a Reason…";

/** The first of every notification: with a screen reader VS Code has a key that presses it from
 * wherever the person types, and on Linux that is the key for a block comment. So it neither
 * answers nor takes the focus. */
const LATER: Button = { title: NOT_NOW, leads: { to: "nothing" } };

/** The question as a notification; with answers only where all of it is seen. */
export function toastOf(question: Question): Toast {
  const message = lineOf(question);
  const buttons = answers(question);
  const isSeen = message !== undefined && message.length <= LONGEST_TOAST;
  if (!isSeen || !buttons.every(({ title }) => isShort(title))) {
    const show: Button = { title: "Show in Chat", leads: { to: "chat" } };
    return { message: headOf(question), buttons: [LATER, show] };
  }
  return { message, buttons: [LATER, ...buttons] };
}

/** The title of a list of answers; undefined where not all of the question is seen in it. */
export function listTitleOf(question: Question): string | undefined {
  const line = lineOf(question);
  const fits = line !== undefined && line.length <= LONGEST_IN_LIST;
  return fits && question.options.every(({ name }) => isShort(name)) ? line : undefined;
}

/** All of the question in one line; undefined where that would be seen as something else. */
function lineOf({ title, detail = "" }: Question): string | undefined {
  // A permission's title ends with the command that is its detail.
  const line = title.endsWith(detail) ? title : `${title} ${detail}`;
  return isPlain(line) ? line : undefined;
}

/** What the question is about, with nothing in it that can be pressed. */
function headOf({ title }: Question): string {
  const head = title.replaceAll(/\s+/g, " ").replaceAll("](", "] (");
  return head.length > LONGEST_TOAST ? `${head.slice(0, LONGEST_TOAST - 1)}…` : head;
}

function isShort(name: string): boolean {
  return name.length <= LONGEST_NAME && isPlain(name);
}

/** No line ends or other signs that are not seen, no blanks that become one, no links. */
function isPlain(text: string): boolean {
  return !/[\p{C}\p{Zl}\p{Zp}]|\s{2}|^\s|\s$|\]\(/u.test(text);
}

function answers(question: Question): Button[] {
  const { options } = question;
  const all = options.map((option): Button => ({
    title: option.name,
    leads: { to: "answer", option },
  }));
  if (all.length <= MOST_ANSWERS) return all;
  const deny = all.filter((_, index) => options[index]?.kind === "deny").slice(0, 1);
  const to = listTitleOf(question) === undefined ? "chat" : "list";
  return [...all.slice(0, 1), ...deny, { title: "More…", leads: { to } }];
}
