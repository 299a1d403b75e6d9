// Places in files that an agent's or a command's words name, as `src/a.py:12` or `a.py:12:3`. Pure.

export interface Place {
  /** Where it stands in the text. */
  from: number;
  to: number;
  /** As a link leads there. */
  href: string;
}

/** A path whose name has an ending that begins with a letter, a line, and perhaps a column. */
const PLACE = /(?<![^\s"'`([{<=,;])((?:[a-z]:)?[^\s"'`()[\]{}<>=,;:]*\.[a-z][a-z\d]{0,9}):(\d{1,7})(?::\d{1,7})?(?!\w)/gi;

/** What looks like one and is a machine's name and its port. */
const HOST = /^[^/\\]*\.(com|org|net|io|dev|local|internal)$/i;

export function places(text: string): Place[] {
  return [...text.matchAll(PLACE)].flatMap(({ 0: whole, 1: path = "", 2: line, index }) => {
    if (HOST.test(path)) return [];
    const [drive = "", rest = ""] = /^[a-z]:/i.test(path) ? [path.slice(0, 2), path.slice(2)] : ["", path];
    const href = `${drive}${rest.split("/").map(encodeURIComponent).join("/")}:${line}`;
    return [{ from: index, to: index + whole.length, href }];
  });
}
