// Prompts that did not go out, put together again with what is being written. Pure.

import type { Draft } from "./messages";

/** Nothing of either is lost: the words of the first stand first. */
export function joined(first: Draft, second: Draft): Draft {
  const labels = new Set(first.attachments.map(({ label }) => label));
  return {
    text: [first.text, second.text].filter((text) => text !== "").join("\n\n"),
    attachments: [
      ...first.attachments,
      ...second.attachments.filter(({ label }) => !labels.has(label)),
    ],
    images: [...first.images, ...second.images],
  };
}

export function emptyDraft(): Draft {
  return { text: "", attachments: [], images: [] };
}
