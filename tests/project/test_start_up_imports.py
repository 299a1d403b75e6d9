"""What each entry point imports of what is heavy: start-up time is everybody's, and each test's."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUARD = "lsp_agent/agents/guard"
HEAVY = {"pygls", "lsprotocol", "cattrs", "attrs", "pydantic", "anyio", "asyncio"}
HEAVY |= {"rapidfuzz", "rich", "platformdirs"}

MAIN = "import sys; from lsp_agent.cli.main import main; sys.argv[1:] = {!r}; main()"
INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
WELCOME = f"""
from lsp_agent.cli import serve
from lsp_agent.server.client.welcome import welcome
from lsp_agent.server.rpc.channel import Channel
from lsp_agent.server.rpc.frames import frame

heard = [frame({INITIALIZE!r})]
welcomed = welcome(Channel(lambda n: heard.pop(), len))
assert welcomed.introduced is not None
"""
#: Entry point, what runs, and what of the heavy it may import.
TABLE = [
    ("--version", MAIN.format(["--version"]), set[str]()),
    ("serve, to the first answer", WELCOME, set[str]()),
    (
        "serve, to the first request",
        "import lsp_agent.cli.serve, lsp_agent.server.app",
        {"pydantic", "anyio", "asyncio", "rapidfuzz", "platformdirs"},
    ),
    ("rpc", "import lsp_agent.cli.rpc, lsp_agent.runtime.rpc", {"asyncio"}),
    ("ext", MAIN.format(["ext", "list"]), {"platformdirs"}),
    (
        "setup of an editor",
        MAIN.format(["setup", "helix", "--yes", "--undo"]),
        {"platformdirs", "rapidfuzz", "rich"},
    ),
    ("an extension", "import lsp_agent.ext", set[str]()),
    ("gate", f"import runpy; runpy.run_path({f'{GUARD}/gate.py'!r})", set[str]()),
    ("pipe", f"import runpy; runpy.run_path({f'{GUARD}/pipe.py'!r})", set[str]()),
    ("what starts a held command", "import lsp_agent.sandbox.starter.main", set[str]()),
    ("supervise", f"import runpy; runpy.run_path({f'{GUARD}/supervise.py'!r})", set[str]()),
]


@pytest.mark.parametrize(("code", "allowed"), [row[1:] for row in TABLE], ids=[r[0] for r in TABLE])
def test_an_entry_point_imports_no_more_than_it_needs(
    code: str, allowed: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    watched = f"""
import sys
try:
{textwrap.indent(code, "    ")}
except SystemExit:
    pass
print("loaded", *sys.modules, file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", watched], cwd=ROOT, capture_output=True, text=True, check=True
    )
    last = done.stderr.splitlines()[-1].split()
    assert last[0] == "loaded"
    assert {name.partition(".")[0] for name in last} & HEAVY <= allowed
