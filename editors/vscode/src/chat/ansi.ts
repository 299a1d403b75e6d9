// A command's output as a terminal shows it: its colours by name, and nothing of its other signs.
// Pure.

/** A stretch of the text that is shown alike. */
export interface Styled {
  text: string;
  /** Of `ansi-red`, `ansi-on-bright-blue`, `ansi-bold` and the like; the theme has the colours. */
  classes: string[];
}

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

interface Style {
  color?: string | undefined;
  ground?: string | undefined;
  marks: Set<string>;
}

// A control sequence, a title or a link (OSC) up to its end, other escapes of two signs, and signs
// that move or ring.
const SEQUENCE =
  /\x1b\[([0-?]*)[ -/]*([@-~])|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)|\x1b[ -/]*[0-~]?|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

export function styled(output: string): Styled[] {
  const made: Styled[] = [];
  const style: Style = { marks: new Set() };
  const text = overwritten(output);
  let at = 0;
  const add = (until: number): void => {
    if (until > at) made.push({ text: text.slice(at, until), classes: classesOf(style) });
  };
  for (const found of text.matchAll(SEQUENCE)) {
    add(found.index);
    at = found.index + found[0].length;
    if (found[2] === "m") set(style, (found[1] ?? "").split(/[;:]/).map(Number));
  }
  add(text.length);
  return made;
}

/** Without colours. */
export function plain(output: string): string {
  return overwritten(output).replace(SEQUENCE, "");
}

/** Of each line what was written last from its start on, as of a bar that gets on. */
function overwritten(output: string): string {
  return output.replace(/\r+\n/g, "\n").replace(/[^\n]*\r(?=[^\n])/g, "").replaceAll("\r", "");
}

function classesOf({ color, ground, marks }: Style): string[] {
  const named = [color && `ansi-${color}`, ground && `ansi-on-${ground}`];
  return [...named.filter((name) => name !== undefined), ...[...marks].map((mark) => `ansi-${mark}`)];
}

const MARKS: Record<number, string> = { 1: "bold", 2: "dim", 3: "italic", 4: "underline" };

function set(style: Style, codes: number[]): void {
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 0) [style.color, style.ground, style.marks] = [undefined, undefined, new Set()];
    else if (code === 22) ["bold", "dim"].forEach((mark) => style.marks.delete(mark));
    else if (code === 23 || code === 24) style.marks.delete(MARKS[code - 20] ?? "");
    else if (MARKS[code] !== undefined) style.marks.add(MARKS[code]);
    else if (code === 38 || code === 48) {
      const { name, taken } = extended(codes.slice(at + 1));
      if (code === 38) style.color = name;
      else style.ground = name;
      at += taken;
    } else if (code === 39) style.color = undefined;
    else if (code === 49) style.ground = undefined;
    else if (code >= 30 && code <= 37) style.color = NAMES[code - 30];
    else if (code >= 40 && code <= 47) style.ground = NAMES[code - 40];
    else if (code >= 90 && code <= 97) style.color = `bright-${NAMES[code - 90]}`;
    else if (code >= 100 && code <= 107) style.ground = `bright-${NAMES[code - 100]}`;
  }
}

/** One of 256 colours, or any, as the theme's that is like it; and how many numbers that were. */
function extended([kind, ...numbers]: number[]): { name: string | undefined; taken: number } {
  if (kind === 2) return { name: nearest(numbers.slice(0, 3)), taken: 4 };
  const number = numbers[0] ?? 0;
  if (kind !== 5) return { name: undefined, taken: 0 };
  if (number < 8) return { name: NAMES[number], taken: 2 };
  if (number < 16) return { name: `bright-${NAMES[number - 8]}`, taken: 2 };
  const grey = (number - 232) * 10 + 8;
  const cube = [36, 6, 1].map((unit) => (Math.floor((number - 16) / unit) % 6) * 51);
  return { name: nearest(number >= 232 ? [grey, grey, grey] : cube), taken: 2 };
}

function nearest(channels: number[]): string {
  const most = Math.max(...channels);
  const isOn = (channel = 0): boolean => most >= 64 && channel > most * 0.6;
  const at = channels.reduce((bits, channel, place) => bits + (isOn(channel) ? 1 << place : 0), 0);
  return most > 200 ? `bright-${NAMES[at]}` : (NAMES[at] ?? "white");
}
