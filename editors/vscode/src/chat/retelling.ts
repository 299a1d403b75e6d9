// The turns of a stored session, from its messages. Pure.

import type { Message } from "../protocol";
import type { Chat } from "./transcript";
import { take } from "./transcript";

const RETOLD = "earlier-";

/** Whether the server knows the turn by that id. */
export function isKnown(turnId: string): boolean {
  return !turnId.startsWith(RETOLD);
}

/** Shows in `chat` what was said and done. */
export function retell(chat: Chat, messages: Message[]): void {
  const at = { sessionId: chat.sessionId, seq: 0, time: 0 };
  let turnId: string | undefined;
  const ended = () => {
    if (turnId) take(chat, { ...at, turnId, type: "turnEnded", stopReason: "endTurn" });
  };
  messages.forEach(({ role, content }, number) => {
    if (role === "user" || turnId === undefined) {
      ended();
      turnId = `${RETOLD}${number}`;
      const prompt = role === "user" ? content.map(({ text }) => text ?? "").join("") : "…";
      take(chat, { ...at, turnId, type: "turnStarted", prompt });
    }
    if (role === "user") return;
    if (role === "assistant") take(chat, { ...at, turnId, type: "stepStarted", step: number });
    for (const { type, text = "", toolCallId = "", tool = "", args, ...rest } of content) {
      if (type === "text") take(chat, { ...at, turnId, type: "textDelta", text });
      if (type === "thinking") take(chat, { ...at, turnId, type: "thinkingDelta", text });
      if (type === "toolCall") {
        const given = (args ?? {}) as { command?: string; path?: string };
        const kind = given.command === undefined ? "other" : "command";
        const paths = given.path === undefined ? [] : [given.path];
        take(chat, { ...at, turnId, type: "toolCall", toolCallId, tool, kind, args, paths });
      }
      if (type === "plan") {
        take(chat, { ...at, turnId, type: "plan", entries: rest.entries ?? [] });
      }
      if (type === "toolResult") {
        const { isError = false, content: said = [] } = rest;
        take(chat, { ...at, turnId, type: "toolResult", toolCallId, isError, content: said });
      }
    }
  });
  ended();
}
