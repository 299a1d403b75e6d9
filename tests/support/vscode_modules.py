"""The extension's own modules without an editor."""

import json
import subprocess
from pathlib import Path
from typing import Any

from support.workbench import INSTALLED

SOURCE = Path(__file__).parents[2] / "editors" / "vscode" / "src"
ESBUILD = SOURCE.parent / "node_modules" / "esbuild" / "bin" / "esbuild"
NODE = INSTALLED / "node"

#: What the modules use of an editor that is not there; a test puts its own things in ``vscode``.
EDITOR = """
class EventEmitter {
  heard = [];
  event = (listener) => {
    this.heard.push(listener);
    return { dispose: () => this.heard.splice(this.heard.indexOf(listener), 1) };
  };
  fire(event) { for (const each of [...this.heard]) each(event); }
  dispose() { this.heard = []; }
}
class CancellationTokenSource {
  cancelled = new EventEmitter();
  token = { onCancellationRequested: this.cancelled.event };
  cancel() { this.cancelled.fire(); }
  dispose() {}
}
const enums = { ProgressLocation: {}, ConfigurationTarget: {} };
const values = { ...enums, window: {}, workspace: {}, extensions: {} };
globalThis.vscode = { EventEmitter, CancellationTokenSource, ...values };
const absent = new Proxy(vscode, { get: (there, name) => there[name] ?? class {} });
const Module = require('node:module');
const load = Module._load;
Module._load = (name, ...more) => name === 'vscode' ? absent : load(name, ...more);
"""


def returned(code: str, argument: object = None, **modules: str) -> Any:
    """What the body of an async function returns that has ``argument`` and these modules of the
    extension in scope."""
    imports = [f"import * as {name} from './{path}';" for name, path in modules.items()]
    body = f"(async (argument) => {{ {code} }})({json.dumps(argument)})"
    entry = "\n".join([*imports, f"{body}.then((said) => console.log(JSON.stringify(said)))"])
    flags = ["--bundle", "--platform=node", "--format=cjs", "--log-level=error"]
    made = _run([str(NODE), str(ESBUILD), *flags, "--external:vscode"], entry)
    return json.loads(_run([str(NODE), "-"], f"{{{EDITOR}}}\n{made}") or "null")


def _run(command: list[str], entered: str) -> str:
    done = subprocess.run(
        command,
        input=entered,
        cwd=SOURCE,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
