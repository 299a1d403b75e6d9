// What of docs/protocol.md the extension speaks.

export type StopReason = "endTurn" | "maxTokens" | "maxSteps" | "refusal" | "aborted" | "error";

export type EditStatus =
  | "proposed"
  | "applied"
  | "kept"
  | "rejected"
  | "superseded"
  | "conflict"
  | "lost"
  | "unknown";

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface Hunk {
  hunkId: string;
  status: EditStatus;
  range: Range;
  oldText: string;
  newText: string;
}

export interface Edit {
  editId: string;
  sessionId: string;
  turnId?: string;
  toolCallId?: string;
  uri: string;
  status: EditStatus;
  hunks?: Hunk[];
}

export interface Option {
  optionId: string;
  name: string;
  kind?:
    | "allowOnce"
    | "allowPattern"
    | "allowCommand"
    | "allowSession"
    | "allowProject"
    | "allowAlways"
    | "deny"
    | "other";
}

/** A command that the person has allowed for good; without a folder everywhere. */
export interface KeptPermission {
  permissionId: string;
  kind: "pattern" | "command";
  command: string;
  folder?: string;
  /** In seconds since the epoch. */
  since: number;
}

export interface Question {
  questionId: string;
  sessionId: string;
  turnId?: string;
  toolCallId?: string;
  kind: "permission" | "save" | "conflict" | "agent";
  title: string;
  detail?: string;
  options: Option[];
}

/** Tokens, and US dollars; what an agent does not tell is absent. */
export interface Usage {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  cost?: number;
}

/** How much of its window the model's last call has filled, in tokens. */
export interface Window {
  used: number;
  size?: number;
}

export type ToolKind = "read" | "edit" | "command" | "other";

export interface Block {
  type: "text" | "thinking" | "image" | "toolCall" | "toolResult" | "plan";
  text?: string;
  mimeType?: string;
  toolCallId?: string;
  tool?: string;
  args?: unknown;
  isError?: boolean;
  content?: Block[];
  entries?: PlanEntry[];
}

export interface PlanEntry {
  content: string;
  status: "pending" | "in_progress" | "completed";
}

export interface Message {
  role: "user" | "assistant" | "tool";
  content: Block[];
}

export type Level = "debug" | "info" | "warning" | "error";

export type EditEventType =
  | "editProposed"
  | "editApplied"
  | "editKept"
  | "editRejected"
  | "editConflict"
  | "editSuperseded"
  | "editLost"
  | "editUnknown";

export type AgentStatus = "starting" | "ready" | "exited" | "restarting";

export type AgentEvent = { sessionId: string; turnId?: string; seq: number; time: number } & (
  | { type: "turnStarted"; prompt: string }
  | { type: "stepStarted"; step: number }
  | { type: "userMessage" | "assistantMessage"; message: unknown }
  | { type: "textDelta" | "thinkingDelta"; text: string }
  | { type: "toolCallStarted"; toolCallId: string; tool: string }
  | { type: "toolArgsDelta" | "toolProgress"; toolCallId: string; text: string }
  | {
      type: "toolCall";
      toolCallId: string;
      tool: string;
      kind: ToolKind;
      args: unknown;
      paths: string[];
    }
  | { type: "toolResult"; toolCallId: string; isError: boolean; content: Block[] }
  | { type: "plan"; entries: PlanEntry[] }
  | ({ type: "usage"; cumulative: Usage } & Usage)
  | ({ type: "window" } & Window)
  | { type: "stepEnded"; stopReason?: StopReason; error?: string }
  | { type: "turnEnded"; stopReason: StopReason; error?: string }
  | { type: "error"; message: string }
  | { type: "notice"; level: Level; message: string; source: string }
  | { type: "compacted"; summary: string }
  | { type: "rewound"; fromTurnId: string; leftSessionId: string }
  | { type: "queueChanged"; queued: string[] }
  | { type: "questionAsked"; question: Question }
  | { type: "questionAnswered"; questionId: string; optionId: string | null }
  | { type: EditEventType; edit: Edit }
  | { type: "optionChanged"; optionId: string; value: string }
  | ({ type: "backgroundCommand" } & BackgroundCommand)
  | { type: "agentStatus"; status: AgentStatus; message?: string }
);

export interface ContextItem {
  uri: string;
  range?: Range;
}

export interface PromptStarted {
  sessionId: string;
  turnId: string;
}

export interface State {
  cwd: string;
  sessionId: string;
  agent: string;
  model?: string;
  provider?: string;
  busy: boolean;
  usage: Usage;
  hosting: "starting" | "hosted" | "mirror";
  capabilities: Record<string, boolean>;
  options: Setting[];
  questions: Question[];
  agents: string[];
}

export interface BackgroundCommand {
  id: string;
  toolCallId: string;
  command: string;
  since: number;
  state: "running" | "ended";
  exitCode?: number;
  seconds?: number;
}

/** One that the agent itself keeps. */
export interface AgentSession {
  ref: string;
  title?: string;
  /** Seconds since 1970. */
  updated?: number;
}

export interface SessionInfo {
  sessionId: string;
  agent: string;
  status: "starting" | "idle" | "running" | "closing" | "closed" | "failed" | "elsewhere";
  title?: string;
  /** Not open in this server. */
  stored: boolean;
  /** Seconds since 1970. */
  updated: number;
}

export interface ModelInfo {
  id: string;
  provider: string;
  contextWindow?: number;
}

/** What an agent can be set to. */
export interface Setting {
  id: string;
  name: string;
  description?: string;
  value: string;
  values: { value: string; name: string; description?: string }[];
}

export interface CommandInfo {
  name: string;
  description?: string;
}

export interface RunCommandResult {
  action: "prompt" | "insert" | "display" | "noop";
  text?: string;
}

export interface RevertResult {
  revertId: string;
  files: { uri: string; outcome: string; reason?: string }[];
}

/** One that can be gone back to. */
export interface PastPrompt {
  turnId: string;
  text: string;
  /** Seconds since 1970. */
  time?: number;
}

export interface RewindResult {
  text: string;
  leftSessionId: string;
  reverted?: RevertResult;
}

export interface ForkResult {
  sessionId: string;
  text?: string;
}

export interface NextChange {
  uri?: string;
  range?: Range;
  editId?: string;
  hunkId?: string;
}

/** That can be chosen. */
export interface AgentInfo {
  name: string;
  title: string;
  configured: boolean;
  chosen: boolean;
  path?: string;
  /** Of the agent itself, where its adapter is what is missing. */
  ownPath?: string;
  usable: boolean;
  install?: string;
  installCommand?: string;
  signIn?: string;
  signInCommand?: string;
}

/** That serves models on this machine. */
export interface ModelServer {
  title: string;
  address: string;
  models: string[];
}

export interface AgentsHere {
  agents: AgentInfo[];
  servers: ModelServer[];
}
