// What a turn changed, under it: all of it at once, and file by file where there are several. The
// counts are of what waits for a decision.

import type { FromView, ReviewAction } from "../chat/messages";
import type { ChangedFile } from "../chat/changed_files";
import { isOpen } from "../chat/changed_files";
import type { Turn } from "../chat/transcript";
import type { EditStatus } from "../protocol";
import { button, el } from "./dom";

type Post = (message: FromView) => void;

export function changes(turn: Turn, files: Map<string, ChangedFile[]>, post: Post): HTMLElement {
  const all = [...files.values()].flat();
  const isProposed = all.some((file) => file.status === "proposed");
  const isApplied = all.some((file) => file.status === "applied");
  const review = (action: ReviewAction) => () => post({ type: "review", action, turnId: turn.id });
  const count = files.size === 1 ? "1 file" : `${files.size} files`;
  const what = isApplied || !isProposed ? `${count} changed` : `Changes of ${count} proposed`;
  const open = all.filter((file) => isOpen(file.status));
  const buttons = [
    button("Review", review("open"), { class: "secondary", icon: "diff-multiple" }),
    isProposed && button("Apply", review("apply"), { class: "secondary", icon: "check" }),
    isApplied && button("Keep", review("keep"), { class: "secondary", icon: "check" }),
    (isApplied || isProposed) &&
      button(isApplied ? "Undo" : "Reject", review("undo"), { class: "secondary", icon: "discard" }),
    !(isApplied || isProposed) &&
      button("Take Back", review("revert"), {
        class: "secondary",
        icon: "history",
        title: "Take this turn out of the files again, kept changes included",
      }),
  ];
  return el(
    "div",
    { class: "changes", role: "group", "aria-label": what },
    el("span", { class: "what" }, what, counts(open.map((file) => file.open ?? file))),
    el("span", { class: "buttons" }, ...buttons),
    files.size > 1 && list(turn, files, post),
  );
}

function list(turn: Turn, files: Map<string, ChangedFile[]>, post: Post): HTMLElement {
  const rows = [...files].map(([uri, edits]) => row(turn, uri, edits, post));
  return el("ul", { class: "files", "aria-label": "Changed files" }, ...rows);
}

function row(turn: Turn, uri: string, edits: ChangedFile[], post: Post): HTMLElement {
  const name = decodeURIComponent(uri.split("/").at(-1) ?? uri);
  const open = edits.filter(({ status }) => isOpen(status));
  const review = (action: ReviewAction, label: string, sign: string): HTMLElement =>
    button("", () => post({ type: "review", action, turnId: turn.id, uri }), {
      class: "icon",
      icon: sign,
      label: `${label} ${name}`,
    });
  const has = (status: EditStatus): boolean => edits.some((edit) => edit.status === status);
  const line = Math.min(...(open.length > 0 ? open : edits).map((edit) => edit.line));
  const goes = button(name, () => post({ type: "open", uri, line }), {
    class: "link",
    label: `Open ${name}`,
    title: decodeURIComponent(new URL(uri).pathname),
  });
  return el(
    "li",
    {},
    el("span", { class: "what" }, goes, counts(open.map((edit) => edit.open ?? edit))),
    el(
      "span",
      { class: "buttons" },
      review("open", "Review", "diff"),
      has("proposed") && review("apply", "Apply", "check"),
      has("applied") && review("keep", "Keep", "check"),
      open.length > 0 && review("undo", has("applied") ? "Undo" : "Reject", "discard"),
    ),
  );
}

type Lines = Pick<ChangedFile, "added" | "removed">;

export function counts(files: Lines[]): HTMLElement | undefined {
  if (files.length === 0) return undefined;
  const total = (of: (file: Lines) => number): number =>
    files.reduce((sum, file) => sum + of(file), 0);
  const [added, removed] = [total((file) => file.added), total((file) => file.removed)];
  if (added + removed === 0) return el("span", { class: "counts" }, "no lines"); // a new, empty file
  return el(
    "span",
    { class: "counts", "aria-label": `${added} lines added, ${removed} removed` },
    el("span", { class: "plus" }, `+${added}`),
    el("span", { class: "minus" }, `−${removed}`),
  );
}

