"""The agent's questions where the chat is not looked at: an answer stands only beside what it
answers, all of it."""

import re
from typing import Any

import pytest
from vscode_desk import done, step
from vscode_modules import returned
from vscode_product import Product
from workbench import wait_until

Json = dict[str, Any]

ALLOW: Json = {"optionId": "allow", "name": "Allow", "kind": "allowOnce"}
EVERY: Json = {
    "optionId": "s",
    "name": "Allow every command in this session",
    "kind": "allowSession",
}
DENY: Json = {"optionId": "deny", "name": "Deny", "kind": "deny"}

pytestmark = [pytest.mark.vscode]


def asked(command: str, *options: Json) -> Json:
    """As the server asks whether a command may run."""
    first, _, rest = command.partition("\n")
    title = "bash: " + first[:120] + ("…" if rest or len(first) > 120 else "")
    fields = {"questionId": "q", "sessionId": "s", "kind": "permission"}
    return fields | {"title": title, "detail": command, "options": options or (ALLOW, EVERY, DENY)}


def toast(question: Json) -> tuple[str, list[str]]:
    made = returned("return toasts.toastOf(argument)", question, toasts="toasts")
    return made["message"], [button["title"] for button in made["buttons"]]


def test_a_short_command_is_answered_in_a_notification() -> None:
    told = ("bash: touch a.txt", ["Allow", "Allow every command in this session", "Deny"])
    assert toast(asked("touch a.txt")) == told
    pattern = {"optionId": "p", "name": "Allow `touch *` in this session", "kind": "allowPattern"}
    question = asked("touch a.txt", ALLOW, pattern, EVERY, DENY)
    assert toast(question) == ("bash: touch a.txt", ["Allow", "Deny", "More…"])


@pytest.mark.parametrize(
    "command",
    [
        "echo " + "x" * 200,
        "echo one\nrm -rf build",
        "echo one\r rm -rf build",
        "echo [fine](https://example.org)",
        "echo [fine](command:lspAgent.chat.stop)",
        "echo 'a  b'",
        "echo a\u202eb",
        "echo a\u2028b",
        "echo a ",
    ],
)
def test_a_command_that_a_notification_shows_otherwise_is_answered_in_the_chat(
    command: str,
) -> None:
    message, buttons = toast(asked(command))
    assert buttons == ["Show in Chat"]
    assert len(message) <= 120
    assert "](" not in message
    assert "\n" not in message


def test_an_answer_of_which_not_all_is_seen_is_given_in_the_chat() -> None:
    pattern = {"optionId": "p", "name": f"Allow `{'x' * 60}`", "kind": "allowPattern"}
    assert toast(asked("true", ALLOW, pattern, DENY))[1] == ["Show in Chat"]


def test_a_list_of_answers_has_all_of_the_question_as_its_title_or_is_not_there() -> None:
    titles = "return argument.map((each) => toasts.listTitleOf(each) ?? null)"
    questions = [asked("touch a.txt"), asked("touch " + "a" * 50), asked("true\nfalse")]
    told = returned(titles, questions, toasts="toasts")
    assert told == ["bash: touch a.txt", None, None]


def bash(command: str) -> Json:
    return {"name": "bash", "args": {"command": command}}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.xdist_group("vscode")
def test_a_long_command_is_allowed_only_where_all_of_it_is_seen(person: Product) -> None:
    person.begin(step(bash("true " + "x" * 150 + "\ntouch allowed.txt")), done())
    person.hide()
    person.command("lspAgent.prompt", {"text": "Go"})
    toasts = person.page.locator(".notification-toast", has_text="bash: true")
    toasts.get_by_role("button", name="Show in Chat").wait_for()
    assert toasts.get_by_role("button", name=re.compile("^Allow")).count() == 0
    toasts.get_by_role("button", name="Show in Chat").click()
    question = person.turn.locator(".question.open")
    question.locator("pre", has_text="touch allowed.txt").wait_for()
    focused = "(element) => element === document.activeElement"
    wait_until(lambda: question.evaluate(focused))
    assert not (person.folder / "allowed.txt").exists()
    person.hide()
    person.workbench.run("void vscode.commands.executeCommand('lspAgent.chat.answer')")
    person.turn.locator(".question.open").wait_for()  # and no list, which could not show it
    person.press("Allow")
    wait_until((person.folder / "allowed.txt").exists)
    person.wait_for_end()
