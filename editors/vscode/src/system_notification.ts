// A notification of the person's system, by the program that it has for this: VS Code has none for
// an extension.

import { spawn } from "node:child_process";
import * as vscode from "vscode";

export type Tell = (title: string, text: string) => void;

const LONGEST = 120;

/** Of the notification; undefined where the system has no program for it. Words are handed over as
 * they are, never as a part of a script. */
export function command(platform: string, title: string, text: string): string[] | undefined {
  const line = text.replaceAll(/\s+/g, " ").trim().slice(0, LONGEST);
  if (platform === "linux") {
    const shown = line.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    return ["notify-send", "--app-name=Visual Studio Code", "--", title, shown];
  }
  if (platform !== "darwin") return undefined;
  const script = "display notification (item 2 of argv) with title (item 1 of argv)";
  return ["osascript", "-e", "on run argv", "-e", script, "-e", "end run", title, line];
}

/** From a machine that is not the person's own none would be seen; there is the badge. */
export function tell(title: string, text: string): void {
  if (vscode.env.remoteName !== undefined) return;
  const [program, ...words] = command(process.platform, title, text) ?? [];
  if (program === undefined) return;
  const child = spawn(program, words, { stdio: "ignore", detached: true });
  child.on("error", () => undefined); // it is not installed
  child.unref();
}
