"""What the wire does otherwise for an agent that it knows by its name, and not for others."""

from typing import Any

import pytest
from acp_replay import new_wire
from test_acp_wire import OPTIONS, Talk

from lsp_agent.protocol.catalogue import CATALOGUE, CONSENT
from lsp_agent.protocol.events import (
    ErrorReported,
    Notice,
    TextDelta,
    ToolCall,
    ToolProgress,
    ToolResult,
    TurnEnded,
)
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.wires.acp.wire import AcpWire
from lsp_agent.wires.wire import Approve, Decoded, Reply, Send

Json = dict[str, Any]

NAMES = {each.name: each.acp.name for each in CATALOGUE}
NEW = {"settingSources": ["user"], "strictMcpConfig": True}


def greeted(name: str, *, resume: str | None = None, **env: str) -> tuple[Talk, Json]:
    """With the frame that opens the session."""
    talk = Talk()
    settings = AgentSettings(wire="acp", command=["agent"], env=env)
    talk.wire.launch(settings, "/workspace", None)
    talk.hello(resume=resume, name=NAMES.get(name, name))
    return talk, next(dict(each.frame) for each in reversed(talk.heard) if isinstance(each, Send))


def prompted(name: str) -> Talk:
    talk = Talk()
    talk.hello(name=NAMES.get(name, name))
    talk.result(sessionId="s1")
    return talk.prompted()


def modes(current: str, *others: str) -> Json:
    listed = [{"id": each, "name": each} for each in (current, *others)]
    return {"currentModeId": current, "availableModes": listed}


def of(kind: type[Any], decoded: list[Decoded]) -> list[Any]:
    return [each for each in decoded if isinstance(each, kind)]


@pytest.mark.parametrize("resume", [None, "s0"])
def test_claude_is_told_at_each_session_to_obey_the_person_alone(resume: str | None) -> None:
    _, frame = greeted("claude", resume=resume)
    assert frame["method"] == ("session/new" if resume is None else "session/load")
    assert frame["params"]["_meta"] == {"claudeCode": {"options": NEW}}


def test_once_the_person_trusts_the_repository_claude_is_told_nothing() -> None:
    _, frame = greeted("claude", **{CONSENT: "1"})
    assert "_meta" not in frame["params"]


def test_an_agent_that_nobody_knows_is_told_nothing_of_claudes() -> None:
    _, frame = greeted("any")
    assert "_meta" not in frame["params"]


@pytest.mark.parametrize(
    ("name", "mirrors"),
    [("claude", True), ("codex-acp", True), ("copilot", True), ("gemini", False), ("any", False)],
)
def test_those_that_write_the_disk_themselves_are_mirrors_from_the_start(
    name: str, mirrors: bool
) -> None:
    talk, _ = greeted(name)
    assert talk.wire.capabilities["hostedFiles"] is not mirrors


@pytest.mark.parametrize(
    ("name", "begins", "asks"),
    [
        ("claude", "auto", "default"),
        ("codex-acp", "agent", "read-only"),
        ("copilot", "https://agentclientprotocol.com/protocol/session-modes#autopilot",
         "https://agentclientprotocol.com/protocol/session-modes#agent"),
    ],
)  # fmt: skip
def test_each_is_put_into_its_own_mode_that_asks(name: str, begins: str, asks: str) -> None:
    talk, _ = greeted(name)
    (sent,) = of(Send, talk.result(sessionId="s1", modes=modes(begins, asks)))
    assert sent.frame["method"] == "session/set_mode"
    assert sent.frame["params"] == {"sessionId": "s1", "modeId": asks}


def test_copilots_plan_is_let_stand() -> None:
    talk, _ = greeted("copilot")
    address = "https://agentclientprotocol.com/protocol/session-modes"
    told = talk.result(sessionId="s1", modes=modes(f"{address}#plan", f"{address}#agent"))
    assert [type(each) for each in told] == [Reply]


