"""The agent's questions where the chat is not looked at: an answer stands only beside what it
answers, all of it."""

import re
from typing import Any

import pytest
from support.vscode_modules import returned
from support.workbench import wait_until
from vscode_desk import done, step
from vscode_product import Product

Json = dict[str, Any]

ALLOW: Json = {"optionId": "allow", "name": "Allow", "kind": "allowOnce"}
EVERY: Json = {
    "optionId": "s",
    "name": "Allow every command in this session",
    "kind": "allowSession",
}
DENY: Json = {"optionId": "deny", "name": "Deny", "kind": "deny"}

REASONED = "Deny with a Reason…"

pytestmark = [pytest.mark.vscode]


def asked(command: str, *options: Json) -> Json:
    """As the server asks whether a command may run."""
    first, _, rest = command.partition("\n")
    title = "bash: " + first[:120] + ("…" if rest or len(first) > 120 else "")
    fields = {"questionId": "q", "sessionId": "s", "kind": "permission"}
    return fields | {"title": title, "detail": command, "options": options or (ALLOW, DENY, EVERY)}


def offered(pattern: str) -> list[Json]:
    """As the server offers them for a command that has a pattern."""
    names = {
        "allow": "Allow",
        "allowCommand": "Allow this command in this session",
        "allowPattern": f"Allow `{pattern}` in this session",
        "allowSession": "Allow every command in this session",
        "allowProject": f"Allow `{pattern}` always in this project",
        "allowAlways": f"Allow `{pattern}` always",
    }
    allowed = [{"optionId": each, "name": name, "kind": each} for each, name in names.items()]
    return [allowed[0], DENY, *allowed[1:]]


def toast(question: Json) -> tuple[str, list[str]]:
    made = returned("return toasts.toastOf(argument)", question, toasts="toasts")
    return made["message"], [button["title"] for button in made["buttons"]]


def test_a_short_command_is_answered_in_a_notification() -> None:
    message = "bash: touch a.txt"
    assert toast(asked("touch a.txt", ALLOW, DENY)) == (message, ["Not Now", "Allow", "Deny"])
    assert toast(asked("touch a.txt")) == (message, ["Not Now", "Allow", "Deny", "More…"])
    pattern = {"optionId": "p", "name": "Allow `touch *` in this session", "kind": "allowPattern"}
    question = asked("touch a.txt", ALLOW, DENY, pattern, EVERY)
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
    wide = ALLOW | {"name": f"Allow `{'x' * 60}`"}
    assert toast(asked("true", wide, DENY))[1] == ["Not Now", "Show in Chat"]


def test_a_wide_answer_keeps_the_others_in_the_notification() -> None:
    offers = offered("npm run test:integration:all*")
    message, buttons = toast(asked("npm run test:integration:all", *offers))
    assert buttons == ["Not Now", "Allow", "Deny", "More…"]
    assert message == "bash: npm run test:integration:all"
    # Not in a list, which cuts them.
    question = asked("npm run test:integration:all", *offers)
    assert unwatched("await press('More…'); await look(null);", question) == [2, []]


def test_what_is_allowed_for_good_is_offered_in_a_list_alone() -> None:
    question = asked("pytest -q", *offered("pytest*"))
    assert toast(question)[1] == ["Not Now", "Allow", "Deny", "More…"]
    chosen = "await press('More…'); await lists.shift().choose('allowAlways');"
    assert unwatched(chosen, question) == [1, [{"optionId": "allowAlways"}]]


def test_the_first_of_a_list_does_nothing() -> None:
    question = asked("pytest -q", *offered("pytest*"))
    first = "await press('More…'); await lists[0].choose(undefined);"
    assert unwatched(first, question) == [2, []]
    label = "return lists[0].items[0].label;"
    code = f"{NOBODY_LOOKS} ask(argument); await press('More…'); {label}"
    assert returned(code, question, questions="questions") == "Not Now"


def test_what_is_typed_into_a_list_and_entered_at_once_is_no_answer() -> None:
    # Who types on at a text has seen no list.
    question = asked("pytest -q", *offered("pytest*"))
    typed = "await press('More…'); now += 1000; lists[0].type('always');"
    assert unwatched(typed + "await lists[0].choose('allowAlways', 299);", question) == [1, []]
    read = typed + "await lists[0].choose('allowAlways', 300);"
    assert unwatched(read, question) == [1, [{"optionId": "allowAlways"}]]


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
  const [active, value, accepted, hidden] = [1, 2, 3, 4].map(() => new vscode.EventEmitter());
  const list = {
    onDidChangeActive: active.event, onDidChangeValue: value.event,
    onDidAccept: accepted.event, onDidHide: hidden.event,
    type: (text) => { list.value = text; value.fire(text); active.fire(); },
    show: () => { lists.push(list); active.fire(); }, hide: () => hidden.fire(), dispose() {},
    choose: async (optionId, wait = 1000) => {
      now += wait;
      list.selectedItems = list.items.filter(({ choice }) => choice?.option.optionId === optionId);
      accepted.fire();
      await settled();
    },
  };
  return list;
};
const reasons = [];
const showInputBox = () => new Promise((resolve) => reasons.push(resolve));
Object.assign(vscode.window, { showWarningMessage: toast, createQuickPick, showInputBox });
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
    question = asked("touch a.txt", ALLOW, DENY, PATTERN, EVERY)
    close = "await press('More…'); lists.shift().hide(); await settled();"
    assert unwatched(close, question) == [2, []]
    assert unwatched(close + "await press('Allow');", question) == [2, [{"optionId": "allow"}]]
    chosen = "await press('More…'); await lists.shift().choose('p');"
    assert unwatched(chosen, question) == [1, [{"optionId": "p"}]]
    # It has no list: the chat is shown in its place, and the question is seen there.
    wide = asked("touch " + "a" * 50, ALLOW, DENY, PATTERN, EVERY)
    assert unwatched("await press('More…');", wide) == [1, []]
    assert unwatched("await press('More…'); await look(null);", wide) == [2, []]


