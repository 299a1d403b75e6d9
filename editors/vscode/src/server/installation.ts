// The server that comes with the extension, as a wheel: an environment of its own that is made anew
// for each version, on top of another that has what it needs, which versions that need the same
// share. An update of the extension so fetches nothing.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type * as vscode from "vscode";

import { BIN, EXE, exists, isProgram, run } from "./programs";
import { OLDEST_PYTHON, fetchPython, findPython } from "./python";
import { ServerError } from "./server_error";

const INSTALL_MILLISECONDS = 600_000;
const QUIET = ["--quiet", "--disable-pip-version-check", "--no-input"];
/** Has the environment that runs it find the packages of another, whose folder is its argument. */
const SHARE =
  "import pathlib, sys, sysconfig;" +
  "pathlib.Path(sysconfig.get_path('purelib'), 'shared.pth').write_text(sys.argv[1])";
const PACKAGES = "import sysconfig; print(sysconfig.get_path('purelib'))";

export class Installation {
  private constructor(
    private readonly home: string,
    private readonly wheel: string,
    private readonly requirements: string,
    private readonly server: string,
    private readonly packages: string,
  ) {}

  /** Undefined where the extension comes without one. */
  static async bundled(context: vscode.ExtensionContext): Promise<Installation | undefined> {
    const folder = context.asAbsolutePath("server");
    const names = await readdir(folder).catch(() => []);
    const wheel = names.find((name) => name.endsWith(".whl"));
    if (wheel === undefined) return undefined;
    const home = context.globalStorageUri.fsPath;
    const [wheelPath, requirements] = [join(folder, wheel), join(folder, "requirements.txt")];
    const server = join(home, `server-${await digest(wheelPath)}`);
    const packages = join(home, `packages-${await digest(requirements)}`);
    return new Installation(home, wheelPath, requirements, server, packages);
  }

  /** The program, if it is whole. */
  async found(): Promise<string | undefined> {
    const isWhole = (await isReady(this.packages)) && (await isReady(this.server));
    return isWhole ? program(this.server, "lsp-agent") : undefined;
  }

  /** Makes what of it is not there; the program. Raises ServerError. */
  async make(log: vscode.LogOutputChannel, tell: (step: string) => void): Promise<string> {
    await mkdir(this.home, { recursive: true });
    if (!(await isReady(this.packages))) await this.makePackages(log, tell);
    tell("installing the server");
    await this.makeServer(log);
    return program(this.server, "lsp-agent");
  }

  private async makePackages(log: vscode.LogOutputChannel, tell: (step: string) => void) {
    tell("looking for Python");
    let python = await findPython(this.home);
    if (python === undefined) {
      tell("fetching Python");
      python = await fetchPython(this.home);
    }
    if (python === undefined) {
      const text = `The agent's server needs Python ${OLDEST_PYTHON} or newer, and none was found.`;
      throw new ServerError(`${text} uv is the quickest way to one.`, "python");
    }
    tell("making a virtual environment");
    await this.fresh(this.packages);
    await this.logged(log, python, ["-m", "venv", this.packages]);
    tell("fetching what it needs");
    // What is never imported, most of it, need not be compiled: that was a quarter of the time.
    const way = [...QUIET, "--no-compile", "--requirement", this.requirements];
    const install = ["-m", "pip", "install", ...way];
    await this.logged(log, program(this.packages, "python"), install);
    await writeFile(join(this.packages, "ready"), "");
  }

  private async makeServer(log: vscode.LogOutputChannel): Promise<void> {
    const [outer, inner] = [program(this.packages, "python"), program(this.server, "python")];
    await this.fresh(this.server);
    await this.logged(log, outer, ["-m", "venv", "--without-pip", this.server]);
    const shared = (await this.logged(log, outer, ["-c", PACKAGES])).trim();
    await this.logged(log, inner, ["-c", SHARE, shared]);
    const offline = ["install", ...QUIET, "--no-deps", "--no-index", this.wheel];
    await this.logged(log, outer, ["-m", "pip", "--python", inner, ...offline]);
    await writeFile(join(this.server, "ready"), "");
  }

  private async fresh(folder: string): Promise<void> {
    await rm(folder, { recursive: true, force: true });
  }

  /** What it prints. Raises ServerError. */
  private async logged(
    log: vscode.LogOutputChannel,
    python: string,
    args: string[],
  ): Promise<string> {
    log.info(`${python} ${args.join(" ")}`);
    const options = { cwd: this.home, timeout: INSTALL_MILLISECONDS };
    try {
      const { stdout, stderr } = await run(python, ["-I", ...args], options);
      if (stderr !== "") log.info(stderr);
      return stdout;
    } catch (error) {
      const said = (error as { stderr?: string }).stderr ?? "";
      log.error(String(error), said);
      const last = said.trim().split("\n").at(-1) || String(error);
      throw new ServerError(`The agent's server could not be installed: ${last}`, "install");
    }
  }
}

/** Its Python is a link to one that an update of the system may have removed. */
async function isReady(folder: string): Promise<boolean> {
  return (await exists(join(folder, "ready"))) && (await isProgram(program(folder, "python")));
}

async function digest(path: string): Promise<string> {
  return createHash("sha256").update(await readFile(path)).digest("hex").slice(0, 12);
}

function program(folder: string, name: string): string {
  return join(folder, BIN, name + EXE);
}
