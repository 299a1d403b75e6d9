"""Codex's wire, case by case: what its recordings have that is special, and what they have not."""

from typing import Any

import pytest
from codex_replay import new_wire, replay
from hypothesis import given
from hypothesis import strategies as st
from support.zot_replay import check_sequence

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import (
    AssistantMessage,
    Compacted,
    ErrorReported,
    Event,
    Notice,
    OptionChanged,
    ThinkingDelta,
    ToolCall,
    ToolProgress,
    ToolResult,
    TurnEnded,
    TurnStarted,
)
from lsp_agent.protocol.messages import plain_text
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.wires.codex.wire import CodexWire
from lsp_agent.wires.wire import (
    Abort,
    Answered,
    Approve,
    Clear,
    CompactEnded,
    Decoded,
    Dialog,
    GetState,
    Granted,
    Hello,
    Prompt,
    Refused,
    Reply,
    RunTool,
    Send,
    SetModel,
    SetOption,
    Steer,
    Withdrawn,
)

Json = dict[str, Any]

BEGUN: Json = {
    "thread": {"id": "T"},
    "model": "m",
    "modelProvider": "openai",
    "approvalPolicy": "untrusted",
    "sandbox": {"type": "readOnly"},
}


class Talk:
    """A wire past its handshake, unless ``begun`` says otherwise."""

    def __init__(self, resume: str | None = None, *, begun: Json | None = None) -> None:
        self.wire: CodexWire = new_wire()
        self.hello = self.wire.encode("hello", Hello(resume))
        self.answer(self.hello, {"userAgent": "lsp-agent/0.169.0 (x)"})
        _, account = self.sent
        self.answer(account, {"account": None, "requiresOpenaiAuth": False})
        self.thread = self.answer(self.sent[0], begun or BEGUN)

    def hear(self, *lines: Json) -> list[Decoded]:
        self.heard = self.wire.decode(lines)
        return self.heard

    def answer(self, request: Any, result: Json) -> list[Decoded]:
        return self.hear({"id": request["id"], "result": result})

    def refuse(self, request: Any, message: str) -> list[Decoded]:
        return self.hear({"id": request["id"], "error": {"code": -32600, "message": message}})

    @property
    def sent(self) -> list[Any]:
        return [item.frame for item in self.heard if isinstance(item, Send)]

    def turn(self) -> None:
        prompt = self.wire.encode("p", Prompt("Go."))
        self.answer(prompt, {"turn": {"id": "U"}})
        self.tell("turn/started", turn={"id": "U"})

    def tell(self, method: str, **params: Any) -> list[Decoded]:
        return self.hear({"method": method, "params": {"threadId": "T", "turnId": "U", **params}})

    def asks(self, method: str, **params: Any) -> list[Decoded]:
        told = {"threadId": "T", "turnId": "U", **params}
        return self.hear({"id": 7, "method": method, "params": told})


# The handshake


def test_the_thread_has_our_tools_and_asks_for_all_that_codex_would_do_itself() -> None:
    talk = Talk()
    wire = new_wire(config={"features.shell_tool": True, "model_verbosity": "low"})
    talk.wire = wire
    talk.answer(wire.encode("h", Hello()), {})
    talk.answer(talk.sent[1], {"account": {"type": "apiKey"}, "requiresOpenaiAuth": True})
    (start,) = talk.sent
    params = start["params"]
    assert start["method"] == "thread/start"
    assert (params["approvalPolicy"], params["sandbox"]) == ("untrusted", "read-only")
    assert [tool["name"] for tool in params["dynamicTools"]] == ["read", "write", "edit", "bash"]
    assert params["config"]["features.shell_tool"] is False
    assert params["config"]["model_verbosity"] == "low"


def test_one_that_is_not_signed_in_says_how_to() -> None:
    wire = new_wire()
    talk = Talk()
    talk.wire = wire
    talk.answer(wire.encode("h", Hello()), {})
    (reply,) = talk.answer(talk.sent[1], {"account": None, "requiresOpenaiAuth": True})
    assert isinstance(reply, Reply)
    assert "codex login" in (reply.error or "")


