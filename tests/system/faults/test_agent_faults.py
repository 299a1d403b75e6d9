"""An agent that fails at any frame of a turn: the prompt is answered, and the next one works."""

import time
from collections.abc import Callable, Iterator

import pytest
from support.puppet_agent import END, GARBAGE, SILENT, open_calls, points
from support.raw_client import wait_until
from support.stage import Editor, puppet, within

pytestmark = pytest.mark.sampled

POINTS = list(points())
#: Where something changes: nothing said yet, text, a call's arguments, a command, the last frame.
TELLING = [0, 1, 5, 7, 18, 20, 23, POINTS[-1]]
SOME = [5, 20]
#: 12 MB, which a server reads for seconds.
MUCH = "nested arguments"
LINE_BYTES = 1 << 20
#: In seconds: what an agent has to stop by itself, and far less than a silent one has (300).
GRACE, SOON = 5, 30
Outcome = Callable[[str, str], None]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """One server for all the points; at its end nothing may be left."""
    home = tmp_path_factory.mktemp("faults")
    (home / "work").mkdir()
    options = {
        "agent": "puppet",
        "agents": {"puppet": puppet(home / "start")},
        "limits": {"line_bytes": LINE_BYTES},
    }
    with Editor(home) as editor:
        editor.start(home / "work", options)
        editor.works()
        yield editor
        editor.end()


@pytest.fixture
def start(stage: Editor) -> Callable[[str], str]:
    """A session whose agent starts with a fault."""

    def begin(fault: str) -> str:
        (stage.home / "start").write_text(fault, encoding="utf-8")
        return stage.new_session()

    return begin


def slow_but(chosen: list[int]) -> list[object]:
    """All points; those not chosen are slow."""
    return [
        point if point in chosen else pytest.param(point, marks=pytest.mark.slow)
        for point in POINTS
    ]


@pytest.mark.parametrize("at", POINTS)
def test_an_agent_killed_after_any_frame_answers_the_prompt_and_is_started_again(
    stage: Editor, at: int, outcome: Outcome
) -> None:
    began = time.monotonic()
    nap = stage.nap()
    error = stage.failure(stage.prompt("", at=at, fault="kill", nap=nap), "agentExited")
    within(SOON, began)
    assert error.data["exitCode"] == -9
    assert not [line for line in stage.left() if nap in line]
    stage.works()
    outcome("agent killed (-9) after each frame", "agentExited, next prompt works")


@pytest.mark.parametrize("at", slow_but(TELLING))
@pytest.mark.parametrize("fault", [fault for fault in END if fault != "kill"])
def test_an_agent_that_ends_its_output_has_ended(
    stage: Editor, fault: str, at: int, outcome: Outcome
) -> None:
    error = stage.failure(stage.prompt("", at=at, fault=fault, nap=stage.nap()), "agentExited")
    if fault == "exit 3":
        assert error.data["exitCode"] == 3
        assert "the model's service is gone" in error.message
    stage.works()
    outcome(f"agent: {fault}", "agentExited, next prompt works")


@pytest.mark.parametrize(
    ("fault", "at"),
    [
        pytest.param(fault, at, marks=[] if at in SOME else pytest.mark.slow)
        for fault in GARBAGE
        if "100 MB" not in fault
        for at in (SOME if fault == MUCH else POINTS)
    ],
)
def test_garbage_between_frames_ends_no_turn(
    stage: Editor, fault: str, at: int, outcome: Outcome
) -> None:
    result = stage.answered(stage.prompt("", at=at, fault=fault), timeout=60)
    assert result["text"] == "ok"
    outcome(f"agent prints {fault}", "the turn goes on to endTurn")


@pytest.mark.parametrize("at", [pytest.param(5, marks=pytest.mark.slow)])
def test_a_line_of_100_mb_is_named_and_left_out(stage: Editor, at: int, outcome: Outcome) -> None:
    result = stage.answered(stage.prompt("", at=at, fault="100 MB in one line"), timeout=30)
    notices = stage.events(turnId=result["turnId"], type="notice")
    assert any("limits.line_bytes" in notice["message"] for notice in notices)
    outcome("agent prints 100 MB in one line", "a notice; the turn goes on to endTurn")


@pytest.mark.parametrize("at", slow_but([1, 6, 20])[1:])
def test_a_hanging_turn_is_aborted_at_any_frame(stage: Editor, at: int, outcome: Outcome) -> None:
    request = stage.prompt("", at=at, fault="hang", nap=stage.nap())
    time.sleep(0.15)
    began = time.monotonic()
    assert stage.call("agent/abort") == {"aborted": True}
    within(GRACE, began)
    stage.answered(request, "aborted")
    assert stage.works()["text"] == "ok"
    outcome("agent hangs, agent/abort", "aborted at once, next prompt works")


