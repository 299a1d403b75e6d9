"""The SDK and the two examples, in the real agent."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.rpc_process import RpcProcess, call, result_texts

from lsp_agent.runtime.extension_log import log_path

EXAMPLES = Path(__file__).parents[3] / "examples" / "extensions"

PROGRAM = """
from lsp_agent.ext import Block, Change, Display, Extension, Image, Insert, Prompt, Result

extension = Extension("probe", "1")

@extension.command("host", "say who runs it")
def host(args):
    print("a stray print")
    return Display(f"{extension.host.provider} {extension.host.cwd} {args}")

@extension.command("fail", "fail")
def fail(args):
    raise ValueError("no such thing")

@extension.tool("several", "more than a text", {"type": "object"})
def several(args):
    return Result(["one", Image("image/png", "AAAA"), "two"])

@extension.tool("failing", "fails", {"type": "object"})
def failing(args):
    return {}["x"]

@extension.on_call
def judge(call):
    if call.tool == "failing" and call.args.get("judge"):
        raise ValueError("cannot tell")
    if call.tool == "write":
        return Change({**call.args, "content": "changed"})

    if call.tool == "several" and call.args:
        return call.args["verdict"]

@extension.command("wrong", "answers what no command may")
def wrong(args):
    return args

@extension.command("leave", "wants to end it all")
def leave(args):
    raise SystemExit(1)

@extension.tool("unreadable", "cannot be sent as JSON", {"type": "object"})
def unreadable(args):
    return Result([b"bytes"]) if args else None

@extension.on("turn_end")
def ended(event):
    extension.notify(f"turn ended: {event['stop']}", "success")
    raise ValueError("the next event is heard all the same")

extension.run()
"""


@pytest.fixture
def probe(tmp_path: Path) -> str:
    folder = tmp_path / "probe"
    folder.mkdir()
    (folder / "probe.py").write_text(PROGRAM)
    manifest = '{"name": "probe", "exec": "lsp-agent", "args": ["ext", "run", "probe.py"]}'
    (folder / "extension.json").write_text(manifest)
    return str(folder)


def run(agent: RpcProcess, name: str, args: str = "") -> dict[str, str]:
    answer = agent.ask("run_command", name=name, args=args)
    return answer["data"] if answer["success"] else {"error": answer["error"]}


def test_a_command_knows_its_host_and_may_print(cwd: Path, probe: str):
    with RpcProcess(cwd, [], "--ext", probe) as agent:
        assert run(agent, "host", "x") == {"action": "display", "text": f"script {cwd} x"}
        agent.close_stdin()
        assert agent.wait() == 0
    assert "a stray print" in log_path("probe").read_text()


def test_what_a_handler_raises_is_told_and_logged_as_a_whole(cwd: Path, probe: str):
    with RpcProcess(cwd, [{"calls": [call("failing")]}, {}], "--ext", probe) as agent:
        assert run(agent, "fail") == {"error": "ValueError: no such thing"}
        assert result_texts(agent.prompt()) == ["KeyError: 'x'"]
        assert agent.ask("ping")["success"]
        agent.close_stdin()
        agent.wait()
    assert "Traceback" in log_path("probe").read_text()


def test_a_call_that_nobody_could_judge_does_not_run(cwd: Path, probe: str):
    with RpcProcess(cwd, [{"calls": [call("failing", judge=1)]}, {}], "--ext", probe) as agent:
        assert result_texts(agent.prompt()) == ["probe could not decide: ValueError: cannot tell"]


def test_what_a_handler_may_not_answer_is_a_failure_at_once(cwd: Path, probe: str):
    """Nobody waits for an answer that will not come."""
    steps = [{"calls": [call("unreadable", x=1), call("unreadable")]}, {}]
    with RpcProcess(cwd, steps, "--ext", probe) as agent:
        assert run(agent, "wrong", "x")["error"].startswith("TypeError: a command answers Prompt")
        assert run(agent, "leave") == {"error": "SystemExit: 1"}
        unreadable, nothing = result_texts(agent.prompt())
    assert "bytes" in unreadable
    assert nothing == "TypeError: a tool answers a str or a Result, not None"


def test_a_call_that_was_judged_in_no_known_way_does_not_run(cwd: Path, probe: str):
    steps = [{"calls": [call("several", verdict=False)]}, {}]
    with RpcProcess(cwd, steps, "--ext", probe) as agent:
        (text,) = result_texts(agent.prompt())
    assert "a call is answered by Block, Change or None, not False" in text


def test_a_call_runs_as_it_was_changed(cwd: Path, probe: str):
    steps = [{"calls": [call("write", path="a", content="x"), call("several")]}, {}]
    with RpcProcess(cwd, steps, "--ext", probe) as agent:
        frames = agent.prompt()
    assert (cwd / "a").read_text() == "changed"
    result = [frame for frame in frames if frame["type"] == "tool_result"][1]
    assert [block["type"] for block in result["content"]] == ["text", "image", "text"]


def test_events_are_heard_one_by_one_whatever_a_handler_does(cwd: Path, probe: str):
    steps = [{"calls": [call("several")]}, {"text": "x"}]
    with RpcProcess(cwd, steps, "--ext", probe) as agent:
        agent.prompt()
        while sum(frame["type"] == "ext_notify" for frame in agent.frames) < 2:
            agent.until("ext_notify")
    notices = [frame for frame in agent.frames if frame["type"] == "ext_notify"]
    assert [notice["message"] for notice in notices] == [
        "turn ended: tool_use",
        "turn ended: end",
    ]


JUDGE = """
from lsp_agent.ext import Block, Extension, Replace

