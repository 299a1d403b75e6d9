"""What each agent can, cell by cell of docs/agents.md: through a real server, on the real agent.

Where an agent has none of a thing (``desk.lacks``), its test shows what the person gets instead.
"""

import contextlib
import json
from pathlib import Path

from desks import PATIENCE, Desk
from support.model_server import Call, Step
from support.project import Stubborn
from support.raw_client import Json, wait_until

#: A PNG of one pixel.
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
LINES = "one\ntwo\nthree\n\nfour\n"


def do(*calls: Call) -> Step:
    return Step(calls=calls)


def test_version(desk: Desk) -> None:
    assert desk.version


# What it says


def test_text(desk: Desk) -> None:
    desk.says(Step("Hello, this is the whole answer."))
    turn = desk.ask()
    assert (turn["stopReason"], turn["text"]) == ("endTurn", "Hello, this is the whole answer.")
    assert desk.joined("textDelta") == turn["text"]


def test_thinking(desk: Desk) -> None:
    desk.says(Step("Well.", reasoning="Hm, hm."))
    assert desk.ask()["text"] == "Well."
    thoughts = desk.joined("thinkingDelta")  # some agents put them into a form of their own
    assert ("Hm, hm." in thoughts) is bool(thoughts) is ("thinking" not in desk.lacks)


def test_argument_streaming(desk: Desk) -> None:
    content = "".join(f"line {number}\n" for number in range(20))
    write = desk.actor.write(str(desk.project.folder / desk.name(".txt")), content)
    desk.says(do(write), Step("Done."))
    desk.ask()
    (call,) = desk.events("toolCall")
    assert call["args"] == (write.args if desk.tells_arguments else None)
    pieces = desk.joined("toolArgsDelta")
    assert (json.loads(pieces) if pieces else None) == (
        None if "argument_streaming" in desk.lacks else write.args
    )


def test_progress(desk: Desk) -> None:
    go = desk.project.folder / desk.name("")
    line = f"echo first; while ! test -e {go.name}; do sleep 0.02; done; echo second; {desk.rests}"
    desk.says(do(desk.actor.command(line)), Step("Done."))
    desk.editor.answers = ["allow"]
    prompt = desk.begin()
    if "progress" not in desk.lacks:
        assert wait_until(lambda: "first" in desk.joined("toolProgress"), PATIENCE)
        assert not desk.events("toolResult")
    go.touch()
    desk.editor.result(prompt)
    (result,) = desk.events("toolResult")
    shown = "".join(block["text"] for block in result["content"])
    assert ("first\nsecond" in shown) is desk.tells_output
    if "progress" in desk.lacks:
        assert not desk.events("toolProgress")


# Its hands: hosted, what it does goes through the editor; else it is merged with what is typed


def test_hosted_read(desk: Desk) -> None:
    path = desk.project.file(desk.name(".txt"), LINES)
    desk.editor.type(desk.editor.open(path), 0, "typed by the person\n")
    desk.says(do(desk.actor.read(str(path))), Step("Read."))
    desk.ask()
    assert desk.model_is_told("three")
    assert desk.model_is_told("typed by the person") is ("hosted_read" not in desk.lacks)


def test_hosted_edit(desk: Desk) -> None:
    path = desk.project.file(desk.name(".txt"), LINES)
    document = desk.editor.open(path)
    desk.editor.type(document, 0, "typed\n")
    edited = LINES.replace("four", "4")
    read, edit = desk.actor.read(str(path)), desk.actor.edit(str(path), "four", "4")
    desk.says(do(read), do(edit), Step("Done."))
    turn = desk.ask()
    assert [edit["status"] for edit in turn["edits"]] == ["applied"]
    assert document.text.content == f"typed\n{edited}"
    assert path.read_text() == (edited if "hosted_edit" in desk.lacks else LINES)


def test_hosted_write(desk: Desk) -> None:
    path = desk.project.file(desk.name(".txt"), LINES)
    document = desk.editor.open(path)
    desk.editor.type(document, 5, "typed\n")
    new = LINES.replace("one", "1")
    written = new if "hosted_write" in desk.lacks else f"{new}typed\n"  # what it has read, changed
    read, write = desk.actor.read(str(path)), desk.actor.write(str(path), written)
    desk.says(do(read), do(write), Step("Done."))
    turn = desk.ask()
    assert [edit["status"] for edit in turn["edits"]] == ["applied"]
    assert document.text.content == f"{new}typed\n"
    assert path.read_text() == (new if "hosted_write" in desk.lacks else LINES)


