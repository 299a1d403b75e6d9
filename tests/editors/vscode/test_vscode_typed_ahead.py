"""Keys of the review that are typed faster than the server answers."""

import re

import pytest
from support.workbench import wait_until
from vscode_desk import done, edit, step
from vscode_product import Product
from vscode_review import line_of_cursor, statuses
from vscode_servers import extension_hosts, held

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("vscode"),
]

LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
NEXT, PREVIOUS, KEEP, UNDO = "Alt+F5", "Shift+Alt+F5", "Shift+Alt+Enter", "Shift+Alt+Backspace"


def changed(person: Product, **words: str) -> None:
    """Of each file these words by one edit; the cursor is on the first of the first."""
    files = {f"{name}.txt": changes.split() for name, changes in words.items()}
    for name in files:
        person.open(name, LINES)
    edits = [edit(name, *((each, each.upper()) for each in files[name])) for name in files]
    person.begin(step(*edits), done())
    person.say("Go")
    person.wait_for_end()
    person.go_to(next(iter(files)), next(iter(files.values()))[0].upper())
    person.page.locator(".editor-actions").get_by_label(
        re.compile("Next Change")
    ).first.wait_for()  # known here


def typed_ahead(person: Product, *keys: str) -> None:
    """All before the server has answered the first."""
    with held(person.servers()):
        for key in keys:
            person.key(key)
            # VS Code may run what is typed within a few milliseconds in another order: a command
            # waits for its first use to be known.
            person.settle()


def test_a_decision_is_on_the_change_that_the_key_before_it_goes_to(person: Product) -> None:
    changed(person, a="one four seven")
    typed_ahead(person, NEXT, KEEP, NEXT, UNDO)
    wait_until(lambda: statuses(person) == ["applied", "kept", "rejected"])
    assert person.text("a.txt") == LINES.replace("one", "ONE").replace("four", "FOUR")


def test_so_it_is_where_that_change_is_in_another_file(person: Product) -> None:
    changed(person, a="four", b="one seven")
    typed_ahead(person, NEXT, UNDO, PREVIOUS, KEEP)
    wait_until(lambda: statuses(person) == ["applied", "rejected", "kept"])
    assert person.text("b.txt") == LINES.replace("seven", "SEVEN")


def test_a_decision_by_a_key_of_a_first_use_is_on_the_change_that_it_is_typed_at(
    person: Product,
) -> None:
    person.workbench.reload()
    changed(person, c="one four seven")  # of the others it may still be reading what was open
    person.key(NEXT)
    wait_until(lambda: line_of_cursor(person) == 3)
    with held(extension_hosts(person.folder.parent)):
        for key in (UNDO, NEXT):
            person.key(key)
    wait_until(lambda: line_of_cursor(person) == 6)
    wait_until(lambda: statuses(person) == ["applied", "rejected", "applied"])


def test_so_is_a_comment(person: Product) -> None:
    changed(person, a="one four")
    typed_ahead(person, NEXT, "Control+k", "Alt+i")
    person.page.locator(".quick-input-widget input:focus").wait_for()
    person.page.keyboard.type("Why?")
    person.key("Enter")
    person.page.locator(".review-comment .comment-body", has_text="Why?").wait_for()
    person.palette("Agent: Send Comments")
    wait_until(lambda: person.chat.locator("article").count() == 2)
    session = person.command("lspAgent.sessions")["sessions"][0]["sessionId"]
    messages = person.command("lspAgent.messages", {"sessionId": session})["messages"]
    assert "a.txt, line 4, your change:" in messages[-2]["content"][0]["text"]