extension = Extension("probe", "1")

@extension.on_turn
def turn(step):
    if step == 3:
        raise ValueError("lost count")
    return Block("enough for today") if step == 2 else None

@extension.on_message
def message(text):
    if text == "wrong":
        return text
    if "hide" in text:
        return Block("not for your eyes")
    return Replace(text.replace("secret", "[redacted]")) if "secret" in text else None

extension.run()
"""


@pytest.fixture
def judge(probe: str) -> str:
    (Path(probe) / "probe.py").write_text(JUDGE)
    return probe


def test_a_turn_is_refused_before_the_model_is_asked(cwd: Path, judge: str):
    steps = [{"calls": [call("bash", command="true")]}, {"text": "never said"}]
    with RpcProcess(cwd, steps, "--ext", judge) as agent:
        frames = agent.prompt()
    ends = [(frame["stop"], frame.get("error")) for frame in frames if frame["type"] == "turn_end"]
    assert ends == [("tool_use", None), ("error", "enough for today")]
    assert not [frame for frame in frames if frame["type"] == "text_delta"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [("fine", ["fine"]), ("a secret", ["a [redacted]"]), ("hide this", []), ("wrong", [])],
)
def test_a_message_is_shown_as_it_was_judged(cwd: Path, judge: str, text: str, shown: list[str]):
    """One that nobody could judge is not shown, and the person is told why."""
    with RpcProcess(cwd, [{"text": text}], "--ext", judge) as agent:
        agent.prompt()
        messages = [frame for frame in agent.frames if frame["type"] == "assistant_message"]
        assert [message["content"][0]["text"] for message in messages] == shown
        told = agent.ask("get_messages")["data"]["messages"][-1]
        assert told["content"][0]["text"] == text
    notices = [frame["message"] for frame in agent.frames if frame["type"] == "ext_notify"]
    expected = {
        "hide this": ["a message is hidden: not for your eyes"],
        "wrong": [
            "a message is hidden: probe could not decide: TypeError: a message is answered by"
            " Block, Replace or None, not 'wrong'"
        ],
    }
    assert notices == expected.get(text, [])


def test_who_judges_nothing_is_asked_nothing(cwd: Path, probe: str):
    (Path(probe) / "probe.py").write_text(
        'from lsp_agent.ext import Extension\nExtension("probe", "1").run()\n'
    )
    steps = [{"calls": [call("bash", command="true")]}, {"text": "done"}]
    with RpcProcess(cwd, steps, "--ext", probe) as agent:
        assert [frame["stop"] for frame in agent.prompt() if frame["type"] == "turn_end"] == [
            "tool_use",
            "end",
        ]


def test_a_program_that_does_not_start_says_why_in_its_log(cwd: Path, probe: str):
    (Path(probe) / "probe.py").write_text("import nothing_of_that_name\n")
    with RpcProcess(cwd, [], "--ext", probe) as agent:
        listed = agent.ask("get_commands")["data"]["commands"]
        assert [each["name"] for each in listed] == ["reload-ext"]
        agent.close_stdin()
        agent.wait()
    assert "ModuleNotFoundError" in log_path("probe").read_text()


def test_the_sdk_needs_the_standard_library_alone():
    code = "import sys, lsp_agent.ext; print(*{name.partition('.')[0] for name in sys.modules})"
    ended = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    others = set(ended.stdout.split()) - set(sys.stdlib_module_names) - {"lsp_agent", "__main__"}
    # What the environment itself imports at each start is not the SDK's.
    assert not others & {"anyio", "orjson", "platformdirs", "pydantic", "pygls", "rich"}


# -- the examples


@pytest.mark.parametrize("example", ["guard", "glossary"])
def test_the_examples_are_installed_and_run(cwd: Path, example: str):
    command = [sys.executable, "-m", "lsp_agent", "ext"]
    subprocess.run([*command, "install", str(EXAMPLES / example)], check=True)
    listed = subprocess.run([*command, "list"], check=True, capture_output=True, text=True)
    assert listed.stdout.startswith(f"{example}  1.0.0  enabled")
    with RpcProcess(cwd, [{"text": "x"}]) as agent:
        agent.prompt()
        assert not [frame for frame in agent.frames if frame["type"] == "ext_notify"]


def test_the_guard_refuses_what_is_hard_to_take_back(cwd: Path):
    (cwd / "work").mkdir()
    commands = ["rm -rf work", "echo rm", "git reset --hard"]
    steps = [{"calls": [call("bash", command=command) for command in commands]}, {}]
    with RpcProcess(cwd, steps, "--ext", str(EXAMPLES / "guard")) as agent:
        first, second, third = result_texts(agent.prompt())
    assert first.startswith("refused by guard: it removes folders")
    assert second.startswith("$ echo rm\n\nrm\n")
    assert third.startswith("refused by guard: it throws away work")
    assert (cwd / "work").is_dir()


def test_the_glossary_answers_the_model_and_the_person(cwd: Path):
    (cwd / "GLOSSARY.md").write_text("# Words\n\n**Seam**: where parts meet.\n**Gate**: ?\n")
    steps = [{"calls": [call("glossary", word="seam"), call("glossary", word="x")]}, {}]
    with RpcProcess(cwd, steps, "--ext", str(EXAMPLES / "glossary")) as agent:
        assert result_texts(agent.prompt()) == [
            "where parts meet.",
            "KeyError: \"GLOSSARY.md does not have 'x'\"",
        ]
        shown = {"action": "display", "text": "Gate: ?\nSeam: where parts meet."}
        assert run(agent, "glossary") == shown
        assert run(agent, "meaning", "gate") == {"action": "insert", "text": "?"}
        assert run(agent, "explain", "Seam")["action"] == "prompt"
        assert run(agent, "forgotten") == {"action": "noop", "text": ""}
        notices = [frame["message"] for frame in agent.frames if frame["type"] == "ext_notify"]
    assert notices == ["no meaning yet: Gate"]
