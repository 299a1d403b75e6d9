// What of a block of shell code is put into a terminal. Pure.

const SHELLS = new Set([
  ...["sh", "bash", "zsh", "fish", "shell", "console", "shellsession", "shell-session", "terminal"],
  ...["powershell", "pwsh", "ps1", "bat", "cmd"],
]);

export function isShell(language: string): boolean {
  return SHELLS.has(language.toLowerCase());
}

/** The one command that the block is, without its comment and its prompt, on one line that no sign
 * in it runs; undefined where it has several lines, which a terminal would run as they come. */
export function commandLine(code: string): string | undefined {
  const whole = withoutControls(code).replaceAll("\\\n", "");
  const lines = whole.split("\n").filter((line) => !/^\s*(#|$)/.test(line));
  const prompted = lines.filter((line) => PROMPT.test(line));
  const [first, ...more] = prompted.length > 0 ? prompted : lines;
  if (first === undefined || more.length > 0) return undefined;
  return first.replace(PROMPT, "").replaceAll("\t", " ").trim();
}

const PROMPT = /^\s*[$%] /;

/** Nothing that a terminal would take as a key: an escape, an end of input. */
export function withoutControls(code: string): string {
  return code.replace(/\r\n?/g, "\n").replace(/[^\P{Cc}\t\n]/gu, "");
}