@pytest.mark.parametrize(
    "odd", [{"approvalPolicy": "never"}, {"sandbox": {"type": "dangerFullAccess"}}]
)
def test_one_that_does_not_keep_to_asking_is_not_used(odd: Json) -> None:
    (reply,) = Talk(begun=BEGUN | odd).thread
    assert isinstance(reply, Reply)
    assert "cannot be held" in (reply.error or "")


def test_a_session_that_is_gone_is_told_and_another_begun() -> None:
    wire = new_wire()
    talk = Talk()
    talk.wire = wire
    talk.answer(wire.encode("h", Hello("old")), {})
    talk.answer(talk.sent[1], {})
    (resume,) = talk.sent
    assert (resume["method"], resume["params"]["threadId"]) == ("thread/resume", "old")
    told = talk.refuse(resume, "no rollout found for thread id old")
    assert [item.level for item in told if isinstance(item, Notice)] == ["warning"]
    assert [frame["method"] for frame in talk.sent] == ["thread/start"]


def test_the_state_has_version_model_and_session() -> None:
    reply = Talk().wire.encode("s", GetState())
    assert isinstance(reply, Reply)
    known = {"version": "0.169.0", "model": "m", "provider": "openai", "sessionRef": "T"}
    assert reply.data == known


def test_mirror_is_refused_and_the_subcommand_is_added_once() -> None:
    with pytest.raises(RequestFailed, match="sandbox"):
        new_wire(hosting="mirror")
    for command in (["codex"], ["codex", "app-server"]):
        agent = AgentSettings(wire="codex", command=command, env={"A_KEY": "x"})
        launch = CodexWire().launch(agent, "/workspace", None)
        assert launch.argv == ("codex", "app-server")
        assert {"A_KEY", "CODEX_API_KEY", "OPENAI_API_KEY"} <= set(launch.secrets)


# Turns


def test_a_prompt_that_is_refused_begins_no_turn() -> None:
    talk = Talk()
    assert talk.refuse(talk.wire.encode("p", Prompt("Go.")), "no") == [Reply("p", error="no")]


def test_a_stop_before_the_turn_can_be_interrupted_follows_its_start() -> None:
    talk = Talk()
    prompt = talk.wire.encode("p", Prompt("Go."))
    assert talk.wire.encode("a", Abort()) == Reply("a")
    talk.answer(prompt, {"turn": {"id": "U"}})
    assert talk.sent == []
    talk.tell("turn/started", turn={"id": "U"})
    assert [frame["method"] for frame in talk.sent] == ["turn/interrupt"]
    ended = talk.tell("turn/completed", turn={"id": "U", "status": "completed"})
    assert ended[-1] == TurnEnded("aborted")


def test_a_turn_whose_start_is_told_before_its_prompt_is_answered_can_be_stopped() -> None:
    talk = Talk()
    prompt: Any = talk.wire.encode("p", Prompt("Go."))
    begun = talk.tell("turn/started", turn={"id": "U"})
    assert (begun[0], begun[1]) == (Reply("p"), TurnStarted("Go."))
    assert talk.answer(prompt, {"turn": {"id": "U"}}) == []
    stop = talk.wire.encode("a", Abort())
    assert isinstance(stop, dict)
    assert stop["method"] == "turn/interrupt"


def test_a_stop_with_nothing_to_stop_does_not_hit_the_next_turn() -> None:
    talk = Talk()
    talk.wire.encode("a", Abort())
    talk.turn()
    assert talk.tell("turn/completed", turn={"id": "U", "status": "completed"})[-1] == TurnEnded(
        "endTurn"
    )


def test_steering_reaches_the_turn_that_runs_and_no_other() -> None:
    talk = Talk()
    assert talk.wire.encode("s", Steer("Blue")) == Reply("s", error="the turn has ended")
    talk.turn()
    steer = talk.wire.encode("s", Steer("Blue"))
    assert isinstance(steer, dict)
    assert steer["params"]["expectedTurnId"] == "U"
    assert talk.refuse(steer, "no active turn to steer")[0] == Reply(
        "s", error="no active turn to steer"
    )


