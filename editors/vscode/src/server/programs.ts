// Programs on this machine, and what they say.

import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { promisify } from "node:util";

export const run = promisify(execFile);

export const BIN = process.platform === "win32" ? "Scripts" : "bin";
export const EXE = process.platform === "win32" ? ".exe" : "";

const MILLISECONDS = 10_000;

export async function onPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, name + EXE);
    // A relative entry leads to a program of the repository's.
    if (isAbsolute(folder) && (await isProgram(path))) return path;
  }
  return undefined;
}

/** What it prints, without the space around it; undefined where it fails. */
export async function output(
  program: string,
  args: string[],
  cwd: string,
  timeout = MILLISECONDS,
): Promise<string | undefined> {
  return run(program, args, { cwd, timeout }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}

export async function isProgram(path: string): Promise<boolean> {
  if (!(await exists(path)) || !(await stat(path)).isFile()) return false;
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
