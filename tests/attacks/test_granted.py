"""What a person has allowed once goes no further than what they were asked about."""

from collections.abc import Callable

import pytest
from ground import MODES, Ground
from project import Editor, call, step, write

Report = Callable[[str, str, str, str], None]


def asked(editor: Editor) -> list[str]:
    return [question["title"] for question in editor.received("agent/ask")]


@pytest.mark.parametrize("mode", MODES)
def test_a_command_that_names_a_path_beside_itself_grants_no_path(
    ground: Ground, mode: str, report: Report
) -> None:
    secret = str(ground.decoy / "secret.txt")
    editor = ground.attacked(
        mode,
        step("", call("bash", command="true", path=secret)),
        step("", call("read", path=secret), write(secret, "x")),
        step("Done."),
    )
    editor.handlers["agent/ask"] = lambda _question: {"optionId": "allow"}
    editor.ask_agent("Go.")
    editor.call("agent/messages")
    ground.check(editor)
    assert asked(editor) == ["bash: true"]
    texts = editor.tool_texts()[1:]
    assert all("lies outside" in text for text in texts)
    report("a path slipped in beside an allowed command", mode, "refused", ground.shown(texts[0]))


@pytest.mark.parametrize("mode", MODES)
def test_a_file_outside_that_was_read_once_is_asked_about_again(
    ground: Ground, mode: str, report: Report
) -> None:
    plain = ground.decoy / "plain.txt"
    plain.write_text("nothing secret\n", encoding="utf-8")
    name = "../decoy/plain.txt"
    editor = ground.attacked(
        mode,
        step("", call("read", path=name)),
        step("", write(name, "x"), call("read", path=name)),
        step("Done."),
        options={"permissions": {"outside": "ask"}},
    )
    answers = iter(["allow"])
    editor.handlers["agent/ask"] = lambda _question: {"optionId": next(answers, "deny")}
    editor.ask_agent("Go.")
    ground.check(editor)
    assert [title.partition(":")[0] for title in asked(editor)] == ["read", "write", "read"]
    first, *others = editor.tool_texts()
    assert first == "nothing secret\n"
    assert all("declined" in text for text in others)
    report("what was read once is then written", mode, "asked", ground.shown(others[0]))
