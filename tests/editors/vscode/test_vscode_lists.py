"""The lists from which a person picks in the real workbench: what is offered in them, and what is
then so in the chat and for the agent."""

import re

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


def bash(command: str) -> dict[str, object]:
    return {"name": "bash", "args": {"command": command}}


def answered(person: Product, prompt: str, answer: str) -> None:
    person.say(prompt)
    person.turn.locator(".parts").get_by_text(answer, exact=True).wait_for()
    person.wait_for_end()


def test_the_agents_options_are_set(person: Product) -> None:
    person.begin()
    person.use("double")
    person.palette("Agent: Agent Options")
    person.row("Mode").click()
    person.row("Plan").click()
    options = person.chat.get_by_role("button", name=re.compile("^Agent options: Plan · Low"))
    options.wait_for()
    options.click()
    person.row("Thought").click()
    person.row("Low").filter(has_text="current").wait_for()
    person.row("High").click()
    person.chat.get_by_role("button", name=re.compile("^Agent options: Plan · High")).wait_for()
    answered(person, "How are you set?", "plan/high/small")
    person.say("mode default")  # the agent leaves its mode by itself
    person.chat.get_by_role("button", name=re.compile("^Agent options: Default · High")).wait_for()


def test_what_the_agent_is_set_to_is_read_whole_in_a_narrow_chat(person: Product) -> None:
    person.begin()
    person.use("double")
    person.say("mode acceptEdits")
    person.wait_for_end()
    options = person.chat.get_by_role("button", name=re.compile("^Agent options: .*Low"))
    options.wait_for()
    person.chat.evaluate("() => { document.body.style.width = '280px' }")
    for button in (options, person.model("double · small")):
        assert button.evaluate("(it) => it.scrollWidth <= it.clientWidth")
    person.chat.evaluate("() => { document.body.style.width = '' }")


def test_the_agents_model_is_chosen(person: Product) -> None:
    person.begin()
    person.use("double")
    person.palette("Agent: Choose Model or Agent")
    person.row("small").filter(has_text="current").wait_for()
    person.row("large").click()
    person.model("double · large").wait_for()
    answered(person, "Which are you?", "default/low/large")


def test_another_agent_is_chosen_where_one_does_not_start(person: Product) -> None:
    person.begin(done())
    person.use("absent")
    person.say("Go")
    person.turn.get_by_text("there is no such program on PATH").wait_for()
    person.wait_for_end()
    person.palette("Agent: Choose Model or Agent")
    person.row("absent").filter(has_text="cannot be started").wait_for()
    person.row("scripted").click()
    person.model("scripted").wait_for()
    answered(person, "Go", "Done.")


def test_a_session_of_the_agents_own_is_gone_on_with(person: Product) -> None:
    person.begin()
    person.use("double")
    person.palette("Agent: Continue a Session of the Agent's Own")
    person.row("Begun in its own client").click()
    person.chat.locator(".prompt").get_by_text("said in kept").wait_for()
    answered(person, "Hello", "default/low/small")
    assert person.chat.locator("article").count() == 2


def test_a_slash_command_is_picked_and_run(person: Product) -> None:
    (person.folder / "GLOSSARY.md").write_text("**hunk**: a run of changed lines\n")
    person.begin({"text": "It is in every diff."})
    person.use("glossary")
    person.palette("Agent: Run a Slash Command")
    person.row("/meaning").filter(has_text="insert the meaning").wait_for()
    person.row("/explain").click()
    wait_until(lambda: person.input.input_value() == "/explain ")
    person.wait_for_cursor()
    person.page.keyboard.type("hunk")
    person.page.keyboard.press("Enter")
    person.turn.get_by_text("It is in every diff.").wait_for()
    person.turn.locator(".prompt", has_text="(a run of changed lines)").wait_for()
    person.say("/meaning hunk")
    wait_until(lambda: person.input.input_value() == "a run of changed lines")
    person.input.fill("")
    person.input.focus()
    person.page.keyboard.type("/gl")
    person.chat.get_by_role("option", name="/glossary").wait_for()
    person.page.keyboard.press("Tab")
    person.page.keyboard.press("Enter")
    toast = person.page.locator(".notification-toast", has_text="hunk: a run of changed lines")
    toast.wait_for()


def test_a_stored_session_is_renamed_shown_and_gone_on_with(person: Product) -> None:
    person.begin({"text": "An answer."})
    person.say("Of the first")
    person.wait_for_end()
    person.begin(done())
    sessions(person)
    act(person, "Of the first", "Rename")
    person.page.get_by_text("The session's title").wait_for()
    person.asked.fill("A better title")
    person.page.keyboard.press("Enter")
    wait_until(lambda: "A better title" in titles(person))
    sessions(person)
    act(person, "A better title", "Show as Markdown")
    shown = "return vscode.window.activeTextEditor?.document.getText()"
    wait_until(lambda: "An answer." in (person.workbench.run(shown) or ""))
    sessions(person)
    person.row("A better title").click()
    person.turn.get_by_text("An answer.").wait_for()
    answered(person, "Go on", "Done.")
    (found,) = [s for s in known(person) if s.get("title") == "A better title"]
    assert not found["stored"]  # it is open again


def test_a_session_is_deleted(person: Product) -> None:
    person.begin(done())
    answered(person, "To be forgotten", "Done.")
    sessions(person)
    act(person, "To be forgotten", "Delete")
    person.row("To be forgotten").wait_for(state="detached")
    person.key("Escape")
    wait_until(lambda: "To be forgotten" not in titles(person))
    wait_until(lambda: not person.chat.get_by_text("To be forgotten").count())


def sessions(person: Product) -> None:
    person.palette("Agent: Switch Session")
    person.row("New session").wait_for()


def act(person: Product, title: str, action: str) -> None:
    """Presses a button of a row."""
    person.row(title).hover()
    person.row(title).get_by_role("button", name=action).click()


def known(person: Product) -> list[dict[str, str]]:
    """The sessions that the server knows."""
    return person.command("lspAgent.sessions")["sessions"]


def titles(person: Product) -> list[str | None]:
    return [session.get("title") for session in known(person)]


def test_what_is_allowed_in_a_project_outlives_the_server_until_it_is_taken_back(
    person: Product,
) -> None:
    command = "echo $(date) >> runs"  # of which a list would make an icon
    runs = person.folder / "runs"
    person.begin(*(step(bash(command)), done()) * 3)
    person.say("Run it")
    person.turn.locator(".question.open").wait_for()
    person.read()
    person.press("Allow this command always in this project")
    person.wait_for_end()
    person.command("lspAgent.server.restart")
    person.say("Again")
    person.wait_for_end()
    assert len(runs.read_text().splitlines()) == 2
    person.palette("Agent: Permissions")
    kept = person.row(command)
    assert str(person.folder) in kept.inner_text()
    kept.click()
    person.page.locator(".notification-toast", has_text="asked about that command").wait_for()
    person.say("Once more")
    question = person.turn.locator(".question.open")
    question.wait_for()
    person.read()
    person.press("Deny")
    person.wait_for_end()
    assert len(runs.read_text().splitlines()) == 2


def test_a_background_command_is_ended(person: Product) -> None:
    begin = {"name": "bash", "args": {"command": "echo up; sleep 6322", "background": True}}
    person.begin(step(begin), done())
    person.say("Serve it.")
    person.wait_for_end()
    person.palette("Agent: Background Commands")
    person.row("echo up; sleep 6322").click()
    person.page.wait_for_timeout(1000)  # the agent hears of an end a moment after it
    person.palette("Agent: Background Commands")
    person.page.get_by_text("No command runs in the background.").first.wait_for()
