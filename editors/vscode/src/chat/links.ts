// What a link in an agent's words may lead to. Pure.

export type Link =
  | { to: "page"; url: string }
  /** `line` is 0-based; the path may be relative to a folder of the workspace. */
  | { to: "file"; path: string; line: number };

/** A page of the web, or a file; undefined for all else: an editor's own commands and addresses,
 * programs that a link would start, what is no address. */
export function linkOf(href: string): Link | undefined {
  if (/^https?:\/\/[^/]/i.test(href)) return { to: "page", url: href };
  const found = /^([^#?]+?)(?:(?:#L|:)(\d+)(?:[-:]L?\d+)?)?$/.exec(href);
  if (found === null) return undefined;
  const path = decoded(found[1] ?? "");
  const isAddress = /^[a-z][a-z\d+.-]*:/i.test(path) && !/^[a-z]:[\\/]/i.test(path);
  if (isAddress || /^[\\/]{2}/.test(path)) return undefined;
  return { to: "file", path, line: Math.max(0, Number.parseInt(found[2] ?? "1", 10) - 1) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text; // a per cent sign in a name
    throw error;
  }
}
