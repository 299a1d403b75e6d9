"""The main job through a whole agent: over the embedded one always, over a real zot where there
is one (marked ``zot``). The scenarios are the same, and so is what they expect."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.project import Editor, Project, Stopwatch, Stubborn
from support.raw_client import Json, descendants, wait_until
from support.scripted_agents import (
    Call,
    Refusal,
    ScriptedAgent,
    Step,
    ZotAgent,
    bash,
    contents,
    do,
    edit,
    fill,
    read,
    say,
    transcript,
    write,
)

CLIENT: Json = {"events": True, "ask": True}
ALLOWED: Json = {"permissions": {"command": "allow"}}
DECLINED = "Not run: the user declined"
#: In which a stop must be answered, in seconds.
BOUND = 1.0

Start = Callable[..., Editor]


@pytest.fixture
def start(project: Project, agent: ScriptedAgent) -> Start:
    """``start(*steps, options=…, **settings)``: an editor over a server with this agent."""

    def start(*steps: Step, options: Json | None = None, **settings: object) -> Editor:
        return project.editor(
            agent=agent.settings(*steps, **settings), client=CLIENT, options=options
        )

    return start


def statuses(result: Json) -> list[tuple[str, str]]:
    return [(edit["uri"].rsplit("/", 1)[1], edit["status"]) for edit in result["edits"]]


def output(text: str) -> str:
    """What a command printed, without the result's first lines and its last; of one that did not
    run, what stands in its place."""
    end = "\n[not run]" if text.endswith("\n[not run]") else "\n[exit "
    return text.partition("\n\n")[2].rpartition(end)[0]


# The start


@pytest.mark.zot
@pytest.mark.parametrize(("setting", "wrong"), [("provider", "anthropics"), ("model", "gpt-5")])
def test_a_zot_that_would_run_another_provider_or_model_is_not_used(
    project: Project, setting: str, wrong: str
) -> None:
    with ZotAgent(project) as zot:
        editor = project.editor(agent=zot.settings(say("Never."), **{setting: wrong}))
        error = editor.failure("agent/prompt", {"text": "Go."})
    assert error.data["kind"] == "notConfigured"
    assert f"correct the `{setting}` in the settings" in error.message
    assert wrong in error.message


# The main job


def test_the_main_job(project: Project, agent: ScriptedAgent, start: Start) -> None:
    path = project.file("a.txt", "one\ntwo\nthree\n")
    editor = start(
        do(read("a.txt"), text="Let me see."),
        do(
            edit("a.txt", ("typed", "read and edited"), ("three", "four")), write("b/n.txt", "né\n")
        ),
        do(
            bash("sh -c 'cat b/n.txt'; exit 3"),
            bash("echo x > refused.txt"),
            bash("sh -c 'echo last'"),
        ),
        say("All done."),
    )
    document = editor.open(path)
    editor.type(document, 0, "typed 😀\n")
    editor.answers = ["allow", "deny", "allow"]
    result = editor.ask_agent("Go.")

    assert (result["stopReason"], result["text"]) == ("endTurn", "All done.")
    assert statuses(result) == [("a.txt", "applied"), ("n.txt", "applied")]
    assert document.text.content == "read and edited 😀\none\ntwo\nfour\n"
    assert path.read_text() == "one\ntwo\nthree\n"  # unsaved text stays unsaved
    assert (project.folder / "b/n.txt").read_bytes() == "né\n".encode()
    assert not (project.folder / "refused.txt").exists()

    texts = agent.read_by_model(editor)
    assert len(texts) == 6
    assert texts[0] == "typed 😀\none\ntwo\nthree\n"
    assert "-typed 😀\n+read and edited 😀\n" in texts[1]
    assert texts[2] == "né\n"
    assert "né\n" in output(texts[3])
    assert texts[3].rpartition("\n")[2].startswith("[exit 3]")
    assert DECLINED in texts[4]
    assert output(texts[5]).endswith("last\n")
    # zot counts the time of the question, and gives one that did not run an exit code.
    meant = [re.sub(r"\[exit 126\]  Took \S+$", "[not run]", without_gate(text)) for text in texts]
    assert list(map(without_time, editor.tool_texts())) == list(map(without_time, meant))
    errors = [event["isError"] for event in editor.events("toolResult")]
    assert errors == [False, False, False, True, True, False]

    questions = editor.received("agent/ask")
    assert [question["detail"].partition("\n")[0] for question in questions] == [
        "sh -c 'cat b/n.txt'; exit 3",
        "echo x > refused.txt",
        "sh -c 'echo last'",
    ]
    assert editor.call("agent/state")["hosting"] == "hosted"


def test_each_call_is_told_once_and_the_turn_ends_once(project: Project, start: Start) -> None:
    project.file("a.txt", "one\n")
    editor = start(
        do(read("a.txt"), edit("a.txt", ("one", "two")), bash("echo x"), text="Now."),
        say("Done."),
        options=ALLOWED,
    )
    result = editor.ask_agent("Go.")
    events = editor.events()
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    calls = editor.events("toolCall")
    assert [call["tool"] for call in calls] == ["read", "edit", "bash"]
    ids = [call["toolCallId"] for call in calls]
    assert len(set(ids)) == 3
    assert [event["toolCallId"] for event in editor.events("toolResult")] == ids
    assert calls[2]["args"] == {"command": "echo x"}  # without the gate
    assert "".join(event["text"] for event in editor.events("textDelta")) == "Now.Done."
    assert [event["stopReason"] for event in editor.events("turnEnded")] == ["endTurn"]
    assert result["usage"]["output"] > 0
    (applied,) = editor.events("editApplied")
    assert applied["edit"]["toolCallId"] == ids[1]


def test_what_a_command_prints_streams_as_progress(start: Start) -> None:
    command = "echo first; sleep 0.35; echo second; sleep 0.2"
    editor = start(do(bash(command)), say("Done."))
    editor.answers = ["allow"]
    prompt = editor.prompt("Go.")
    assert "first" in editor.event("toolProgress")["text"]
    assert not editor.events("toolResult")
    editor.result(prompt)
    assert output(editor.tool_texts()[0]) == "first\nsecond\n"
    printed = "".join(event["text"] for event in editor.events("toolProgress"))
    assert printed == "first\nsecond\n"
    (token,) = [
        created["token"]
        for created in editor.received("window/workDoneProgress/create")
        if editor.progress(created["token"])[0]["title"].startswith("bash: ")
    ]
    shown = [value.get("message") for value in editor.progress(token)]
    assert shown.index("first") < shown.index("second")


def test_a_refused_command_does_not_hold_up_the_next_prompt(
    agent: ScriptedAgent, start: Start
) -> None:
    editor = start(
        do(bash("sh -c 'echo no'")), say("A pity."), do(bash("sh -c 'echo yes'")), say("Well.")
    )
    editor.answers = ["deny", "allow"]
    assert editor.ask_agent("Go.")["text"] == "A pity."
    assert editor.ask_agent("Again.")["text"] == "Well."
    refused, allowed = agent.read_by_model(editor)
    assert output(refused).startswith(DECLINED)
    assert len(output(refused).splitlines()) == 1
    assert output(allowed) == "yes\n"


# Stopping


@pytest.fixture
def idle() -> Callable[[Editor], set[int]]:
    """The processes below the server once its agent has answered and is idle."""

    def idle(editor: Editor) -> set[int]:
        assert editor.ask_agent("Hello.")["text"] == "Hello."
        return set(descendants(editor.process.pid))

    return idle


def assert_stopped(editor: Editor, prompt: int, before: set[int]) -> None:
    watch = Stopwatch()
    assert editor.call("agent/abort") == {"aborted": True}
    assert watch.seconds < BOUND
    assert set(descendants(editor.process.pid)) == before
    result = editor.result(prompt)
    assert watch.seconds < BOUND
    assert (result["stopReason"], result["edits"]) == ("aborted", [])
    assert "error" not in result
    # What has been stopped says nothing more, and its steps are not those of the next prompt.
    assert editor.ask_agent("Next.")["text"] == "Well again."
    assert editor.events("editApplied", "editProposed") == []


def test_an_abort_while_a_question_is_open(
    project: Project, start: Start, idle: Callable[[Editor], set[int]]
) -> None:
    project.file("a.txt", "one\n")
    editor = start(
        say("Hello."),
        do(bash("echo x > ran.txt"), write("late.txt", "late\n"), edit("a.txt", ("one", "two"))),
        say("Well again."),
    )
    before = idle(editor)
    prompt = editor.prompt("Go.")
    asked = editor.event("questionAsked")["question"]
    assert wait_until(lambda: set(descendants(editor.process.pid)) > before)  # the gate
    assert_stopped(editor, prompt, before)
    answered = editor.event("questionAnswered", questionId=asked["questionId"])
    assert answered["optionId"] is None
    assert contents(project.folder) == {"a.txt": b"one\n"}


def test_an_abort_while_a_command_runs(
    project: Project, start: Start, idle: Callable[[Editor], set[int]]
) -> None:
    project.file("a.txt", "one\n")
    stubborn = Stubborn()
    editor = start(
        say("Hello."),
        do(bash(stubborn.command), write("late.txt", "late\n"), edit("a.txt", ("one", "two"))),
        say("Well again."),
        options=ALLOWED,
    )
    before = idle(editor)
    prompt = editor.prompt("Go.")
    assert "measuring" in editor.event("toolProgress")["text"]
    assert wait_until(lambda: stubborn.runs)
    assert_stopped(editor, prompt, before)
    assert stubborn.processes() == []
    assert contents(project.folder) == {"a.txt": b"one\n"}


def test_an_abort_while_the_model_is_silent(
    agent: ScriptedAgent, start: Start, idle: Callable[[Editor], set[int]]
) -> None:
    editor = start(say("Hello."), say("Never.", delay=30), say("Well again."))
    before = idle(editor)
    prompt = editor.prompt("Go.")
    assert wait_until(lambda: agent.model_calls(editor) == 2)
    assert_stopped(editor, prompt, before)


def test_nothing_is_left_when_the_editor_leaves(start: Start) -> None:
    stubborn = Stubborn()
    editor = start(do(bash(stubborn.command)), options=ALLOWED)
    editor.prompt("Go.")
    editor.event("toolProgress")
    below = descendants(editor.process.pid)
    assert editor.shut_down() == 0
    assert not [pid for pid in below if Path(f"/proc/{pid}").exists()]
    assert stubborn.processes() == []


# Keys


def test_a_commands_environment_has_no_keys_whether_it_is_asked_about_or_not(
    agent: ScriptedAgent, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "inherited-0f3a")
    monkeypatch.setenv("OPENAI_API_KEY", "inherited-77b1")
    editor = start(
        do(bash("env"), bash("env; true")),
        say("Done."),
        env={"MY_SERVICE_TOKEN": "given-51c2", "PLAIN": "to be seen"},
        options={"permissions": {"allow": ["command: env"]}},
    )
    editor.answers = ["allow"]
    editor.ask_agent("Go.")
    (question,) = editor.received("agent/ask")
    assert question["detail"] == "env; true"
    for text in agent.read_by_model(editor):
        lines = output(text).splitlines()
        assert "PLAIN=to be seen" in lines
        for secret in ("inherited-0f3a", "inherited-77b1", "given-51c2"):
            assert secret not in text
        named = {line.partition("=")[0] for line in lines}
        assert not named & {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "MY_SERVICE_TOKEN"}


# The model's service fails


def test_a_refused_key_ends_the_turn_with_an_error(start: Start) -> None:
    editor = start(say("Never.", refusal=Refusal(401, "invalid x-api-key")), say("Back again."))
    result = editor.ask_agent("Go.")
    assert result["stopReason"] == "error"
    assert "http 401" in result["error"]
    assert "invalid x-api-key" in result["error"]
    (error,) = editor.events("error")
    assert "invalid x-api-key" in error["message"]
    assert [event["stopReason"] for event in editor.events("turnEnded")] == ["error"]
    assert editor.ask_agent("Again.")["text"] == "Back again."


# Mirror hosting


def test_a_mirrored_agent_works_on_the_disk_and_says_so_once(
    project: Project, agent: ScriptedAgent, start: Start
) -> None:
    path = project.file("a.txt", "one\n\nlast\n")
    editor = start(
        do(read("a.txt"), edit("a.txt", ("one", "two")), bash("cat a.txt")),
        say("Done."),
        do(write("n.txt", "new\n")),
        say("Done again."),
        hosting="mirror",
        options=ALLOWED,
    )
    document = editor.open(path)
    editor.type(document, 2, "typed\n")
    assert editor.ask_agent("Go.")["text"] == "Done."
    assert editor.ask_agent("Again.")["text"] == "Done again."
    assert contents(project.folder) == {"a.txt": b"two\n\nlast\n", "n.txt": b"new\n"}
    texts = agent.read_by_model(editor)
    assert texts[0] == "one\n\nlast\n"  # not what was typed
    assert output(texts[2]).endswith("two\n\nlast\n")
    assert [call["tool"] for call in editor.events("toolCall")] == ["read", "edit", "bash", "write"]
    assert editor.tool_texts() == [without_gate(text) for text in texts]
    notices = [notice["source"] for notice in editor.events("notice") if notice["level"] != "debug"]
    assert notices == ["lsp-agent"]
    assert document.text.content == "two\n\ntyped\nlast\n"
    assert editor.call("agent/state")["hosting"] == "mirror"


def test_a_mirrored_agents_commands_are_asked_about_too(project: Project, start: Start) -> None:
    editor = start(do(bash("echo x > ran.txt")), say("Done."), hosting="mirror")
    editor.answers = ["deny"]
    assert editor.ask_agent("Go.")["text"] == "Done."
    assert DECLINED in editor.tool_texts()[0]
    assert contents(project.folder) == {}


def test_a_mirrored_agent_stops(
    project: Project, start: Start, idle: Callable[[Editor], set[int]]
) -> None:
    stubborn = Stubborn()
    editor = start(
        say("Hello."),
        do(bash(stubborn.command), write("late.txt", "late\n")),
        say("Well again."),
        hosting="mirror",
        options=ALLOWED,
    )
    before = idle(editor)
    prompt = editor.prompt("Go.")
    editor.event("toolProgress")
    assert wait_until(lambda: stubborn.runs)
    assert_stopped(editor, prompt, before)
    assert stubborn.processes() == []
    assert contents(project.folder) == {}


# The tools' texts: hosted, the model reads what the agent's own tools would have told it

TWENTY = "".join(f"line {number}\n" for number in range(1, 21))
FILES = {
    "a.txt": TWENTY.encode(),
    "crlf.txt": b"one\r\ntwo\r\nthree\r\nfour\r\nfive\r\n",
    "bom.txt": b"\xef\xbb\xbfone\n\xf0\x9f\x98\x80 two\nthree",
    "binary.dat": b"GIF\0\x01",
    "broken.txt": b"caf\xe9\n",
    "long.txt": b"".join(b"%d\n" % number for number in range(2100)),
    "wide.txt": b"x" + "ä".encode() * 30_000 + b"\nend\n",
    "odd.txt": b"form\x0cfeed\nu\xe2\x80\xa8sep\nlone\rcr\n",
    "same.txt": b"x\nx\nx\n",
    "sub/in.txt": b"in\n",
    "empty.txt": b"",
}

READS = [
    read("a.txt"),
    read("a.txt", offset=3, limit=2),
    read("a.txt", offset=19, limit=50),
    read("crlf.txt"),
    read("bom.txt"),
    read("binary.dat"),
    read("broken.txt"),
    read("long.txt"),
    read("long.txt", offset=2050),
    read("wide.txt"),
    read("odd.txt"),
    read("./sub/../sub/in.txt"),
    read("none.txt"),
    read(""),
]
EDITS = [
    edit("a.txt", ("line 18\n", "LINE 18\nand more\n"), ("line 2\n", "")),
    edit("a.txt", ("line 3", "line three 😀")),
    edit("crlf.txt", ("two\nthree", "TWO\nand\nTHREE")),
    edit("bom.txt", ("one", "eins"), ("three", "drei\n")),
    edit("odd.txt", ("feed", "FEED")),
    edit("same.txt", ("x\nx\nx\n", "x\nx\n")),
    edit("sub/in.txt", ("in", "out")),
    edit("a.txt", ("absent", "x")),
    edit("same.txt", ("x", "y")),
    edit("a.txt", ("line 5", "line 5")),
    edit("a.txt", ("", "x")),
    edit("a.txt", ("line 6\nline 7", "6"), ("line 7\nline 8", "8")),
    edit("a.txt"),
    edit("none.txt", ("x", "y")),
    edit("same.txt", ("x\nx\n", "")),  # leaves it empty, which is a text too
]
WRITES = [
    write("n.txt", "new\n"),
    write("deep/er/n.txt", "no end of line"),
    write("a.txt", "whole\nnew\n"),
    read("a.txt"),
    read("deep/er/n.txt"),
    read("crlf.txt", offset=2),
]
FOLDERS = [
    read("sub"),
    read("a.txt/none.txt"),
    edit("sub", ("x", "y")),
    edit("a.txt/none.txt", ("x", "y")),
    write("sub", "x\n"),
    write("a.txt/n.txt", "x\n"),
]


#: Where ours say it better than zot's own on purpose: how its answer ends, and how ours does.
SAID_BETTER = [
    (read("long.txt"), "lines]\n", "lines; go on with offset 2001]\n"),
    (read("wide.txt"), "bytes]\n", "bytes; go on with offset 2]\n"),
    (edit("same.txt", ("x", "y")), "in same.txt", "in same.txt (at lines 1, 2)"),
    (  # what has changed, in place of the whole file
        edit("crlf.txt", ("two\nthree", "TWO\nand\nTHREE")),
        "-one\r\n-two\r\n-three\r\n-four\r\n-five\r\n+one\n+TWO\n+and\n+THREE\n+four\n+five\n \n",
        " one\n-two\n-three\n+TWO\n+and\n+THREE\n four\n five\n \n",
    ),
]


def said_better(calls: list[Call], own: Json) -> Json:
    """What ours are to answer where zot's own have answered ``own``."""
    better = dict(own)
    for call, theirs, ours in SAID_BETTER:
        if call in calls:
            what = f"{calls.index(call)} {call}"
            failed, text = own[what]
            assert text.endswith(theirs)
            better[what] = (failed, text.removesuffix(theirs) + ours)
    return better


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([*READS, *EDITS, *WRITES], id="files"),
        pytest.param(FOLDERS, id="folders in the way"),
    ],
)
def test_the_tools_answer_byte_for_byte_as_the_agents_own_but_for_what_is_said_better(
    project: Project, agent: ScriptedAgent, calls: list[Call]
) -> None:
    own, ours = both_ways(project, agent, calls)
    if isinstance(agent, ZotAgent):
        own = said_better(calls, own)
    assert {what: (own[what], ours.get(what)) for what in own if own[what] != ours.get(what)} == {}
    assert ours.keys() == own.keys()


