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
    message = "bash: touch a.txt"
    assert toast(asked("touch a.txt", ALLOW, DENY)) == (message, ["Not Now", "Allow", "Deny"])
    assert toast(asked("touch a.txt")) == (message, ["Not Now", "Allow", "Deny", "More…"])
    pattern = {"optionId": "p", "name": "Allow `touch *` in this session", "kind": "allowPattern"}
    question = asked("touch a.txt", ALLOW, pattern, EVERY, DENY)
    assert toast(question) == (message, ["Not Now", "Allow", "Deny", "More…"])


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
    assert buttons == ["Not Now", "Show in Chat"]
    assert len(message) <= 120
    assert "](" not in message
    assert "\n" not in message


def test_an_answer_of_which_not_all_is_seen_is_given_in_the_chat() -> None:
    pattern = {"optionId": "p", "name": f"Allow `{'x' * 60}`", "kind": "allowPattern"}
    assert toast(asked("true", ALLOW, pattern, DENY))[1] == ["Not Now", "Show in Chat"]


def test_a_list_of_answers_has_all_of_the_question_as_its_title_or_is_not_there() -> None:
    titles = "return argument.map((each) => toasts.listTitleOf(each) ?? null)"
    questions = [asked("touch a.txt"), asked("touch " + "a" * 50), asked("true\nfalse")]
    told = returned(titles, questions, toasts="toasts")
    assert told == ["bash: touch a.txt", None, None]


# The chat is hidden. A toast and a list stand until the person presses something in them, which
# they have read by then.
NOBODY_LOOKS = """
let shown = null;
let now = 0;
Date.now = () => now;
const told = [];
const toasts = [];
const lists = [];
const toast = (message, ...buttons) => {
  told.push(message);
  return new Promise((resolve) => toasts.push((title) =>
    resolve(buttons.find((button) => button.title === title))));
};
const settled = () => new Promise((resolve) => setTimeout(resolve));
const createQuickPick = () => {
  const [active, accepted, hidden] = [1, 2, 3].map(() => new vscode.EventEmitter());
  const list = {
    onDidChangeActive: active.event, onDidAccept: accepted.event, onDidHide: hidden.event,
    show: () => { lists.push(list); active.fire(); }, hide: () => hidden.fire(), dispose() {},
    choose: async (optionId, wait = 1000) => {
      now += wait;
      list.selectedItems = list.items.filter(({ option }) => option.optionId === optionId);
      accepted.fire();
      await settled();
    },
  };
  return list;
};
Object.assign(vscode.window, { showWarningMessage: toast, createQuickPick });
const press = async (title, wait = 1000) => {
  now += wait;
  toasts.shift()(title);
  await settled();
};
const look = async (session) => { shown = session; all.notifyUnwatched(); await settled(); };
const all = new questions.Questions((session) => session === shown,
  async ({ sessionId }) => { shown = sessionId; all.notifyUnwatched(); });
const token = { onCancellationRequested: () => ({ dispose() {} }) };
const answers = [];
const ask = (question) => all.ask(question, token).then((answer) => answers.push(answer));
"""
PATTERN: Json = {"optionId": "p", "name": "Allow `touch *`", "kind": "allowPattern"}


def unwatched(code: str, question: Json) -> Any:
    """How many toasts came, and the answers."""
    code = f"{NOBODY_LOOKS} ask(argument); {code} return [told.length, answers];"
    return returned(code, question, questions="questions")


def test_a_question_that_was_looked_at_and_not_answered_comes_again() -> None:
    long = asked("true\nfalse")
    assert unwatched("await press('Show in Chat');", long) == [1, []]
    assert unwatched("await press('Show in Chat'); await look(null);", long) == [2, []]
    elsewhere = "await look('s'); await press(); await look('another');"  # closed beside the chat
    assert unwatched(elsewhere, long) == [2, []]
    again = "await press('Show in Chat'); await look(null); await press();"
    assert unwatched(again + "await look('s'); await look(null);", long) == [2, [None]]


def test_a_question_whose_list_was_closed_without_an_answer_comes_again() -> None:
    question = asked("touch a.txt", ALLOW, PATTERN, EVERY, DENY)
    close = "await press('More…'); lists.shift().hide(); await settled();"
    assert unwatched(close, question) == [2, []]
    assert unwatched(close + "await press('Allow');", question) == [2, [{"optionId": "allow"}]]
    chosen = "await press('More…'); await lists.shift().choose('p');"
    assert unwatched(chosen, question) == [1, [{"optionId": "p"}]]
    # It has no list: the chat is shown in its place, and the question is seen there.
    wide = asked("touch " + "a" * 50, ALLOW, PATTERN, EVERY, DENY)
    assert unwatched("await press('More…');", wide) == [1, []]
    assert unwatched("await press('More…'); await look(null);", wide) == [2, []]


def test_what_is_pressed_as_a_toast_or_a_list_comes_up_is_no_answer() -> None:
    question = asked("touch a.txt", ALLOW, PATTERN, EVERY, DENY)
    early = "await press('Allow', 299);"
    assert unwatched(early, question) == [2, []]
    assert unwatched(early + "await press('Allow', 300);", question) == [2, [{"optionId": "allow"}]]
    listed = "await press('More…'); await lists[0].choose('p', 299);"
    assert unwatched(listed, question) == [1, []]
    later = listed + "await lists[0].choose('p', 1);"
    assert unwatched(later, question) == [1, [{"optionId": "p"}]]


def test_the_first_button_which_a_key_of_the_editor_presses_does_nothing() -> None:
    assert unwatched("await press('Not Now');", asked("touch a.txt")) == [1, []]
    again = "await press('Not Now'); await look('s'); await look(null);"
    assert unwatched(again, asked("touch a.txt")) == [1, []]
    answered = "await press('Not Now'); all.answer('q', 'deny'); await settled();"
    assert unwatched(answered, asked("touch a.txt")) == [1, [{"optionId": "deny"}]]


def test_a_toast_that_stands_does_not_come_twice() -> None:
    assert unwatched("await look('s'); await look(null);", asked("touch a.txt")) == [1, []]


def test_questions_that_look_the_same_are_asked_one_after_the_other() -> None:
    # VS Code closes a notification for one that is equal, which would dismiss the first question.
    question = asked("touch a.txt")
    other = "ask({ ...argument, questionId: 'r', sessionId: 't' }); await settled();"
    assert unwatched(other, question) == [1, []]
    allowed: Json = {"optionId": "allow"}
    assert unwatched(other + "await press('Allow');", question) == [2, [allowed]]
    elsewhere = "all.answer('q', 'deny'); await settled();"  # its notification stands
    assert unwatched(other + elsewhere, question) == [2, [{"optionId": "deny"}]]
    both = "await press('Allow'); await press('Deny');"
    assert unwatched(other + both, question) == [2, [allowed, {"optionId": "deny"}]]


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
    toasts.get_by_role("button", name="Show in Chat").wait_for()
    person.workbench.run("void vscode.commands.executeCommand('lspAgent.chat.answer')")
    person.turn.locator(".question.open").wait_for()  # and no list, which could not show it
    person.read()
    person.press("Allow")
    wait_until((person.folder / "allowed.txt").exists)
    person.wait_for_end()
