"""An agent that floods: the server's memory stays bounded, and it can be stopped."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.raw_client import Json, RpcError, memory, wait_until
from support.stage import Editor, puppet, within

from lsp_agent.server.turns.output_limit import CALL_BYTES, TAIL_BYTES

pytestmark = pytest.mark.slow

MB = 1 << 20
IN_TEXT, IN_A_COMMAND = 5, 23
#: What a flood may add to the server's memory: bounded buffers, 8 MB of text kept for the result.
GROWTH = 100 * MB
SIZES = [64 * MB, pytest.param(256 * MB, marks=pytest.mark.slow)]
#: What goes before the end of a command's flood.
_LEFT_OUT = re.compile(r"\n\.\.\. \[(\d+) characters left out; the end:\]\n")
_LONGEST_WORDS = 100
#: More than an agent can print while one of these tests runs.
ENDLESS = 1024 * 1024 * MB
Outcome = Callable[[str, str], None]
#: Has glibc give freed buffers of 128 kB and more back to the system, else it keeps so many of them
#: beside other busy processes that the memory that the server holds is not to be seen.
GIVEN_BACK = {"MALLOC_MMAP_THRESHOLD_": "131072"}


class Meter:
    """The highest memory of a process while it is used, in bytes above that at the start."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._base = memory(pid)
        self._peak = self._base
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Meter":
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def growth(self) -> int:
        return self._peak - self._base

    def _watch(self) -> None:
        while not self._over.wait(0.02):
            self._peak = max(self._peak, memory(self._pid))


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Editor]:
    (tmp_path / "work").mkdir()
    options = {"agent": "puppet", "agents": {"puppet": puppet(tmp_path / "start")}}
    with Editor(tmp_path, env=GIVEN_BACK) as editor:
        editor.start(tmp_path / "work", options)
        editor.works()
        yield editor
        editor.end()


def stops_reading(stage: Editor, event: Json) -> None:
    """At the first piece: a busy machine would let it read any number of them."""
    if event["type"] == "toolProgress":
        stage.reads.clear()


def flood(stage: Editor, kind: str, size: int) -> int:
    at = IN_TEXT if kind == "text" else IN_A_COMMAND
    return stage.prompt("", at=at, fault="flood", kind=kind, bytes=size)


def both_ends_of(stage: Editor, size: int) -> None:
    """What a command's flood has become for the client: its two ends, and how much is between."""
    assert CALL_BYTES < stage.streamed <= CALL_BYTES + TAIL_BYTES + _LONGEST_WORDS
    told = [_LEFT_OUT.match(event["text"]) for event in stage.events(type="toolProgress")]
    (left_out,) = filter(None, told)
    # The command has printed a few words more before its flood.
    assert 0 <= CALL_BYTES + TAIL_BYTES - (size - int(left_out[1])) < _LONGEST_WORDS


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["text", "progress"])
def test_a_flood_passes_through_to_a_client_that_reads(
    stage: Editor, kind: str, size: int, outcome: Outcome
) -> None:
    with Meter(stage.process.pid) as meter:
        stage.answered(flood(stage, kind, size), timeout=150)
    if kind == "text":
        assert stage.streamed >= size
    else:
        both_ends_of(stage, size)
    assert meter.growth < GROWTH, f"{meter.growth / MB:.0f} MB"
    stage.works()
    arrives = "all arrives" if kind == "text" else "both ends arrive"
    outcome(f"{size >> 20} MB of {kind}, client reads", f"{arrives}, memory bounded")
    print(f"{kind}: {meter.growth / MB:.0f} MB")


@pytest.mark.parametrize("size", SIZES)
def test_a_flood_waits_for_a_client_that_does_not_read_and_can_be_cancelled(
    stage: Editor, size: int, outcome: Outcome
) -> None:
    with Meter(stage.process.pid) as meter:
        request = flood(stage, "text", size)
        stage.event(type="textDelta")
        cancelled_unread(stage, request)
    assert stage.streamed < size
    assert meter.growth < GROWTH, f"{meter.growth / MB:.0f} MB"
    stage.works()
    outcome(f"{size >> 20} MB of text, client does not read", "memory bounded, cancel answered")
    print(f"text: {meter.growth / MB:.0f} MB")


def test_a_commands_flood_can_be_cancelled_by_a_client_that_does_not_read(
    stage: Editor, outcome: Outcome
) -> None:
    with Meter(stage.process.pid) as meter:
        request = flood(stage, "progress", ENDLESS)
        stage.event(type="toolProgress")
        cancelled_unread(stage, request)
    assert stage.streamed <= CALL_BYTES + TAIL_BYTES + _LONGEST_WORDS
    assert meter.growth < GROWTH, f"{meter.growth / MB:.0f} MB"
    stage.works()
    outcome("endless progress, client does not read", "memory bounded, cancel answered")
    print(f"progress: {meter.growth / MB:.0f} MB")


def cancelled_unread(stage: Editor, request: int) -> None:
    """Cancels while nothing is read; once it is, the answer is there."""
    stage.reads.clear()
    time.sleep(3)
    stage.cancel(request)
    time.sleep(1)
    began = time.monotonic()
    stage.reads.set()
    with pytest.raises(RpcError) as cancelled:
        stage.result(request)
    within(20, began)
    assert cancelled.value.code == -32800


def written(pid: int) -> int:
    """The bytes that a process has handed to the system."""
    counters = Path(f"/proc/{pid}/io").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in counters if line.startswith("wchar:"))


@pytest.mark.parametrize("size", SIZES)
def test_a_commands_flood_does_not_wait_for_a_client_that_does_not_read(
    stage: Editor, size: int, outcome: Outcome
) -> None:
    with Meter(stage.process.pid) as meter:
        stage.on_event = lambda event: stops_reading(stage, event)
        request = flood(stage, "progress", size)
        stage.event(type="toolProgress")
        agent = stage.agent_pid()
        assert wait_until(lambda: written(agent) >= size, 150), "the client held it up"
        stage.on_event = lambda _event: None
        stage.reads.set()
        stage.answered(request)
    # The pieces that were kept waiting have given way to the call's result; on a busy machine all
    # that a call may stream is on its way before the client stops reading.
    assert stage.streamed <= CALL_BYTES + TAIL_BYTES + _LONGEST_WORDS
    assert meter.growth < GROWTH, f"{meter.growth / MB:.0f} MB"
    stage.works()
    outcome(f"{size >> 20} MB of progress, client does not read", "memory bounded, it goes on")
    print(f"progress: {meter.growth / MB:.0f} MB")
