"""What an extension's log says of it, beside what it wrote to stderr itself."""

from pathlib import Path

import pytest
from extension_kit import FILE_TOOLS, make_extension
from support.raw_client import wait_until
from support.rpc_process import RpcProcess, call, result_texts

from lsp_agent.runtime.extension_log import log_path


def logged() -> list[str]:
    path = log_path("helper")
    return path.read_text().splitlines() if path.exists() else []


def end(agent: RpcProcess) -> None:
    agent.close_stdin()
    assert agent.wait() == 0


def test_a_line_that_is_no_frame_stands_in_the_log(cwd: Path):
    greeting = 'print("garbage")\nprint("[]")\nprint()\nprint("x" * 5000, flush=True)'
    with RpcProcess(cwd, [], "--ext", make_extension(cwd / "ext", greeting)) as agent:
        agent.ask("ping")
        assert logged() == [
            "[lsp-agent] no frame: garbage",
            "[lsp-agent] no frame: []",
            f"[lsp-agent] no frame: {'x' * 200}…",
        ]


def test_a_frame_of_no_known_type_stands_in_the_log(cwd: Path):
    greeting = 'say(type="telepathy")\nsay(kind="hello")\nsay(type="panel_render")'
    with RpcProcess(cwd, [], "--ext", make_extension(cwd / "ext", greeting)) as agent:
        agent.ask("ping")
        assert logged() == [
            "[lsp-agent] unknown type of frame: 'telepathy'",
            "[lsp-agent] unknown type of frame: None",
        ]


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ('{"type": "string"}', "the type of its schema is not object"),
        ('{"type": None}', "the type of its schema is not object"),
        ('{"properties": []}', "its schema's properties are no object"),
        ('{"type": "object", "anyOf": [{}]}', "its schema has anyOf at the top"),
    ],
)
def test_a_tool_of_a_schema_that_models_refuse_is_left_out(cwd: Path, schema: str, fault: str):
    """With it every request would be refused."""
    greeting = f'say(type="register_tool", name="odd", description="d", schema={schema})'
    steps = [{"calls": [call("odd")]}, {}]
    with RpcProcess(cwd, steps, "--ext", make_extension(cwd / "ext", greeting)) as agent:
        results = result_texts(agent.prompt())
        assert logged() == [f"[lsp-agent] no model takes the tool 'odd': {fault}"]
    assert results == ['unknown tool "odd"']


def test_an_answer_to_nothing_that_was_asked_stands_in_the_log(cwd: Path):
    greeting = 'say(type="tool_result", id="77", content=[])'
    with RpcProcess(cwd, [], "--ext", make_extension(cwd / "ext", greeting)) as agent:
        agent.ask("ping")
        assert logged() == ["[lsp-agent] nobody waits for this tool_result: '77'"]


@pytest.mark.slow
@pytest.mark.parametrize(("required", "then"), [(False, "allowed"), (True, "refused")])
def test_what_it_was_asked_and_did_not_answer_stands_in_the_log(
    cwd: Path, required: bool, then: str
):
    watch = 'say(type="subscribe", intercept=["tool_call"])'
    folder = make_extension(cwd / "ext", watch, required=required)
    steps = [{"calls": [call("bash", command="true")]}, {}]
    with RpcProcess(cwd, steps, "--ext", folder) as agent:
        agent.prompt()
        assert logged() == [f"[lsp-agent] tool_call not answered within 5 s: {then}"]


@pytest.mark.parametrize(
    ("crash", "how"),
    [
        ("print('last words', file=sys.stderr, flush=True); os._exit(3)", "exit code 3"),
        ("print('last words', file=sys.stderr, flush=True); os.kill(os.getpid(), 9)", "signal 9"),
    ],
)
def test_how_it_ended_stands_below_its_last_words(cwd: Path, crash: str, how: str):
    folder = make_extension(cwd / "ext", FILE_TOOLS, f'if kind == "tool_call":\n    {crash}')
    steps = [{"calls": [call("read", path="a")]}, {}]
    with RpcProcess(cwd, steps, "--ext", folder, "--no-tools") as agent:
        agent.prompt()
        assert wait_until(lambda: len(logged()) > 1)
        assert logged() == ["last words", f"[lsp-agent] it has ended ({how})"]


def test_an_end_that_was_asked_for_stands_in_the_log_as_well(cwd: Path):
    with RpcProcess(cwd, [], "--ext", make_extension(cwd / "ext")) as agent:
        agent.ask("ping")
        end(agent)
    assert logged() == ["[lsp-agent] it has ended (exit code 0)"]
