"""A person types on in VS Code while questions come and go: no key of theirs answers one, and none
is lost.

A try is a burst of keys that would answer a notification, a list or a card, if it had the focus, or
that VS Code itself takes for its notifications. Meanwhile the questions come, in notifications
while the chat is hidden, else in the chat: each stands for about half a second, then it is denied
by the server's command, and the next one comes.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from support.sizes import size
from support.workbench import wait_until
from vscode_desk import done, step
from vscode_product import Product, build, product

pytestmark = [pytest.mark.vscode, pytest.mark.slow, pytest.mark.timeout(900)]
pytestmark.append(pytest.mark.xdist_group("vscode"))

TRIES = size(250, 1000)
#: At least, in that time.
QUESTIONS = TRIES // 10

TITLE = "VS Code, keys typed through the appearance of questions"

#: Text, and keys by name; the number of the try comes at once, as from a method of input.
#: Ctrl+Shift+A comments a block on Linux (a plain text has none), and with a screen reader it
#: presses the first button of a notification.
EDITOR = (
    ["{n} y", "Enter"],
    ["Control+Shift+A"],
    ["1", "Enter"],
    ["{n}", "Space", "Enter"],
    ["Escape", "Enter"],
    ["2", "Space"],
)
PROMPT = (
    ["{n} y", "Shift+Enter"],
    ["1", "Space"],
    ["2", "Shift+Enter"],
)
TYPED = {"Enter": "\n", "Shift+Enter": "\n", "Space": " ", "Control+Shift+A": "", "Escape": ""}

QUIET = {
    "editor.quickSuggestions": False,
    "editor.wordBasedSuggestions": "off",
    "editor.suggestOnTriggerCharacters": False,
    "editor.autoIndent": "none",
    "editor.accessibilitySupport": "on",
}

DENIER = """
const run = (...passed) => vscode.commands.executeCommand(...passed);
const seen = new Set();
globalThis.denier = { asked: 0, tried: 0, denied: 0, refused: 0 };
// False: it was answered by somebody else. Nothing at all: refused, as a key that is not meant is.
async function deny(questionId) {
  const answer = await run('lspAgent.answer', { questionId, optionId: 'deny' });
  if (answer === undefined) {
    denier.refused += 1;
    setTimeout(() => deny(questionId), 100);
    return;
  }
  denier.tried += 1;
  denier.denied += answer.answered;
}
globalThis.denier.timer = setInterval(async () => {
  const { sessions } = await run('lspAgent.sessions');
  const of = ({ sessionId }) => run('lspAgent.state', { sessionId });
  const states = await Promise.all(sessions.filter((each) => each.status === 'running').map(of));
  const questions = states.flatMap((each) => each.questions);
  for (const { questionId } of questions.filter((each) => !seen.has(each.questionId))) {
    seen.add(questionId);
    denier.asked += 1;
    setTimeout(() => deny(questionId), 330 + Math.random() * 400);
  }
}, 150);
"""
# With the settings of a screen reader, of which there is none here to move the cursor, VS Code puts
# it back whenever it learns of its own last selection late (editContext's selectionchange; measured
# with no turn and no question: told 120 ms late, a line's keys come before those of the one above).
NO_READER = """
window.addEventListener('selectionchange', (event) => event.stopImmediatePropagation(), true)
"""
RESTED = "new Promise((rested) => requestIdleCallback(rested, { timeout: 1000 }))"
COUNTS = "return [denier.asked, denier.tried, denier.denied, denier.refused]"

Record = Callable[[str, object], None]
Bursts = tuple[list[str], ...]


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Product]:
    """With a workbench in which no other test has left anything that may take a key."""
    with product(tmp_path, build()) as started:
        yield started


def type_through(person: Product, bursts: Bursts, tries: range) -> str:
    """The text that the person has typed."""
    rng = random.Random(tries.start)
    typed = ""
    for number in tries:
        for part in bursts[number % len(bursts)]:
            text = part.replace("{n}", str(number))
            if part in TYPED:
                person.page.keyboard.press(part)
            elif part.startswith("{n}"):
                person.page.keyboard.insert_text(str(number))
                person.page.keyboard.type(part.removeprefix("{n}"))
            else:
                person.page.keyboard.type(text)
            typed += TYPED.get(part, text)
        # Keys go before all else in Chromium: without a rest no question would come between them,
        # and what the window has to do would be minutes behind on a slow machine.
        person.page.evaluate(RESTED)
        person.page.wait_for_timeout(rng.choice((0, 0, 0, 30)))
    return typed


def test_keys_typed_through_questions_answer_none(person: Product, record_property: Record) -> None:
    command = {"name": "bash", "args": {"command": "echo x >> ran"}}
    long = {"name": "bash", "args": {"command": "echo\necho x >> ran"}}
    steps = [step(command, command, long) for _ in range(150)]
    ran = person.folder / "ran"
    ran.unlink(missing_ok=True)
    person.begin(*steps, done(), **QUIET)
    person.workbench.run(DENIER)
    person.say("Run them.")
    person.open("a.txt", "")
    person.hide()
    person.page.evaluate(NO_READER)
    wait_until(lambda: person.workbench.run(COUNTS)[0])

    person.go_to("a.txt", "")
    typed = type_through(person, EDITOR, range(TRIES // 2))  # toasts come
    person.command("lspAgent.chat.open")
    person.wait_for_cursor()
    prompt = type_through(person, PROMPT, range(TRIES // 2, TRIES * 3 // 4))
    wait_until(lambda: person.input.input_value() == prompt)
    person.command("workbench.action.focusActiveEditorGroup")
    typed += type_through(person, EDITOR, range(TRIES * 3 // 4, TRIES))

    person.workbench.run("clearInterval(denier.timer)")
    wait_until(lambda: len({*person.workbench.run(COUNTS)[:2]}) == 1)
    asked, tried, denied, refused = person.workbench.run(COUNTS)
    with suppress(AssertionError):  # of what is lost the figures tell below
        wait_until(lambda: person.text("a.txt") == typed)  # the last keys are on their way
    shown = person.text("a.txt")
    allowed = len(ran.read_text().splitlines()) if ran.exists() else 0
    lost = {*typed.splitlines()} - {*shown.splitlines()}  # their numbers tell when
    lost |= {f"in their place: {line}" for line in {*shown.splitlines()} - {*typed.splitlines()}}
    cells = {"tries": TRIES, "questions": asked, "answers": tried - denied}
    cells |= {"of them allowed": allowed, "denials refused": refused, "lines lost": len(lost)}
    widths = {name: max(len(name), 6) for name in cells}
    head = " | ".join(f"{name:>{widths[name]}}" for name in cells)
    row = " | ".join(f"{cell!s:>{widths[name]}}" for name, cell in cells.items())
    record_property("table", (TITLE, head, row))
    assert (tried - denied, allowed, refused) == (0, 0, 0), f"{head}\n{row}\n{lost}"
    assert shown == typed, f"{head}\n{row}\n{lost}"
    assert asked > QUESTIONS
