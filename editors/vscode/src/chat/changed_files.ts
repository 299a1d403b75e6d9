// The files that tool calls changed. Pure.

import type { Edit, EditStatus } from "../protocol";
import { shortened } from "./calls";
import type { Turn } from "./transcript";

/** One file that a tool call changed. */
export interface ChangedFile {
  editId: string;
  uri: string;
  status: EditStatus;
  added: number;
  removed: number;
  /** Lines in hunks that nobody has decided on; absent in what an earlier version has kept. */
  open?: { added: number; removed: number };
  /** 0-based line of the first change. */
  line: number;
  hunks: { old: string; new: string }[];
}

/** The files that a turn changed, each once, with their edits in order. */
export function changedFiles(turn: Turn): Map<string, ChangedFile[]> {
  const files = new Map<string, ChangedFile[]>();
  for (const part of turn.parts) {
    if (part.kind !== "tool") continue;
    for (const file of part.files) files.set(file.uri, [...(files.get(file.uri) ?? []), file]);
  }
  return files;
}

/** Whether an edit or a hunk waits for a decision. */
export function isOpen(status: EditStatus): boolean {
  return status === "applied" || status === "proposed";
}

/** As the edit has come. */
export function changedFile(edit: Edit): ChangedFile {
  const hunks = edit.hunks ?? [];
  return {
    editId: edit.editId,
    uri: edit.uri,
    status: edit.status,
    added: sum(hunks.map((hunk) => lineCount(hunk.newText))),
    removed: sum(hunks.map((hunk) => lineCount(hunk.oldText))),
    open: openLines(edit),
    line: hunks[0]?.range.start.line ?? 0,
    hunks: hunks.map((hunk) => ({ old: shortened(hunk.oldText), new: shortened(hunk.newText) })),
  };
}

export function openLines({ hunks }: Edit): { added: number; removed: number } {
  const open = (hunks ?? []).filter(({ status }) => isOpen(status));
  return {
    added: sum(open.map((hunk) => lineCount(hunk.newText))),
    removed: sum(open.map((hunk) => lineCount(hunk.oldText))),
  };
}

function lineCount(text: string): number {
  if (text === "") return 0;
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