def test_a_denial_in_a_list_takes_a_reason_for_the_agent() -> None:
    question = asked("touch a.txt")
    labels = "lists[0].items.slice(1, 4).map(({ label }) => label)"
    code = f"{NOBODY_LOOKS} ask(argument); await press('More…'); return {labels};"
    assert returned(code, question, questions="questions") == ["Allow", "Deny", REASONED]
    chosen = "await press('More…'); lists[0].items.splice(2, 1); await lists[0].choose('deny');"
    said = chosen + "reasons[0](' use make dirs '); await settled();"
    assert unwatched(said, question)[1] == [{"optionId": "deny", "reason": "use make dirs"}]
    nothing = chosen + "reasons[0](''); await settled();"
    assert unwatched(nothing, question)[1] == [{"optionId": "deny"}]


def test_who_gives_no_reason_after_all_has_not_denied() -> None:
    chosen = "await press('More…'); lists[0].items.splice(2, 1); await lists[0].choose('deny');"
    left = chosen + "reasons[0](undefined); await settled();"
    assert unwatched(left, asked("touch a.txt")) == [2, []]
    late = chosen + "all.answer('q', 'allow'); reasons[0]('no'); await settled();"
    assert unwatched(late, asked("touch a.txt")) == [1, [{"optionId": "allow"}]]


def test_what_is_pressed_as_a_toast_or_a_list_comes_up_is_no_answer() -> None:
    question = asked("touch a.txt", ALLOW, DENY, PATTERN, EVERY)
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
    person.begin(step(bash("true " + "x" * 150 + "\ntouch seen.txt")), done())
    person.hide()
    person.command("lspAgent.prompt", {"text": "Go"})
    toasts = person.page.locator(".notification-toast", has_text="bash: true")
    toasts.get_by_role("button", name="Show in Chat").wait_for()
    assert toasts.get_by_role("button", name=re.compile("^Allow")).count() == 0
    toasts.get_by_role("button", name="Show in Chat").click()
    question = person.turn.locator(".question.open")
    question.locator("pre", has_text="touch seen.txt").wait_for()
    focused = "(element) => element === document.activeElement"
    wait_until(lambda: question.evaluate(focused))
    assert not (person.folder / "seen.txt").exists()
    person.hide()
    toasts.get_by_role("button", name="Show in Chat").wait_for()
    person.workbench.run("void vscode.commands.executeCommand('lspAgent.chat.answer')")
    person.turn.locator(".question.open").wait_for()  # and no list, which could not show it
    person.read()
    person.press("Allow")
    wait_until((person.folder / "seen.txt").exists)
    person.wait_for_end()


FOCUSED_LATE = """
void vscode.commands.executeCommand('lspAgent.chat.answer');
await vscode.commands.executeCommand('lspAgent.chat.open');
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.xdist_group("vscode")
def test_a_list_of_answers_is_not_closed_by_the_focus_that_the_palette_gives_back(
    person: Product,
) -> None:
    person.begin(step(bash("touch listed.txt")), done())
    person.command("lspAgent.prompt", {"text": "Go"})
    person.turn.locator(".question.open").wait_for()
    person.workbench.run(FOCUSED_LATE)
    person.page.locator(".quick-input-widget input:focus").wait_for()
    person.read()
    person.page.keyboard.type("Allow")
    person.page.locator(".quick-input-list .monaco-list-row.focused", has_text="Allow").wait_for()
    person.read()
    person.key("Enter")
    wait_until((person.folder / "listed.txt").exists)
    person.wait_for_end()


# The window stands still for longer than a question has to be seen, from before it is painted.
STILL = """
() => new MutationObserver((_, watching) => {
  const button = document.querySelector('.question.open button');
  if (button === null) return;
  watching.disconnect();
  const { x, y } = button.getBoundingClientRect();
  console.log(`a question at ${x + 5} ${y + 5}`);
  const began = performance.now();
  while (performance.now() - began < 1000);
}).observe(document.body, { childList: true, subtree: true })
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.xdist_group("vscode")
def test_a_click_made_while_the_window_stands_still_is_no_answer(person: Product) -> None:
    person.begin(step(bash("touch early.txt")), done())
    frame = person.chat.locator("body").bounding_box()
    assert frame is not None
    person.chat.evaluate(STILL)
    with person.page.expect_console_message(lambda said: "a question at" in said.text) as heard:
        person.say("Go")
    x, y = map(float, heard.value.text.split()[-2:])
    person.page.wait_for_timeout(500)
    person.page.mouse.click(frame["x"] + x, frame["y"] + y)  # heard half a second later
    person.read()
    person.turn.locator(".question.open").wait_for()
    assert not (person.folder / "early.txt").exists()
    person.press("Allow")
    wait_until((person.folder / "early.txt").exists)
    person.wait_for_end()
