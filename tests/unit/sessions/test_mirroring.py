"""When a session looks at the disk, and whose change it takes what it finds for."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import pytest_asyncio
from anyio.abc import TaskGroup
from support.mirror_bench import TEXT, MirrorBench, eventually

from lsp_agent.protocol.events import Event, Notice
from lsp_agent.protocol.settings.settings import Settings
from lsp_agent.sessions.files.calls_at_work import ToolCallSeen
from lsp_agent.sessions.files.mirroring import Mirroring
from lsp_agent.sessions.files.shown_to_agent import ShownToAgent
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.sessions.shared.turn import Turn
from lsp_agent.workspace.disk import look as disk_look
from lsp_agent.workspace.disk.look import Seen
from lsp_agent.workspace.disk.paths import Confinement
from lsp_agent.workspace.ledger.ledger import LedgerFailed
from lsp_agent.workspace.mirror import mirror

AGENTS = TEXT.replace("two", "2")


class Desk(MirrorBench):
    """Sessions that share a workspace; ``said`` are the notices."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.tasks: set[asyncio.Task[None]] = set()
        self.said: list[str] = []
        self.settings = Settings()

    def session(self, session_id: str) -> Mirroring:
        services = cast(
            Any,
            SimpleNamespace(
                ledger=self.ledger,
                host=self.host,
                mirror=self.mirror,
                documents=self.documents,
                folders=lambda: [str(self.root)],
            ),
        )

        def emit(event: Event, _turn_id: str | None) -> None:
            assert isinstance(event, Notice)
            self.said.append(event.message)

        root = str(self.root)
        confinement = Confinement([root])
        mirroring = Mirroring(
            services,
            SessionView(
                session_id, root, emit, lambda: self.settings, lambda: Turn("t1", "", ""), "a"
            ),
            ShownToAgent(services, session_id),
            lambda path: confinement.confine(path, root, write=True).path,
        )
        mirroring.live_in(cast(TaskGroup, SimpleNamespace(start_soon=self.start)))
        return mirroring

    def start(self, function: Callable[..., Coroutine[Any, Any, None]], *args: object) -> None:
        self.tasks.add(asyncio.create_task(function(*args)))

    def whose(self) -> list[tuple[str, str | None]]:
        return [(change.session_id, change.tool_call_id) for change in self.ledger.changes()]


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    await asyncio.gather(*desk.tasks)
    desk.close()


async def runs(session: Mirroring, call_id: str, command: str) -> None:
    await session.before(ToolCallSeen("bash", "command", {"command": command}, (), call_id, "t1"))


async def edits(session: Mirroring, call_id: str, path: str) -> None:
    await session.before(ToolCallSeen("edit", "edit", {}, (path,), call_id, "t1"))


async def ended(session: Mirroring) -> None:
    await session.settle()
    session.turn_ended()


@pytest.mark.asyncio
async def test_what_others_did_between_two_turns_is_not_the_agents(desk: Desk) -> None:
    session = desk.session("s1")
    await runs(session, "c1", "cat a.py")
    session.returned("c1", is_error=False, asked=True)
    await ended(session)
    desk.writes(AGENTS)
    await runs(session, "c2", "cat a.py")
    session.returned("c2", is_error=False, asked=True)
    await ended(session)
    assert desk.whose() == []


@pytest.mark.asyncio
async def test_what_is_new_before_the_next_call_is_the_last_commands(desk: Desk) -> None:
    session = desk.session("s1")
    await runs(session, "c1", "later.sh a.py &")
    session.returned("c1", is_error=False, asked=True)
    await asyncio.sleep(0.1)
    desk.writes(AGENTS)
    await runs(session, "c2", "true")
    session.returned("c2", is_error=False, asked=True)
    await ended(session)
    assert desk.whose() == [("s1", "c1")]


@pytest.mark.asyncio
async def test_a_result_told_after_the_next_call_was_asked_for_keeps_its_change(
    desk: Desk,
) -> None:
    session = desk.session("s1")
    await edits(session, "c1", "a.py")
    desk.writes(AGENTS)
    await edits(session, "c2", "a.py")  # the bridge is faster than the agent's output
    session.returned("c1", is_error=False, asked=True)
    desk.writes(AGENTS.replace("four", "4"))
    session.returned("c2", is_error=False, asked=True)
    await ended(session)
    assert desk.whose() == [("s1", "c1"), ("s1", "c2")]


@pytest.mark.asyncio
async def test_a_file_once_named_is_followed_through_later_commands(desk: Desk) -> None:
    session = desk.session("s1")
    await edits(session, "c1", "a.py")
    session.returned("c1", is_error=True, asked=True)
    await runs(session, "c2", "make format")
    desk.writes(AGENTS)
    session.returned("c2", is_error=False, asked=True)
    await ended(session)
    assert desk.whose() == [("s1", "c2")]
    assert session.brought_in.commands_change_files