def test_what_is_told_of_another_thread_is_left_aside() -> None:
    talk = Talk()
    talk.turn()
    clear = talk.wire.encode("c", Clear())
    talk.answer(clear, BEGUN | {"thread": {"id": "V"}})
    assert talk.tell("turn/started", turn={"id": "X"}) == []


def test_when_codex_is_gone_all_that_is_open_ends() -> None:
    talk = Talk()
    talk.turn()
    talk.asks("item/tool/call", tool="bash", callId="c", arguments={"command": "x"})
    ended = talk.wire.lost("error", "gone")
    assert [type(item) for item in ended].count(Withdrawn) == 1
    assert TurnEnded("error", "gone") in ended
    assert talk.wire.lost("error", "gone") == []


@pytest.mark.parametrize("more", [{"result": {"turn": {"id": "U"}}, "error": None}])
def test_an_answer_whose_error_is_null_has_not_failed(more: Json) -> None:
    talk = Talk()
    prompt: Any = talk.wire.encode("p", Prompt("Go."))
    assert TurnStarted("Go.") in talk.hear({"id": prompt["id"], **more})


# What it asks


def test_its_own_shell_asks_as_a_command_does() -> None:
    talk = Talk()
    talk.turn()
    for answer, decision in ((Granted(), "accept"), (Refused("no"), "decline")):
        (asked,) = talk.asks(
            "item/commandExecution/requestApproval", itemId="c", command="ls", cwd="/w/a"
        )
        assert asked == Approve("7", "bash", {"command": "ls"}, "c", folder="/w/a")
        assert talk.wire.answer("7", answer) == {"id": 7, "result": {"decision": decision}}
    assert talk.wire.answer("7", Granted()) is None


def test_a_patch_is_declined_and_its_model_told_why_once_a_turn() -> None:
    talk = Talk()
    talk.turn()
    talk.asks("item/fileChange/requestApproval", itemId="c")
    declined, note = talk.sent
    assert declined == {"id": 7, "result": {"decision": "decline"}}
    assert "edit and write" in note["params"]["input"][0]["text"]
    talk.asks("item/fileChange/requestApproval", itemId="d")
    assert talk.sent == [declined]
    item = {"type": "userMessage", "id": "u", "clientId": note["params"]["clientUserMessageId"]}
    assert talk.tell("item/completed", item=item) == []


@pytest.mark.parametrize(
    ("method", "params", "result"),
    [
        ("item/permissions/requestApproval", {}, {"permissions": {}}),
        ("item/tool/requestUserInput", {"questions": [{"id": "q"}]}, {"answers": {}}),
        (
            "mcpServer/elicitation/request",
            {"requestedSchema": {"properties": {"password": {}}}},
            {"action": "decline"},
        ),
    ],
)
def test_what_needs_more_than_a_yes_is_declined(method: str, params: Json, result: Json) -> None:
    talk = Talk()
    talk.turn()
    assert talk.asks(method, **params) == [Send({"id": 7, "result": result})]


def test_a_server_that_asks_for_a_yes_gets_the_persons() -> None:
    talk = Talk()
    talk.turn()
    (asked,) = talk.asks("mcpServer/elicitation/request", serverName="s", message="May I?")
    assert asked == Approve("7", "s", {"message": "May I?"}, None)
    assert talk.wire.answer("7", Granted()) == {"id": 7, "result": {"action": "accept"}}


def test_a_server_that_asks_outside_of_a_call_gets_the_persons_answer_while_a_turn_runs() -> None:
    talk = Talk()
    ask = "mcpServer/elicitation/request"
    told: Json = {"turnId": None, "serverName": "s", "message": "May I?"}
    declined = [Send({"id": 7, "result": {"action": "decline"}})]
    assert talk.asks(ask, **told) == declined
    talk.turn()
    assert talk.asks(ask, **told) == [Approve("7", "s", {"message": "May I?"}, None)]
    assert talk.asks(ask, **told | {"threadId": "another"}) == declined
    assert talk.asks(ask, **told | {"turnId": "another"}) == declined


