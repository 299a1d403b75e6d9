"""What is special in the ACP wire: handshakes, permissions, files, calls that are told in parts."""

import itertools
from typing import Any

import pytest
from acp import schema
from acp_oracle import NAMES, entries
from acp_replay import Replay, new_wire, replay

from lsp_agent.protocol.events import (
    ErrorReported,
    Notice,
    Plan,
    StepStarted,
    ThinkingDelta,
    ToolCall,
    ToolCallStarted,
    ToolProgress,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from lsp_agent.protocol.session_methods import ImageInput
from lsp_agent.wires.acp.wire import AcpWire
from lsp_agent.wires.wire import (
    Abort,
    Answered,
    Approve,
    Clear,
    Command,
    Decoded,
    GetCommands,
    GetMessages,
    GetModels,
    GetState,
    Granted,
    Hello,
    Prompt,
    ReadText,
    Refused,
    Reply,
    Send,
    SetModel,
    Withdrawn,
    WriteText,
)

Json = dict[str, Any]

CAN: Json = {"loadSession": True, "promptCapabilities": {"image": True}}
OPTIONS = [
    {"optionId": "forever", "name": "Always", "kind": "allow_always"},
    {"optionId": "now", "name": "Once", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
MODEL = {"id": "m", "name": "Model", "category": "model", "type": "select", "currentValue": "a/one"}
CHOICES = [{"value": "a/one", "name": "One"}, {"value": "a/two", "name": "Two"}]


class Talk:
    """A wire in a talk with an agent that a test plays."""

    def __init__(self, **settings: str) -> None:
        self.wire: AcpWire = new_wire(settings.pop("hosting", "auto"), **settings)
        self.sent: list[Json] = []
        self.heard: list[Decoded] = []
        self._names = itertools.count(1)

    def say(self, command: Command) -> list[Decoded]:
        encoded = self.wire.encode(f"r{next(self._names)}", command)
        if isinstance(encoded, Reply):
            return self._take([encoded])
        self.sent.append(dict(encoded))
        return self._take(self.wire.decode(()))

    def hear(self, *frames: Json) -> list[Decoded]:
        return self._take(self.wire.decode(frames))

    def result(self, **result: Any) -> list[Decoded]:
        """The agent answers our last request."""
        return self.hear({"jsonrpc": "2.0", "id": self._last["id"], "result": result})

    def error(self, code: int, message: str, **more: Any) -> list[Decoded]:
        error = {"code": code, "message": message} | more
        return self.hear({"jsonrpc": "2.0", "id": self._last["id"], "error": error})

    def update(self, name: str, /, **update: Any) -> list[Decoded]:
        params = {"sessionId": "s1", "update": {"sessionUpdate": name} | update}
        return self.hear({"jsonrpc": "2.0", "method": "session/update", "params": params})

    def ask(self, method: str, **params: Any) -> list[Decoded]:
        request = {"jsonrpc": "2.0", "id": 0, "method": method, "params": params}
        return self.hear(request)

    def hello(self, can: Json = CAN, *, resume: str | None = None, **told: Any) -> None:
        self.say(Hello(resume))
        self.result(protocolVersion=1, agentCapabilities=can, agentInfo=told or {"name": "any"})

    def opened(self, **told: Any) -> "Talk":
        self.hello()
        self.result(sessionId="s1", **told)
        return self

    def prompted(self) -> "Talk":
        self.say(Prompt("Go."))
        return self

    @property
    def _last(self) -> Json:
        return next(frame for frame in reversed(self.sent) if "id" in frame and "method" in frame)

    def _take(self, decoded: list[Decoded]) -> list[Decoded]:
        self.heard += decoded
        self.sent += [dict(item.frame) for item in decoded if isinstance(item, Send)]
        return decoded


def replied(decoded: list[Decoded]) -> Reply:
    (reply,) = [item for item in decoded if isinstance(item, Reply)]
    return reply


def of(decoded: list[Decoded], *kinds: type) -> list[Any]:
    return [item for item in decoded if isinstance(item, kinds)]


# All that is sent is what the protocol's own types take

REQUESTS = {
    "initialize": schema.InitializeRequest,
    "session/new": schema.NewSessionRequest,
    "session/load": schema.LoadSessionRequest,
    "session/resume": schema.ResumeSessionRequest,
    "session/close": schema.CloseSessionRequest,
    "session/prompt": schema.PromptRequest,
    "session/cancel": schema.CancelNotification,
    "session/set_mode": schema.SetSessionModeRequest,
    "session/set_config_option": schema.SetSessionConfigOptionSelectRequest,
}


def check_sent(frames: list[Json]) -> None:
    for frame in frames:
        assert frame["jsonrpc"] == "2.0"
        if "method" in frame:
            REQUESTS[frame["method"]].model_validate(frame["params"], strict=True)
        elif "outcome" in frame.get("result", {}):
            schema.RequestPermissionResponse.model_validate(frame["result"])
        elif "content" in frame.get("result", {}):
            schema.ReadTextFileResponse.model_validate(frame["result"])


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_in_a_recorded_session_fits_the_protocols_types(name: str) -> None:
    if name != "qwen-code-second-prompt-while-busy":
        seen = replay(name)
        check_sent([*seen.sent, *seen.answered])


# Handshake


def test_a_session_is_opened_and_its_id_is_what_it_is_taken_up_by() -> None:
    talk = Talk()
    talk.hello(name="any", version="3")
    assert [frame["method"] for frame in talk.sent] == ["initialize", "session/new"]
    assert talk.sent[0]["params"]["clientCapabilities"] == {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "terminal": False,
    }
    reply = replied(talk.result(sessionId="s1", configOptions=[MODEL | {"options": CHOICES}]))
    wanted = {"sessionRef": "s1", "version": "3", "model": "a/one", "provider": "a"}
    assert reply.data == wanted | {"messageCount": 0}
    capable = {name for name, can in talk.wire.capabilities.items() if can}
    assert {"resume", "images", "models", "setModel", "hostedFiles", "permissions"} <= capable
    assert not {"steer", "compact", "commands", "usage", "cost"} & capable
    check_sent(talk.sent)


def test_a_missing_login_names_the_way_to_it() -> None:
    talk = Talk()
    talk.say(Hello())
    ways = [{"id": "key", "name": "Login", "description": "Run `any login` in a terminal"}]
    talk.result(protocolVersion=1, authMethods=ways)
    error = replied(talk.error(-32000, "Authentication required")).error
    assert error is not None
    assert "Authentication required" in error
    assert "Run `any login` in a terminal" in error


def test_another_version_of_the_protocol_is_an_error() -> None:
    talk = Talk()
    talk.say(Hello())
    assert "version 2" in (replied(talk.result(protocolVersion=2)).error or "")


def test_in_mirror_no_files_are_offered() -> None:
    talk = Talk(hosting="mirror")
    talk.opened().prompted()
    assert not any(talk.sent[0]["params"]["clientCapabilities"]["fs"].values())
    assert not talk.wire.capabilities["hostedFiles"]
    (refusal,) = of(talk.ask("fs/read_text_file", sessionId="s1", path="/w/a"), Send)
    assert refusal.frame["error"]["code"] == -32601


def test_the_model_of_the_settings_is_set_before_the_first_prompt() -> None:
    talk = Talk(model="two", provider="a")
    talk.hello()
    assert not of(talk.result(sessionId="s1", configOptions=[MODEL | {"options": CHOICES}]), Reply)
    params = {"sessionId": "s1", "configId": "m", "value": "a/two"}
    assert talk.sent[-1]["params"] == params
    chosen = MODEL | {"options": CHOICES, "currentValue": "a/two"}
    assert replied(talk.result(configOptions=[chosen])).data["model"] == "a/two"
    unknown = Talk(model="three")
    unknown.hello()
    error = replied(unknown.result(sessionId="s1", configOptions=[MODEL | {"options": CHOICES}]))
    assert "a/one, a/two" in (error.error or "")


@pytest.mark.parametrize("mode", ["auto", "yolo", "bypassPermissions"])
def test_an_agent_that_gives_itself_leave_is_put_into_the_mode_that_asks(mode: str) -> None:
    talk = Talk()
    talk.hello()
    listed = [{"id": each, "name": each} for each in ("plan", "default", mode)]
    modes = {"currentModeId": mode, "availableModes": listed}
    assert not of(talk.result(sessionId="s1", modes=modes), Reply)
    assert talk.sent[-1]["method"] == "session/set_mode"
    assert talk.sent[-1]["params"] == {"sessionId": "s1", "modeId": "default"}
    assert replied(talk.result()).error is None


YOLO: Json = {
    "modes": {
        "currentModeId": "yolo",
        "availableModes": [{"id": each, "name": each} for each in ("default", "yolo")],
    }
}


def test_an_agent_that_says_it_stays_in_a_mode_that_asks_nobody_is_not_begun_with() -> None:
    talk = Talk()
    talk.hello()
    talk.result(sessionId="s1", **YOLO)
    assert "asks nobody" in (replied(talk.result(**YOLO)).error or "")


def test_one_that_says_it_goes_back_to_asking_and_does_not_is_not_prompted() -> None:
    talk = Talk().opened(modes=YOLO["modes"] | {"currentModeId": "default"})
    talk.update("current_mode_update", currentModeId="yolo")
    talk.result(**YOLO)
    assert talk.sent[-1]["method"] == "session/cancel"
    assert "asks nobody" in (replied(talk.say(Prompt("Go."))).error or "")
    talk.update("current_mode_update", currentModeId="yolo")
    talk.result()  # it went back
    talk.update("current_mode_update", currentModeId="yolo")  # and will again
    talk.prompted()
    assert talk.sent[-1]["method"] == "session/prompt"


def test_a_session_that_was_cleared_into_a_mode_that_asks_nobody_is_not_prompted() -> None:
    talk = Talk().opened()
    talk.say(Clear())
    talk.result(sessionId="s2", **YOLO)
    assert replied(talk.error(-32603, "no")).error == "no"
    assert "asks nobody" in (replied(talk.say(Prompt("Go."))).error or "")


def test_a_mode_that_does_not_act_is_left_as_it_is() -> None:
    listed = [{"id": each, "name": each} for each in ("plan", "default")]
    talk = Talk()
    talk.hello()
    modes = {"currentModeId": "plan", "availableModes": listed}
    assert replied(talk.result(sessionId="s1", modes=modes)).error is None


# Taking up and clearing


def test_a_loaded_session_is_known_and_no_turn_of_it_is_told() -> None:
    talk = Talk()
    talk.hello(resume="ses_e0520a519ffeiUPdCIpHN2bbTW")
    assert talk.sent[-1]["method"] == "session/load"
    lines = [entry["line"] for entry in entries("opencode-load-session")]
    start = next(n for n, line in enumerate(lines) if line.get("method") == "session/load") + 1
    decoded = [
        item
        for line in lines[start:]
        for item in talk.hear(line if "method" in line else line | {"id": talk._last["id"]})
    ]
    assert replied(decoded).data["sessionRef"] == "ses_e0520a519ffeiUPdCIpHN2bbTW"
    assert not of(decoded, TurnStarted, ToolCall, ToolResult, StepStarted)
    messages: Any = replied(talk.say(GetMessages())).data["messages"]
    roles = [message["role"] for message in messages]
    assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert messages[0]["content"] == [
        {"type": "text", "text": "Make the greeting longer in hello.py"}
    ]


def cost(amount: float) -> Json:
    return {"used": 5, "size": 9, "cost": {"amount": amount, "currency": "USD"}}


@pytest.mark.parametrize(("at_load", "charged"), [(1.5, [0.25, 0.5]), (None, [None, 0.5])])
def test_a_turn_is_not_charged_with_what_the_session_had_cost_before_it_was_taken_up(
    at_load: float | None, charged: list[float | None]
) -> None:
    talk = Talk()
    talk.hello(resume="s1")
    if at_load is not None:
        talk.update("usage_update", **cost(at_load))
    talk.result()
    for amount in (1.75, 2.25):
        talk.prompted().update("usage_update", **cost(amount))
        talk.result(stopReason="end_turn", usage={"inputTokens": 1})
    usages = [told.usage for told in of(talk.heard, UsageReported)]
    assert [usage.get("cost") for usage in usages] == charged


def test_what_is_told_between_taking_up_and_the_first_prompt_is_what_it_had_cost() -> None:
    talk = Talk()
    talk.hello(resume="s1")
    talk.result()
    talk.update("usage_update", **cost(1.5))
    talk.prompted().update("usage_update", **cost(1.75))
    talk.result(stopReason="end_turn", usage={"inputTokens": 1})
    assert [told.usage["cost"] for told in of(talk.heard, UsageReported)] == [0.25]


@pytest.mark.parametrize("more", [{"result": {"stopReason": "end_turn"}, "error": None}, {}])
def test_an_answer_without_an_error_or_without_anything_is_none_that_failed(more: Json) -> None:
    talk = Talk().opened().prompted()
    ended = talk.hear({"jsonrpc": "2.0", "id": talk.sent[-1]["id"], **more})
    assert of(ended, TurnEnded) == [TurnEnded("endTurn", None)]


def test_a_session_that_cannot_be_taken_up_is_an_error() -> None:
    talk = Talk()
    talk.hello(resume="gone")
    assert "no such session" in (replied(talk.error(-32002, "no such session")).error or "")
    unable = Talk()
    unable.say(Hello("s0"))
    unable.result(protocolVersion=1, agentCapabilities={})
    assert "cannot take up" in (unable.heard[-1].error or "")  # type: ignore[union-attr]


def test_clearing_opens_another_session_and_closes_the_one_before() -> None:
    talk = Talk()
    talk.hello(CAN | {"sessionCapabilities": {"close": {}}})
    talk.result(sessionId="s1")
    talk.prompted().result(stopReason="end_turn")
    talk.say(Clear())
    reply = replied(talk.result(sessionId="s2"))
    assert reply.data["sessionRef"] == "s2"
    assert replied(talk.say(GetMessages())).data == {"messages": []}
    assert talk.sent[-1]["params"] == {"sessionId": "s1"}
    assert not of(talk.hear({"jsonrpc": "2.0", "id": talk._last["id"], "result": {}}), Reply)
    check_sent(talk.sent)


# What is asked of the agent


def test_models_are_listed_and_set() -> None:
    choices = [{"group": "g", "name": "G", "options": CHOICES}]
    talk = Talk().opened(configOptions=[MODEL | {"options": choices}])
    models: Any = replied(talk.say(GetModels())).data["models"]
    assert models == [{"id": "a/one", "provider": "a"}, {"id": "a/two", "provider": "a"}]
    talk.say(SetModel("a/two"))
    talk.result(configOptions=[MODEL | {"options": CHOICES, "currentValue": "a/two"}])
    assert replied(talk.say(GetState())).data["model"] == "a/two"
    assert "a/two" in (replied(talk.say(SetModel("none"))).error or "")
    check_sent(talk.sent)


def test_a_model_is_found_with_the_settings_provider_or_whole() -> None:
    talk = Talk(model="one", provider="a")
    talk.opened(configOptions=[MODEL | {"options": CHOICES}])
    for name in ("two", "a/two"):
        talk.say(SetModel(name))
        assert talk.sent[-1]["params"]["value"] == "a/two"


def test_an_older_agents_models_are_set_by_a_method_of_their_own() -> None:
    listed = [{"modelId": "x", "_meta": {"contextLimit": 9}}, {"modelId": "y"}]
    talk = Talk().opened(models={"currentModelId": "x", "availableModels": listed})
    models: Any = replied(talk.say(GetModels())).data["models"]
    assert [(model["id"], model.get("contextWindow")) for model in models] == [
        ("x", 9),
        ("y", None),
    ]
    talk.say(SetModel("y"))
    assert talk.sent[-1]["method"] == "session/set_model"
    talk.result()
    assert replied(talk.say(GetState())).data["model"] == "y"


def test_commands_are_listed_once_the_agent_has_told_them() -> None:
    talk = Talk().opened()
    talk.update("available_commands_update", availableCommands=[{"name": "init"}])
    assert replied(talk.say(GetCommands())).data == {"commands": [{"name": "init"}]}
    assert talk.wire.capabilities["commands"]


def test_images_go_where_the_agent_takes_them() -> None:
    image = ImageInput(mime_type="image/png", data="aGk=")
    talk = Talk().opened()
    talk.say(Prompt("Look.", (image,)))
    part = {"type": "image", "mimeType": "image/png", "data": "aGk="}
    assert talk.sent[-1]["params"]["prompt"][1] == part
    check_sent(talk.sent)
    blind = Talk()
    blind.hello({"loadSession": True})
    blind.result(sessionId="s1")
    assert "no images" in (replied(blind.say(Prompt("Look.", (image,)))).error or "")


def test_a_prompt_is_replied_to_when_it_is_sent() -> None:
    talk = Talk().opened()
    decoded = talk.say(Prompt("Go."))
    assert replied(decoded).error is None
    assert of(decoded, TurnStarted) == [TurnStarted("Go.")]


# Turns


def test_thoughts_are_told_apart_and_a_step_begins_after_a_call() -> None:
    talk = Talk().opened().prompted()
    talk.update("agent_thought_chunk", content={"type": "text", "text": "Hm."})
    talk.update("agent_message_chunk", content={"type": "text", "text": "So."})
    raw = {"command": "ls"}
    talk.update("tool_call", toolCallId="c", kind="execute", status="in_progress", rawInput=raw)
    talk.update("tool_call_update", toolCallId="c", status="completed")
    talk.update("agent_message_chunk", content={"type": "text", "text": "Done."})
    talk.result(stopReason="max_tokens")
    assert of(talk.heard, ThinkingDelta) == [ThinkingDelta("Hm.")]
    assert of(talk.heard, StepStarted) == [StepStarted(1), StepStarted(2)]
    assert of(talk.heard, TurnEnded) == [TurnEnded("maxTokens")]


def test_growing_output_is_told_piece_by_piece() -> None:
    talk = Talk().opened().prompted()

    def printed(text: str) -> list[Json]:
        return [{"type": "content", "content": {"type": "text", "text": text}}]

    raw = {"command": "ls"}
    talk.update(
        "tool_call", toolCallId="c", kind="execute", status="pending", rawInput={"cwd": "/"}
    )
    assert not of(talk.heard, ToolCall)  # its command is not known yet
    for text in ("one\n", "one\ntwo\n"):
        content = printed(text)
        talk.update("tool_call_update", toolCallId="c", rawInput=raw, content=content)
    assert of(talk.heard, ToolCall) == [ToolCall("c", "execute", "command", raw)]
    assert of(talk.heard, ToolProgress) == [ToolProgress("c", "one\n"), ToolProgress("c", "two\n")]


@pytest.mark.parametrize(("name", "known"), [("opencode", True), ("qwen-code", False)])
def test_progress_is_a_capability_where_it_is_known_or_was_seen(name: str, known: object) -> None:
    talk = Talk()
    talk.hello(name=name)
    talk.result(sessionId="s1")
    talk.prompted()
    assert talk.wire.capabilities["toolProgress"] is known
    printed = [{"type": "content", "content": {"type": "text", "text": "one"}}]
    talk.update("tool_call_update", toolCallId="c", kind="execute", content=printed)
    assert talk.wire.capabilities["toolProgress"]


def test_an_error_of_the_prompt_is_told_once_and_ends_the_turn() -> None:
    talk = Talk().opened().prompted()
    talk.error(-32603, "Internal error", data={"details": "no credit left"})
    message = "no credit left"
    assert of(talk.heard, ErrorReported) == [ErrorReported(message)]
    assert of(talk.heard, TurnEnded) == [TurnEnded("error", message)]


def test_usage_of_the_session_so_far_is_told_as_the_turns() -> None:
    talk = Talk().opened()
    for total in (10, 25):
        talk.prompted()
        usage = {"inputTokens": total, "outputTokens": 1, "totalTokens": total + 1}
        talk.result(stopReason="end_turn", usage=usage)
    told = of(talk.heard, UsageReported)
    assert [(each.usage["input"], each.cumulative["input"]) for each in told] == [
        (10, 10),
        (15, 25),
    ]


def step(content: str, status: str = "pending", **more: str) -> Json:
    return {"content": content, "status": status} | more


def test_a_plan_is_told_whole_each_time_that_it_changes_and_once_a_turn_if_not() -> None:
    talk = Talk().opened().prompted()
    first = [step("Look", "in_progress", priority="high"), step("Act", priority="low")]
    then = [step("Look", "completed"), step("Act", "in_progress"), step("Tell")]
    for steps in (first, first, then, []):
        talk.update("plan", entries=steps)
    talk.result(stopReason="end_turn")
    talk.prompted().update("plan", entries=[])
    talk.update("plan", entries=then)
    told = [list(plan.entries) for plan in of(talk.heard, Plan)]
    assert told == [first, then, [], then]


def test_what_is_odd_in_a_plan_is_left_out_or_counts_as_pending() -> None:
    talk = Talk().opened().prompted()
    odd = [None, {}, "x", {"status": "completed"}, {"content": 7}, step(" \n"), step("")]
    steps = [step(" Two\nlines "), step("Act", "cancelled", priority="urgent")]
    more = [{"content": "No", "status": ["x"], "priority": []}, {"content": "Bare"}]
    talk.update("plan", entries=[*odd, *steps, *more])
    (plan,) = of(talk.heard, Plan)
    assert list(plan.entries) == [step("Two lines"), step("Act"), step("No"), step("Bare")]
    talk.update("plan", entries={"content": "Look"})
    talk.update("plan")
    assert of(talk.heard, Plan) == [plan]
    assert len(of(talk.result(stopReason="end_turn"), TurnEnded)) == 1


def test_a_plan_ends_the_step_whose_call_changed_it() -> None:
    talk = Talk().opened().prompted()
    talk.update("agent_message_chunk", content={"text": "I begin."})
    talk.update("plan", entries=[step("Look")])
    talk.update("agent_message_chunk", content={"text": "I look."})
    talk.result(stopReason="end_turn")
    assert [event.step for event in of(talk.heard, StepStarted)] == [1, 2]
    (reply,) = of(talk.say(GetMessages()), Reply)
    plan = {"type": "plan", "entries": [step("Look")]}
    contents = [message["content"] for message in reply.data["messages"]]
    assert contents[2] == [plan]
    assert [content[0]["text"] for content in (contents[1], contents[3])] == ["I begin.", "I look."]


def test_a_plan_outside_a_turn_is_not_taken() -> None:
    talk = Talk().opened()
    talk.update("plan", entries=[step("Look")])
    assert not of(talk.heard, Plan)
    assert all(notice.level == "debug" for notice in of(talk.heard, Notice))


def test_the_plan_of_a_loaded_session_is_among_its_messages() -> None:
    talk = Talk()
    talk.hello(resume="s1")
    talk.update("user_message_chunk", content={"text": "Go."})
    for status in ("in_progress", "completed"):
        talk.update("plan", entries=[step("Look", status)])
    talk.result()
    (reply,) = of(talk.say(GetMessages()), Reply)
    told = [block for message in reply.data["messages"] for block in message["content"]]
    assert told == [
        {"type": "text", "text": "Go."},
        {"type": "plan", "entries": [step("Look", "completed")]},
    ]
    assert not of(talk.heard, Plan)


def test_what_belongs_to_another_session_or_is_unknown_changes_nothing() -> None:
    talk = Talk().opened().prompted()
    params = {"sessionId": "s9", "update": {"sessionUpdate": "agent_message_chunk"}}
    talk.hear({"jsonrpc": "2.0", "method": "session/update", "params": params})
    talk.update("tea_time")
    (refusal,) = of(talk.ask("terminal/create", sessionId="s1", command="ls"), Send)
    assert refusal.frame["error"]["code"] == -32601
    assert all(notice.level == "debug" for notice in of(talk.heard, Notice))


# Permissions


def asked(talk: Talk, **call: Any) -> Approve:
    decoded = talk.ask("session/request_permission", sessionId="s1", toolCall=call, options=OPTIONS)
    (approve,) = of(decoded, Approve)
    return approve


def test_leave_is_given_and_refused_for_this_call_only() -> None:
    talk = Talk().opened().prompted()
    for answer, option in ((Granted(), "now"), (Refused("Not run."), "no")):
        approve = asked(talk, toolCallId="c", kind="execute", rawInput={"command": "ls"})
        frame: Any = talk.wire.answer(approve.key, answer)
        assert frame["id"] == 0
        assert frame["result"] == {"outcome": {"outcome": "selected", "optionId": option}}
        assert talk.wire.answer(approve.key, answer) is None


@pytest.mark.parametrize(
    ("given", "judged"),
    [
        ({"pattern": "x", "path": "/w/a"}, ("read", {"path": "/w/a"})),
        ({"pattern": "x"}, ("read", {"path": "."})),
        ({"query": "of the web"}, ("search", {"query": "of the web"})),
    ],
)
def test_a_search_for_a_pattern_is_judged_as_a_read_of_where_it_looks(
    given: dict[str, str], judged: tuple[str, dict[str, str]]
) -> None:
    talk = Talk().opened().prompted()
    approve = asked(talk, toolCallId="c", kind="search", rawInput=given)
    assert (approve.tool, approve.args) == judged


@pytest.mark.parametrize(
    "key", ["cwd", "workdir", "working_directory", "workingDirectory", "directory", "dir_path"]
)
@pytest.mark.parametrize("asks_with_it", [True, False])
def test_where_a_command_is_to_run_is_told_with_it(key: str, *, asks_with_it: bool) -> None:
    talk = Talk().opened().prompted()
    told = {"command": "ls", key: "/etc"}
    talk.update("tool_call", toolCallId="c", kind="execute", rawInput=told)
    given = told if asks_with_it else {"command": "ls"}
    approve = asked(talk, toolCallId="c", kind="execute", rawInput=given)
    assert (approve.args, approve.folder) == ({"command": "ls"}, "/etc")


def test_a_call_that_has_ended_and_is_asked_about_is_not_told_again() -> None:
    talk = Talk().opened().prompted()
    known = {"kind": "execute", "rawInput": {"command": "ls"}}
    talk.update("tool_call", toolCallId="c1", status="completed", **known)
    approve = asked(talk, toolCallId="c1", sessionUpdate="tool_call", **known)
    assert (approve.tool, approve.args) == ("bash", {"command": "ls"})
    talk.result(stopReason="end_turn")
    assert [told.tool_call_id for told in of(talk.heard, ToolCall)] == ["c1"]
    assert [told.tool_call_id for told in of(talk.heard, ToolResult)] == ["c1"]


def one_more_call(talk: Talk, line: str) -> None:
    """Of a provider that names the only call of each step alike."""
    known = {"kind": "execute", "rawInput": {"command": line}}
    talk.update("tool_call", toolCallId="c", status="in_progress", **known)
    talk.update("tool_call_update", toolCallId="c", status="completed")


def test_a_call_by_the_id_of_one_that_has_ended_is_a_call_of_its_own_in_the_next_step() -> None:
    talk = Talk().opened().prompted()
    for line in ("ls", "pwd"):
        one_more_call(talk, line)
    talk.update("tool_call_update", toolCallId="c", status="completed")  # told once more
    talk.result(stopReason="end_turn")
    kinds = StepStarted, ToolCall, ToolResult
    assert [type(each) for each in of(talk.heard, *kinds)] == [*kinds, *kinds]
    assert [call.args for call in of(talk.heard, ToolCall)] == [
        {"command": "ls"},
        {"command": "pwd"},
    ]


def test_one_that_is_asked_about_by_such_an_id_is_told_with_its_first_update() -> None:
    """Gemini and qwen-code begin a call by the question whether it may be."""
    talk = Talk().opened().prompted()
    one_more_call(talk, "ls")
    known = {"kind": "edit", "locations": [{"path": "/w/a"}], "rawInput": {"path": "/w/a"}}
    approve = asked(talk, toolCallId="c", **known)
    assert len(of(talk.heard, ToolCall)) == 1
    talk.wire.answer(approve.key, Granted())
    (write,) = of(talk.ask("fs/write_text_file", path="/w/a", content="new"), WriteText)
    assert write.tool_call_id == "c"
    told = talk.update("tool_call_update", toolCallId="c", status="completed", **known)
    assert [call.kind for call in of(told, ToolCall)] == ["edit"]
    assert len(of(told, ToolResult)) == 1
    talk.result(stopReason="end_turn")
    assert len(of(talk.heard, ToolResult)) == 2


def test_one_that_is_asked_about_by_such_an_id_and_named_by_nothing_is_a_tool() -> None:
    talk = Talk().opened().prompted()
    one_more_call(talk, "ls")
    asked(talk, toolCallId="c", title="Something else")
    told = talk.update("tool_call_update", toolCallId="c", status="completed")
    assert [begun.tool for begun in of(told, ToolCallStarted)] == ["tool"]


def left_open(talk: Talk, **raw: str) -> None:
    """A call whose turn was stopped."""
    talk.update("tool_call", toolCallId="c", kind="execute", status="in_progress", rawInput=raw)
    talk.say(Abort())
    talk.hear({"jsonrpc": "2.0", "id": talk.sent[-2]["id"], "result": {"stopReason": "cancelled"}})


def test_what_is_told_late_of_a_stopped_turns_call_is_no_call_of_the_next_turn() -> None:
    talk = Talk().opened().prompted()
    raw = {"command": "sleep 9"}
    left_open(talk, **raw)
    talk.prompted()
    late = talk.update("tool_call_update", toolCallId="c", status="failed")
    late += talk.update("tool_call_update", toolCallId="c", kind="execute", rawInput=raw)
    assert not of(late, ToolCall, ToolResult)
    again = talk.update("tool_call", toolCallId="c", kind="execute", status="failed", rawInput=raw)
    assert len(of(again, ToolCall)) == len(of(again, ToolResult)) == 1


def test_an_update_with_other_arguments_than_a_stopped_turns_call_is_of_a_call_of_its_own() -> None:
    talk = Talk().opened().prompted()
    left_open(talk, command="sleep 9")
    talk.prompted()
    raw = {"command": "ls"}
    told = talk.update("tool_call_update", toolCallId="c", kind="execute", rawInput=raw)
    assert [call.args for call in of(told, ToolCall)] == [raw]


def test_in_a_cleared_session_no_call_was_left_open() -> None:
    talk = Talk().opened().prompted()
    left_open(talk, command="sleep 9")
    talk.say(Clear())
    talk.result(sessionId="s2")
    talk.prompted()
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed"}
    params = {"sessionId": "s2", "update": update}
    told = talk.hear({"jsonrpc": "2.0", "method": "session/update", "params": params})
    assert len(of(told, ToolCall)) == 1


def test_where_only_leave_for_good_is_offered_none_is_given() -> None:
    talk = Talk().opened().prompted()
    call = {"toolCallId": "c", "kind": "execute", "rawInput": {"command": "ls"}}
    params = {"sessionId": "s1", "toolCall": call, "options": OPTIONS[:1]}
    (approve,) = of(talk.ask("session/request_permission", **params), Approve)
    frame: Any = talk.wire.answer(approve.key, Granted())
    assert frame["result"] == {"outcome": {"outcome": "cancelled"}}


def test_in_a_stopped_turn_open_permissions_are_cancelled() -> None:
    talk = Talk().opened().prompted()
    approve = asked(talk, toolCallId="c", kind="execute", rawInput={"command": "ls"})
    talk.say(Abort())
    assert talk.sent[-1] == {
        "jsonrpc": "2.0",
        "method": "session/cancel",
        "params": {"sessionId": "s1"},
    }
    frame: Any = talk.wire.answer(approve.key, Refused("stopped"))
    assert frame["result"] == {"outcome": {"outcome": "cancelled"}}
    talk.result(stopReason="end_turn")
    assert of(talk.heard, TurnEnded) == [TurnEnded("aborted")]


def test_a_turn_that_ends_waits_for_no_answer_any_more() -> None:
    talk = Talk().opened().prompted()
    approve = asked(talk, toolCallId="c", kind="execute", rawInput={"command": "ls"})
    assert Withdrawn(approve.key) in talk.result(stopReason="cancelled")


def test_a_refused_call_is_closed_though_the_agent_says_nothing_more_of_it() -> None:
    talk = Talk().opened().prompted()
    approve = asked(talk, toolCallId="c", kind="execute", rawInput={"command": "ls"})
    talk.wire.answer(approve.key, Refused("Not run: declined."))
    talk.update("agent_message_chunk", content={"type": "text", "text": "Well."})
    (result,) = of(talk.heard, ToolResult)
    assert result.is_error
    assert result.content == [{"type": "text", "text": "Not run: declined."}]


@pytest.mark.parametrize(
    ("call", "tool", "args", "paths"),
    [
        ({"kind": "execute", "rawInput": {"command": "ls"}}, "bash", {"command": "ls"}, ()),
        ({"kind": "execute", "rawInput": {"command": ["ls", "a b"]}}, "bash", None, ()),
        ({"kind": "read", "locations": [{"path": "/w/a"}]}, "read", {"path": "/w/a"}, ("/w/a",)),
        ({"kind": "edit", "rawInput": {"file_path": "/w/a"}}, "edit", {"path": "/w/a"}, ("/w/a",)),
        (
            {"kind": "edit", "locations": [{"path": "/w/a"}, {"path": "/w/b"}]},
            "edit",
            {"path": "/w/a"},
            ("/w/a", "/w/b"),
        ),
        ({"kind": "edit", "_meta": {"toolName": "edit"}}, "edit of unknown aim", {}, ()),
        ({"kind": "execute", "title": "ls"}, "execute", {"title": "ls"}, ()),
        ({"kind": "delete", "locations": [{"path": "/w/a"}]}, "delete", {}, ()),
        ({"kind": "fetch", "rawInput": {"url": "u"}}, "fetch", {"url": "u"}, ()),
    ],
)
def test_a_call_is_judged_by_what_it_does(
    call: Json, tool: str, args: Json | None, paths: tuple[str, ...]
) -> None:
    approve = asked(Talk().opened().prompted(), toolCallId="c", **call)
    assert (approve.tool, approve.paths) == (tool, paths)
    assert approve.args == ({"command": "ls 'a b'"} if args is None else args)


def qwen(name: str) -> Json:
    return {"kind": "other", "_meta": {"toolName": name}}


@pytest.mark.parametrize(
    ("call", "tool"),
    [
        (qwen("mcp__e__read"), "mcp__e__read"),
        (qwen("read"), "read of unknown aim"),
        ({"kind": "other", "_meta": {"claudeCode": {"toolName": "mcp__e__x"}}}, "mcp__e__x"),
        ({"kind": "fetch", "name": "WebFetch", "title": "u"}, "WebFetch"),
        ({"kind": "other", "title": "read (e\nServer)"}, "other: read (e Server)"),
        ({"title": "bash"}, "tool: bash"),
        ({"kind": "execute", "title": "mcp.e.x", "_meta": {"is_mcp_tool_call": True}}, "mcp.e.x"),
    ],
)
def test_a_question_names_its_tool_as_far_as_the_agent_does(call: Json, tool: str) -> None:
    approve = asked(Talk().opened().prompted(), toolCallId="c", rawInput={"a": 1}, **call)
    assert (approve.tool, approve.args, approve.named) == (tool, {"a": 1}, True)


@pytest.mark.parametrize(
    "call",
    [
        {"kind": "other"},
        {"kind": "other", "title": "x" * 101},
        {"kind": "execute", "title": "run it"},
        {"kind": "execute", "name": "Bash"},
        {"kind": "edit", "title": "Edit file"},
        {},
    ],
)
def test_what_only_says_of_which_kind_a_call_is_names_no_tool(call: Json) -> None:
    assert not asked(Talk().opened().prompted(), toolCallId="c", **call).named


def test_a_call_without_arguments_is_asked_about_by_what_the_agent_shows_of_it() -> None:
    call = {"kind": "other", "title": "read (e)", "content": [words('{"path":"a"}')]}
    approve = asked(Talk().opened().prompted(), toolCallId="c", **call)
    assert approve.args == {"title": "read (e)", "content": '{"path":"a"}'}


def test_a_question_that_names_no_tool_has_the_name_that_was_told_before() -> None:
    """Codex asks by the id and the kind of a call of an MCP tool."""
    talk = Talk().opened().prompted()
    told = {"title": "mcp.e.read", "rawInput": {"tool": "read"}, "status": "in_progress"}
    mcp = {"is_mcp_tool_call": True}
    talk.update("tool_call", toolCallId="c", kind="execute", _meta=mcp, **told)
    approve = asked(talk, toolCallId="c", kind="execute", status="pending")
    assert (approve.tool, approve.args, approve.named) == ("mcp.e.read", {"tool": "read"}, True)


def test_a_question_in_other_words_is_judged_by_the_call_that_it_is_of() -> None:
    talk = Talk().opened().prompted()
    raw = {"filePath": "/etc/hosts"}
    talk.update("tool_call", toolCallId="c", kind="read", status="in_progress", rawInput=raw)
    approve = asked(talk, toolCallId="c", kind="other", title="external_directory", rawInput={})
    assert (approve.tool, approve.paths) == ("read", ("/etc/hosts",))


# Files


@pytest.mark.parametrize("given", [{}, {"content": None}, {"content": ["a"]}, {"content": 1}])
def test_a_write_without_a_text_is_refused_and_not_taken_for_an_empty_one(given: Json) -> None:
    talk = Talk().opened().prompted()
    (refusal,) = talk.ask("fs/write_text_file", path="/w/a", **given)
    assert isinstance(refusal, Send)
    assert refusal.frame["error"]["code"] == -32602


def test_reads_and_writes_come_with_the_call_that_they_are_of() -> None:
    talk = Talk().opened().prompted()
    places = [{"path": "/w/a"}]
    talk.update("tool_call", toolCallId="c", kind="edit", status="in_progress", locations=places)
    (read,) = of(talk.ask("fs/read_text_file", path="/w/a", line=2, limit=3), ReadText)
    assert (read.path, read.tool_call_id, read.line, read.limit) == ("/w/a", "c", 2, 3)
    frame: Any = talk.wire.answer(read.key, Answered("text"))
    assert frame == {"jsonrpc": "2.0", "id": 0, "result": {"content": "text"}}
    (write,) = of(talk.ask("fs/write_text_file", path="/w/a", content="new"), WriteText)
    assert (write.text, write.tool_call_id) == ("new", "c")
    assert talk.wire.answer(write.key, Answered("note")) == {
        "jsonrpc": "2.0",
        "id": 0,
        "result": {},
    }


def test_a_refused_file_request_is_an_error_with_the_reason() -> None:
    talk = Talk().opened().prompted()
    for missing, code in ((True, -32002), (False, -32603)):
        (read,) = of(talk.ask("fs/read_text_file", path="/w/a"), ReadText)
        frame: Any = talk.wire.answer(read.key, Refused("why", missing=missing))
        told = {"code": code, "message": "why", "data": {"details": "why"}}
        assert frame["error"] == told


def refused_write(**end: Any) -> list[Any]:
    """The blocks of a call whose write was refused, as an update ends it."""
    talk = Talk().opened().prompted()
    talk.update("tool_call", toolCallId="c", kind="edit", locations=[{"path": "/w/a"}])
    (write,) = of(talk.ask("fs/write_text_file", path="/w/a", content="new"), WriteText)
    talk.wire.answer(write.key, Refused("/w/a: is read-only"))
    (result,) = of(talk.update("tool_call_update", toolCallId="c", **end), ToolResult)
    assert result.is_error is (end["status"] == "failed")
    return [block["text"] for block in result.content]


def words(text: str) -> Json:
    return {"type": "content", "content": {"type": "text", "text": text}}


def test_why_a_write_was_refused_stands_in_its_call_where_the_agent_does_not_say_it() -> None:
    """qwen-code 0.15 makes `[object Object]` of the error."""
    told = [words("Error writing to file: [object Object]")]
    assert refused_write(status="failed", content=told) == [
        "Error writing to file: /w/a: is read-only"
    ]
    assert refused_write(status="failed", content=[words("Failed.")]) == [
        "Failed.",
        "/w/a: is read-only",
    ]
    assert refused_write(status="failed") == ["/w/a: is read-only"]
    assert refused_write(status="failed", rawOutput="[object Object]") == ["/w/a: is read-only"]


def test_why_a_write_was_refused_is_not_told_twice() -> None:
    told = [words("Error writing to file: /w/a: is read-only (cause: -32603)")]
    assert refused_write(status="failed", content=told) == [told[0]["content"]["text"]]


def test_a_refused_write_that_its_agent_calls_done_says_why_it_is_not() -> None:
    assert refused_write(status="completed", content=[words("Written.")]) == [
        "Written.",
        "/w/a: is read-only",
    ]


def test_a_write_that_is_taken_after_one_that_was_refused_is_not_told_as_refused() -> None:
    talk = Talk().opened().prompted()
    talk.update("tool_call", toolCallId="c", kind="edit", locations=[{"path": "/w/a"}])
    for answer in (Refused("why"), Answered()):
        (write,) = of(talk.ask("fs/write_text_file", path="/w/a", content="new"), WriteText)
        talk.wire.answer(write.key, answer)
    done = talk.update("tool_call_update", toolCallId="c", status="completed")
    assert of(done, ToolResult)[0].content == []


def test_a_file_that_is_not_there_is_no_reason_why_its_call_failed() -> None:
    """An agent looks whether a file is there before it makes it."""
    talk = Talk().opened().prompted()
    talk.update("tool_call", toolCallId="c", kind="edit", locations=[{"path": "/w/a"}])
    (read,) = of(talk.ask("fs/read_text_file", path="/w/a"), ReadText)
    talk.wire.answer(read.key, Refused("no such file", missing=True))
    failed = talk.update("tool_call_update", toolCallId="c", status="failed", rawOutput="Other.")
    assert of(failed, ToolResult)[0].content == [{"type": "text", "text": "Other."}]


def test_what_opencode_says_it_writes_is_acknowledged_and_never_applied() -> None:
    for name in (each for each in NAMES if each.startswith("opencode")):
        seen: Replay = replay(name)
        assert not seen.of(WriteText)
        assert not seen.wire.capabilities["hostedFiles"]


def test_lost_closes_what_is_open_once() -> None:
    talk = Talk().opened().prompted()
    raw = {"command": "ls"}
    talk.update("tool_call", toolCallId="c", kind="execute", status="in_progress", rawInput=raw)
    approve = asked(talk, toolCallId="c")
    decoded = talk.wire.lost("error", "gone")
    assert isinstance(decoded[0], ToolResult)
    assert of(decoded, TurnEnded) == [TurnEnded("error", "gone")]
    assert talk.wire.lost("error", "gone") == []
    assert talk.wire.answer(approve.key, Granted()) is None
