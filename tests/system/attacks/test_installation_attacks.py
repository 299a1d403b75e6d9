"""A workspace that holds what the server and its agents run from: an agent that could change it
would be rid of whatever holds it."""

import shutil
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from ground import MODES, Ground, Json
from support.project import LSP_AGENT, Editor, bash, call, edit, step, write

import lsp_agent

pytestmark = pytest.mark.slow

Report = Callable[[str, str, str, str], None]

SERVER = "is what lsp-agent itself runs from"
AGENT = "is what an agent runs from"
LIBRARIES = sysconfig.get_path("purelib")
#: Lets every command pass.
OPEN_GATE = "import sys\nsys.exit(0)\n"


def new_session(editor: Editor) -> str:
    return editor.call("agent/newSession")["sessionId"]


@pytest.mark.parametrize("mode", MODES)
def test_no_agent_changes_what_the_server_runs_from(
    ground: Ground, mode: str, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gate is read anew for each agent: with another one, a command that was denied ran."""
    installed = ground.folder / "server"
    package = Path(lsp_agent.__file__).parent
    shutil.copytree(package, installed / "lsp_agent", ignore=shutil.ignore_patterns("*.pyc"))
    monkeypatch.setenv("PYTHONPATH", str(installed))
    gate = "server/lsp_agent/agents/guard/gate.py"
    before = (ground.folder / gate).read_text(encoding="utf-8")
    others = ["server/lsp_agent/new.py", "server/sitecustomize.py", "server/uvloop/__init__.py",
              "server/uvloop.so", f"{LIBRARIES}/lsp-agent-attack.pth"]  # fmt: skip
    calls = [write(gate, OPEN_GATE), *(write(path, "\n") for path in others)]
    editor = ground.attacked(
        mode,
        step("", *calls, edit(gate, "return 0 if may else NOT_RUN", "return 0"), match="<write>"),
        step("Done."),
        step("", bash("touch pwned"), match="<run>"),
        step("Done."),
        step("", call("read", path=gate), write("server/notes.txt", "x\n"), match="<read>"),
        step("Done."),
        options={"permissions": {"outside": "allow"}},
    )
    editor.ask_agent("<write>")
    Path(LIBRARIES, "lsp-agent-attack.pth").unlink(missing_ok=True)
    texts = editor.tool_texts()
    editor.ask_agent("<run>", sessionId=new_session(editor))
    ground.check(editor)
    assert not (ground.folder / "pwned").exists()
    assert (ground.folder / gate).read_text(encoding="utf-8") == before
    assert all(SERVER in text and "install" in text for text in texts), texts
    editor.ask_agent("<read>")
    read, written = editor.tool_texts()[-2:]
    assert "Stands before a command" in read
    assert SERVER not in written
    assert (ground.folder / "server" / "notes.txt").exists()
    report("the server's own gate", mode, "refused", ground.shown(texts[0]))


@pytest.mark.parametrize("mode", MODES)
def test_no_agent_changes_what_agents_run_from(ground: Ground, mode: str, report: Report) -> None:
    """By its command, the program that this leads to, and the packages beside it."""
    program = ground.file(
        "node_modules/an-agent/cli.sh", f'#!/bin/sh\nexec {" ".join(LSP_AGENT)} "$@"\n'
    )
    program.chmod(0o755)
    linked = ground.folder / "node_modules" / ".bin" / "an-agent"
    linked.parent.mkdir()
    linked.symlink_to("../an-agent/cli.sh")
    ground.file("tools/helper.py", "x\n")
    ground.file("env/pyvenv.cfg", "x\n")
    ground.file("env/bin/other-agent", "#!/bin/sh\n").chmod(0o755)
    targets = [
        "node_modules/an-agent/cli.sh",
        "node_modules/.bin/an-agent",
        "node_modules/a-dependency/index.js",
        "tools/helper.py",
        "env/bin/other-agent",
        "env/lib/python3/site-packages/sitecustomize.py",
    ]
    agent: Json = ground.agent(
        step("", *(write(path, "x\ny\n") for path in targets), write("src/mine.txt", "x\n")),
        step("Done."),
        hosting=mode,
    )
    agent["command"] = [str(linked), *agent["command"][len(LSP_AGENT) :]]
    others: Json = {
        "python": {"wire": "zot", "command": ["python3", "tools/helper.py"]},
        "other": {"wire": "zot", "command": [str(ground.folder / "env/bin/other-agent")]},
    }
    editor = ground.editor(
        agent=agent,
        options={"agents": {"scripted": agent, **others}},
        client={"events": True, "ask": True},
    )
    editor.ask_agent("Go.")
    *texts, mine = editor.tool_texts()
    assert all(AGENT in text for text in texts), texts
    assert AGENT not in mine
    assert (ground.folder / "src" / "mine.txt").exists()
    assert "exec" in program.read_text(encoding="utf-8")
    report("a program of an agent's", mode, "refused", ground.shown(texts[0]))
