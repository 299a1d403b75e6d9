"""A day's task in the real workbench, from the first question to going back, by keyboard alone."""

import pytest
from support import days_task as task
from support.days_task import Day, Record
from support.workbench import wait_until
from vscode_days_task import Hands
from vscode_product import Product
from vscode_review import statuses

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.xdist_group("vscode"),
]


def test_a_days_task_has_no_dead_end(person: Product, record_property: Record) -> None:
    for name, text in task.FILES.items():
        (person.folder / name).write_text(text)
    for left in (task.GO, "begun"):  # by another test in the same folder
        (person.folder / left).unlink(missing_ok=True)
    person.begin(*task.script())
    day = Day("VS Code", record_property, most=70)
    hands = Hands(person, day)
    with day.part("open a file, ask"):
        ask(hands)
    with day.part("allow, steer, deny"):
        steer(hands)
    with day.part("seven hunks in three files"):
        decide(hands)
    with day.part("a round of comments"):
        comment(hands)
    with day.part("ask in place"):
        ask_in_place(hands)
    with day.part("undo the turn"):
        undo_the_turn(hands)
    with day.part("restart, resume, prompt again"):
        go_on(hands)
    with day.part("back to the second prompt"):
        go_back(hands)
    day.ends()


def said(hands: Hands, text: str) -> None:
    """By the agent, as the last of its turn."""
    hands.person.turn.locator(".parts").get_by_text(text).wait_for()
    wait_until(lambda: not hands.person.stop.is_visible())


def said_below(hands: Hands) -> list[str]:
    """In the threads that are shown in the active editor."""
    bodies = hands.person.page.locator(".review-widget .review-comment .comment-body")
    return [text.strip() for text in bodies.all_inner_texts()]


def ask(hands: Hands) -> None:
    hands.file("notes.txt")
    hands.press("Control+k", "a")
    hands.say(task.ASK)
    hands.person.turn.locator(".question.open", has_text="touch begun").wait_for()


def steer(hands: Hands) -> None:
    person = hands.person
    hands.command("Agent: Answer Open Question")
    question = person.turn.locator(".question.open")
    wait_until(lambda: question.evaluate("(element) => element === document.activeElement"))
    person.read()
    for key in ("Tab", "Tab", "Enter"):  # over the command, which a list would cut, to "Allow"
        hands.press(key)
    wait_until((person.folder / "begun").exists)
    hands.press("Control+k", "a")
    hands.say(task.STEER, end="Control+Enter")
    person.turn.locator(".parts .prompt", has_text=task.STEER).wait_for()
    (person.folder / task.GO).touch()
    person.turn.locator(".question.open", has_text=task.DENIED).wait_for()
    hands.command("Agent: Answer Open Question")
    hands.pick("Deny")
    said(hands, "It is checked.")
    assert not (person.folder / "denied").exists()


def decide(hands: Hands) -> None:
    hands.press("Control+k", "a")
    hands.say(task.CHANGE)
    said(hands, "The shop is changed.")
    hands.press("Control+1")
    for name, hunks in task.HUNKS.items():
        for old, new, kept in hunks:
            hands.press("Alt+F5")
            hands.wait_for_place(name, new)
            hands.press("Shift+Alt+Enter" if kept else "Shift+Alt+Backspace")
            # VS Code runs a command later where it runs it for the first time.
            hands.person.read()
            if not kept:
                wait_until(lambda n=name, o=old: o in hands.person.text(n))
    hands.wait_for_texts({name: task.decided(name) for name in task.FILES})
    wanted = [kept for hunks in task.HUNKS.values() for *_, kept in hunks]
    wait_until(
        lambda: statuses(hands.person) == ["kept" if kept else "rejected" for kept in wanted]
    )


def comment(hands: Hands) -> None:
    hands.press("Control+k", "a")
    hands.say(task.TITLES)
    said(hands, "They have titles.")
    hands.press("Control+1")
    for name, (title, words, _) in task.COMMENTS.items():
        hands.press("Alt+F5")
        hands.wait_for_place(name, title)
        hands.press("Control+k", "Alt+i")
        hands.enter(words)
        wait_until(lambda words=words: words in said_below(hands))
    hands.command("Agent: Send Comments")
    said(hands, "Both are answered.")
    hands.wait_for_texts({name: task.commented(name) for name in task.FILES})
    hands.command("Agent: Keep All Changes")


def ask_in_place(hands: Hands) -> None:
    hands.file("stock.txt")
    hands.press("Control+g", "3", "Enter")
    hands.wait_for_place("stock.txt", "cheese")
    hands.write_below(task.IN_PLACE)
    changed = task.commented("stock.txt").replace("cheese ten", "cheese none")
    hands.wait_for_texts({"stock.txt": changed})
    hands.person.page.locator(
        ".review-widget .review-title", has_text="agent: changed"
    ).first.wait_for()
    assert hands.person.text("stock.txt") == changed  # and eggs are none but ten


def undo_the_turn(hands: Hands) -> None:
    hands.command("Agent: Undo All Changes of the Latest Turn")
    hands.wait_for_texts({name: task.commented(name) for name in task.FILES})


def go_on(hands: Hands) -> None:
    before = hands.person.servers()
    hands.person.workbench.reload(lambda: hands.command("Developer: Reload Window"))
    wait_until(lambda: (now := hands.person.servers()) and not set(now) & set(before))
    hands.go_to_chat()
    hands.say(task.AGAIN)
    said(hands, "Here I am.")


def go_back(hands: Hands) -> None:
    person = hands.person
    hands.command("Agent: Back to an Earlier Prompt")
    hands.pick(task.CHANGE)
    hands.pick("The conversation and the files")
    hands.wait_for_texts(task.FILES)
    wait_until(lambda: person.input.input_value() == task.CHANGE)
    person.wait_for_cursor()
    person.key("Control+a")
    hands.say(task.OTHERWISE)
    said(hands, "One thing is done.")
    changed = task.PRICES.replace("grapes 7", "grapes 70")
    hands.wait_for_texts(task.FILES | {"prices.txt": changed})
    prompts = person.chat.locator("article > .prompt .plain").all_inner_texts()
    assert prompts == [task.ASK, task.OTHERWISE]
