"""Slash commands of extensions, required extensions, and what their logs have."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from extension_kit import FILE_TOOLS, make_extension
from support.raw_client import wait_until
from support.rpc_process import RpcProcess, call, result_texts

from lsp_agent.runtime.extension_log import ExtensionLog, log_path
from lsp_agent.user_data.private_log import LOG_BYTES

REGISTER = (
    'for name in ("ask", "put", "show", "do", "fail", "panel", "die"):\n'
    '    say(type="register_command", name=name, description=f"to {name}")'
)
ANSWER = """
if kind == "command_invoked":
    args = frame["args"]
    answer = {
        "ask": {"action": "prompt", "prompt": f"Ask: {args}"},
        "put": {"action": "insert", "insert": f"Put: {args}"},
        "show": {"action": "display", "display": f"Show: {args}"},
        "do": {"action": "noop"},
        "fail": {"action": "noop", "error": "it went wrong"},
        "panel": {"action": "open_panel"},
    }
    if frame["name"] == "die":
        os._exit(1)
    say(type="command_response", id=number, **answer[frame["name"]])
"""

#: The same in Node, in the oldest form: it never says that it is ready.
NODE = """
const say = (frame) => console.log(JSON.stringify(frame));
say({type: "hello", name: "helper", version: "1", capabilities: ["commands"]});
say({type: "register_command", name: "show", description: "to show"});
require("readline").createInterface({input: process.stdin}).on("line", (line) => {
  const frame = JSON.parse(line);
  if (frame.type === "command_invoked")
    say({type: "command_response", id: frame.id, action: "display",
      display: "Show: " + frame.args});
  if (frame.type === "shutdown") { say({type: "shutdown_ack"}); process.exit(0); }
});
"""


def run(agent: RpcProcess, name: str, args: str = "") -> Any:
    """What the command is answered with, or the error."""
    answer = agent.ask("run_command", name=name, args=args)
    if not answer["success"]:
        return answer["error"]
    return answer["data"]["action"], answer["data"]["text"]


def test_commands_are_listed_with_what_they_do(cwd: Path):
    folder = make_extension(cwd / "ext", REGISTER, ANSWER)
    with RpcProcess(cwd, [], "--ext", folder) as agent:
        listed = agent.ask("get_commands")["data"]["commands"]
    names = sorted(["ask", "put", "show", "do", "fail", "panel", "die"])
    assert [each for each in listed if each["name"] != "reload-ext"] == [
        {"name": name, "description": f"to {name}"} for name in names
    ]


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("ask", ("prompt", "Ask: a b")),
        ("put", ("insert", "Put: a b")),
        ("show", ("display", "Show: a b")),
        ("do", ("noop", "")),
        ("/Show", ("display", "Show: a b")),
        ("fail", "it went wrong"),
        ("panel", "/panel wants open_panel, which only zot's own screen has"),
        ("none", "unknown command /none"),
    ],
)
def test_a_command_says_what_is_to_be_done(cwd: Path, name: str, result: object):
    folder = make_extension(cwd / "ext", REGISTER, ANSWER)
    with RpcProcess(cwd, [], "--ext", folder) as agent:
        assert run(agent, name, "  a b ") == result


def test_a_command_is_answered_while_a_turn_runs(cwd: Path):
    folder = make_extension(cwd / "ext", REGISTER, ANSWER)
    with RpcProcess(cwd, [{"text": "x", "delay_ms": 60_000}], "--ext", folder) as agent:
        agent.send("prompt", id="1", message="go")
        assert run(agent, "show", "now") == ("display", "Show: now")


def test_a_crash_takes_its_commands_away_and_no_others(cwd: Path):
    folder = make_extension(cwd / "ext", REGISTER, ANSWER)
    other = make_extension(
        cwd / "other", 'say(type="register_command", name="SHOW")', ANSWER, name="other"
    )
    with RpcProcess(cwd, [{"text": "x"}], "--ext", folder, "--ext", other) as agent:
        assert run(agent, "die") == "extension helper has ended"
        listed = agent.ask("get_commands")["data"]["commands"]
        assert [each["name"] for each in listed] == ["reload-ext", "SHOW"]
        assert run(agent, "ask") == "unknown command /ask"
        assert agent.prompt()[-1]["type"] == "done"


def test_the_end_does_not_wait_for_a_command(cwd: Path):
    folder = make_extension(cwd / "ext", REGISTER)  # answers nothing
    with RpcProcess(cwd, [], "--ext", folder) as agent:
        agent.send("run_command", id="c", name="show")
        agent.ask("ping")
        agent.close_stdin()
        assert agent.wait() == 0


@pytest.mark.skipif(shutil.which("node") is None, reason="no node on PATH")
def test_an_extension_in_node_of_the_oldest_form_runs_unchanged(cwd: Path):
    folder = cwd / "ext"
    folder.mkdir()
    (folder / "main.js").write_text(NODE)
    manifest = {"name": "helper", "exec": "node", "args": ["main.js"], "language": "javascript"}
    (folder / "extension.json").write_text(json.dumps(manifest))
    with RpcProcess(cwd, [], "--ext", str(folder)) as agent:
        # It never says when all its commands are told.
        assert wait_until(lambda: len(agent.ask("get_commands")["data"]["commands"]) > 1)
        assert run(agent, "show", "x") == ("display", "Show: x")
        agent.close_stdin()
        assert agent.wait() == 0


# -- required


WATCHES = 'say(type="subscribe", intercept=["tool_call"])'
WRITE = [{"calls": [call("write", path="a.txt", content="x")]}, {"text": "ok"}]
REFUSED = "refused: the extension helper is required and did not answer"


@pytest.mark.parametrize(
    ("greeting", "reaction"),
    [
        (WATCHES, 'if kind == "event_intercept":\n    os._exit(1)'),
        ("os._exit(1)", "pass"),
    ],
    ids=["dies when it is asked", "dies before it says what it wants to be asked"],
)
@pytest.mark.parametrize("required", [True, False])
def test_what_a_required_extension_does_not_answer_is_refused(
    cwd: Path, greeting: str, reaction: str, required: bool
):
    folder = make_extension(cwd / "ext", greeting, reaction, required=required)
    with RpcProcess(cwd, [*WRITE, *WRITE], "--ext", folder) as agent:
        expected = [REFUSED] if required else ["x"]
        assert result_texts(agent.prompt()) == expected
        assert result_texts(agent.prompt()) == expected
    assert (cwd / "a.txt").exists() != required


def test_a_required_extension_that_cannot_be_started_refuses_all_calls(cwd: Path):
    folder = make_extension(cwd / "ext", exec="/nowhere/at-all", required=True)
    with RpcProcess(cwd, WRITE, "--ext", folder) as agent:
        assert result_texts(agent.prompt()) == [REFUSED]


def test_a_required_extension_that_wants_to_be_asked_nothing_is_not(cwd: Path):
    folder = make_extension(cwd / "ext", required=True)
    with RpcProcess(cwd, WRITE, "--ext", folder) as agent:
        assert result_texts(agent.prompt()) == ["x"]


@pytest.mark.slow
def test_a_required_extension_that_is_silent_refuses_after_5_seconds(cwd: Path):
    folder = make_extension(cwd / "ext", WATCHES, required=True)
    with RpcProcess(cwd, WRITE, "--ext", folder) as agent:
        assert result_texts(agent.prompt()) == [REFUSED]


def test_the_first_extension_has_the_last_word_on_a_call(cwd: Path):
    """Whoever hosts the agent comes first, and must see what will run."""

    def rewriting(name: str) -> str:
        reaction = (
            'if kind == "event_intercept":\n'
            "    args = dict(frame['tool_args'])\n"
            f"    args['content'] += ' {name}'\n"
            '    say(type="event_intercept_response", id=number, modified_args=args)'
        )
        return make_extension(cwd / name, WATCHES, reaction, name=name)

    with RpcProcess(cwd, WRITE, "--ext", rewriting("one"), "--ext", rewriting("two")) as agent:
        agent.prompt()
    assert (cwd / "a.txt").read_text() == "x two one"


# -- logs


def test_what_an_extension_writes_to_stderr_is_in_its_log(cwd: Path):
    folder = make_extension(cwd / "ext", 'print("hello log", file=sys.stderr, flush=True)')
    with RpcProcess(cwd, [], "--ext", folder) as agent:
        agent.ask("ping")
        agent.close_stdin()
        agent.wait()
    assert log_path("helper").read_text() == "hello log\n[lsp-agent] it has ended (exit code 0)\n"


def test_who_comes_too_late_with_a_name_reads_it_in_the_log(cwd: Path):
    greeting = (
        'say(type="register_command", name="same")\n'
        'say(type="register_tool", name="tool", schema={})'
    )
    one = make_extension(cwd / "one", greeting, name="one")
    two = make_extension(cwd / "two", f"{FILE_TOOLS}\n{greeting}", name="two")
    with RpcProcess(cwd, [], "--ext", one, "--ext", two, "--tools", "read,bash") as agent:
        agent.ask("ping")
    assert log_path("two").read_text().splitlines() == [
        "[lsp-agent] tool read is the agent's own already",
        "[lsp-agent] tool tool is another extension's already",
        "[lsp-agent] command /same is another extension's already",
    ]
    assert not log_path("one").exists()


def test_a_name_that_cannot_be_used_is_left_out_and_stands_in_the_log(cwd: Path):
    """A tool of such a name would have every request refused by the model's service."""
    greeting = "\n".join(
        f'say(type="register_{kind}", name={name!r}, schema={{}})'
        for kind, name in [("tool", "two words"), ("tool", ""), ("command", "/"), ("command", "ok")]
    )
    folder = make_extension(cwd / "ext", greeting)
    steps = [{"calls": [call("two words")]}, {"text": "x"}]
    with RpcProcess(cwd, steps, "--ext", folder) as agent:
        commands = agent.ask("get_commands")["data"]["commands"]
        assert [each["name"] for each in commands] == ["ok", "reload-ext"]
        assert result_texts(agent.prompt()) == ['unknown tool "two words"']
    assert log_path("helper").read_text().splitlines() == [
        "[lsp-agent] no model takes 'two words' as the name of a tool",
        "[lsp-agent] no model takes '' as the name of a tool",
        "[lsp-agent] '/' is no name of a command",
    ]