@pytest.mark.asyncio
async def test_another_sessions_command_is_not_taken_for_ones_own(desk: Desk) -> None:
    one, other = desk.session("s1"), desk.session("s2")
    await runs(one, "c1", "cat a.py")
    await runs(other, "c2", "sed a.py")
    desk.writes(AGENTS)
    other.returned("c2", is_error=False, asked=True)
    await other.settle()
    one.returned("c1", is_error=False, asked=True)
    await ended(one)
    await ended(other)
    assert desk.whose() == [("s2", "c2")]


@pytest.mark.asyncio
async def test_a_session_that_begins_a_command_leaves_anothers_change_alone(desk: Desk) -> None:
    one, other = desk.session("s1"), desk.session("s2")
    await runs(one, "c1", "sed a.py")
    desk.writes(AGENTS)
    await runs(other, "c2", "cat a.py")
    other.returned("c2", is_error=False, asked=True)
    await ended(other)
    one.returned("c1", is_error=False, asked=True)
    await ended(one)
    assert desk.whose() == [("s1", "c1")]


@pytest.mark.asyncio
async def test_paths_that_were_only_words_are_forgotten(desk: Desk) -> None:
    session = desk.session("s1")
    for number in range(20):
        await runs(session, f"c{number}", f"echo some words {number}")
        session.returned(f"c{number}", is_error=False, asked=True)
    await ended(session)
    await runs(session, "last", "true")
    assert len(session.known.seen) < 12


@pytest.mark.asyncio
async def test_a_write_outside_that_nobody_could_ask_about_is_said(desk: Desk) -> None:
    session = desk.session("s1")
    outside = "/elsewhere/\u202ex"
    session.called(ToolCallSeen("write", "edit", {}, (outside,), "c1", "t1"))
    session.returned("c1", is_error=False, asked=False)
    await ended(session)
    assert desk.said == [r"The agent's write wrote outside the workspace: /elsewhere/\u202ex."]


@pytest.mark.asyncio
async def test_a_call_nobody_asked_about_is_seen_where_the_file_was_known(desk: Desk) -> None:
    session = desk.session("s1")
    await edits(session, "c1", "a.py")
    session.returned("c1", is_error=True, asked=True)
    await session.settle()
    session.called(ToolCallSeen("edit", "edit", {}, ("a.py",), "c2", "t1"))
    desk.writes(AGENTS)
    session.returned("c2", is_error=False, asked=False)
    await ended(session)
    assert desk.whose() == [("s1", "c2")]


