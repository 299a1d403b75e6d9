"""What is built on a connection: events, progress, questions, the editor, settings."""

import itertools
import time
from collections.abc import Callable
from typing import Any, cast

import anyio
import pytest
from support.scripted_editor import in_virtual_time

from lsp_agent.protocol.questions import CANNOT_ASK, Answer, Option, Question
from lsp_agent.server.client.barrier import RefreshBarrier
from lsp_agent.server.client.editor_port import EditorPort, traits_of
from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.client.live_settings import LiveSettings
from lsp_agent.server.client.settings_pull import SettingsPull
from lsp_agent.server.questions.ask_person import PersonAsker
from lsp_agent.server.questions.meant import REST, Shown
from lsp_agent.server.questions.whole_question import WholeQuestions
from lsp_agent.server.rpc.errors import ClientRefused
from lsp_agent.server.turns.progress import ProgressBoard
from lsp_agent.text.edits import TextEdit
from lsp_agent.workspace.documents.editor import Applied

Json = dict[str, Any]

REFUSED = ClientRefused("x", -32601, "Method not found")


class Wire:
    """A connection in memory; ``answers[method]`` is a result or an exception to raise."""

    def __init__(self, **answers: Any) -> None:
        self.answers = {name.replace("__", "/"): answer for name, answer in answers.items()}
        self.sent: list[tuple[str, Any]] = []

    def notify(self, method: str, params: Any) -> None:
        self.sent.append((method, params))

    def notify_newest(self, method: str, params: Any, of: Any) -> None:
        assert params["token"] == of
        self.notify(method, params)

    async def ask(self, method: str, params: Any, timeout: float | None) -> Any:
        self.sent.append((method, params))
        answer = self.answers.get(method, REFUSED)
        if callable(answer):
            answer = answer(params)
        await anyio.lowlevel.checkpoint()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def values(self, method: str) -> list[Any]:
        return [params for name, params in self.sent if name == method]


# Progress


def kinds(wire: Wire) -> list[str]:
    return [params["value"]["kind"] for params in wire.values("$/progress")]


def messages(wire: Wire) -> list[str]:
    return [m for p in wire.values("$/progress") if (m := p["value"].get("message"))]


WITH_PROGRESS = ClientInfo(work_done_progress=True)
CREATED = {"window__workDoneProgress__create": None}


async def with_board(wire: Wire, client: ClientInfo, use: Callable[[ProgressBoard], Any]) -> None:
    async with anyio.create_task_group() as tasks:
        await use(ProgressBoard(wire, client, tasks))
        tasks.cancel_scope.cancel()


@in_virtual_time
async def test_a_turns_progress_is_created_begun_reported_and_ended_once() -> None:
    wire = Wire(**CREATED)

    async def use(board: ProgressBoard) -> None:
        progress = board.turn("agent", lambda: None)
        await anyio.sleep(0.05)
        progress.report("edit: a.py")
        await anyio.sleep(0.25)
        progress.end("done")
        progress.end("again")
        progress.report("late")
        await anyio.sleep(0.15)

    await with_board(wire, WITH_PROGRESS, use)
    assert wire.sent[0][0] == "window/workDoneProgress/create"
    assert kinds(wire) == ["begin", "report", "end"]
    assert wire.values("$/progress")[0]["value"]["cancellable"] is True
    assert messages(wire) == ["edit: a.py", "done"]


@in_virtual_time
async def test_a_progress_that_ends_while_it_is_created_is_begun_and_ended() -> None:
    """Helix shows from the creation on that something runs, until it ends."""
    wire = Wire(**CREATED)

    async def use(board: ProgressBoard) -> None:
        progress = board.turn("agent", lambda: None)
        while not wire.sent:
            await anyio.lowlevel.checkpoint()
        progress.end("done")
        await anyio.sleep(0.05)

    await with_board(wire, WITH_PROGRESS, use)
    assert kinds(wire) == ["begin", "end"]
    assert messages(wire) == ["done"]


@in_virtual_time
async def test_a_turn_ends_after_its_tool_call_that_is_being_created() -> None:
    """Helix goes on showing what it was told of last."""
    asked = anyio.Event()
    wire = Wire(
        window__workDoneProgress__create=lambda params: "tool" in params["token"] and asked.set()
    )

    async def use(board: ProgressBoard) -> None:
        turn = board.turn("agent", lambda: None)
        tool = board.tool("bash: nap")
        await asked.wait()
        tool.end("stopped")
        turn.end("stopped, all of it")
        await anyio.sleep(0.15)

    await with_board(wire, WITH_PROGRESS, use)
    assert kinds(wire) == ["begin", "begin", "end", "end"]
    assert messages(wire)[-1] == "stopped, all of it"


