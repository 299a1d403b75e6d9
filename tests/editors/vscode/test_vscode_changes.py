"""The files that a turn changed, under it: each is decided on by itself, and the counts follow."""

import pytest
from support.workbench import wait_until
from vscode_desk import SHOW, done, edit, step
from vscode_product import Product

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("vscode"),
]


def changed(person: Product, **settings: object) -> None:
    """Two files by one turn, of which one is open."""
    (person.folder / "closed.txt").write_text("one\ntwo\n")
    person.open("open.txt", "a\nb\n")
    both = edit("open.txt", ("a", "A")), edit("closed.txt", ("one", "1"), ("two", "2"))
    person.begin(step(*both), done(), **settings)
    person.say("Go")
    person.wait_for_end()


def counts(person: Product) -> list[list[str]]:
    return [text.split() for text in person.turn.locator("footer .counts").all_inner_texts()]


def test_one_file_is_undone_and_the_other_kept(person: Product) -> None:
    changed(person)
    wait_until(lambda: counts(person) == [["+3", "−3"], ["+1", "−1"], ["+2", "−2"]])
    person.press("Undo closed.txt")
    wait_until(lambda: person.on_disk("closed.txt") == "one\ntwo\n")
    wait_until(lambda: counts(person) == [["+1", "−1"], ["+1", "−1"]])
    assert person.text("open.txt") == "A\nb\n"
    person.press("Keep open.txt")
    wait_until(lambda: counts(person) == [])
    assert person.text("open.txt") == "A\nb\n"
    buttons = person.turn.locator("footer li").get_by_role("button")
    names = [each.get_attribute("aria-label") for each in buttons.all()]
    assert names == ["Open open.txt", "Review open.txt", "Open closed.txt", "Review closed.txt"]


def test_a_new_file_without_a_line_says_so_and_is_undone(person: Product) -> None:
    person.begin(step({"name": "write", "args": {"path": "empty.txt", "content": ""}}), done())
    person.say("Go")
    person.wait_for_end()
    wait_until(lambda: counts(person) == [["no", "lines"]])
    person.press("Undo")
    wait_until(lambda: not (person.folder / "empty.txt").exists())


def test_a_new_file_that_is_open_is_gone_once_undone_and_is_not_unsaved(person: Product) -> None:
    person.begin(step({"name": "write", "args": {"path": "new.txt", "content": "one\n"}}), done())
    person.say("Go")
    person.wait_for_end()
    person.workbench.run(SHOW, str(person.folder / "new.txt"))
    wait_until(lambda: person.is_open("new.txt"))
    person.press("Undo")
    wait_until(lambda: not (person.folder / "new.txt").exists())
    assert not person.is_open("new.txt") or not person.is_dirty("new.txt")
    person.begin(step({"name": "bash", "args": {"command": "touch begun.txt"}}), done())
    person.say("Go")
    question = person.turn.locator(".question.open", has_text="touch begun.txt")
    question.wait_for()
    assert "Unsaved" not in question.inner_text()
    person.read()
    person.press("Allow")
    person.wait_for_end()


def test_what_is_proposed_is_applied_file_by_file(person: Product) -> None:
    changed(person, **{"lspAgent.edits.review": "before"})
    person.press("Apply closed.txt")
    wait_until(lambda: person.on_disk("closed.txt") == "1\n2\n")
    assert person.text("open.txt") == "a\nb\n"
    person.press("Reject open.txt")
    wait_until(lambda: counts(person) == [["+2", "−2"], ["+2", "−2"]])


def test_a_file_of_the_list_is_opened(person: Product) -> None:
    changed(person)
    person.press("Open closed.txt")
    wait_until(lambda: person.is_open("closed.txt"))
