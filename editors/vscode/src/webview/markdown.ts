// Markdown of an agent's, made safe: no markup of its own, no images, links only by a click.

import DOMPurify from "dompurify";
import { Marked } from "marked";

import { linkOf } from "../chat/links";
import { button, el } from "./dom";

const SAFE = {
  ALLOWED_TAGS: [
    ...["p", "br", "hr", "em", "strong", "del", "code", "pre", "blockquote", "a"],
    ...["ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6"],
    ...["table", "thead", "tbody", "tr", "th", "td"],
  ],
  ALLOWED_ATTR: ["href", "class", "start", "align"],
  ALLOW_DATA_ATTR: false,
  RETURN_DOM_FRAGMENT: true as const,
};

const marked = new Marked({ gfm: true, async: false });
marked.use({
  renderer: {
    html: ({ text }) => escaped(text),
    image: ({ text, href }) => escaped(text || href),
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

/** The text as a fragment; `copy` is what a code block's button does. */
export function markdown(text: string, copy: (code: string) => void): DocumentFragment {
  const fragment = DOMPurify.sanitize(marked.parse(text) as string, SAFE);
  for (const link of fragment.querySelectorAll("a")) {
    if (linkOf(link.getAttribute("href") ?? "") === undefined) link.replaceWith(...link.childNodes);
  }
  for (const block of fragment.querySelectorAll("pre")) dress(block, copy);
  for (const table of fragment.querySelectorAll("table")) {
    const frame = el("div", { class: "scrolled" });
    table.replaceWith(frame);
    frame.append(table);
  }
  return fragment;
}

/** A code block under a line with its language and a button that copies it. */
function dress(block: HTMLPreElement, copy: (code: string) => void): void {
  const language = /language-(\S+)/.exec(block.firstElementChild?.className ?? "")?.[1] ?? "";
  const code = block.textContent ?? "";
  const copied = button("", () => copy(code), { class: "icon", icon: "copy", label: "Copy code" });
  const frame = el("div", { class: "code" }, el("div", { class: "bar" }, language, copied));
  block.replaceWith(frame);
  block.tabIndex = 0;
  frame.append(block);
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