@pytest.mark.parametrize(
    ("name", "asked"),
    [("gemini", ("bash", {"command": "ls -l"})), ("any", ("execute", {"title": "ls -l"}))],
)
def test_only_geminis_title_is_a_commands_line(name: str, asked: tuple[str, Json]) -> None:
    call = {"toolCallId": "c1", "title": "ls -l", "kind": "execute"}
    told = prompted(name).ask("session/request_permission", toolCall=call, options=OPTIONS)
    (approve,) = of(Approve, told)
    assert (approve.tool, approve.args) == asked


def test_a_title_does_not_stand_for_a_command_that_is_told() -> None:
    call = {"toolCallId": "c1", "title": "ls", "kind": "execute", "rawInput": {"command": "rm x"}}
    told = prompted("gemini").ask("session/request_permission", toolCall=call, options=OPTIONS)
    (approve,) = of(Approve, told)
    assert approve.args == {"command": "rm x"}


def test_copilots_last_words_are_the_turns_error() -> None:
    talk = prompted("copilot")
    said = talk.update("agent_message_chunk", content={"type": "text", "text": "Error: no luck."})
    assert of(TextDelta, said) == []
    ended = talk.result(stopReason="end_turn")
    assert of(ErrorReported, ended) == [ErrorReported("no luck.")]
    assert of(TurnEnded, ended) == [TurnEnded("error", "no luck.")]


def piece(text: str, **named: str) -> Json:
    return {"content": {"type": "text", "text": text}, **named}


def test_a_piece_in_the_midst_of_an_answer_is_the_models_whatever_it_begins_with() -> None:
    talk = prompted("copilot")
    said = ("The log says:\n", "Error: no such table\n", "Info: that is all.")
    told = [talk.update("agent_message_chunk", **piece(each)) for each in said]
    assert [of(TextDelta, each) for each in told] == [[TextDelta(each)] for each in said]
    assert of(TurnEnded, talk.result(stopReason="end_turn")) == [TurnEnded("endTurn", None)]


def test_an_error_right_after_the_models_words_with_which_the_turn_ends_is_the_turns() -> None:
    talk = prompted("copilot")
    for each in ("I begin.", "Error: no luck."):
        talk.update("agent_message_chunk", **piece(each))
    ended = talk.result(stopReason="end_turn")
    assert of(TurnEnded, ended) == [TurnEnded("error", "no luck.")]


def test_such_words_after_which_a_call_is_made_are_the_models() -> None:
    talk = prompted("copilot")
    for each in ("The log says:", "Error: no such table"):
        talk.update("agent_message_chunk", **piece(each))
    talk.update("tool_call", toolCallId="c", kind="execute", rawInput={"command": "ls"})
    assert of(TurnEnded, talk.result(stopReason="end_turn")) == [TurnEnded("endTurn", None)]


def test_an_error_after_the_usage_of_a_model_call_is_the_turns() -> None:
    talk = prompted("copilot")
    talk.update("agent_message_chunk", **piece("I begin."))
    talk.update("usage_update", used=5, size=9)
    talk.update("agent_message_chunk", **piece("Error: no luck."))
    ended = talk.result(stopReason="end_turn")
    assert of(TurnEnded, ended) == [TurnEnded("error", "no luck.")]


def test_a_warning_of_codexs_model_is_told_from_its_own_by_the_messages_name() -> None:
    talk = prompted("codex-acp")
    said = talk.update("agent_message_chunk", **piece("Warning: it bites.", messageId="m"))
    assert of(TextDelta, said) == [TextDelta("Warning: it bites.")]
    own = talk.update("agent_message_chunk", **piece("Warning: no metadata."))
    assert of(Notice, own) == [Notice("warning", "Warning: no metadata.", "agent")]


def test_words_of_an_error_that_the_agent_got_over_are_a_notice() -> None:
    talk = prompted("copilot")
    talk.update("agent_message_chunk", content={"type": "text", "text": "Error: no luck."})
    went_on = talk.update("agent_message_chunk", content={"type": "text", "text": "Now."})
    assert [each for each in went_on if isinstance(each, (Notice, TextDelta))] == [
        Notice("warning", "no luck.", "agent"),
        TextDelta("Now."),
    ]
    assert of(TurnEnded, talk.result(stopReason="end_turn")) == [TurnEnded("endTurn", None)]


