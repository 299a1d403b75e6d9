// A session's conversation as the chat shows it, made from the server's events. Pure.

import type { Mend } from "../connect/mend";
import type {
  AgentEvent,
  AgentStatus,
  Edit,
  Level,
  PlanEntry,
  Question,
  StopReason,
  ToolKind,
  Usage,
  Window,
} from "../protocol";
import { shortened, shownArgs, shownContent, subjectOf } from "./calls";
import type { ChangedFile } from "./changed_files";
import { changedFile, openLines } from "./changed_files";
import type { Kept } from "./requests";
import type { Timed } from "./timing";
import { stamp } from "./timing";

export interface ToolPart extends Timed {
  kind: "tool";
  id: string;
  tool: string;
  toolKind: ToolKind;
  /** What it works on: a command, a path. */
  subject: string;
  /** As JSON; "" where the subject says all of it. */
  args: string;
  output: string;
  state: "running" | "done" | "failed" | "stopped";
  files: ChangedFile[];
}

export interface QuestionPart {
  kind: "question";
  question: Question;
  /** Absent while it is open; null when it was dismissed or its turn ended. */
  answer?: string | null;
}

/** What the agent means to do: one in a turn, where it was told first. */
export interface PlanPart {
  kind: "plan";
  entries: PlanEntry[];
}

export interface TextPart {
  kind: "text" | "thinking";
  text: string;
}

export type Part = Pick<Timed, "began"> & Shown;

type Shown =
  | TextPart
  /** What the person said while the turn ran, and labels of what was sent along. */
  | { kind: "said"; text: string; context: string[] }
  | { kind: "notice"; level: Level; text: string }
  | ToolPart
  | PlanPart
  | QuestionPart;

export interface Turn extends Timed {
  id: string;
  prompt: string;
  /** What was sent along, as labels. */
  context: string[];
  state: "queued" | "running" | "ended";
  stopReason?: StopReason;
  error?: string;
  /** What mends an agent that did not answer. */
  mend?: Mend;
  parts: Part[];
}

export interface Chat {
  sessionId: string;
  title: string;
  turns: Turn[];
  /** By the turns' ids, of those that may have to be asked again. */
  requests?: Record<string, Kept>;
  usage: Usage;
  /** Of the model's last call; unknown before the first, and after a compaction. */
  window?: Window;
  status: AgentStatus | "new";
  /** Of an earlier run of the server: the next prompt has it taken up again. */
  earlier: boolean;
}

/** What a change touched: a part of a turn, a whole turn, or only what stands around them. */
export interface Touched {
  turn?: Turn;
  part?: number;
}

/** What is shown of a prompt that was made from a document. */
const EXCERPT_LINES = 3;
const EXCERPT_LENGTH = 200;

export function newChat(sessionId: string): Chat {
  return { sessionId, title: "", turns: [], usage: {}, status: "new", earlier: false };
}

/** The turn of a prompt that was accepted; its events may have come before or come later. */
export function accept(chat: Chat, turnId: string, prompt: string, context: string[]): Turn {
  const turn = turnOf(chat, turnId);
  turn.prompt = prompt;
  turn.context = context;
  chat.title ||= firstLine(prompt);
  return turn;
}

/** A prompt that was made from a document, as one shows it that nobody has typed. */
export function excerpt(prompt: string): string {
  const lines = prompt.trim().split("\n");
  const shown = lines.slice(0, EXCERPT_LINES).join("\n");
  if (lines.length <= EXCERPT_LINES && shown.length <= EXCERPT_LENGTH) return shown;
  return `${shown.slice(0, EXCERPT_LENGTH)} …`;
}

/** Words that the running turn was steered with. */
export function steer(turn: Turn, text: string, context: string[]): Touched {
  return added(turn, { kind: "said", text, context });
}

/** Takes one event in. */
export function take(chat: Chat, event: AgentEvent): Touched {
  switch (event.type) {
    case "agentStatus":
      chat.status = event.status;
      return {};
    case "usage":
      chat.usage = event.cumulative;
      return {};
    case "window":
      chat.window = { used: event.used, ...(event.size && { size: event.size }) };
      return {};
    case "compacted":
      delete chat.window;
      break;
    case "turnEnded":
      // An agent that could not be started has no other end.
      if (chat.status === "starting") chat.status = "exited";
      break;
    case "turnStarted": {
      const turn = turnOf(chat, event.turnId ?? "");
      turn.state = "running";
      if (event.time > 0) turn.began = event.time;
      turn.prompt ||= event.prompt;
      chat.title ||= firstLine(turn.prompt);
      return { turn };
    }
  }
  const turn = concerned(chat, event);
  if (turn === undefined) return {};
  const known = turn.parts.length;
  const touched = takeInTurn(turn, event);
  stamp(touched, known, event.time);
  return touched;
}

