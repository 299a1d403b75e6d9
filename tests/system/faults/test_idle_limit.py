"""``limits.idle_seconds``: a silent agent is reported at half of it and ended at the limit."""

import time
from collections.abc import Callable, Iterator
from threading import Event

import pytest
from embedded_job import Project
from support.puppet_agent import SILENT
from support.raw_client import Json, wait_until
from support.stage import Editor, puppet, within

pytestmark = pytest.mark.slow

LIMIT = 1.0
IN_TEXT, IN_A_TOOL = 5, 20
Outcome = Callable[[str, str], None]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    home = tmp_path_factory.mktemp("idle")
    project = Project(home / "work", "1")
    options = project.options | {"agent": "puppet", "limits": {"idle_seconds": LIMIT}}
    options["agents"]["puppet"] = puppet(home / "start")
    with Editor(home) as editor:
        editor.start(project.folder, options)
        editor.works()
        yield editor
        editor.end()


def reports(stage: Editor, turn: str) -> list[Json]:
    notices = stage.events(turnId=turn, type="notice", level="warning")
    return [
        notice for notice in notices if f"said nothing for {LIMIT / 2:g} s" in notice["message"]
    ]


@pytest.mark.parametrize(
    ("fault", "at"),
    [("hang", IN_TEXT), ("freeze", IN_TEXT)]
    + [pytest.param(fault, 0, marks=pytest.mark.slow) for fault in SILENT],
)
def test_a_silent_agent_is_reported_then_ended(
    stage: Editor, fault: str, at: int, outcome: Outcome
) -> None:
    began = time.monotonic()
    error = stage.failure(stage.prompt("", at=at, fault=fault, deaf=True), "agentTimeout")
    assert time.monotonic() - began >= LIMIT
    within(LIMIT + 30, began)
    assert len(reports(stage, error.data["turn"]["turnId"])) == 1
    stage.works()
    outcome(f"agent silent ({fault})", "reported at half, agentTimeout, next prompt works")


def test_an_agent_that_speaks_again_in_time_goes_on(stage: Editor, outcome: Outcome) -> None:
    order = {"at": IN_TEXT, "fault": "pause", "seconds": LIMIT * 0.75}
    result = stage.answered(stage.prompt("", **order))
    assert len(reports(stage, result["turnId"])) == 1
    outcome("agent silent for 0.75 of the limit", "reported, endTurn")


def test_a_tool_that_runs_is_no_silence(stage: Editor, outcome: Outcome) -> None:
    order = {"at": IN_A_TOOL, "fault": "pause", "seconds": LIMIT * 2.5}
    result = stage.answered(stage.prompt("", **order))
    assert reports(stage, result["turnId"]) == []
    outcome("tool runs for 2.5 of the limit", "endTurn")


def test_an_open_question_is_no_silence(stage: Editor, outcome: Outcome) -> None:
    answer = Event()

    def ask(question: Json) -> Json:
        answer.wait(10)
        return {"optionId": question["options"][0]["optionId"]}

    stage.handlers["agent/ask"] = ask
    session = stage.new_session("embedded")
    request = stage.prompt("work", session)
    stage.event(sessionId=session, type="questionAsked")
    time.sleep(LIMIT * 2.5)
    answer.set()
    result = stage.answered(request)
    assert reports(stage, result["turnId"]) == []
    stage.call("agent/closeSession", {"sessionId": session})
    outcome("question open for 2.5 of the limit", "endTurn")


def test_an_agent_that_waits_for_a_client_that_does_not_read_is_not_silent(
    stage: Editor, outcome: Outcome
) -> None:
    session = stage.new_session()
    flood = {"at": IN_TEXT, "fault": "flood", "kind": "text", "bytes": 64 << 20}
    request = stage.prompt("", session, **flood)
    stage.event(sessionId=session, type="textDelta")
    stage.reads.clear()
    time.sleep(LIMIT * 3)
    stage.reads.set()
    stage.answered(request, timeout=30)
    stage.call("agent/closeSession", {"sessionId": session})
    outcome("client does not read for 3 of the limit", "endTurn")


def test_a_session_that_is_idle_is_left_alone(stage: Editor) -> None:
    stage.works()
    time.sleep(LIMIT * 1.5)
    assert wait_until(stage.agents, 0.1)
    stage.works()