@pytest.mark.asyncio
async def test_what_a_person_writes_as_calls_are_first_told_of_is_not_the_agents(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[list[str]] = []

    def look(paths: list[str], seen: Mapping[str, Seen]) -> dict[str, Seen]:
        found = disk_look.look(paths, seen)
        looks.append(paths)
        if len(looks) == 1:
            desk.writes(AGENTS)
        return found

    monkeypatch.setattr(mirror, "look", look)
    session = desk.session("s1")
    session.called(ToolCallSeen("edit", "edit", {}, ("a.py",), "c1", "t1"))
    session.called(ToolCallSeen("edit", "edit", {}, ("a.py",), "c2", "t1"))
    await session.settle()
    session.was_ours("c1")
    session.was_ours("c2")
    await ended(session)
    assert len(looks) == 2
    assert desk.whose() == []


@pytest.mark.parametrize("kind", ["edit", "command"])
@pytest.mark.asyncio
async def test_what_a_person_writes_before_a_call_may_begin_is_not_the_agents(
    desk: Desk, kind: str
) -> None:
    session = desk.session("s1")
    if kind == "edit":
        session.called(ToolCallSeen("edit", "edit", {}, ("a.py",), "c1", "t1"))
    else:
        session.called(ToolCallSeen("bash", "command", {"command": "cat a.py"}, (), "c1", "t1"))
    await asyncio.gather(*desk.tasks)
    desk.writes(AGENTS)  # as while the person is asked
    await (edits(session, "c1", "a.py") if kind == "edit" else runs(session, "c1", "cat a.py"))
    desk.writes(AGENTS.replace("four", "4"))
    session.returned("c1", is_error=False, asked=True)
    await ended(session)
    assert desk.whose() == [("s1", "c1")]
    assert await desk.texts() == [("applied", AGENTS, AGENTS.replace("four", "4"))]


@pytest.mark.parametrize("at_work", [False, True])
@pytest.mark.asyncio
async def test_of_a_call_that_is_asked_about_file_by_file_all_are_looked_at(
    desk: Desk, at_work: bool
) -> None:
    session = desk.session("s1")
    desk.writes(TEXT, "b.py")
    session.called(ToolCallSeen("edit", "edit", {}, ("a.py", "b.py"), "c1", "t1"))
    await edits(session, "c1", "a.py")
    if at_work:
        desk.writes(AGENTS)
    await edits(session, "c1", "b.py")
    if not at_work:
        desk.writes(AGENTS)
    desk.writes(AGENTS, "b.py")
    session.returned("c1", is_error=False, asked=True)
    await ended(session)
    assert await desk.texts() == [("applied", TEXT, AGENTS)] * 2


@pytest.mark.asyncio
async def test_what_cannot_be_recorded_is_said_and_the_session_goes_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = desk.session("s1")

    async def full(*_: object) -> None:
        raise LedgerFailed("No space left on device")

    await runs(session, "c1", "sed a.py")
    desk.writes(AGENTS)
    with monkeypatch.context() as patch:
        patch.setattr(desk.ledger, "record", full)
        session.returned("c1", is_error=False, asked=True)
        await session.settle()
    assert "No space left" in desk.said[0]
    await runs(session, "c2", "sed a.py")
    desk.writes(TEXT)
    session.returned("c2", is_error=False, asked=True)
    await ended(session)
    assert desk.whose() == [("s1", "c2")]


# Several commands at once.


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.asyncio
async def test_of_two_commands_at_once_what_the_earlier_one_deleted_is_recorded(
    desk: Desk, first: bool
) -> None:
    session = desk.session("s1")
    desk.writes(TEXT, "b.py")
    await runs(session, "c1", "rm b.py")
    await runs(session, "c2", "true")
    (desk.root / "b.py").unlink()
    for call_id in ("c1", "c2") if first else ("c2", "c1"):
        session.returned(call_id, is_error=False, asked=True)
    await ended(session)
    assert await desk.texts() == [("applied", TEXT, None)]


@pytest.mark.asyncio
async def test_a_command_that_begins_does_not_forget_what_is_being_looked_at(desk: Desk) -> None:
    session = desk.session("s1")
    desk.writes(TEXT, "b.py")
    await runs(session, "c1", "mv b.py c.py")
    await runs(session, "c2", "true")
    (desk.root / "b.py").rename(desk.root / "c.py")
    session.returned("c1", is_error=False, asked=True)
    await runs(session, "c3", "true")
    session.returned("c2", is_error=False, asked=True)
    session.returned("c3", is_error=False, asked=True)
    await ended(session)
    assert await desk.texts() == [("applied", TEXT, None), ("applied", None, TEXT)]


@pytest.mark.parametrize("named", ["a.py", "b.py"])
@pytest.mark.asyncio
async def test_what_one_sessions_command_made_of_anothers_change_hides_neither(
    desk: Desk, named: str
) -> None:
    one, other = desk.session("s1"), desk.session("s2")
    desk.writes(TEXT, named)
    await runs(one, "c1", f"rm {named}")
    (desk.root / named).unlink()
    await runs(other, "c2", f"cp x {named}")
    desk.writes(AGENTS, named)
    other.returned("c2", is_error=False, asked=True)
    await ended(other)
    one.returned("c1", is_error=False, asked=True)
    await ended(one)
    assert desk.whose() == [("s1", "c1"), ("s2", "c2")]
    assert await desk.texts() == [("applied", TEXT, None), ("applied", None, AGENTS)]


@pytest.mark.asyncio
async def test_what_another_sessions_file_call_has_written_is_its_own(desk: Desk) -> None:
    one, other = desk.session("s1"), desk.session("s2")
    await edits(one, "c1", "a.py")
    desk.writes(AGENTS)
    await runs(other, "c2", "sed a.py")  # before the first call's result is told
    desk.writes(AGENTS.replace("four", "4"))
    other.returned("c2", is_error=False, asked=True)
    await ended(other)
    one.returned("c1", is_error=False, asked=True)
    await ended(one)
    assert desk.whose() == [("s1", "c1"), ("s2", "c2")]


@pytest.mark.asyncio
async def test_what_two_sessions_look_at_at_once_is_recorded_as_it_came(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = desk.session("s1"), desk.session("s2")
    await runs(one, "c1", "sed a.py")
    await runs(other, "c2", "sed a.py")
    real, reads, released = mirror.look, [0], threading.Event()

    def slow_at_first(*args: Any) -> Any:
        reads[0] += 1
        first = reads[0] == 1
        seen = real(*args)
        if first:
            read.set()
            released.wait(10)
        return seen

    read = threading.Event()
    monkeypatch.setattr(mirror, "look", slow_at_first)
    desk.file.unlink()
    one.returned("c1", is_error=False, asked=True)
    assert await eventually(read.is_set)
    desk.writes(AGENTS)
    other.returned("c2", is_error=False, asked=True)
    await eventually(lambda: reads[0] > 1, 0.3)
    released.set()
    await ended(other)
    await ended(one)
    assert await desk.texts() == [("applied", TEXT, None), ("applied", None, AGENTS)]