def test_where_the_agents_own_tool_says_nothing_the_model_reads_a_sentence(
    project: Project, agent: ScriptedAgent
) -> None:
    calls = [read("empty.txt"), write("n.txt", "")]
    own, ours = both_ways(project, agent, calls)
    for number, call in enumerate(calls):
        assert own[f"{number} {call}"] == (False, "")
        assert ours[f"{number} {call}"] == (False, "(the file is empty)")


def test_a_read_beyond_the_last_line_does_not_call_the_file_empty(
    project: Project, agent: ScriptedAgent
) -> None:
    call = read("a.txt", offset=99)
    own, ours = both_ways(project, agent, [call])
    for failed, shown in (own[f"0 {call}"], ours[f"0 {call}"]):
        assert not failed
        assert "empty" not in shown


def without_time(text: str) -> str:
    return re.sub(r"  Took \S+$", "", text)


def without_gate(text: str) -> str:
    """What the model read, as a person is shown it."""
    return re.sub(r"\A\$ \S*/gate \d+ \|\| exit[^\n]*\n", "$ ", text)


def both_ways(project: Project, agent: ScriptedAgent, calls: list[Call]) -> tuple[Json, Json]:
    """What the agent's own tools, then ours, answer to the calls on FILES (whether in error, and
    the text), and every file after them."""
    steps = [*[do(call) for call in calls], say("Done.")]
    agents = {hosting: agent.settings(*steps, hosting=hosting) for hosting in ("mirror", "hosted")}
    options = {"agent": "hosted", "agents": agents, "edits": {"hold_shrink": 1}}
    editor = project.editor(client=CLIENT, options=options)
    came_to: list[Json] = []
    for hosting in agents:
        fill(project.folder, FILES.items())  # the same folder: its path is in the errors' texts
        session = editor.call("agent/newSession", {"agent": hosting})["sessionId"]
        assert editor.ask_agent("Go.", sessionId=session)["text"] == "Done."
        assert editor.call("agent/state", {"sessionId": session})["hosting"] == hosting
        results = editor.events("toolResult", sessionId=session)
        errors = [event["isError"] for event in results]
        answers = zip(calls, errors, transcript(editor, sessionId=session), strict=True)
        told: Json = {
            f"{n} {call}": (failed, text) for n, (call, failed, text) in enumerate(answers)
        }
        came_to.append(told | contents(project.folder))
    own, ours = came_to
    return own, ours