def test_who_is_to_say_yes_to_an_address_is_shown_it_each_time() -> None:
    talk = Talk()
    talk.turn()
    told = {"serverName": "s", "message": "Sign in.", "mode": "url", "url": "https://e.invalid/x"}
    (asked,) = talk.asks("mcpServer/elicitation/request", **told)
    args = {"message": "Sign in.", "url": "https://e.invalid/x"}
    assert asked == Approve("7", "s", args, None, named=False)


def test_the_parts_of_a_summary_of_thoughts_are_paragraphs() -> None:
    talk = Talk()
    talk.turn()
    thoughts = ""
    for index, part in enumerate(("**Looking**", "**Acting**")):
        of = {"itemId": "r", "summaryIndex": index}
        told = talk.tell("item/reasoning/summaryPartAdded", **of)
        told += talk.tell("item/reasoning/summaryTextDelta", **of, delta=part)
        thoughts += "".join(each.text for each in told if isinstance(each, ThinkingDelta))
    assert thoughts == "**Looking**\n\n**Acting**"


def test_outside_its_turn_nothing_is_run_or_asked() -> None:
    talk = Talk()
    for method in ("item/tool/call", "item/commandExecution/requestApproval"):
        (sent,) = talk.asks(method, tool="bash", callId="c")
        assert isinstance(sent, Send)
    (sent,) = talk.asks("no/such/method")
    assert isinstance(sent, Send)
    assert "error" in sent.frame


def test_a_tool_that_is_not_ours_is_refused() -> None:
    talk = Talk()
    talk.turn()
    (sent,) = talk.asks("item/tool/call", tool="rm", callId="c")
    assert isinstance(sent, Send)
    assert "unknown tool" in str(sent.frame)


def test_what_codex_waits_for_no_longer_is_withdrawn() -> None:
    talk = Talk()
    talk.turn()
    talk.asks("item/tool/call", tool="bash", callId="c", arguments={"command": "x"})
    assert talk.tell("serverRequest/resolved", requestId=7) == [Withdrawn("7")]
    assert talk.wire.answer("7", Answered("late")) is None


# Models and options


def test_a_model_that_openai_has_not_is_refused_and_any_of_another_provider_taken() -> None:
    for provider, refused in (("openai", True), ("mine", False)):
        talk = Talk(begun=BEGUN | {"modelProvider": provider})
        ask = talk.wire.encode("m", SetModel("x"))
        decoded = talk.answer(ask, {"data": [{"model": "m"}]})
        assert any(isinstance(item, Reply) for item in decoded) is refused
    assert talk.wire.encode("o", SetOption("colour", "red")) == Reply(
        "o", error="Codex has no option 'colour'."
    )


# What the recordings have


def test_the_messages_stand_before_their_calls() -> None:
    seen = [type(event) for event in replay("hosted").events]
    assert seen.index(AssistantMessage) < seen.index(ToolCall) < seen.index(ToolResult)


def test_our_tools_are_run_by_us_with_their_calls_ids() -> None:
    runs = replay("hosted").of(RunTool)
    assert [run.tool for run in runs] == ["read", "bash", "edit"]
    assert [run.tool_call_id for run in runs] == [
        c.tool_call_id for c in replay("hosted").of(ToolCall)
    ]


def test_the_output_of_its_own_shell_is_told_as_it_comes() -> None:
    talk = Talk()
    talk.turn()
    assert not talk.wire.runs_commands
    talk.tell("item/started", item={"type": "commandExecution", "id": "c", "command": "x"})
    assert talk.wire.runs_commands
    told = talk.tell("item/commandExecution/outputDelta", itemId="c", delta="one\n")
    assert told == [ToolProgress("c", "one\n")]


def test_a_command_of_its_own_shell_has_its_output_and_its_exit_code() -> None:
    failed, declined = replay("own-shell").of(ToolResult)
    assert plain_text(failed.content) == "one\n\n[exit 3]"
    assert failed.is_error
    assert declined.is_error