@in_virtual_time
async def test_the_clients_own_token_is_begun_and_ended_without_waiting() -> None:
    wire = Wire()

    async def use(board: ProgressBoard) -> None:
        board.turn("agent", lambda: None, token=7).end("done")

    await with_board(wire, ClientInfo(), use)
    assert kinds(wire) == ["begin", "end"]
    assert {params["token"] for params in wire.values("$/progress")} == {7}


@in_virtual_time
async def test_a_progress_that_still_runs_when_the_connection_ends_is_ended() -> None:
    wire = Wire(**CREATED)

    async def use(board: ProgressBoard) -> None:
        board.turn("agent", lambda: None)
        await anyio.sleep(0.05)

    await with_board(wire, WITH_PROGRESS, use)
    assert kinds(wire) == ["begin", "end"]


@in_virtual_time
async def test_a_client_without_progress_is_sent_nothing() -> None:
    wire = Wire()

    async def use(board: ProgressBoard) -> None:
        turn, tool = board.turn("agent", lambda: None), board.tool("bash: x")
        tool.output("x\n")
        await anyio.sleep(0.3)
        tool.end()
        turn.end()

    await with_board(wire, ClientInfo(), use)
    assert wire.sent == []


@in_virtual_time
async def test_a_client_that_refuses_the_progress_gets_none() -> None:
    wire = Wire()

    async def use(board: ProgressBoard) -> None:
        progress = board.turn("agent", lambda: None)
        await anyio.sleep(0.05)
        progress.end()

    await with_board(wire, WITH_PROGRESS, use)
    assert kinds(wire) == []


@in_virtual_time
async def test_the_progress_cancel_reaches_its_turn_only() -> None:
    wire = Wire(**CREATED)
    cancelled: list[str] = []

    async def use(board: ProgressBoard) -> None:
        one = board.turn("one", lambda: cancelled.append("one"))
        board.turn("two", lambda: cancelled.append("two"))
        board.cancelled({"token": one.token})
        board.cancelled({"token": "unknown"})
        one.end()
        await anyio.sleep(0.15)
        board.cancelled({"token": one.token})

    await with_board(wire, WITH_PROGRESS, use)
    assert cancelled == ["one"]


@in_virtual_time
async def test_a_quick_tool_shows_no_progress_and_a_slow_one_its_newest_line() -> None:
    wire = Wire(**CREATED)

    async def use(board: ProgressBoard) -> None:
        quick = board.tool("read: a")
        slow = board.tool("bash: make")
        await anyio.sleep(0.05)
        quick.end()
        slow.output("one\ntw")
        await anyio.sleep(0.15)
        slow.output("o\r\n\x1b[31mthr\x1b[0mee\t!\n\n")
        await anyio.sleep(0.15)
        slow.end("exit 0")

    await with_board(wire, WITH_PROGRESS, use)
    assert kinds(wire) == ["begin", "report", "end"]
    assert messages(wire) == ["tw", "three !", "exit 0"]


@in_virtual_time
async def test_a_flood_of_output_makes_ten_reports_a_second() -> None:
    wire = Wire(**CREATED)

    async def use(board: ProgressBoard) -> None:
        slow = board.tool("bash: yes")
        for number in range(100):
            slow.output(f"{number}\n")
            await anyio.sleep(0.01)
        slow.end()

    await with_board(wire, WITH_PROGRESS, use)
    assert 3 <= kinds(wire).count("report") <= 10


def test_a_flood_of_blank_lines_is_looked_through_at_once() -> None:
    progress = ProgressBoard(Wire(), ClientInfo(), cast(anyio.abc.TaskGroup, None)).tool("x")
    said: list[str] = []

    def report(message: str) -> None:
        said.append(message)

    progress.report = report
    started = time.monotonic()
    for _ in range(5):
        progress.output("one\ntwo" + "\n" * 2_000_000 + "\x1b[0m\r")
    assert time.monotonic() - started < 10
    assert said == ["two"] * 5


# Questions


