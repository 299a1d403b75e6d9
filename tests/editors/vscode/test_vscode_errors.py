"""What a person sees of a turn that failed."""

import pytest
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