def test_its_question_is_the_persons() -> None:
    (asked,) = replay("question").of(Dialog)
    assert asked.title == "Which?"
    assert asked.options == (("Red", "Red"), ("Blue", "Blue"))


def test_a_stopped_text_is_kept() -> None:
    (said, *_) = replay("stopped-in-its-text").of(AssistantMessage)
    assert plain_text(said.message["content"]).startswith("word ")


def test_a_failed_compaction_has_its_reason() -> None:
    seen = replay("compact")
    assert [told.summary for told in seen.of(Compacted)] == ["The summary."]
    done, failed = seen.of(CompactEnded)
    assert (done.error, done.summary) == (None, "The summary.")
    assert failed.error


@pytest.mark.parametrize(
    ("name", "words"), [("model-401", "the key was refused"), ("model-529", "try again")]
)
def test_an_error_of_the_model_says_what_helps(name: str, words: str) -> None:
    (error,) = replay(name).of(ErrorReported)
    assert words in error.message


def test_the_messages_of_a_session_that_was_taken_up() -> None:
    seen = replay("resume")
    lists = [reply.data for reply in seen.of(Reply) if reply.data]
    (session,) = next(data["sessions"] for data in lists if "sessions" in data)
    assert (session["cwd"], session["title"]) == ("/workspace", "The word is blue.")
    messages: Any = next(data["messages"] for data in lists if "messages" in data)
    kinds = [(m["role"], [block["type"] for block in m["content"]]) for m in messages]
    assert kinds == [
        ("user", ["text", "image"]),
        ("assistant", ["thinking"]),
        ("assistant", ["text"]),
        ("assistant", ["toolCall"]),
        ("tool", ["toolResult"]),
        ("assistant", ["text"]),
    ]


def test_another_effort_is_told() -> None:
    seen = replay("settings")
    assert OptionChanged("reasoningEffort", "high") in seen.events


def test_a_repositorys_configuration_is_told_of_once() -> None:
    notices = [
        each for each in replay("repository").of(Notice) if "/workspace/.codex" in each.message
    ]
    assert [each.level for each in notices] == ["warning"]


# Whatever it prints

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
methods = st.sampled_from(
    [
        *("turn/started", "turn/completed", "turn/plan/updated", "thread/tokenUsage/updated"),
        *("item/started", "item/completed", "item/agentMessage/delta", "error", "configWarning"),
        *("item/tool/call", "item/tool/requestUserInput", "item/fileChange/requestApproval"),
        *("item/commandExecution/requestApproval", "mcpServer/elicitation/request"),
        *("thread/settings/updated", "serverRequest/resolved", "x"),
    ]
)
items = st.fixed_dictionaries(
    {"type": st.sampled_from(["agentMessage", "dynamicToolCall", "commandExecution", "x"])},
    optional={"id": st.sampled_from(["a", "b"]) | anything, "text": anything, "status": anything},
)
parameters = st.fixed_dictionaries(
    {"threadId": st.just("T"), "turnId": st.sampled_from(["U", "V"])},
    optional={
        "item": items | anything,
        "turn": st.fixed_dictionaries({"id": st.sampled_from(["U", "V"])}) | anything,
        "tokenUsage": anything,
        "questions": anything,
        "delta": st.text(max_size=3) | anything,
    },
)
lines = st.fixed_dictionaries(
    {"method": methods, "params": parameters | anything}, optional={"id": st.integers(0, 3)}
)


@given(st.lists(lines | anything, max_size=12))
def test_whatever_codex_prints_the_wire_neither_raises_nor_ends_a_turn_twice(
    printed: list[object],
) -> None:
    talk = Talk()
    prompt: Any = talk.wire.encode("p", Prompt("Go."))
    decoded = talk.answer(prompt, {"turn": {"id": "U"}})
    decoded += talk.wire.decode(printed)
    decoded += talk.wire.lost("error", "gone")
    events: list[Any] = [item for item in decoded if isinstance(item, Event)]
    check_sequence(events)
    assert [type(event) for event in events].count(TurnStarted) == 1
