// What the extension and its chat view say to each other.

import type { AgentsHere, ContextItem } from "../protocol";
import type { Part, Turn } from "./transcript";

/** A document, or lines of it, to be sent along with a prompt. */
export interface Attachment extends ContextItem {
  label: string;
}

/** To be sent along with a prompt; `data` is base64. */
export interface Image {
  label: string;
  mimeType: string;
  data: string;
}

/** A prompt that is being written. */
export interface Draft {
  text: string;
  attachments: Attachment[];
  images: Image[];
}

/** What stands around the conversation. */
export interface Head {
  sessionId: string;
  /** "" until it is known. */
  agent: string;
  /** What the agent's options are set to; "" where it has none. */
  options: string;
  usage: string;
  busy: boolean;
  /** Whether the running turn's agent reads while it works. */
  canSteer: boolean;
  earlier: boolean;
  card?: Card;
  /** In place of the conversation's end: why nothing can be asked now. */
  hindrance?: { text: string; actions: { command: string; title: string }[] };
  /** What the agent's process is at, where it is not simply ready. */
  notice?: string;
  /** Prompts that go out as soon as the server runs. */
  waiting: string[];
  /** The selection in the editor, offered for the next prompt. */
  selection?: Attachment;
}

/** What there is to connect with, in place of the conversation. */
export interface Card extends AgentsHere {
  /** New sessions have an agent that can answer. */
  isConnected: boolean;
  doing?: string;
  failure?: string;
}

/** How a person connects; `look`: they did something elsewhere. */
export type ConnectBy =
  | { by: "agent" | "install" | "signIn"; name: string }
  | { by: "key"; provider: "anthropic" | "openai"; key: string }
  | { by: "server"; address: string; model: string; key: string }
  | { by: "look" };

/** An entry of the list that opens at `@` or `/` in the prompt. */
export interface Suggestion {
  insert: string;
  label: string;
  detail: string;
  attachment?: Attachment;
}

/** What is done with the changes of a turn. */
export type ReviewAction = "open" | "apply" | "keep" | "undo" | "revert";

/** What is done with a block of code, or, of the first, with any text. */
export type CodeUse = "copy" | "insertAtCursor" | "runInTerminal";

export type ToView =
  | { type: "chat"; head: Head; turns: Turn[] }
  | { type: "draft"; draft: Draft }
  | { type: "head"; head: Head }
  | { type: "turn"; turn: Turn }
  | { type: "part"; turnId: string; index: number; part: Part }
  /** What follows in a part that is a text. */
  | { type: "grown"; turnId: string; index: number; text: string }
  | { type: "suggestions"; number: number; items: Suggestion[] }
  | { type: "attach"; item: Attachment }
  | { type: "insert"; text: string }
  | { type: "accepted" }
  /** What of a prompt did not go out, and why if not all of it did what it should. */
  | { type: "returned"; draft: Draft; message?: string }
  | { type: "focus" }
  | { type: "question"; questionId: string };

export type FromView =
  | { type: "ready" }
  /** `steers`: for the turn that runs, if its agent can take it. */
  | { type: "send"; draft: Draft; steers: boolean }
  | { type: "draft"; draft: Partial<Draft> }
  | { type: "stop" }
  | { type: "drop"; turnId: string }
  | { type: "retry" }
  /** Back to before that turn, to write its prompt anew. */
  | { type: "goBack"; turnId: string }
  | { type: "answer"; questionId: string; optionId: string }
  | { type: "denyWithReason"; questionId: string; optionId: string }
  | { type: "suggest"; number: number; sign: "@" | "/"; query: string }
  | { type: "open"; uri: string; line: number }
  | { type: "openLink"; href: string }
  /** Of all its files, or of one. */
  | { type: "review"; action: ReviewAction; turnId: string; uri?: string }
  | { type: CodeUse; text: string }
  | { type: "connect"; chosen: ConnectBy }
  | { type: "closeCard" }
  | { type: "command"; command: string };