def test_what_codex_says_after_it_failed_is_the_turns_error() -> None:
    talk = prompted("codex-acp")
    failed = {"codex": {"threadStatus": {"type": "systemError"}}}
    talk.update("session_info_update", _meta=failed)
    talk.update("agent_message_chunk", content={"type": "text", "text": "unexpected status 529"})
    (ended,) = of(TurnEnded, talk.result(stopReason="end_turn"))
    assert (ended.stop_reason, "529" in str(ended.error)) == ("error", True)


def test_an_error_in_the_words_of_any_other_agent_is_its_models() -> None:
    talk = prompted("any")
    said = talk.update("agent_message_chunk", content={"type": "text", "text": "Error: no luck."})
    assert of(TextDelta, said) == [TextDelta("Error: no luck.")]
    assert of(TurnEnded, talk.result(stopReason="end_turn")) == [TurnEnded("endTurn", None)]


def test_what_a_terminal_of_the_agents_own_prints_is_shown_and_is_the_result() -> None:
    talk = prompted("codex-acp")
    args = {"command": "seq 2"}
    talk.update("tool_call", toolCallId="c1", kind="execute", title="seq 2", rawInput=args)
    heard: list[Decoded] = []
    for data in ("1\n", "2\n"):
        output = {"terminal_output_delta": {"data": data, "terminal_id": "c1"}}
        heard += talk.update("tool_call_update", toolCallId="c1", _meta=output)
    assert [each.text for each in of(ToolProgress, heard)] == ["1\n", "2\n"]
    (result,) = of(ToolResult, talk.update("tool_call_update", toolCallId="c1", status="completed"))
    assert result.content == [{"type": "text", "text": "1\n2\n"}]


def test_an_edit_of_claudes_is_told_once_its_arguments_are_whole() -> None:
    talk = prompted("claude")
    args = {"file_path": "/workspace/a.txt", "old_string": "one"}
    begun = talk.update("tool_call", toolCallId="c1", kind="edit", rawInput=args)
    assert of(ToolCall, begun) == []
    whole = args | {"new_string": "1"}
    diff = [{"type": "diff", "path": "/workspace/a.txt", "oldText": "one", "newText": "1"}]
    told = talk.update("tool_call_update", toolCallId="c1", rawInput=whole, content=diff)
    assert [each.args for each in of(ToolCall, told)] == [whole]


def test_each_known_agent_is_started_so_that_it_trusts_no_repository() -> None:
    wire: AcpWire = new_wire()
    env = wire.launch(AgentSettings(wire="acp", command=["agent"]), "/workspace", None).env
    assert env["GEMINI_CLI_TRUST_WORKSPACE"] == "false"
    assert env["INITIAL_AGENT_MODE"] == "read-only"
    assert env["COPILOT_ALLOW_ALL"] == ""


@pytest.mark.parametrize(
    ("name", "line"), [("copilot", "copilot login"), ("codex-acp", "codex login")]
)
def test_who_is_not_signed_in_is_told_the_line_that_does_it(name: str, line: str) -> None:
    talk, _ = greeted(name)
    (reply,) = of(Reply, talk.error(-32000, "Authentication required"))
    assert reply.error == (
        f"Authentication required. Sign in first: run `{line}` in a terminal, then prompt again"
    )


@pytest.mark.parametrize(("name", "shown"), [("claude", []), ("gemini", []), ("any", ["for this"])])
def test_what_a_call_is_for_is_not_taken_for_its_output(name: str, shown: list[str]) -> None:
    content = [{"type": "content", "content": {"type": "text", "text": "for this"}}]
    args = {"command": "ls"}
    call: Json = {"toolCallId": "c1", "kind": "execute", "title": "ls", "rawInput": args}
    told = prompted(name).update("tool_call", **call, status="pending", content=content)
    assert [each.text for each in of(ToolProgress, told)] == shown
