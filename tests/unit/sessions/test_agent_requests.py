"""What an agent asks on its own wire: texts, leave for a call, a tool of ours, the person."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import pytest_asyncio
from anyio.abc import TaskGroup
from support.mirror_bench import TEXT, MirrorBench

from lsp_agent.protocol.events import ToolCall, ToolResult
from lsp_agent.protocol.git_environment import git_environment, unread
from lsp_agent.protocol.questions import Answer as Chosen
from lsp_agent.protocol.questions import Question
from lsp_agent.protocol.settings.settings import EditSettings, PermissionSettings, Settings
from lsp_agent.sessions.files import asked as asked_module
from lsp_agent.sessions.files.hosting import Hosting
from lsp_agent.sessions.permissions import judge as judge_module
from lsp_agent.sessions.shared.covers import Covers
from lsp_agent.sessions.shared.questions import Questions
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.sessions.shared.turn import Turn
from lsp_agent.wires.wire import (
    Answer,
    Answered,
    Approve,
    Dialog,
    Granted,
    Launch,
    ReadText,
    Refused,
    RunTool,
    WriteText,
)
from lsp_agent.workspace.disk.paths import Confinement


class Desk(MirrorBench):
    """One session's hosting; ``asked`` are the questions, ``choice`` the person's answer."""

    def __init__(self, folder: Path, tasks: TaskGroup) -> None:
        super().__init__(folder)
        self.cwd = str(self.root)
        self.turn = Turn("t1", "", "")
        self.asked: list[Question] = []
        self.choice: str | None = None
        self.settings = Settings(edits=EditSettings(save="never"))
        self.tasks = tasks

    async def hosting(self, text: str = TEXT) -> Hosting:
        """With ``text`` in the editor."""
        editor = await self.open(text)
        confinement = Confinement([self.cwd])
        services = SimpleNamespace(
            tasks=self.tasks,
            ledger=self.ledger,
            host=self.host,
            mirror=self.mirror,
            documents=self.documents,
            editor=editor,
            diagnostics=None,
            covers=Covers(list),
            questions=Questions(self.tasks, self._answer),
            folders=lambda: [self.cwd],
            confinement=lambda _anywhere: confinement,
        )
        session = SessionView(
            "s1", self.cwd, lambda *_: None, lambda: self.settings, lambda: self.turn, "a"
        )
        hosting = Hosting(cast(Any, services), session, "auto", self._end_agent)
        hosting.agent_starts(Launch(("agent",)), self.tasks)
        hosting.turn_begins()
        return hosting

    def stop(self, hosting: Hosting) -> None:
        self.turn.aborted = True
        hosting.stop()

    def _end_agent(self) -> None:
        raise AssertionError("the agent was to be ended")

    async def _answer(self, question: Question) -> Chosen | None:
        self.asked.append(question)
        return Chosen(self.choice) if self.choice else None


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    started: list[asyncio.Task[None]] = []

    def start_soon(function: Callable[..., Coroutine[Any, Any, None]], *args: object) -> None:
        started.append(asyncio.create_task(function(*args)))

    # A task group of anyio's cannot live in a fixture: its end runs in another task.
    made = Desk(tmp_path, cast(TaskGroup, SimpleNamespace(start_soon=start_soon)))
    yield made
    for task in started:
        task.cancel()
    await asyncio.gather(*started, return_exceptions=True)
    made.close()


def command(line: str = "make") -> Approve:
    return Approve("k", "bash", {"command": line}, "c1")


def refusal(answer: Answer) -> str:
    assert isinstance(answer, Refused), answer
    return answer.reason


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("folder", "title"),
    [
        ("", None),
        (".", None),
        ("src", None),
        ("/etc", "bash: cd /etc && cat *"),
        (".git", "bash: cd .git && cat *"),
        ("/a b", "bash: cd '/a b' && cat *"),
    ],
)
async def test_a_command_is_judged_and_shown_where_it_runs(
    desk: Desk, folder: str, title: str | None
) -> None:
    hosting = await desk.hosting()
    for inner in ("src", ".git"):
        (Path(desk.cwd) / inner).mkdir(exist_ok=True)
        (Path(desk.cwd) / inner / "config").touch()
    answer = await hosting.asked.answer(replace(command("cat *"), folder=folder))
    assert isinstance(answer, Refused if title else Granted)
    assert [question.title for question in desk.asked] == [title] * bool(title)


@pytest.mark.asyncio
async def test_a_text_is_read_as_the_editor_shows_it(desk: Desk) -> None:
    hosting = await desk.hosting("typed\n" + TEXT)
    assert await hosting.asked.answer(ReadText("k", str(desk.file), "c1")) == Answered(
        "typed\n" + TEXT
    )
    assert hosting.state.now == "hosted"


@pytest.mark.asyncio
async def test_some_lines_of_a_text_are_read(desk: Desk) -> None:
    hosting = await desk.hosting()
    read = ReadText("k", "a.py", None, line=2, limit=2)
    assert await hosting.asked.answer(read) == Answered("two\nthree\n")


@pytest.mark.asyncio
async def test_a_file_that_is_not_there_is_said_to_be_missing(desk: Desk) -> None:
    hosting = await desk.hosting()
    answer = await hosting.asked.answer(ReadText("k", desk.path("no.py"), None))
    assert isinstance(answer, Refused)
    assert answer.missing


@pytest.mark.asyncio
async def test_a_write_joins_what_was_typed_since_the_read(desk: Desk) -> None:
    hosting = await desk.hosting()
    await hosting.asked.answer(ReadText("k", "a.py", "c1"))
    editor = desk.editor
    assert editor is not None
    editor.type(0, "typed\n")
    await editor.settle()
    wrote = await hosting.asked.answer(WriteText("k", "a.py", TEXT.replace("four", "4"), "c2"))
    assert isinstance(wrote, Answered)
    assert editor.buffer.text == "typed\n" + TEXT.replace("four", "4")
    assert desk.file.read_text() == TEXT


@pytest.mark.asyncio
async def test_a_write_over_unsaved_text_that_was_not_read_is_refused(desk: Desk) -> None:
    hosting = await desk.hosting("typed\n" + TEXT)
    assert "read it" in refusal(await hosting.asked.answer(WriteText("k", "a.py", "new\n", None)))
    assert desk.shown == "typed\n" + TEXT


@pytest.mark.asyncio
async def test_nothing_outside_the_workspace_is_read_or_written(desk: Desk, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    hosting = await desk.hosting()
    assert "outside" in refusal(await hosting.asked.answer(ReadText("k", str(secret), None)))
    assert "outside" in refusal(await hosting.asked.answer(WriteText("k", str(secret), "x", None)))
    assert secret.read_text() == "s3cret"


@pytest.mark.asyncio
@pytest.mark.parametrize(("choice", "given"), [("allow", True), ("deny", False), (None, False)])
async def test_leave_for_a_command_is_the_persons(
    desk: Desk, choice: str | None, *, given: bool
) -> None:
    desk.choice = choice
    hosting = await desk.hosting()
    answer = await hosting.asked.answer(command())
    assert isinstance(answer, Granted) is given
    assert [question.title for question in desk.asked] == ["bash: make"]


@pytest.mark.asyncio
async def test_nothing_else_waits_while_the_disk_is_looked_at_for_a_command(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking, looked = threading.Event(), threading.Event()

    went_on: list[bool] = []

    def reads(*_: object) -> bool:
        looking.set()
        went_on.append(looked.wait(10))
        return True

    monkeypatch.setattr(judge_module, "reads", reads)
    hosting = await desk.hosting()
    asked = asyncio.create_task(hosting.asked.answer(command("ls")))
    while not looking.is_set():  # noqa: ASYNC110 (an event of the loop's would wait for the loop)
        await asyncio.sleep(0.005)
    looked.set()
    assert isinstance(await asked, Granted)
    assert all(went_on)


@pytest.mark.asyncio
async def test_a_call_that_touches_several_files_needs_leave_for_each(
    desk: Desk, tmp_path: Path
) -> None:
    hosting = await desk.hosting()
    inside, outside = str(desk.file), str(tmp_path / "other.py")
    edit = Approve("k", "edit", {"path": inside}, "c1", paths=(inside, outside))
    assert "outside" in refusal(await hosting.asked.answer(edit))
    assert isinstance(
        await hosting.asked.answer(Approve("k", "edit", {"path": inside}, "c2", (inside,))), Granted
    )


@pytest.mark.asyncio
async def test_one_call_for_several_files_makes_no_folder_a_repository(desk: Desk) -> None:
    """Each alone is an ordinary name, and none is there while leave is asked for."""
    hosting = await desk.hosting()
    for beside in ("bare/objects/x", "bare/Refs/x"):
        patch = Approve("k", "edit", {"path": "bare/HEAD"}, "c1", ("bare/HEAD", beside))
        assert "could be taken for a repository" in refusal(await hosting.asked.answer(patch))
    apart = Approve("k", "edit", {"path": "a/HEAD"}, "c2", ("a/HEAD", "b/objects/x", "b/refs/x"))
    assert isinstance(await hosting.asked.answer(apart), Granted)


TOO_LONG = ["n" * 300 + "/x", "d/" * 3000 + "x"]


@pytest.mark.asyncio
@pytest.mark.parametrize("path", TOO_LONG)
@pytest.mark.parametrize("tool", ["read", "edit"])
async def test_a_path_that_is_too_long_for_a_file_is_refused(
    desk: Desk, tool: str, path: str
) -> None:
    hosting = await desk.hosting()
    answer = await hosting.asked.answer(Approve("k", tool, {"path": path}, "c1", (path,)))
    assert "File name too long" in refusal(answer)


@pytest.mark.asyncio
async def test_a_path_of_many_folders_holds_nobody_up(desk: Desk) -> None:
    hosting = await desk.hosting()
    path = "a/" * 10_000 + "x"
    began = time.perf_counter()
    answer = await hosting.asked.answer(Approve("k", "read", {"path": path}, "c1", (path,)))
    assert "too long" in refusal(answer)
    assert time.perf_counter() - began < 5


@pytest.mark.asyncio
async def test_links_to_instructions_are_looked_for_beside_the_event_loop(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[threading.Thread] = []

    def look(_path: str, _cwd: str) -> list[str]:
        looked.append(threading.current_thread())
        return []

    monkeypatch.setattr(asked_module, "linked_instructions", look)
    hosting = await desk.hosting()
    read = Approve("k", "read", {"path": "a.py"}, "c1", ("a.py",))
    assert isinstance(await hosting.asked.answer(read), Granted)
    assert looked
    assert threading.main_thread() not in looked


@pytest.mark.asyncio
async def test_a_stop_while_links_are_looked_for_is_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosting = await desk.hosting()

    def look(_path: str, _cwd: str) -> list[str]:
        desk.stop(hosting)
        return []

    monkeypatch.setattr(asked_module, "linked_instructions", look)
    read = Approve("k", "read", {"path": "a.py"}, "c1", ("a.py",))
    assert "stopped" in refusal(await hosting.asked.answer(read))


@pytest.mark.asyncio
@pytest.mark.parametrize("word", TOO_LONG)
async def test_a_command_with_a_word_that_is_too_long_for_a_file_is_the_persons_to_allow(
    desk: Desk, word: str
) -> None:
    desk.choice = "allow"
    hosting = await desk.hosting()
    line = f"grep x {word}"
    hosting.observe(ToolCall("c1", "bash", "command", {"command": line}, ()))
    assert isinstance(await hosting.asked.answer(command(line)), Granted)
    assert len(desk.asked) == 1


@pytest.mark.asyncio
async def test_a_command_with_a_nul_is_refused(desk: Desk) -> None:
    desk.choice = "allow"
    hosting = await desk.hosting()
    for request in (command("echo a\0b"), RunTool("k", "bash", {"command": "echo a\0b"}, "c1")):
        assert "NUL" in refusal(await hosting.asked.answer(request))
    assert desk.asked == []


@pytest.mark.asyncio
async def test_settings_that_deny_are_not_asked_about(desk: Desk) -> None:
    desk.settings = Settings(permissions=PermissionSettings(command="deny"))
    hosting = await desk.hosting()
    assert "permissions.command" in refusal(await hosting.asked.answer(command()))
    assert desk.asked == []


@pytest.mark.asyncio
async def test_a_command_that_we_cannot_hold_is_asked_about(desk: Desk) -> None:
    desk.settings = Settings(permissions=PermissionSettings(command="sandbox"))
    desk.choice = "deny"
    hosting = await desk.hosting()
    for request in (command("id"), RunTool("k", "bash", {"command": "id"}, "c1")):
        assert "declined" in refusal(await hosting.asked.answer(request))
    assert [question.title for question in desk.asked] == ["bash: id", "bash: id"]


@pytest.mark.asyncio
async def test_the_tools_that_we_provide_answer_in_their_own_form(desk: Desk) -> None:
    hosting = await desk.hosting()
    edit = {"path": "a.py", "edits": [{"oldText": "two", "newText": "2"}]}
    assert "+2" in (await answered(hosting, RunTool("k", "edit", edit, "c1")))
    assert desk.shown == TEXT.replace("two", "2")
    assert "not found" in refusal(await hosting.asked.answer(RunTool("k", "edit", edit, "c2")))


async def answered(hosting: Hosting, request: RunTool) -> str:
    answer = await hosting.asked.answer(request)
    assert isinstance(answer, Answered), answer
    return answer.text


@pytest.mark.asyncio
async def test_the_agents_own_question_reaches_the_person(desk: Desk) -> None:
    desk.choice = "o2"
    hosting = await desk.hosting()
    dialog = Dialog("k", "Which one?", (("o1", "This"), ("o2", "That")))
    assert await hosting.asked.answer(dialog) == Answered("o2")
    assert [(q.kind, q.title) for q in desk.asked] == [("agent", "Which one?")]


@pytest.mark.asyncio
async def test_a_stopped_turn_is_refused_everything(desk: Desk) -> None:
    hosting = await desk.hosting()
    desk.stop(hosting)
    for request in (
        ReadText("k", "a.py", None),
        WriteText("k", "a.py", "x", None),
        RunTool("k", "read", {"path": "a.py"}, None),
        command(),
        Dialog("k", "Which one?", (("o1", "This"),)),
    ):
        assert "stopped" in refusal(await hosting.asked.answer(request))
    assert desk.asked == []
    assert desk.shown == TEXT


@pytest.mark.asyncio
async def test_what_others_write_during_a_first_call_that_comes_to_us_is_not_the_agents(
    desk: Desk,
) -> None:
    hosting = await desk.hosting()
    other = desk.root / "b.py"
    other.write_text("one\n")
    hosting.observe(ToolCall("c1", "edit", "edit", {"path": "b.py"}, ("b.py",)))
    await asyncio.sleep(0.1)  # looked at by now
    other.write_text("somebody's\n")
    await hosting.asked.answer(ReadText("k", "b.py", "c1"))
    hosting.observe(ToolResult("c1", is_error=False, content=[]))
    await hosting.settle()
    assert desk.ledger.changes() == []


@pytest.mark.asyncio
async def test_what_is_known_of_a_call_is_not_taken_for_a_later_one_of_the_same_id(
    desk: Desk,
) -> None:
    hosting = await desk.hosting()
    read = ToolCall("c1", "read", "read", {"path": "a.py"}, ("a.py",))
    edit = ToolCall("c1", "edit", "edit", {"path": "a.py"}, ("a.py",))
    hosting.observe(read)
    await hosting.asked.answer(ReadText("k", "a.py", "c1"))
    hosting.observe(ToolResult("c1", is_error=False, content=[]))
    hosting.observe(edit)
    hosting.observe(ToolResult("c1", is_error=False, content=[]))
    assert hosting.state.now == "mirror"


@pytest.mark.asyncio
async def test_of_commands_that_we_run_only_one_that_nobody_read_is_told_to_run_no_hooks(
    desk: Desk,
) -> None:
    desk.choice = "allow"
    hosting = await desk.hosting()
    environment = git_environment({})
    hosting.agent_starts(Launch(("agent",), environment), desk.tasks)
    run = RunTool("k", "bash", {"command": "printenv GIT_CONFIG_COUNT"}, "c1")
    assert f"\n{environment['GIT_CONFIG_COUNT']}\n" in await answered(hosting, run)
    desk.settings = Settings(permissions=PermissionSettings(allow=["command: printenv*"]))
    _, count = unread(environment)
    assert f"\n{count}\n" in await answered(hosting, run)
    assert len(desk.asked) == 1


@pytest.mark.asyncio
async def test_a_yes_for_the_session_holds_for_the_tool_that_was_asked_about_alone(
    desk: Desk,
) -> None:
    hosting = await desk.hosting()
    desk.choice = "allowSession"
    for tool in ("other: read (e)", "other: read (e)", "other: write (e)"):
        await hosting.asked.answer(Approve("k", tool, {}, None))
    assert [each.title.split(" {")[0] for each in desk.asked] == [
        "other: read (e): other: read (e)",
        "other: write (e): other: write (e)",
    ]


@pytest.mark.asyncio
async def test_a_call_whose_tool_nobody_names_is_allowed_once_at_most(desk: Desk) -> None:
    hosting = await desk.hosting()
    desk.choice = "allowSession"
    await hosting.asked.answer(Approve("k", "fetch", {}, None))
    for _ in range(2):
        await hosting.asked.answer(Approve("k", "fetch", {}, None, named=False))
    offered = [[option.kind for option in each.options] for each in desk.asked]
    assert offered == [
        ["allowOnce", "deny", "allowSession"],
        ["allowOnce", "deny"],
        ["allowOnce", "deny"],
    ]


@pytest.mark.asyncio
@pytest.mark.parametrize(("reads_first", "questions"), [(False, 1), (True, 0)])
async def test_with_review_before_an_edit_is_asked_about_until_a_file_call_has_come(
    desk: Desk, reads_first: bool, questions: int
) -> None:
    """An agent that nobody knows may write the disk itself; what comes to us is a proposal."""
    desk.settings = Settings(edits=EditSettings(review="before"))
    desk.choice = "deny"
    hosting = await desk.hosting()
    if reads_first:
        await hosting.asked.answer(ReadText("k", str(desk.file), "c0"))
    answer = await hosting.asked.answer(Approve("k", "edit", {"path": str(desk.file)}, "c1"))
    assert len(desk.asked) == questions
    assert isinstance(answer, Granted) is reads_first
