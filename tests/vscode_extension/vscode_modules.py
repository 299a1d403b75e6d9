"""The extension's own modules without an editor: those that are functions of values."""

import json
import subprocess
from pathlib import Path
from typing import Any

from workbench import INSTALLED

SOURCE = Path(__file__).parents[2] / "editors" / "vscode" / "src"
ESBUILD = SOURCE.parent / "node_modules" / "esbuild" / "bin" / "esbuild"
NODE = INSTALLED / "node"


def returned(code: str, argument: object = None, **modules: str) -> Any:
    """What the body of an async function returns that has ``argument`` and these modules of the
    extension in scope."""
    imports = [f"import * as {name} from './{path}';" for name, path in modules.items()]
    body = f"(async (argument) => {{ {code} }})({json.dumps(argument)})"
    entry = "\n".join([*imports, f"{body}.then((said) => console.log(JSON.stringify(said)))"])
    flags = ["--bundle", "--platform=node", "--format=cjs", "--log-level=error"]
    made = _run([str(NODE), str(ESBUILD), *flags], entry)
    return json.loads(_run([str(NODE), "-"], made) or "null")


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
