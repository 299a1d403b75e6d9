// Tool calls as elements.

import type { ChangedFile } from "../chat/changed_files";
import type { FromView } from "../chat/messages";
import type { ToolPart } from "../chat/transcript";
import { took } from "../chat/timing";
import { counts } from "./changes";
import { button, el, icon } from "./dom";
import type { Folds } from "./fold";
import { fold, pre } from "./fold";
import { lastLine, lastLines, shownOutput } from "./output";

type Post = (message: FromView) => void;

/** `waiting`: for the person, who was asked about it. */
type State = ToolPart["state"] | "waiting";

const STATES: Record<State, string> = {
  running: "running",
  waiting: "waits for you",
  done: "done",
  failed: "failed",
  stopped: "stopped",
};
const STATE_ICONS: Record<State, string> = {
  running: "loading codicon-modifier-spin",
  waiting: "question",
  done: "check",
  failed: "error",
  stopped: "circle-slash",
};
const KIND_ICONS = { read: "file", edit: "edit", command: "terminal", other: "tools" };

export function stateIcon(state: State): HTMLElement {
  const made = icon(STATE_ICONS[state], STATES[state]);
  made.title = STATES[state];
  return made;
}

export function renderTool(
  part: ToolPart,
  isAsked: boolean,
  key: string,
  folds: Folds,
  post: Post,
): HTMLElement {
  const time = took(part);
  const state = isAsked ? "waiting" : part.state;
  const head = [
    icon(KIND_ICONS[part.toolKind]),
    el("span", { class: "name" }, part.tool),
    el("span", { class: "subject", title: part.subject }, firstLine(part.subject)),
    counts(part.files),
    time === "" ? undefined : el("span", { class: "took" }, time),
    stateIcon(state),
  ];
  const folded = fold(key, folds, `tool ${state}`, head, () => toolBody(part, post));
  const newest = newestOf(part);
  const made = el("div", { class: "call" }, folded);
  if (newest.length > 0 && !folded.open) made.append(el("div", { class: "newest" }, ...newest));
  return made;
}

/** What is seen of it while it is folded: how far it is, or why it failed, which a command says
 * last and any other call first. */
function newestOf({ state, toolKind, output }: ToolPart): (Node | string)[] {
  if (state === "running") return lastLine(output);
  if (state !== "failed" || output === "") return [];
  return toolKind === "command" ? lastLines(output) : [firstLine(output)];
}

function toolBody(part: ToolPart, post: Post): HTMLElement[] {
  const body: HTMLElement[] = [];
  const command = `$ ${part.subject}`;
  if (part.toolKind === "command") {
    // Some agents' output begins with it.
    if (!part.output.startsWith(command)) body.push(pre("command", command));
  } else if (part.files.length === 0 && part.args !== "") body.push(pre("arguments", part.args));
  for (const file of part.files) body.push(changedFile(file, post));
  if (part.output !== "" && (part.toolKind !== "edit" || part.state !== "done")) {
    const follows = part.toolKind === "command" && part.state !== "done";
    body.push(pre(follows ? "output follows" : "output", ...shownOutput(part.output)));
  }
  if (body.length === 0) body.push(el("p", { class: "faint" }, "No output."));
  return body;
}

function changedFile(file: ChangedFile, post: Post): HTMLElement {
  const name = decodeURIComponent(file.uri.split("/").at(-1) ?? file.uri);
  const open = button(
    `${name}:${file.line + 1}`,
    () => post({ type: "open", uri: file.uri, line: file.line }),
    { class: "link", icon: "go-to-file", label: `Open ${name} at line ${file.line + 1}` },
  );
  const made = el("div", { class: "file" }, open);
  if (file.status !== "applied") made.append(el("span", { class: "badge" }, file.status));
  for (const hunk of file.hunks) made.append(diff(hunk.old, hunk.new));
  return made;
}

function diff(before: string, after: string): HTMLElement {
  const lines = (text: string, sign: string, name: string): HTMLElement[] =>
    text === ""
      ? []
      : text
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => el("span", { class: name }, `${sign} ${line}\n`));
  return el(
    "pre",
    { class: "diff", tabindex: "0", "aria-label": "Change" },
    ...lines(before, "-", "removed"),
    ...lines(after, "+", "added"),
  );
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