/** Leaves that turn and all after it; false where the chat has it under no such id. */
export function cut(chat: Chat, turnId: string): boolean {
  const at = chat.turns.findIndex(({ id }) => id === turnId);
  if (at >= 0) chat.turns.splice(at);
  delete chat.window;
  return at >= 0;
}

/** What is decided of a turn's edits and questions tells nothing of whether it runs: one that is
 * not in the chat, as it was forgotten, or told again under another id, does not begin by it. */
function concerned(chat: Chat, event: AgentEvent): Turn | undefined {
  if (event.turnId === undefined) return chat.turns.at(-1);
  const isLater = "edit" in event || event.type === "questionAnswered";
  if (!isLater) return turnOf(chat, event.turnId);
  return chat.turns.find((each) => each.id === event.turnId);
}

function takeInTurn(turn: Turn, event: AgentEvent): Touched {
  switch (event.type) {
    case "textDelta":
      return joined(turn, "text", event.text);
    case "thinkingDelta":
      return joined(turn, "thinking", event.text);
    case "stepStarted": {
      // What it says now is said anew.
      const last = turn.parts.at(-1);
      if (last?.kind === "text") last.text += "\n\n";
      return {};
    }
    case "plan":
      return takePlan(turn, event.entries);
    case "toolCallStarted":
      return changed(turn, runningOf(turn, event.toolCallId, event.tool));
    case "toolCall": {
      const part = runningOf(turn, event.toolCallId, event.tool);
      part.tool = event.tool;
      part.toolKind = event.kind;
      part.subject = subjectOf(event.kind, event.args, event.paths);
      part.args = shownArgs(event.args, part.subject);
      return changed(turn, part);
    }
    case "toolProgress": {
      const part = toolOf(turn, event.toolCallId);
      part.output = shortened(part.output + event.text);
      return changed(turn, part);
    }
    case "toolResult": {
      const part = toolOf(turn, event.toolCallId);
      part.output = shownContent(event.content);
      part.state = event.isError ? "failed" : "done";
      if (event.time > 0) part.ended = event.time;
      return changed(turn, part);
    }
    case "questionAsked":
      return added(turn, { kind: "question", question: event.question });
    case "questionAnswered": {
      const part = turn.parts.find(
        (each) => each.kind === "question" && each.question.questionId === event.questionId,
      );
      if (part?.kind !== "question") return {};
      part.answer = event.optionId;
      const asked = turn.parts.findLast((each) => isAbout(part, each));
      if (asked && event.time > 0) asked.began = event.time; // a person's time is not the call's
      return changed(turn, part);
    }
    case "notice":
      if (event.level === "debug") return {};
      return added(turn, { kind: "notice", level: event.level, text: event.message });
    case "error":
      return added(turn, { kind: "notice", level: "error", text: event.message });
    case "compacted":
      return added(turn, { kind: "notice", level: "info", text: "The conversation was compacted." });
    case "turnEnded":
      if (event.time > 0) turn.ended = event.time;
      return end(turn, event.stopReason, event.error);
    case "editProposed":
    case "editApplied":
    case "editKept":
    case "editRejected":
    case "editConflict":
    case "editSuperseded":
    case "editLost":
    case "editUnknown":
      // A hosted call and what the agent tells of it come to the server by two ways.
      if (turn.state === "running" && event.edit.toolCallId) toolOf(turn, event.edit.toolCallId);
      return takeEdit(turn, event.edit);
    default:
      return {};
  }
}

/** Ends a turn; what still runs in it is stopped. */
export function end(turn: Turn, stopReason: StopReason, error?: string): Touched {
  turn.state = "ended";
  turn.stopReason = stopReason;
  if (error !== undefined) turn.error = error;
  for (const part of turn.parts) {
    if (part.kind === "tool" && part.state === "running") part.state = "stopped";
    if (part.kind === "question" && part.answer === undefined) part.answer = null;
  }
  return { turn };
}