@pytest.mark.parametrize(
    ("fault", "at"),
    [("hang", 1)]
    + [pytest.param(fault, at, marks=pytest.mark.slow) for fault in SILENT for at in (0, 5, 20)],
)
def test_an_agent_that_ignores_abort_is_started_again_after_5_s(
    stage: Editor, fault: str, at: int, outcome: Outcome
) -> None:
    session = stage.new_session()
    nap = stage.nap()
    request = stage.prompt("", session, at=at, fault=fault, deaf=True, nap=nap)
    stage.event(sessionId=session, type="agentStatus", status="ready")
    time.sleep(0.2)
    began = time.monotonic()
    assert stage.call("agent/state", {"sessionId": session})["busy"] is True
    within(GRACE, began)
    began = time.monotonic()
    assert stage.call("agent/abort", {"sessionId": session}) == {"aborted": True}
    stage.answered(request, "aborted")
    within(GRACE, began)
    assert not [line for line in stage.left() if nap in line]
    second = stage.prompt("", session, at=None)
    stage.answered(second, timeout=60)
    assert time.monotonic() - began > GRACE - 0.5
    stage.event(sessionId=session, type="agentStatus", status="restarting")
    stage.call("agent/closeSession", {"sessionId": session})
    outcome(f"agent ignores abort ({fault})", "answered at once, restarted after 5 s")


@pytest.mark.parametrize("fault", [*END, "die in hello"])
def test_an_agent_that_ends_while_it_starts_says_so_and_the_next_start_works(
    stage: Editor, start: Callable[[str], str], fault: str, outcome: Outcome
) -> None:
    session = start(fault)
    # Where it was asked for the size of its window after the turn, that is known already.
    failed = stage.answer(stage.prompt("", session, at=None)).get("error")
    assert failed is None or failed["data"]["kind"] == "agentExited"
    stage.works(session)
    stage.call("agent/closeSession", {"sessionId": session})
    outcome(f"agent at its start: {fault}", "agentExited, next prompt works")


@pytest.mark.parametrize("fault", ["late", "garbage"])
def test_an_odd_start_is_a_start(
    stage: Editor, start: Callable[[str], str], fault: str, outcome: Outcome
) -> None:
    session = start(fault)
    stage.works(session)
    stage.call("agent/closeSession", {"sessionId": session})
    outcome(f"agent at its start: {fault}", "works")


def test_a_refused_handshake_is_an_error(
    stage: Editor, start: Callable[[str], str], outcome: Outcome
) -> None:
    session = start("refuse hello")
    error = stage.failure(stage.prompt("", session, at=None), "notConfigured")
    assert "no, thank you" in error.message
    stage.works(session)
    stage.call("agent/closeSession", {"sessionId": session})
    outcome("agent refuses hello", "notConfigured, next prompt works")


@pytest.mark.slow
def test_an_agent_that_never_answers_hello_is_given_up_after_15_s(
    stage: Editor, start: Callable[[str], str], outcome: Outcome
) -> None:
    session = start("hang in hello")
    stage.failure(stage.prompt("", session, at=None), "agentTimeout", timeout=18)
    stage.works(session)
    stage.call("agent/closeSession", {"sessionId": session})
    outcome("agent never answers hello", "agentTimeout, next prompt works")


def test_a_start_is_stopped_by_an_abort(
    stage: Editor, start: Callable[[str], str], outcome: Outcome
) -> None:
    session = start("hang in hello")
    request = stage.prompt("", session, at=None)
    assert wait_until(lambda: not (stage.home / "start").exists())
    began = time.monotonic()
    assert stage.call("agent/abort", {"sessionId": session}) == {"aborted": True}
    stage.answered(request, "aborted")
    within(SOON, began)
    stage.works(session)
    stage.call("agent/closeSession", {"sessionId": session})
    outcome("agent never answers hello, agent/abort", "aborted at once, next prompt works")


def test_an_agent_that_dies_between_turns_is_started_by_the_next_prompt(
    stage: Editor, outcome: Outcome
) -> None:
    session = stage.new_session()
    stage.answered(stage.prompt("", session, at="end", fault="kill"))
    stage.event(sessionId=session, type="agentStatus", status="exited")
    stage.works(session)
    stage.call("agent/closeSession", {"sessionId": session})
    outcome("agent killed between turns", "next prompt works")


def test_an_agent_that_reads_no_more_between_turns_is_started_again(
    stage: Editor, outcome: Outcome
) -> None:
    session = stage.new_session()
    stage.answered(stage.prompt("", session, at=None, fault="close stdin"))
    time.sleep(0.2)
    # Where it was asked for the size of its window after the turn, that is known already.
    failed = stage.answer(stage.prompt("", session, at=None)).get("error")
    assert failed is None or failed["data"]["kind"] == "agentExited"
    stage.works(session)
    stage.call("agent/closeSession", {"sessionId": session})
    outcome("agent closes stdin between turns", "agentExited, next prompt works")


def test_open_calls_are_told_from_the_recording() -> None:
    assert [open_calls(at) for at in (5, 7, len(POINTS))] == [False, True, False]
