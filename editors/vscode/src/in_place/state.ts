// What has become of a change that was asked for in place, in words. Pure.

import { changedFiles, isOpen } from "../chat/changed_files";
import { isOpenQuestion } from "../chat/transcript";
import type { Turn } from "../chat/transcript";

export interface State {
  is: "waits" | "works" | "answered" | "unchanged" | "failed";
  told: string;
}

const LONGEST = 100;

/** Of the turns that it took, of which the last has the word. */
export function stateOf(turns: Turn[], uri: string): State | undefined {
  const turn = turns.at(-1);
  if (turn === undefined) return undefined;
  if (turn.state === "queued") return { is: "waits", told: "agent: waits" };
  if (turn.state === "running") {
    const asks = turn.parts.some(isOpenQuestion);
    return { is: "works", told: asks ? "agent: waits for your answer" : `agent: works${doing(turn)}` };
  }
  const open = turns.flatMap((each) => changedFiles(each).get(uri) ?? []).filter(({ status }) => isOpen(status));
  if (open.length > 0) {
    const isProposed = open.every(({ status }) => status === "proposed");
    return { is: "answered", told: isProposed ? "agent: proposed" : "agent: changed" };
  }
  if (turn.stopReason !== "endTurn") {
    const why = turn.error ?? (turn.stopReason === "aborted" ? "stopped" : turn.stopReason);
    return { is: "failed", told: short(`agent: failed: ${why}`) };
  }
  const said = turn.parts.findLast(({ kind }) => kind === "text");
  const why = said?.kind === "text" ? said.text.trim() : "";
  return { is: "unchanged", told: short(why === "" ? "agent: no change" : `agent: no change: ${why}`) };
}

function doing({ parts }: Turn): string {
  const call = parts.findLast((part) => part.kind === "tool");
  if (call?.kind !== "tool" || call.tool === "") return "";
  const name = call.toolKind === "command" ? "" : (call.subject.split("/").at(-1) ?? "");
  return ` · ${[call.tool, name].filter(Boolean).join(" ")}`;
}

function short(text: string): string {
  const line = text.split("\n", 1)[0] ?? "";
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}