def question() -> Question:
    return Question(
        question_id="q",
        session_id="s",
        kind="permission",
        title="Run?",
        detail="rm -r x",
        options=[
            Option(option_id="yes", name="Allow once", kind="allowOnce"),
            Option(option_id="no", name="Deny", kind="deny"),
        ],
    )


def asker_of(wire: Wire, client: ClientInfo) -> PersonAsker:
    """One that is asked only what fits a message, so that nothing is shown whole."""
    return PersonAsker(wire, client, cast(WholeQuestions, None), Shown())


@in_virtual_time
async def test_agent_ask_is_preferred_where_the_client_has_it() -> None:
    wire = Wire(agent__ask={"optionId": "yes"}, window__showMessageRequest={"title": "Deny"})
    asker = asker_of(wire, ClientInfo(ask=True, show_message_request=True))
    assert await asker(question()) == Answer("yes")


@in_virtual_time
@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        ({"title": "Allow once"}, "yes"),
        ({"title": "Deny"}, "no"),
        (None, None),
        ({"title": "?"}, None),
    ],
)
async def test_buttons_are_the_options_names(answer: Any, chosen: str | None) -> None:
    wire = Wire(window__showMessageRequest=lambda _: time.sleep(REST) or answer)
    answered = await asker_of(wire, ClientInfo(show_message_request=True))(question())
    assert answered == (chosen and Answer(chosen))
    (params,) = wire.values("window/showMessageRequest")
    assert params["message"] == "Run?\nrm -r x"
    assert [action["title"] for action in params["actions"]] == [
        "Show all of it",
        "Allow once",
        "Deny",
    ]


@in_virtual_time
async def test_an_answer_as_a_message_comes_up_is_not_meant() -> None:
    times = itertools.count()
    wire = Wire(
        window__showMessageRequest=lambda _: (
            time.sleep(REST if next(times) == 2 else 0) or {"title": "Allow once"}
        )
    )
    asker = asker_of(wire, ClientInfo(show_message_request=True))
    assert await asker(question()) == Answer("yes")
    assert len(wire.values("window/showMessageRequest")) == 3
    hasty = Wire(window__showMessageRequest={"title": "Allow once"})
    asker = asker_of(hasty, ClientInfo(show_message_request=True))
    assert await asker(question()) == CANNOT_ASK
    assert hasty.sent[-1][1]["message"].startswith("Answer the agent by code action")


@in_virtual_time
async def test_after_method_not_found_the_client_is_not_asked_that_way_again() -> None:
    wire = Wire()
    asker = asker_of(wire, ClientInfo(show_message_request=True))
    assert [await asker(question()), await asker(question())] == [CANNOT_ASK, CANNOT_ASK]
    assert len(wire.values("window/showMessageRequest")) == 1


@pytest.mark.parametrize(
    ("name", "is_asked"),
    [
        ("Visual Studio Code", True),
        ("Visual Studio Code - Insiders", True),
        ("VSCodium", True),
        ("Neovim", False),
        ("helix", False),
        ("Eglot", False),
        ("Zed", False),
        ("Not Visual Studio Code", False),
        ("", False),
    ],
)
def test_a_message_request_goes_only_where_it_takes_no_key(name: str, is_asked: bool) -> None:
    params = {"clientInfo": {"name": name}, "capabilities": {"window": {"showMessage": {}}}}
    assert ClientInfo.of(params, "utf-16").show_message_request is is_asked
    nameless = {"capabilities": params["capabilities"]}
    assert not ClientInfo.of(nameless, "utf-16").show_message_request


@in_virtual_time
async def test_a_client_that_cannot_ask_is_told_how_to_answer() -> None:
    wire = Wire()
    assert await asker_of(wire, ClientInfo())(question()) == CANNOT_ASK
    ((method, params),) = wire.sent
    assert method == "window/showMessage"
    assert params["message"] == f"Answer the agent by code action: {question().title}"
    assert await asker_of(wire, ClientInfo(events=True))(question()) == CANNOT_ASK
    assert len(wire.sent) == 1


# The editor

NEOVIM = ClientInfo(name="Neovim", version=(0, 11), encoding="utf-16")


def port(wire: Wire, client: ClientInfo, lines: list[str] | None = None) -> EditorPort:
    return EditorPort(wire, client, None, lambda _uri: lines)


