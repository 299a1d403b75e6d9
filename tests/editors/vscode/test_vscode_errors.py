"""What a person sees of a turn that failed."""

import pytest
from support.workbench import wait_until
from vscode_desk import done, step
from vscode_product import Product

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("vscode"),
]


def test_an_error_is_said_once_and_the_turn_can_be_tried_again(person: Product) -> None:
    person.begin(step(error="The model is overloaded"), done())
    person.say("Go")
    person.wait_for_end()
    said = person.turn.locator(".notice").all_inner_texts()
    assert [text.strip() for text in said] == ["The model is overloaded"]
    person.press("Try Again")
    person.turn.get_by_text("Done.").wait_for()


def test_a_turn_that_failed_before_the_window_was_reloaded_is_tried_again_as_it_was(
    person: Product,
) -> None:
    lines = [f"line {number}\n" for number in range(1, 9)]
    person.open("long.txt", "".join(lines))
    person.begin(step(error="The model is overloaded"))
    uri = (person.folder / "long.txt").as_uri()
    about = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
    asked = {"context": [{"uri": uri, "range": about}], "range": "confined"}
    person.command("lspAgent.prompt", {"text": "".join(lines), **asked})
    person.turn.get_by_text("The model is overloaded").wait_for()
    person.workbench.reload()
    person.press("Try Again")
    wait_until(lambda: person.chat.locator("article").count() == 2)
    person.wait_for_end()
    shown = person.chat.locator("article > .prompt").all_inner_texts()
    assert shown[0] == shown[1]
    session = person.command("lspAgent.sessions")["sessions"][0]["sessionId"]
    messages = person.command("lspAgent.messages", {"sessionId": session})["messages"]
    first, again = (each["content"][0]["text"] for each in messages if each["role"] == "user")
    assert "line 8" in first
    assert again.endswith(first)
