"""In the text of the real workbench: changes that are asked for there, and comments."""

import pytest
from support.workbench import wait_until
from vscode_desk import done, edit, step
from vscode_product import Product

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("vscode"),
]

LINES = "one\ntwo\nthree\nfour\n"


def write(person: Product, mark: str, text: str) -> None:
    """Opens a thread at the line by its key, and writes in it."""
    person.go_to("a.txt", mark)
    person.key("Alt+i")
    type_in(person, text)


def type_in(person: Product, text: str) -> None:
    person.page.locator(".review-widget .comment-form .monaco-editor.focused").wait_for()
    person.page.keyboard.type(text)


def title(person: Product, text: str) -> None:
    person.page.locator(".review-widget .review-title", has_text=text).first.wait_for()


def rest(person: Product) -> None:
    """Until no turn runs: the title may still be that of the one before."""
    wait_until(
        lambda: all(
            each["status"] != "running" for each in person.command("lspAgent.sessions")["sessions"]
        )
    )


def test_a_change_is_asked_for_confined_and_decided_on_in_the_text(person: Product) -> None:
    person.open("a.txt", LINES)
    person.begin(
        step(edit("a.txt", ("two", "TWO")), edit("a.txt", ("four", "FOUR")), pace_ms=20),
        done(),
        step(edit("a.txt", ("TWO", "zwei"))),
        done(),
        step(edit("a.txt", ("two", "deux"))),
        done(),
    )
    write(person, "two", "Shout")
    person.key("Control+Enter")
    title(person, "agent: changed")
    assert person.text("a.txt") == LINES.replace("two", "TWO")
    person.page.locator(".review-thread-reply-button").click()
    type_in(person, "In German")
    person.key("Control+Enter")
    wait_until(lambda: person.text("a.txt") == LINES.replace("two", "zwei"))
    rest(person)
    title(person, "agent: changed")
    person.go_to("a.txt", "zwei")
    person.palette("Agent: Ask the Same Again Here")
    wait_until(lambda: person.text("a.txt") == LINES.replace("two", "deux"))
    rest(person)
    title(person, "agent: changed")
    person.go_to("a.txt", "deux")
    person.palette("Agent: Undo the Answer Here")
    wait_until(lambda: person.text("a.txt") == LINES)
    wait_until(lambda: person.page.locator(".review-widget").count() == 0)


def test_comments_on_changes_and_lines_are_sent_as_one_prompt(person: Product) -> None:
    person.open("a.txt", LINES)
    person.begin(step(edit("a.txt", ("two", "TWO"))), done(), step(text="Seen.", delay_ms=5000))
    person.say("Go")
    person.wait_for_end()
    for mark, text in (("four", "Why four?"), ("TWO", "Not so loud")):
        write(person, mark, text)
        person.page.get_by_role("button", name="Comment for Later").last.click()
        title(person, "Comment")
    person.palette("Agent: Send Comments")
    title(person, "Comment (sent)")
    person.chat.locator("article").nth(1).wait_for()
    prompt = person.turn.locator(".prompt").inner_text()
    assert prompt.startswith("2 comments from my review. Do what each asks.")
    person.turn.get_by_text("Seen.").wait_for()
    wait_until(lambda: person.page.locator(".review-widget").count() == 0)


def test_a_comment_is_written_by_keyboard_alone_and_more_is_said_in_it(person: Product) -> None:
    person.open("a.txt", LINES)
    person.begin(step(text="Seen.", delay_ms=300))
    for text in ("Why two?", "Say it."):
        person.go_to("a.txt", "two")
        person.key("Control+k")
        person.key("Alt+i")
        person.page.locator(".quick-input-widget input:focus").wait_for()
        person.page.keyboard.type(text)
        person.key("Enter")
        person.page.locator(".review-comment .comment-body", has_text=text).wait_for()
    person.palette("Agent: Send Comments")
    person.turn.get_by_text("Seen.").wait_for()
    session = person.command("lspAgent.sessions")["sessions"][0]["sessionId"]
    messages = person.command("lspAgent.messages", {"sessionId": session})["messages"]
    prompt = messages[0]["content"][0]["text"]
    assert prompt.startswith("A comment from my review. Do what it asks.")
    assert "a.txt, line 2:\n\nWhy two?\nSay it." in prompt
    wait_until(lambda: person.page.locator(".review-widget").count() == 0)
