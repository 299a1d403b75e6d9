"""Back to an earlier prompt in the real workbench, and on from there in a new session."""

from typing import Any

import pytest
from support.vscode_modules import returned
from support.workbench import wait_until
from vscode_desk import done, edit, step
from vscode_product import Product

Json = dict[str, Any]

pytestmark = [pytest.mark.vscode]

in_the_workbench = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("vscode"),
]


def said(name: str) -> Json:
    return {"match": rf"{name}\?\Z", "text": f"{name} said."}


def answered(person: Product, name: str) -> None:
    person.say(f"{name}?")
    person.turn.locator(".parts").get_by_text(f"{name} said.", exact=True).wait_for()
    person.wait_for_end()


def prompts(person: Product) -> list[str]:
    return person.chat.locator("article > .prompt .plain").all_inner_texts()


@pytest.mark.parametrize(
    ("turn_id", "left"), [("b", ["a"]), ("a", []), ("c", ["a", "b"])], ids=["b", "a", "unknown"]
)
def test_a_turn_that_is_left_goes_with_those_after_it(turn_id: str, left: list[str]) -> None:
    told = returned(
        """
        const chat = transcript.newChat('s');
        for (const id of ['a', 'b']) {
          transcript.accept(chat, id, id, []);
          transcript.end(chat.turns.at(-1), 'endTurn');
        }
        const known = transcript.cut(chat, argument);
        return [known, chat.turns.map(({ id }) => id)];
        """,
        turn_id,
        transcript="chat/transcript",
    )
    assert told == [turn_id != "c", left]


class TestInTheWorkbench:
    pytestmark = in_the_workbench

    def test_one_goes_back_and_the_prompt_can_be_changed_and_sent_again(
        self, person: Product
    ) -> None:
        person.begin(said("Apple"), said("Berry"), said("Cherry"))
        for name in ("Apple", "Berry"):
            answered(person, name)
        person.palette("Agent: Back to an Earlier Prompt")
        person.row("Berry?").click()
        person.row("The conversation alone").click()
        wait_until(lambda: person.input.input_value() == "Berry?")
        wait_until(lambda: prompts(person) == ["Apple?"])
        person.wait_for_cursor()
        person.input.fill("")
        answered(person, "Cherry")
        assert prompts(person) == ["Apple?", "Cherry?"]
        person.palette("Agent: Switch Session")
        person.row("Apple? (left)").wait_for()
        person.key("Escape")

    def test_at_a_prompt_one_goes_back_with_the_files_and_what_was_typed_since_stays(
        self, person: Product
    ) -> None:
        person.open("a.txt", "one\ntwo\nthree\n")
        person.begin(step(edit("a.txt", ("two", "TWO"))), done())
        person.say("Shout.")
        person.wait_for_end()
        wait_until(lambda: person.text("a.txt") == "one\nTWO\nthree\n")
        person.go_to("a.txt", "three", 1)
        person.page.keyboard.type("typed")
        wait_until(lambda: person.text("a.txt").endswith("three\ntyped"))
        person.turn.locator(".prompt").hover()
        person.press("Back to Here, to Edit and Resend")
        person.row("The conversation and the files").click()
        wait_until(lambda: person.input.input_value() == "Shout.")
        assert person.text("a.txt") == "one\ntwo\nthree\ntyped"
        person.chat.locator(".welcome").wait_for()

    def test_a_new_session_goes_on_from_there_and_the_first_stays_as_it_is(
        self, person: Product
    ) -> None:
        person.begin(said("Date"), said("Elder"))
        for name in ("Date", "Elder"):
            answered(person, name)
        person.palette("Agent: New Session from an Earlier Prompt")
        person.row("Elder?").click()
        wait_until(lambda: person.input.input_value() == "Elder?")
        wait_until(lambda: prompts(person) == ["Date?"])
        assert person.chat.get_by_role("button", name="Back to Here").count() == 0
        person.palette("Agent: Back to an Earlier Prompt")  # one that was told again
        person.row("Date?").click()
        person.row("The conversation alone").click()
        person.chat.locator(".welcome").wait_for()
        person.palette("Agent: Switch Session")
        rows = person.page.locator(".quick-input-list .monaco-list-row:visible", has_text="Date?")
        rows.filter(has_text="2 turns").click()
        wait_until(lambda: prompts(person) == ["Date?", "Elder?"])
