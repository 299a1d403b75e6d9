"""How full the window of the agent's model is."""

from support.project import EVENTS, Editor, Project, call, step
from support.raw_client import Json, wait_until

#: Of the model that follows a script, which counts each word of a prompt as a token.
SIZE = 200_000


def asked(editor: Editor, words: int, *, calls: int = 1) -> Json:
    """The result of a turn, once what its calls filled is told: that may be after its end."""
    before = len(editor.events("window"))
    result = editor.ask_agent("word " * words)
    assert wait_until(lambda: len(editor.events("window")) == before + calls)
    return result


def test_it_is_told_with_each_call_of_the_model_and_in_the_state(project: Project) -> None:
    editor = project.editor(
        step("", call("read", path="a.txt")), step("Done."), step("Yes."), client=EVENTS
    )
    assert "window" not in editor.call("agent/state")
    first = asked(editor, 3, calls=2)
    usage = editor.events("usage")[-1]
    told = editor.events("window")[-1]
    assert (told["used"], told["size"]) == (usage["input"] + usage["output"], SIZE)
    assert editor.call("agent/state")["window"] == {"used": told["used"], "size": SIZE}
    ended = editor.event("turnEnded", turnId=first["turnId"])
    assert ended["usage"] == first["usage"]


def test_a_person_is_told_once_before_it_is_full(project: Project) -> None:
    editor = project.editor(*(step("Done.") for _ in range(4)), client=EVENTS)

    def warnings() -> int:
        return sum("% full" in each["message"] for each in editor.events("notice"))

    asked(editor, SIZE // 2)
    assert warnings() == 0
    asked(editor, SIZE * 8 // 10)
    notice = editor.event("notice", source="lsp-agent")
    assert notice["message"].startswith("The model's window is 80 % full.")
    asked(editor, SIZE * 8 // 10 + 1)
    assert warnings() == 1


def test_after_a_compaction_nobody_knows_it_until_the_next_call(project: Project) -> None:
    editor = project.editor(*(step("Done.") for _ in range(9)), client=EVENTS)
    for words in range(1, 8):
        asked(editor, words)
    editor.call("agent/compact")
    assert "window" not in editor.call("agent/state")