@in_virtual_time
@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 5), ("utf-16", 3), ("utf-32", 2)])
async def test_an_edit_is_one_versioned_document_in_the_clients_columns(
    encoding: Any, column: int
) -> None:
    wire = Wire(workspace__applyEdit={"applied": True})
    editor = port(wire, ClientInfo(encoding=encoding), ["a😀b\n"])
    assert await editor.apply("file:///a", 3, [TextEdit(0, 2, 1, 0, "x")], "agent: edit a") == (
        Applied(True)
    )
    (params,) = wire.values("workspace/applyEdit")
    position = {"line": 0, "character": column}
    assert params == {
        "label": "agent: edit a",
        "edit": {
            "documentChanges": [
                {
                    "textDocument": {"uri": "file:///a", "version": 3},
                    "edits": [
                        {
                            "range": {"start": position, "end": {"line": 1, "character": 0}},
                            "newText": "x",
                        }
                    ],
                }
            ]
        },
    }


@in_virtual_time
async def test_columns_are_counted_before_anything_is_awaited() -> None:
    lines = ["😀b\n"]
    wire = Wire(workspace__applyEdit={"applied": True})
    work = port(wire, ClientInfo(), lines).apply("u", 1, [TextEdit(0, 1, 0, 2, "x")], "l")

    async def type_meanwhile() -> None:
        lines[0] = "plain\n"

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(type_meanwhile)
        await work
    edit = wire.values("workspace/applyEdit")[0]["edit"]["documentChanges"][0]["edits"][0]
    assert edit["range"]["start"]["character"] == 2


@in_virtual_time
async def test_neovim_is_never_sent_version_0() -> None:
    wire = Wire(workspace__applyEdit={"applied": True})
    await port(wire, NEOVIM, [""]).apply("u", 0, [TextEdit(0, 0, 0, 0, "x")], "l")
    document = wire.values("workspace/applyEdit")[0]["edit"]["documentChanges"][0]
    assert document["textDocument"]["version"] == 1


@in_virtual_time
@pytest.mark.parametrize(
    ("answer", "applied"),
    [
        ({"applied": False, "failureReason": "stale"}, False),
        (REFUSED, False),
        (TimeoutError(), None),
        (None, None),
    ],
)
async def test_an_edit_that_was_not_taken_says_so(answer: Any, applied: bool | None) -> None:
    editor = port(Wire(workspace__applyEdit=answer), ClientInfo(), ["a"])
    assert (await editor.apply("u", 1, [TextEdit(0, 0, 0, 1, "b")], "l")).applied is applied


@pytest.mark.parametrize(
    ("client", "min_version", "can_sync", "checks"),
    [
        (NEOVIM, 1, True, True),
        (ClientInfo(name="Neovim", version=(0, 9)), 1, False, True),
        (ClientInfo(name="Visual Studio Code"), 0, False, True),
        (ClientInfo(name="helix"), 0, False, True),
        (ClientInfo(name="Eglot"), 0, False, False),
        (ClientInfo(name="Eglot", sync=True), 0, True, True),
        (ClientInfo(name="something new"), 0, False, False),
    ],
)
def test_traits_by_client(
    client: ClientInfo, min_version: int, can_sync: bool, checks: bool
) -> None:
    traits = traits_of(client)
    assert (traits.min_version, traits.can_sync) == (min_version, can_sync)
    assert traits.checks_versions is checks


@in_virtual_time
async def test_a_client_that_does_not_answer_a_sync_is_logged_with_the_time_it_had(
    caplog: pytest.LogCaptureFixture,
) -> None:
    await port(Wire(agent__sync=TimeoutError()), ClientInfo(sync=True)).sync("file:///a")
    assert caplog.messages == ["agent/sync for file:///a: no answer within 0.3 s"]


@in_virtual_time
async def test_save_and_reload_ask_only_a_client_that_can() -> None:
    wire = Wire(agent__saveDocument={"saved": True}, agent__reloadDocument=REFUSED)
    plain, able = port(wire, ClientInfo()), port(wire, ClientInfo(save=True, reload=True))
    assert [await plain.save("u"), await plain.reload("u")] == [False, False]
    assert wire.sent == []
    assert [await able.save("u"), await able.reload("u")] == [True, False]


