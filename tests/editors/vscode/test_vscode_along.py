"""What goes along with a prompt in the real workbench, how it is found, and how it is shown."""

import re

import pytest
from support.workbench import wait_until
from vscode_desk import done
from vscode_product import Product

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("vscode"),
]


def chips(person: Product) -> list[str]:
    """Of the prompt that is being written."""
    shown = person.chat.locator(".composer .chips li").all_inner_texts()
    return [text.strip() for text in shown]


def test_a_file_whose_name_has_blanks_is_found_and_a_folder_is_named(person: Product) -> None:
    (person.folder / "docs").mkdir()
    (person.folder / "docs" / "my notes.txt").write_text("text of the notes\n")
    person.begin(done())
    person.input.focus()
    person.page.keyboard.type("See @my n")
    person.chat.get_by_role("option", name=re.compile("my notes.txt")).wait_for()
    person.page.keyboard.press("Enter")
    assert person.input.input_value() == "See @docs/my notes.txt "
    assert chips(person) == ["docs/my notes.txt"]
    person.page.keyboard.type("in @doc")
    person.chat.get_by_role("option", name=re.compile("^docs.$")).click()
    assert person.input.input_value() == "See @docs/my notes.txt in @docs/ "
    person.page.keyboard.press("Enter")
    person.wait_for_end()
    session = person.command("lspAgent.sessions")["sessions"][0]["sessionId"]
    messages = person.command("lspAgent.messages", {"sessionId": session})["messages"]
    assert "text of the notes" in str(messages[0])


def choose(person: Product, title: str) -> None:
    """From the menu that opens, which for a moment takes no click."""
    item = person.page.locator(".monaco-menu").get_by_text(title)
    item.wait_for()

    def chosen() -> bool:
        if item.count():
            item.click()
        return not item.count()

    wait_until(chosen)


def test_the_menus_of_files_and_selections_add_them_where_the_workspace_is_remote(
    person: Product,
) -> None:
    person.open("menu.py", "one = 1\ntwo = 2\n")
    person.begin(done())
    person.command("workbench.view.explorer")
    person.page.locator(".explorer-folders-view").get_by_text("menu.py").click(button="right")
    choose(person, "Add File to Chat")
    wait_until(lambda: chips(person) == ["menu.py"])
    person.go_to("menu.py", "two")
    person.key("Shift+End")
    person.page.locator(".view-line", has_text="two").click(button="right")
    choose(person, "Ask About Selection")
    wait_until(lambda: chips(person) == ["menu.py", "menu.py:2"])


def test_a_selection_that_was_asked_about_goes_along_once_and_is_taken_out_at_once(
    person: Product,
) -> None:
    person.open("asked.py", "one = 1\ntwo = 2\n")
    person.begin(done())
    person.go_to("asked.py", "two")
    person.key("Shift+End")
    person.settle()
    person.command("lspAgent.chat.askSelection")
    wait_until(lambda: chips(person) == ["asked.py:2"])
    person.say("What is it?")
    person.wait_for_end()
    sent = person.turn.locator(".prompt .chips li").all_inner_texts()
    assert [text.strip() for text in sent] == ["asked.py:2"]
    person.command("lspAgent.chat.askSelection")
    wait_until(lambda: chips(person) == ["asked.py:2"])
    person.chat.get_by_role("button", name="Do not send asked.py:2 along").click()
    assert chips(person) == []


def test_several_files_of_the_explorer_are_added_at_once(person: Product) -> None:
    for name in ("one.py", "two.py"):
        person.open(name, "")
    person.begin(done())
    person.command("workbench.view.explorer")
    explorer = person.page.locator(".explorer-folders-view")
    explorer.get_by_text("one.py").click()
    explorer.get_by_text("two.py").click(modifiers=["Control"])
    explorer.get_by_text("two.py").click(button="right")
    choose(person, "Add File to Chat")
    wait_until(lambda: sorted(chips(person)) == ["one.py", "two.py"])


def test_a_prompt_that_a_code_action_made_is_shown_shortened_with_where_it_is_of(
    person: Product,
) -> None:
    lines = [f"line {number}\n" for number in range(1, 10)]
    person.open("long.txt", "".join(lines))
    person.begin({"text": "Seen.", "match": "line 9"})
    end = {"line": 9, "character": 0}
    place = {"start": {"line": 0, "character": 0}, "end": end}
    context = [{"uri": (person.folder / "long.txt").as_uri(), "range": place}]
    person.command("lspAgent.prompt", {"text": "".join(lines), "context": context})
    person.turn.get_by_text("Seen.").wait_for()  # the agent has all of it
    person.wait_for_end()
    prompt = person.turn.locator(".prompt")
    wait_until(lambda: prompt.locator(".plain").inner_text() == "line 1\nline 2\nline 3 …")
    assert [c.strip() for c in prompt.locator("li").all_inner_texts()] == ["long.txt:1-9"]
