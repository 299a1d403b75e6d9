// A Python that is new enough, wherever people have one. It is started away from the repository and
// isolated (-I): it would import what lies in the folder that it is started in, and some launchers
// of it obey files there.

import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, relative } from "node:path";
import * as vscode from "vscode";

import { BIN, EXE, isProgram, onPath, output } from "./programs";

export const OLDEST_PYTHON = "3.11";
const NAMES = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"];
const RECENT = `import sys, venv; sys.exit(sys.version_info < (${OLDEST_PYTHON.replace(".", ", ")}))`;
/** uv may have to fetch it. */
const FETCH_MILLISECONDS = 300_000;

/** What the extension of that id tells of Pythons, as far as it is read here. */
interface PythonExtension {
  environments?: { known?: readonly { executable?: { uri?: vscode.Uri } }[] };
}

/** One that is here; `away` is a folder to start it in. */
export async function findPython(away: string): Promise<string | undefined> {
  for await (const python of candidates(away)) {
    if (!isInWorkspace(python) && (await isRecent(python, away))) return python;
  }
  return undefined;
}

/** One that uv brings, where uv is. */
export async function fetchPython(away: string): Promise<string | undefined> {
  const uv = await findUv();
  if (uv === undefined) return undefined;
  const wanted = ["--no-config", `>=${OLDEST_PYTHON}`];
  await output(uv, ["python", "install", ...wanted], away, FETCH_MILLISECONDS);
  return output(uv, ["python", "find", ...wanted], away);
}

async function* candidates(away: string): AsyncGenerator<string> {
  for (const name of NAMES) {
    const path = await onPath(name);
    if (path !== undefined) yield path;
  }
  yield* await ofPythonExtension();
  const launcher = await onPath("py");
  if (launcher !== undefined) {
    const code = "import sys; print(sys.executable)";
    yield* some(await output(launcher, ["-3", "-I", "-c", code], away));
  }
  yield* await ofPyenv();
  const uv = await findUv();
  if (uv !== undefined) {
    yield* some(await output(uv, ["python", "find", "--no-config", `>=${OLDEST_PYTHON}`], away));
  }
}

async function ofPythonExtension(): Promise<string[]> {
  const extension = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
  const api = await extension?.activate().then(undefined, () => undefined);
  return (api?.environments?.known ?? []).flatMap(({ executable }) => some(executable?.uri?.fsPath));
}

async function ofPyenv(): Promise<string[]> {
  const versions = join(process.env["PYENV_ROOT"] ?? join(homedir(), ".pyenv"), "versions");
  const names = await readdir(versions).catch(() => []);
  const newestFirst = names.sort((a, b) => b.localeCompare(a, undefined, { numeric: true }));
  return newestFirst.map((name) => join(versions, name, BIN, `python${EXE}`));
}

/** Its installer puts it where the PATH of a running editor may not lead. */
async function findUv(): Promise<string | undefined> {
  const found = await onPath("uv");
  if (found !== undefined) return found;
  for (const folder of [".local", ".cargo"]) {
    const path = join(homedir(), folder, "bin", `uv${EXE}`);
    if (await isProgram(path)) return path;
  }
  return undefined;
}

/** What lies there is the repository's. */
function isInWorkspace(path: string): boolean {
  return (vscode.workspace.workspaceFolders ?? []).some(({ uri }) => {
    const way = relative(uri.fsPath, path);
    return !way.startsWith("..") && !isAbsolute(way);
  });
}

async function isRecent(python: string, away: string): Promise<boolean> {
  return (
    (await isProgram(python)) && (await output(python, ["-I", "-c", RECENT], away)) !== undefined
  );
}

function some(path: string | undefined): string[] {
  return path === undefined || path === "" ? [] : [path];
}
