"""What a person has allowed once goes no further than what they were asked about."""

from collections.abc import Callable

import pytest
from ground import MODES, Ground
from support.project import Editor, bash, call, step, write

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
        options={"permissions": {"reading": "ask"}},
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


@pytest.mark.parametrize("mode", MODES)
def test_a_granted_pattern_leads_to_no_file_outside(
    ground: Ground, mode: str, report: Report
) -> None:
    ground.file("a.txt", "one\n")
    (ground.folder / "link.txt").symlink_to(ground.decoy / "secret.txt")
    (ground.folder / "up").symlink_to(ground.base)
    others = [
        "cat l*.txt",
        "cat ?p/decoy/secret.txt",
        f"cat -n{ground.decoy}/secret.txt",
        "cat ~root/x",
    ]
    editor = ground.attacked(
        mode,
        step("", bash("cat a.txt"), bash("cat a*.txt")),
        step("", *map(bash, others)),
        step("Done."),
        options={"permissions": {"reading": "ask"}},
    )
    answers = iter(["allowPattern"])
    editor.handlers["agent/ask"] = lambda _question: {"optionId": next(answers, "deny")}
    editor.ask_agent("Go.")
    ground.check(editor)
    assert asked(editor) == [f"bash: {line}" for line in ("cat a.txt", *others)]
    texts = editor.tool_texts()
    assert all(text.startswith("$ cat a") for text in texts[:2])
    assert all("declined" in text for text in texts[2:])
    report("a glob or an option behind a granted pattern", mode, "asked", ground.shown(texts[2]))
