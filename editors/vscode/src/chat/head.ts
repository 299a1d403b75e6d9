// What stands around the conversation, in words.

import type { Agent } from "../agent";
import type { Setting, Usage, Window } from "../protocol";
import type { Attachment, Card, Head } from "./messages";

export function head(
  agent: Agent,
  card: Card | undefined,
  selection: Attachment | undefined,
): Head {
  const { chat, state } = agent;
  const hindrance = hindranceOf(agent);
  const notice = noticeOf(agent);
  return {
    sessionId: chat?.sessionId ?? "",
    agent: state ? [state.agent, state.model].filter(Boolean).join(" · ") : "",
    options: (state?.options ?? []).map(valueName).join(" · "),
    usage: [windowText(chat?.window), usageText(chat?.usage ?? {})].filter(Boolean).join(" · "),
    busy: agent.isBusy(),
    canSteer: agent.running() !== undefined,
    earlier: chat?.earlier ?? false,
    waiting:
      agent.connection.state.kind === "starting" ? agent.prompting.sending.map(({ text }) => text) : [],
    ...(card && { card }),
    ...(hindrance && { hindrance }),
    ...(notice && { notice }),
    ...(selection && { selection }),
  };
}

/** What an option is set to, in the agent's words. */
export function valueName({ value, values }: Setting): string {
  return values.find((each) => each.value === value)?.name ?? value;
}

/** How full the model's window is, as far as that is known. */
export function windowText(window: Window | undefined): string {
  if (window === undefined) return "";
  if (window.size === undefined) return `Window ${short(window.used)}`;
  return `Window ${Math.round((100 * window.used) / window.size)} % of ${short(window.size)}`;
}

/** Tokens to the model and from it, and cost, as far as they are known. */
export function usageText({ input, output, cacheRead, cost }: Usage): string {
  const parts: string[] = [];
  const taken = (input ?? 0) + (cacheRead ?? 0);
  if (taken > 0) parts.push(`↑${short(taken)}`);
  if (output) parts.push(`↓${short(output)}`);
  if (cost) parts.push(`$${cost < 0.1 ? cost.toFixed(3) : cost.toFixed(2)}`);
  return parts.join(" ");
}

function short(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k`;
}

function noticeOf({ chat, connection }: Agent): string | undefined {
  if (connection.state.kind === "starting") return "Starting the agent's server…";
  if (chat === undefined || chat.earlier) return undefined;
  if (chat.status === "starting") return "Starting the agent…";
  if (chat.status === "restarting") return "Starting the agent again…";
  return undefined;
}

function hindranceOf({ connection: { state: server } }: Agent): Head["hindrance"] {
  switch (server.kind) {
    case "restricted":
      return {
        text: "You have not trusted this folder, so no agent is started in it.",
        actions: [{ command: "workbench.trust.manage", title: "Manage Trust" }],
      };
    case "noFolder":
      return {
        text: "An agent works in a folder. Open one to begin.",
        actions: [{ command: "vscode.openFolder", title: "Open Folder" }],
      };
    case "failed": {
      const actions = [
        { command: "lspAgent.server.restart", title: "Try Again" },
        { command: "lspAgent.server.log", title: "Show Log" },
      ];
      if (server.problem === "python") {
        actions.splice(0, 0, { command: "lspAgent.server.getUv", title: "Install uv" });
        actions.splice(2, 0, { command: "lspAgent.server.getPython", title: "Get Python" });
      }
      if (server.problem !== "install") {
        actions.splice(-1, 0, { command: "lspAgent.server.settings", title: "Set Its Path" });
      }
      return { text: server.message, actions };
    }
    default:
      return undefined;
  }
}