def test_confined(desk: Desk) -> None:
    """To the line "four"; the agent tries "one" as well."""
    path = desk.project.file(desk.name(".txt"), LINES)
    document = desk.editor.open(path)
    at = LINES.splitlines().index("four")
    place = {"start": {"line": at, "character": 0}, "end": {"line": at + 1, "character": 0}}
    confined = {"context": [{"uri": document.uri, "range": place}], "range": "confined"}
    if "confined" in desk.lacks:
        desk.says(Step("Well."))
        desk.ask()  # from then on it is known that it writes files itself
        params = {"sessionId": desk.session, "text": "Go."} | confined
        assert desk.editor.failure("agent/prompt", params).data["kind"] == "unsupported"
        return
    read = desk.actor.read(str(path))
    within, beyond = (desk.actor.edit(str(path), *words) for words in (("four", "4"), ("one", "1")))
    desk.says(do(read), do(within), do(beyond), Step("Done."))
    desk.ask("Go.", **confined)
    assert document.text.content == LINES.replace("four", "4")
    assert "one" in path.read_text()


def test_command_gate(desk: Desk) -> None:
    yes, no = desk.name(""), desk.name("")
    lines = [f"echo yes > {yes}", f"echo no > {no}"]
    desk.says(*(do(desk.actor.command(line)) for line in lines), Step("A pity."))
    desk.editor.answers = ["allow", "deny"]
    desk.ask()
    asked = [event["question"]["detail"].split("\n")[0] for event in desk.events("questionAsked")]
    assert asked == lines
    assert (desk.project.folder / yes).read_text() == "yes\n"
    assert not (desk.project.folder / no).exists()
    assert [event["isError"] for event in desk.events("toolResult")] == [False, True]


# Stopping it, wherever it is


def test_abort_before_the_answer(desk: Desk) -> None:
    desk.says(Step("Never.", delay=60))
    desk.stop(desk.begin())
    assert "Never" not in desk.joined("textDelta")


def test_abort_in_the_answer(desk: Desk) -> None:
    desk.says(Step("word " * 2000, pause=0.05))
    prompt = desk.begin()
    desk.soon("textDelta")
    desk.stop(prompt)


def test_abort_at_a_question(desk: Desk) -> None:
    ran = desk.name("")
    desk.says(do(desk.actor.command(f"touch {ran}")))
    prompt = desk.begin()
    desk.soon("questionAsked")
    asked = len(desk.requests())
    desk.stop(prompt)
    assert len(desk.requests()) == asked + 1  # nothing for the refused call; then "And now?"
    assert desk.soon("questionAnswered").get("optionId") is None
    assert not (desk.project.folder / ran).exists()


def test_abort_in_a_command(desk: Desk) -> None:
    stubborn = Stubborn()
    desk.says(do(desk.actor.command(stubborn.command)))
    desk.editor.answers = ["allow"]
    prompt = desk.begin()
    assert wait_until(lambda: len(napping(stubborn)) == 2, PATIENCE)
    desk.stop(prompt)
    assert wait_until(lambda: not stubborn.processes(), PATIENCE)


def napping(stubborn: Stubborn) -> list[int]:
    """Without the shells above them, which are there before the command runs."""
    exact = stubborn.nap.encode().replace(b" ", b"\0") + b"\0"
    found: list[int] = []
    for process in stubborn.processes():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{process}/cmdline").read_bytes() == exact:
                found.append(process)
    return found


# Steering it


def test_steer(desk: Desk) -> None:
    go = desk.project.folder / desk.name("")
    line = f"touch {go.name}.begun; while ! test -e {go.name}; do sleep 0.02; done"
    desk.says(do(desk.actor.command(line)), Step("Blue, then."))
    desk.editor.answers = ["allow"]
    prompt = desk.begin("Red.")
    desk.soon("questionAnswered")
    params = {"text": "Blue!", "sessionId": desk.session, "whenBusy": "steer"}
    if "steer" in desk.lacks:
        failure = desk.editor.failure("agent/prompt", params)
        assert failure.data["kind"] == "unsupported"
        go.touch()
        assert desk.editor.result(prompt)["text"] == "Blue, then."
        return
    steered = desk.editor.request("agent/prompt", params)
    desk.call("agent/state")  # which the agent answers after it has heard this
    go.touch()
    turns = [desk.editor.result(each) for each in (prompt, steered)]
    assert turns[0]["turnId"] == turns[1]["turnId"]
    assert desk.model_is_told("Blue!")


def test_compact(desk: Desk) -> None:
    if "compact" in desk.lacks:
        failure = desk.editor.failure("agent/compact", {"sessionId": desk.session})
        assert failure.data["kind"] == "unsupported"
        return
    desk.says(*[Step(f"Answer {number}. " * 40) for number in range(4)])
    for number in range(4):
        desk.ask(f"Question {number}. " * 40)
    desk.says(*[Step("The summary.")] * 2)
    summary = desk.call("agent/compact")["summary"]
    assert summary.startswith("The summary.")
    assert [event["summary"] for event in desk.events("compacted")] == [summary]
    desk.says(Step("Well."))
    assert desk.ask("Go on.")["text"] == "Well."
    assert desk.model_is_told("The summary.")
    assert not desk.model_is_told("Answer 0")
    assert desk.model_is_told("Question 0") is desk.keeps_prompts


