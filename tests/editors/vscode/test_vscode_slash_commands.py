"""Slash commands in the real workbench: how they are picked, and what they then do."""

import re

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

#: From now on the lists that come wait in ``held``.
HOLD = """
() => {
  const read = Object.getOwnPropertyDescriptor(MessageEvent.prototype, 'data');
  window.held = [];
  const get = function () {
    const data = read.get.call(this);
    if (data?.type !== 'suggestions') return data;
    window.held.push(data);
    return { type: 'held' };
  };
  Object.defineProperty(MessageEvent.prototype, 'data', { ...read, get });
  window.release = () => {
    Object.defineProperty(MessageEvent.prototype, 'data', read);
    for (const data of held) window.dispatchEvent(new MessageEvent('message', { data }));
  };
}
"""
RELEASE = "() => window.release()"


def typed(person: Product, text: str) -> None:
    person.input.focus()
    person.page.keyboard.type(text)
    wait_until(lambda: person.input.input_value().endswith(text))


def offered(person: Product) -> list[str]:
    shown = person.chat.get_by_role("option").locator("span:first-child").all_inner_texts()
    return [text.strip() for text in shown]


def type_before_the_answer(person: Product, text: str) -> None:
    """Behind a slash whose list is there, while those that follow wait."""
    person.begin()
    typed(person, "/")
    person.chat.get_by_role("option", name="/clear").wait_for()
    person.chat.evaluate(HOLD)
    typed(person, text)


def test_what_is_taken_before_the_list_is_answered_is_what_was_typed(person: Product) -> None:
    type_before_the_answer(person, "cl")
    assert offered(person) == ["/clear"]
    person.page.keyboard.press("Tab")
    assert person.input.input_value() == "/clear "
    person.chat.evaluate(RELEASE)
    assert offered(person) == []


def test_an_entry_that_was_gone_to_stays_the_active_one_as_the_list_comes(person: Product) -> None:
    type_before_the_answer(person, "c")
    person.page.keyboard.press("ArrowDown")
    wait_until(lambda: person.chat.evaluate("() => window.held.length"))
    person.chat.evaluate(RELEASE)
    person.page.keyboard.press("Tab")
    assert person.input.input_value() == "/clear "


def test_a_list_that_comes_after_the_prompt_is_gone_is_not_shown(person: Product) -> None:
    person.begin({"text": "An answer."})
    person.chat.evaluate(HOLD)
    person.say("/stop")
    wait_until(lambda: person.chat.evaluate("() => window.held.length"))
    person.chat.evaluate(RELEASE)
    assert offered(person) == []


def test_enter_runs_a_command_that_is_whole(person: Product) -> None:
    person.begin({"text": "First."})
    person.say("Hello")
    person.wait_for_end()
    typed(person, "/clear")
    wait_until(lambda: offered(person) == ["/clear"])
    person.page.keyboard.press("Enter")
    person.chat.locator(".welcome").wait_for()


def test_the_chats_own_are_offered_while_the_agent_does_not_answer(person: Product) -> None:
    person.begin()
    person.use("mute")
    typed(person, "/")
    person.chat.get_by_role("option", name="/new").wait_for(timeout=5000)


def test_those_of_a_conversation_of_before_a_restart_run(person: Product) -> None:
    (person.folder / "GLOSSARY.md").write_text("**hunk**: a run of changed lines\n")
    person.begin({"text": "First."})
    person.use("glossary")
    person.say("Hello")
    person.wait_for_end()
    person.command("lspAgent.server.restart")
    person.chat.get_by_text("From an earlier run.").wait_for()
    person.say("/meaning hunk")
    wait_until(lambda: person.input.input_value() == "a run of changed lines")
    person.input.fill("")
    person.command("lspAgent.server.restart")
    person.chat.get_by_text("From an earlier run.").wait_for()
    person.say("/clear")
    person.chat.locator(".welcome").wait_for()


@pytest.mark.parametrize("name", ["nonsense", "constructor"])
def test_one_that_there_is_not_is_said(person: Product, name: str) -> None:
    person.begin()
    person.say(f"/{name}")
    person.chat.get_by_text(f"There is no command /{name}.").wait_for()
    assert person.input.input_value() == f"/{name}"


def test_words_behind_one_that_takes_none_are_not_lost(person: Product) -> None:
    person.begin()
    person.say("/undo only the first")
    person.chat.get_by_text("/undo takes no words.").wait_for()
    assert person.input.input_value() == "/undo only the first"


def test_words_behind_new_are_the_first_of_the_new_session(person: Product) -> None:
    person.begin({"text": "One."}, {"text": "Two."})
    person.say("Hello")
    person.wait_for_end()
    person.say("/new Hello again")
    person.turn.locator(".prompt", has_text=re.compile("^Hello again$")).wait_for()
    assert person.chat.locator("article").count() == 1


def test_a_file_that_a_command_has_no_use_for_stays_for_the_next_prompt(person: Product) -> None:
    (person.folder / "kept.txt").write_text("one\n")
    person.begin()
    typed(person, "@kept")
    person.chat.get_by_role("option", name=re.compile("kept.txt")).click()
    person.input.fill("/keep")
    person.page.keyboard.press("Enter")
    wait_until(lambda: person.input.input_value() == "")
    person.chat.locator(".composer .chips", has_text="kept.txt").wait_for()


def test_undo_is_of_the_conversation_that_is_shown(person: Product) -> None:
    for name in ("here.txt", "there.txt"):
        person.open(name, "one\n")
    person.begin(
        {**step(edit("here.txt", ("one", "two"))), "match": "Here"},
        done(),
        {**step(edit("there.txt", ("one", "two"))), "match": "There"},
        done(),
    )
    person.say("Here")
    person.wait_for_end()
    person.new_session()
    person.say("There")
    person.wait_for_end()
    person.palette("Agent: Switch Session")
    person.row("Here").click()
    person.turn.locator(".prompt", has_text="Here").wait_for()
    person.say("/undo")
    wait_until(lambda: person.text("here.txt") == "one\n")
    assert person.text("there.txt") == "two\n"


def test_one_that_its_extension_tells_late_runs_at_the_first_try(person: Product) -> None:
    """The agent lists it only a while after it is ready."""
    person.begin()
    person.use("late")
    person.say("/late")
    wait_until(lambda: person.input.input_value() == "there")
