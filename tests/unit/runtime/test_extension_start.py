"""When an extension counts as ready, and what is heard of one that is slow to say what it has."""

import json
import sys
import time
from pathlib import Path

import pytest
from extension_kit import FILE_TOOLS, make_extension
from support.raw_client import wait_until
from support.rpc_process import RpcProcess, call, result_texts

from lsp_agent.runtime.extension_log import log_path

SHOW = 'say(type="register_command", name="show", description="to show")'
ANSWER = """
if kind == "command_invoked":
    say(type="command_response", id=number, action="display", display="shown")
if kind == "tool_call":
    say(type="tool_result", id=number, content=[{"type": "text", "text": "done"}])
"""


def never_ready(folder: Path, greeting: str, capabilities: str = "[]") -> str:
    """One of the oldest form: it says what it has, and never that this was all."""
    made = make_extension(folder, greeting, ANSWER, hello=f"capabilities={capabilities}")
    source = (folder / "helper.py").read_text()
    (folder / "helper.py").write_text(source.replace('say(type="ready")', "", 1))
    return made


@pytest.mark.parametrize("capabilities", ['["commands"]', '["tools"]'])
def test_a_command_that_is_told_a_while_after_hello_runs_at_the_first_try(
    cwd: Path, capabilities: str
):
    folder = never_ready(cwd / "ext", f"time.sleep(0.6)\n{SHOW}", capabilities)
    with RpcProcess(cwd, [], "--ext", folder) as agent:
        answer = agent.ask("run_command", name="show", args="")
        assert answer["data"] == {"action": "display", "text": "shown"}


def test_one_that_never_says_ready_does_not_hold_up_the_first_answer(cwd: Path):
    folder = never_ready(cwd / "ext", f"{SHOW}\nopen('told', 'w').close()")
    with RpcProcess(cwd, [], "--ext", folder) as agent:
        assert wait_until((cwd / "ext" / "told").exists, 20)
        told = time.monotonic()
        assert agent.ask("get_commands")["success"]
        assert time.monotonic() - told < 2


def test_who_said_ready_is_not_waited_for(cwd: Path):
    """A name that nobody has is refused at once."""
    folder = make_extension(cwd / "ext", SHOW, ANSWER)
    with RpcProcess(cwd, [], "--ext", folder) as agent:
        agent.ask("ping")
        asked = time.monotonic()
        assert agent.ask("run_command", name="none", args="")["error"] == "unknown command /none"
        assert time.monotonic() - asked < 2


def test_one_whose_hello_promises_ready_is_waited_for_until_it_says_so(cwd: Path):
    hello = 'capabilities=["tools", "ready"]'
    folder = make_extension(cwd / "ext", f"time.sleep(0.6)\n{FILE_TOOLS}", ANSWER, hello=hello)
    steps = [{"calls": [call("read", path="a")]}, {}]
    with RpcProcess(cwd, steps, "--ext", folder, "--no-tools") as agent:
        assert result_texts(agent.prompt()) == ["done"]


def test_a_tool_that_is_told_late_is_the_models_from_then_on(cwd: Path):
    greeting = f"time.sleep(0.6)\n{FILE_TOOLS}\n{SHOW}"
    folder = never_ready(cwd / "ext", greeting)
    steps = [{"calls": [call("read", path="a")]}, {}]
    with RpcProcess(cwd, steps, "--ext", folder, "--no-tools") as agent:
        agent.ask("run_command", name="show", args="")
        assert result_texts(agent.prompt()) == ["done"]


def test_a_name_that_is_told_late_and_taken_stands_in_the_log(cwd: Path):
    late = never_ready(cwd / "late", f"time.sleep(0.6)\n{SHOW}")
    first = make_extension(cwd / "first", SHOW, ANSWER, name="first")
    with RpcProcess(cwd, [], "--ext", first, "--ext", late) as agent:
        agent.ask("ping")
        line = "[lsp-agent] command /show is another extension's already\n"
        assert wait_until(lambda: log_path("helper").exists(), 10)
        assert log_path("helper").read_text() == line


@pytest.mark.slow
def test_one_that_never_says_hello_is_waited_for_3_seconds(cwd: Path):
    folder = cwd / "ext"
    folder.mkdir()
    manifest = {"name": "helper", "exec": sys.executable, "args": ["-c", "import sys; input()"]}
    (folder / "extension.json").write_text(json.dumps(manifest))
    with RpcProcess(cwd, [], "--ext", str(folder)) as agent:
        assert agent.ask("ping")["success"]
    assert "[lsp-agent] not ready within 3 s; it is waited for no longer\n" in (
        log_path("helper").read_text()
    )


# -- before hello


def test_what_comes_before_hello_is_not_heard(cwd: Path):
    folder = make_extension(cwd / "ext", reaction=ANSWER)
    source = (cwd / "ext" / "helper.py").read_text()
    early = f'{FILE_TOOLS}\n{SHOW}\nsay(type="notify", message="early")\nsay(type="hello"'
    (cwd / "ext" / "helper.py").write_text(source.replace('say(type="hello"', early, 1))
    steps = [{"calls": [call("read", path="a")]}, {}]
    with RpcProcess(cwd, steps, "--ext", folder, "--no-tools") as agent:
        assert result_texts(agent.prompt()) == ['unknown tool "read"']
        assert agent.ask("run_command", name="show", args="")["error"] == "unknown command /show"
        assert not [frame for frame in agent.frames if frame["type"] == "ext_notify"]
    logged = log_path("helper").read_text().splitlines()
    assert logged[0].startswith('[lsp-agent] not heard, since it came before hello: {"type": "reg')
    assert len([line for line in logged if "before hello" in line]) == 5
