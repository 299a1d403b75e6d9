// Where the server is: the setting, PATH, or the wheel that comes with the extension, installed
// into a virtual environment of its own.
//
// Python is started away from the repository and isolated (-I): it would import what lies in the
// folder that it is started in, and some launchers of it obey files there.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";

import { SECTION } from "./settings";

const run = promisify(execFile);

const OLDEST_PYTHON = [3, 11] as const;
const PYTHONS = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"];
const SCRIPTS = process.platform === "win32" ? "Scripts" : "bin";
const EXE = process.platform === "win32" ? ".exe" : "";

/** The server cannot be started; the message is for the person. */
export class ServerError extends Error {
  constructor(
    message: string,
    readonly kind: "absent" | "path" | "python" | "install",
  ) {
    super(message);
  }
}

/** The server's program, if it is there already. Raises ServerError where the setting is wrong. */
export async function findServer(context: vscode.ExtensionContext): Promise<string | undefined> {
  const setting = vscode.workspace.getConfiguration(SECTION).get<string>("server.path", "").trim();
  if (setting !== "") {
    const path = setting.replace(/^~(?=[/\\])/, homedir());
    if (await isProgram(path)) return path;
    throw new ServerError(`The setting lspAgent.server.path names no program: ${path}`, "path");
  }
  return (await onPath("lsp-agent")) ?? (await installed(context));
}

/** Installs the server that comes with the extension; its program. Raises ServerError. */
export async function installServer(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
): Promise<string> {
  const wheel = await bundledWheel(context);
  if (wheel === undefined) throw new ServerError("This package comes without a server.", "install");
  const away = context.globalStorageUri.fsPath;
  await mkdir(away, { recursive: true });
  const python = await findPython(away);
  if (python === undefined) {
    throw new ServerError(
      `The agent's server needs Python ${OLDEST_PYTHON.join(".")} or newer, and there is none on PATH.`,
      "python",
    );
  }
  const folder = await serverFolder(context, wheel);
  await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: "Setting up the agent's server" },
    async (progress) => {
      await rm(folder, { recursive: true, force: true });
      progress.report({ message: "making a virtual environment" });
      await logged(log, python, ["-I", "-m", "venv", folder], away);
      progress.report({ message: "installing" });
      const quiet = ["--quiet", "--disable-pip-version-check", "--no-input"];
      const install = ["-I", "-m", "pip", "install", ...quiet, wheel];
      await logged(log, inFolder(folder, "python"), install, away);
      await writeFile(join(folder, "ready"), "");
    },
  );
  return inFolder(folder, "lsp-agent");
}

/** A folder a wheel: another version of the extension does not meet this one's. */
async function serverFolder(context: vscode.ExtensionContext, wheel: string): Promise<string> {
  const digest = createHash("sha256").update(await readFile(wheel)).digest("hex");
  return join(context.globalStorageUri.fsPath, `server-${digest.slice(0, 12)}`);
}

async function installed(context: vscode.ExtensionContext): Promise<string | undefined> {
  const wheel = await bundledWheel(context);
  if (wheel === undefined) return undefined;
  const folder = await serverFolder(context, wheel);
  const program = inFolder(folder, "lsp-agent");
  const isReady = (await exists(join(folder, "ready"))) && (await isProgram(program));
  // Its Python is a link to one that an update of the system may have removed.
  return isReady && (await isProgram(inFolder(folder, "python"))) ? program : undefined;
}

async function bundledWheel(context: vscode.ExtensionContext): Promise<string | undefined> {
  const folder = context.asAbsolutePath("server");
  const names = await readdir(folder).catch(() => []);
  const wheel = names.find((name) => name.endsWith(".whl"));
  return wheel === undefined ? undefined : join(folder, wheel);
}

async function findPython(away: string): Promise<string | undefined> {
  for (const name of PYTHONS) {
    const path = await onPath(name);
    if (path !== undefined && (await isRecent(path, away))) return path;
  }
  return undefined;
}

async function isRecent(python: string, away: string): Promise<boolean> {
  const code = `import sys, venv; sys.exit(sys.version_info < (${OLDEST_PYTHON.join(", ")}))`;
  return run(python, ["-I", "-c", code], { cwd: away, timeout: 10_000 }).then(
    () => true,
    () => false,
  );
}

async function onPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, name + EXE);
    // A relative entry leads to a program of the repository's.
    if (isAbsolute(folder) && (await isProgram(path))) return path;
  }
  return undefined;
}

async function logged(
  log: vscode.LogOutputChannel,
  program: string,
  args: string[],
  cwd: string,
): Promise<void> {
  log.info(`${program} ${args.join(" ")}`);
  try {
    const { stdout, stderr } = await run(program, args, { cwd, timeout: 600_000 });
    if (stdout + stderr !== "") log.info(stdout + stderr);
  } catch (error) {
    const said = (error as { stderr?: string }).stderr ?? "";
    log.error(String(error), said);
    const last = said.trim().split("\n").at(-1) ?? String(error);
    throw new ServerError(`The agent's server could not be installed: ${last}`, "install");
  }
}

async function isProgram(path: string): Promise<boolean> {
  if (!(await exists(path)) || !(await stat(path)).isFile()) return false;
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function inFolder(folder: string, program: string): string {
  return join(folder, SCRIPTS, program + EXE);
}