@in_virtual_time
@pytest.mark.parametrize(
    ("version", "refresh", "request_"),
    [
        ((0, 11), "workspace/semanticTokens/refresh", "textDocument/semanticTokens/full"),
        ((0, 12), "workspace/diagnostic/refresh", "textDocument/diagnostic"),
    ],
)
async def test_the_barrier_waits_for_the_request_that_a_refresh_causes(
    version: tuple[int, int], refresh: str, request_: str
) -> None:
    requests: dict[str, Any] = {}
    client = ClientInfo(name="Neovim", version=version)
    wire = Wire()
    wire.answers[refresh] = None
    barrier = RefreshBarrier.of(wire, client, requests)
    editor = EditorPort(wire, client, barrier, lambda _uri: None)
    async with anyio.create_task_group() as tasks:
        done = anyio.Event()

        async def sync() -> None:
            await editor.sync("u")
            done.set()

        tasks.start_soon(sync)
        await anyio.sleep(0.05)
        requests[request_]({"textDocument": {"uri": "other"}})
        await anyio.sleep(0.01)
        assert not done.is_set()
        requests[request_]({"textDocument": {"uri": "u"}})
        with anyio.fail_after(0.1):
            await done.wait()


@in_virtual_time
async def test_who_has_the_barriers_answer_is_told_that_it_holds() -> None:
    requests: dict[str, Any] = {}
    RefreshBarrier.of(Wire(), ClientInfo(name="Neovim", version=(0, 12)), requests)
    params = {"textDocument": {"uri": "u"}}
    first = requests["textDocument/diagnostic"](params)
    assert first == {"kind": "full", "resultId": "nothing", "items": []}
    again = requests["textDocument/diagnostic"](params | {"previousResultId": first["resultId"]})
    assert again == {"kind": "unchanged", "resultId": "nothing"}


@in_virtual_time
async def test_the_barrier_is_bounded() -> None:
    wire = Wire(workspace__semanticTokens__refresh=None)
    editor = EditorPort(wire, NEOVIM, RefreshBarrier.of(wire, NEOVIM, {}), lambda _uri: None)
    with anyio.fail_after(0.4):
        await editor.sync("u")


# Settings


class Pulled:
    """Settings of two folders, pulled from a client that answers as ``wire`` says."""

    def __init__(self, wire: Wire, *, configuration: bool = True) -> None:
        self.settings = LiveSettings(None, print)
        self.settings.follow(["/a", "/b"])
        folders = {"/a": "file:///a", "/b": "file:///link-to-b"}
        client = ClientInfo(configuration=configuration)
        self.pull = SettingsPull(wire, client, self.settings, lambda: folders)

    async def round(self) -> list[str]:
        """Whether commands may run in the folders, after the client was asked."""
        async with anyio.create_task_group() as tasks:
            self.pull.refresh(tasks)
        await self.pull.current()
        return [self.settings.of(folder).permissions.command for folder in ("/a", "/b")]


def narrowed(policy: str) -> Json:
    return {"permissions": {"command": policy}}


@in_virtual_time
async def test_each_folders_section_is_asked_for_by_the_clients_own_uri() -> None:
    wire = Wire(workspace__configuration=[narrowed("deny"), None])
    assert await Pulled(wire).round() == ["deny", "ask"]
    (params,) = wire.values("workspace/configuration")
    assert params["items"] == [
        {"section": "lspAgent", "scopeUri": "file:///a"},
        {"section": "lspAgent", "scopeUri": "file:///link-to-b"},
    ]


@in_virtual_time
@pytest.mark.parametrize("answer", [REFUSED, TimeoutError(), [], [3, 3], "odd", [None]])
async def test_what_the_client_said_last_stands_where_it_says_nothing(answer: Any) -> None:
    wire = Wire(workspace__configuration=[narrowed("deny"), None])
    pulled = Pulled(wire)
    await pulled.round()
    wire.answers["workspace/configuration"] = answer
    assert await pulled.round() == ["deny", "ask"]
    wire.answers["workspace/configuration"] = [None, narrowed("deny")]
    assert await pulled.round() == ["ask", "deny"]


@in_virtual_time
async def test_a_client_that_never_answers_is_waited_for_once_and_not_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lsp_agent.server.client.settings_pull._PATIENCE_SECONDS", 0.05)
    pull = Pulled(Wire()).pull
    with anyio.fail_after(1):
        await pull.current()
    monkeypatch.setattr("lsp_agent.server.client.settings_pull._PATIENCE_SECONDS", 60)
    with anyio.fail_after(1):
        await pull.current()


@in_virtual_time
async def test_a_client_without_configuration_is_not_asked_nor_waited_for() -> None:
    wire = Wire()
    with anyio.fail_after(1):
        assert await Pulled(wire, configuration=False).round() == ["ask", "ask"]
    assert wire.sent == []
