// A block of code in an answer, under a line with its language and what can be done with it.

import { isShell } from "../chat/command_line";
import type { CodeUse } from "../chat/messages";
import { button, el } from "./dom";
import { highlighted } from "./highlight";

export type UseCode = (use: CodeUse, code: string) => void;

/** Half a block can only be copied, and has no colours yet: it is drawn anew with each word. */
export function dress(block: HTMLPreElement, isWhole: boolean, use: UseCode): void {
  const inner = block.firstElementChild;
  const language = /language-(\S+)/.exec(inner?.className ?? "")?.[1] ?? "";
  const code = block.textContent ?? "";
  const press = (name: CodeUse, icon: string, label: string, title?: string) =>
    button("", () => use(name, code), { class: "icon", icon, label, ...(title && { title }) });
  const bar = el(
    "div",
    { class: "bar" },
    el("span", { class: "language" }, language),
    isWhole &&
      isShell(language) &&
      press("runInTerminal", "terminal", "Run in Terminal", "Run in Terminal: you press Enter there"),
    isWhole && press("insertAtCursor", "insert", "Insert at the cursor"),
    press("copy", "copy", "Copy code"),
  );
  const frame = el("div", { class: "code" }, bar);
  block.replaceWith(frame);
  block.tabIndex = 0;
  frame.append(block);
  const colored = isWhole ? highlighted(code, language) : undefined;
  if (colored !== undefined) inner?.replaceChildren(colored);
}