def test_models(desk: Desk) -> None:
    desk.says(Step("One."), Step("Two."))
    session = desk.second_session()
    desk.ask(sessionId=session)
    if "models" in desk.lacks:
        failure = desk.editor.failure("agent/models", {"sessionId": session})
        assert failure.data["kind"] == "unsupported"
        desk.close_second_session()
        return
    told = desk.call("agent/models", sessionId=session)
    of = {each["id"]: provider_of(each) for each in told["models"]}
    known = [each for each in of if of[each] == of[told["current"]]]
    other = desk.other_model or next(each for each in known if each != told["current"])
    assert other in known
    assert desk.call("agent/setModel", model=other, sessionId=session)["model"] == other
    desk.ask(sessionId=session)
    first, second = (request.get("model") for request in desk.requests()[-2:])
    assert first != second
    assert second in other or other in second  # some have a short name of their own for it
    desk.close_second_session()


def provider_of(model: Json) -> str:
    return model.get("provider") or model["id"].rpartition("/")[0]


# Its sessions


def test_sessions(desk: Desk) -> None:
    desk.says(*[Step("Well.")] * 3)
    desk.ask("In the first one.")
    other = desk.second_session()
    desk.ask("In the second one.", sessionId=other)
    assert not desk.model_is_told("In the first one.")
    desk.ask("In the first one again.")
    assert not desk.model_is_told("In the second one.")
    for session in (desk.session, other):
        assert wait_until(lambda session=session: desk.status_of(session) == "idle", PATIENCE)
    messages = str(desk.call("agent/messages", sessionId=other))
    assert "In the second one." in messages
    assert "In the first one" not in messages


def test_resume(desk: Desk) -> None:
    """In another server, and so by another process of the agent."""
    desk.says(*[Step("Noted.")] * 2)
    other = desk.second_session()
    desk.ask("The word is blue.", sessionId=other)
    desk.close_second_session()
    later = desk.another_editor()
    assert wait_until(lambda: desk.status_of(other, later) == "closed", PATIENCE)
    later.call("agent/resumeSession", {"sessionId": other})
    turn = later.ask_agent("Which word?", sessionId=other)
    assert (turn["sessionId"], turn["text"]) == (other, "Noted.")
    assert desk.model_remembers("The word is blue.") is ("resume" not in desk.lacks)
    if "resume" in desk.lacks:
        assert desk.model_is_told("The word is blue.")
        assert any("does not remember" in each["message"] for each in later.events("notice"))


def test_rewind(desk: Desk) -> None:
    desk.says(*[Step("Noted.")] * 3)
    other = desk.second_session()
    desk.ask("The word is blue.", sessionId=other)
    desk.ask("The number is seven.", sessionId=other)
    went = desk.call("agent/rewind", sessionId=other)
    assert went["text"] == "The number is seven."
    assert desk.ask("Which word?", sessionId=other)["text"] == "Noted."
    assert desk.model_is_told("The word is blue.")
    assert not desk.model_is_told("The number is seven.")
    desk.close_second_session()


def test_own_sessions(desk: Desk) -> None:
    """One that the agent has kept and we know nothing of any more."""
    if "own_sessions" in desk.lacks:
        failure = desk.editor.failure("agent/agentSessions", {"sessionId": desk.session})
        assert failure.data["kind"] == "unsupported"
        return
    desk.says(*[Step("Noted.")] * 2)
    before = {each["ref"] for each in desk.call("agent/agentSessions")["sessions"]}
    other = desk.second_session()
    desk.ask("The word is green.", sessionId=other)
    desk.close_second_session()
    desk.editor.call("agent/deleteSession", {"sessionId": other})
    found = desk.call("agent/agentSessions")["sessions"]
    (ref,) = {each["ref"] for each in found} - before
    other = desk.editor.call("agent/newSession", {"ref": ref})["sessionId"]
    assert "The word is green." in str(desk.call("agent/messages", sessionId=other))
    desk.ask("Which word?", sessionId=other)
    assert desk.model_remembers("The word is green.")
    desk.editor.call("agent/closeSession", {"sessionId": other})


# What else goes in and out


def test_images(desk: Desk) -> None:
    desk.says(Step("A pixel."))
    desk.ask("What is this?", images=[{"mimeType": "image/png", "data": PIXEL}])
    assert desk.model_is_told(PIXEL) is ("images" not in desk.lacks)


def test_usage(desk: Desk) -> None:
    desk.says(Step("Well."))
    usage = desk.ask()["usage"]
    assert (usage["input"], usage["output"]) == desk.usage
    (told,) = desk.events("usage")
    assert told["cumulative"] == desk.call("agent/state")["usage"]


def test_window(desk: Desk) -> None:
    """Of the call that was just made; how large it is, the agent may not know of a scripted
    model."""
    desk.says(Step("Well."))
    desk.ask()
    if "window" in desk.lacks:
        assert "window" not in desk.call("agent/state")
        return
    assert desk.soon("window")["used"] > 0
    assert desk.call("agent/state")["window"]["used"] == desk.events("window")[-1]["used"]


def test_cost(desk: Desk) -> None:
    desk.says(Step("Well."))
    usage = desk.ask()["usage"]
    assert (usage.get("cost", 0) > 0) is ("cost" not in desk.lacks)
