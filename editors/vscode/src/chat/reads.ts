// Files that were read one after the other, as one. Pure.

import type { Part, ToolPart } from "./transcript";

export function isRead(part: Part | undefined): part is ToolPart {
  return part?.kind === "tool" && part.toolKind === "read";
}

/** The first and the last of the reads around that one, which none but reads are among. */
export function readsAround(parts: Part[], index: number): [number, number] {
  let [first, last] = [index, index];
  while (isRead(parts[first - 1])) first--;
  while (isRead(parts[last + 1])) last++;
  return [first, last];
}

/** What they are, in words, and their state: of one that runs yet, or else of one that failed. */
export function readsTold(reads: ToolPart[]): { told: string; state: ToolPart["state"] } {
  const files = new Set(reads.map(({ subject }) => subject)).size;
  const failed = reads.filter(({ state }) => state === "failed").length;
  const isRunning = reads.some(({ state }) => state === "running");
  const isStopped = reads.some(({ state }) => state === "stopped");
  const told = `${isRunning ? "Reading" : "Read"} ${files === 1 ? "1 file" : `${files} files`}`;
  const state = isRunning ? "running" : failed > 0 ? "failed" : isStopped ? "stopped" : "done";
  return { told: failed > 0 ? `${told}, ${failed} failed` : told, state };
}