/** Ends all that is open: nobody is there any more to go on with it. */
export function endAll(chat: Chat, why: string): void {
  for (const turn of chat.turns) {
    if (turn.state !== "ended") end(turn, "aborted", why);
  }
}

/** How many steps of a plan are done, of how many, and the one at work, or else the next. */
export function progressOf({ entries }: PlanPart): { count: string; current: string } {
  const done = entries.filter(({ status }) => status === "completed").length;
  const current =
    entries.find(({ status }) => status === "in_progress") ??
    entries.find(({ status }) => status === "pending");
  return { count: `${done}/${entries.length}`, current: current?.content ?? "" };
}

function takePlan(turn: Turn, entries: PlanEntry[]): Touched {
  const part = turn.parts.find((each) => each.kind === "plan");
  if (part === undefined) return added(turn, { kind: "plan", entries });
  part.entries = entries;
  return changed(turn, part);
}

/** What became of an edit of a turn that is known here. */
export function takeDecision(chat: Chat, edit: Edit): Touched {
  const turn = chat.turns.find(({ id }) => id === edit.turnId);
  return turn ? takeEdit(turn, edit) : {};
}

function takeEdit(turn: Turn, edit: Edit): Touched {
  const calls = turn.parts.filter((each) => each.kind === "tool");
  const part =
    calls.find(({ files }) => files.some(({ editId }) => editId === edit.editId)) ??
    calls.findLast(({ id }) => id === edit.toolCallId);
  if (part === undefined) return {};
  const known = part.files.findIndex((file) => file.editId === edit.editId);
  const before = known < 0 ? undefined : part.files[known];
  // A decided hunk has no place any more: what the edit did is what it was at first.
  const file = before
    ? { ...before, status: edit.status, open: openLines(edit) }
    : changedFile(edit);
  if (known < 0) part.files.push(file);
  else part.files[known] = file;
  return changed(turn, part);
}

/** Whether the call waits for the person's answer. */
export function isAsked({ parts }: Turn, call: ToolPart): boolean {
  const isLast = lastOf(parts, call.id) === call;
  return isLast && parts.some((part) => isOpenQuestion(part) && isAbout(part, call));
}

/** Whether the question is about that call. */
export function isAbout({ question }: QuestionPart, part: Part | ToolPart): boolean {
  return part.kind === "tool" && part.id === question.toolCallId;
}

export function isOpenQuestion(part: Part): part is Part & QuestionPart {
  return part.kind === "question" && part.answer === undefined;
}

/** Whether it only ever grows. */
export function isText(part: Part): part is TextPart {
  return part.kind === "text" || part.kind === "thinking";
}

function turnOf(chat: Chat, id: string): Turn {
  let turn = chat.turns.find((each) => each.id === id);
  if (turn === undefined) {
    const waits = chat.turns.some((each) => each.state !== "ended");
    turn = { id, prompt: "", context: [], state: waits ? "queued" : "running", parts: [] };
    chat.turns.push(turn);
  }
  return turn;
}

/** The last call of that id: a provider may count its ids anew in each step. */
function lastOf(parts: Part[], id: string): ToolPart | undefined {
  const found = parts.findLast((part) => part.kind === "tool" && part.id === id);
  return found?.kind === "tool" ? found : undefined;
}

function toolOf(turn: Turn, id: string): ToolPart {
  return lastOf(turn.parts, id) ?? begun(turn, id, "");
}

/** The call that is told of: one that has ended is another. */
function runningOf(turn: Turn, id: string, tool: string): ToolPart {
  const last = lastOf(turn.parts, id);
  return last?.state === "running" ? last : begun(turn, id, tool);
}

function begun(turn: Turn, id: string, tool: string): ToolPart {
  const part: ToolPart = {
    kind: "tool",
    id,
    tool,
    toolKind: "other",
    subject: "",
    args: "",
    output: "",
    state: "running",
    files: [],
  };
  turn.parts.push(part);
  return part;
}

function joined(turn: Turn, kind: "text" | "thinking", text: string): Touched {
  const last = turn.parts.at(-1);
  if (last?.kind !== kind) return added(turn, { kind, text });
  last.text += text;
  return changed(turn, last);
}

function added(turn: Turn, part: Part): Touched {
  turn.parts.push(part);
  return changed(turn, part);
}

function changed(turn: Turn, part: Part): Touched {
  return { turn, part: turn.parts.indexOf(part) };
}

function firstLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}