def test_a_log_does_not_grow_without_end(cwd: Path):
    logs = [ExtensionLog("loud"), ExtensionLog("loud")]  # of two agents
    for number in range(80):
        for log in logs:
            log.write(b"%04d" % number + b"x" * (LOG_BYTES // 16))
    for log in logs:
        log.close()
    files = sorted(log_path("loud").parent.iterdir())
    assert {file.name for file in files} <= {"ext-loud.log", "ext-loud.log.1"}
    assert all(file.stat().st_size < 3 * LOG_BYTES for file in files)


def test_without_a_place_for_logs_it_runs_all_the_same(cwd: Path, tmp_path: Path):
    (tmp_path / "home").write_text("in the way")
    folder = make_extension(cwd / "ext", REGISTER, ANSWER)
    with RpcProcess(cwd, [], "--ext", folder) as agent:
        assert run(agent, "show", "x") == ("display", "Show: x")


def test_a_flood_on_stderr_does_not_hold_it_up(cwd: Path):
    flood = 'sys.stderr.write("x" * (5 << 20))'
    folder = make_extension(cwd / "ext", f"{flood}\n{REGISTER}", ANSWER)
    with RpcProcess(cwd, [], "--ext", folder) as agent:
        assert run(agent, "show", "x") == ("display", "Show: x")
        agent.close_stdin()
        assert agent.wait() == 0
    assert log_path("helper").stat().st_size <= LOG_BYTES + (1 << 16)
