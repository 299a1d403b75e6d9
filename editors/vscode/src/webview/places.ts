// Places in files become links, which the conversation opens as it opens any link.

import { places } from "../chat/places";
import { el } from "./dom";

/** The text, with its places as links. */
function linked(text: string): (Node | string)[] {
  const made: (Node | string)[] = [];
  let at = 0;
  for (const { from, to, href } of places(text)) {
    made.push(text.slice(at, from), el("a", { href }, text.slice(from, to)));
    at = to;
  }
  return [...made, text.slice(at)];
}

/** Links the places among an element's words, but not within links and blocks of code. */
export function linkPlaces(root: DocumentFragment): void {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const found: Text[] = [];
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    if (node.data.includes(":") && node.parentElement?.closest("a, pre") == null) found.push(node);
  }
  for (const node of found) {
    const made = linked(node.data);
    if (made.length > 1) node.replaceWith(...made);
  }
}
