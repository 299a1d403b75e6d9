// Which paths and commands fit what is typed behind an `@` or a slash. Pure.

/** Those of the files, and of the folders that they are in, that fit the query; the best first, at
 * most so many. A folder's path ends with a slash. */
export function fitting(files: string[], query: string, most: number): string[] {
  const wanted = query.toLowerCase();
  return [...files, ...foldersOf(files)]
    .map((path) => ({ path, distance: distance(path.toLowerCase(), wanted) }))
    .filter((each) => each.distance < Infinity)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, most)
    .map(({ path }) => path);
}

/** Those entries of a list that fit what is typed by now, in their order; commands by how they
 * begin. */
export function narrowed<Entry extends { insert: string }>(
  entries: Entry[],
  sign: "@" | "/",
  query: string,
): Entry[] {
  const wanted = query.toLowerCase();
  return entries.filter(({ insert }) => {
    if (!insert.startsWith(sign)) return false;
    const name = insert.slice(1).toLowerCase();
    return sign === "/" ? name.startsWith(wanted) : distance(name, wanted) < Infinity;
  });
}

/** Finds files whose name has the query in it, whatever the case of its letters; undefined where
 * that says nothing, or a name cannot be the query. */
export function globOf(query: string): string | undefined {
  if (query === "" || query.includes("/")) return undefined;
  const letters = [...query].map((letter) => {
    if (/[[\]{}*?!,\\]/.test(letter)) return "?";
    const [low, high] = [letter.toLowerCase(), letter.toUpperCase()];
    return low === high || low.length > 1 || high.length > 1 ? letter : `[${low}${high}]`;
  });
  return `**/*${letters.join("")}*`;
}

function foldersOf(files: string[]): Set<string> {
  const folders = new Set<string>();
  for (const path of files) {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const folder = path.slice(0, at + 1);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}

/** How badly the query fits; infinite where it does not. The last name counts most. */
function distance(path: string, query: string): number {
  const isFolder = path.endsWith("/");
  const name = path.slice(path.lastIndexOf("/", path.length - 2) + 1);
  const behind = isFolder ? 0.5 : 0;
  if (name.startsWith(query)) return behind;
  if (name.includes(query)) return 1 + behind;
  if (path.includes(query)) return 2 + behind;
  // Words behind a name are no name: letters here and there are looked for in one word alone.
  return !isFolder && !/\s/.test(query) && hasInOrder(path, query) ? 3 : Infinity;
}

function hasInOrder(path: string, letters: string): boolean {
  let at = -1;
  for (const letter of letters) {
    at = path.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}
