// Markdown of an agent's, made safe: no markup of its own, no images, links only by a click.

import DOMPurify from "dompurify";
import { Marked } from "marked";

import { linkOf } from "../chat/links";
import { isWholeCode } from "./blocks";
import type { UseCode } from "./code";
import { dress } from "./code";
import { el } from "./dom";
import { linkPlaces } from "./places";

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
    code: ({ raw, text, lang }) => {
      const language = /^\S*/.exec(lang ?? "")?.[0] ?? "";
      const names = `language-${escaped(language)}${isWholeCode(raw) ? " whole" : ""}`;
      return `<pre><code class="${names}">${escaped(text.replace(/\n$/, ""))}\n</code></pre>`;
    },
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

/** The text as a fragment; `use` is what a code block's buttons do. */
export function markdown(text: string, use: UseCode): DocumentFragment {
  const fragment = DOMPurify.sanitize(marked.parse(text) as string, SAFE);
  for (const link of fragment.querySelectorAll("a")) {
    if (linkOf(link.getAttribute("href") ?? "") === undefined) link.replaceWith(...link.childNodes);
  }
  linkPlaces(fragment);
  for (const block of fragment.querySelectorAll("pre")) {
    dress(block, block.firstElementChild?.classList.contains("whole") ?? false, use);
  }
  for (const table of fragment.querySelectorAll("table")) {
    const frame = el("div", { class: "scrolled" });
    table.replaceWith(frame);
    frame.append(table);
  }
  return fragment;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
