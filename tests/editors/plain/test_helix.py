"""What a person does with the agent in Helix."""

import time

import pytest
from plain_helix import Helix
from plain_project import NAP, NOTES, PlainProject, napping, text_of
from plain_terminal import until

pytestmark = [pytest.mark.helix, pytest.mark.slow, pytest.mark.timeout(400)]


#: The line that asked is gone.
SENT = NOTES.replace("agent: shout about beta\n", "")


def test_an_edit_of_unsaved_text_is_asked_for_seen_reviewed_and_saved(
    helix: Helix, project: PlainProject
) -> None:
    helix.type_line("not saved")
    helix.choose(5, "Ask the agent: shout about beta")
    helix.wait_for("agent: shout about beta\n")  # progress, in the last line
    helix.wait_for("BETA")
    helix.wait_for("It is loud now.")
    assert project.saved() == NOTES
    assert "1 change of the agent's to review" in helix.screen
    helix.choose(3, "Keep the agent's change (line 3)")
    helix.wait_for(lambda screen: "to review" not in screen)
    helix.write()
    wanted = "not saved\n" + SENT.replace("beta\ngamma", "BETA\ngamma")
    assert until(lambda: project.saved() == wanted)


def test_an_edit_is_undone_by_key(helix: Helix, project: PlainProject) -> None:
    helix.choose(4, "Ask the agent: shout about beta")
    helix.wait_for("BETA")
    helix.type_line("typed since")
    helix.type(" lu")
    helix.wait_for(lambda screen: "BETA" not in screen)
    helix.write()
    assert until(lambda: project.saved() == "typed since\n" + SENT)


def test_the_editors_own_undo_takes_back_the_edit_alone(
    helix: Helix, project: PlainProject
) -> None:
    helix.type_line("not saved")
    helix.choose(5, "Ask the agent: shout about beta")
    helix.wait_for("It is loud now.")
    helix.wait_for("1 change of the agent's to review")
    helix.type("u")
    helix.wait_for(lambda screen: "BETA" not in screen and "to review" not in screen)
    helix.write()
    assert until(lambda: project.saved() == "not saved\n" + SENT), project.saved()


def test_an_edit_after_fast_typing_is_in_its_place(helix: Helix, project: PlainProject) -> None:
    """Helix 25.01 sends the keys of fast typing mixed up."""
    typed = [f"typed too fast to be sent in order, {number}" for number in range(8)]
    for line in typed:
        helix.type_line(line)
    helix.choose(12, "Ask the agent: shout about beta")
    helix.wait_for("BETA")
    helix.write()
    wanted = "".join(f"{line}\n" for line in reversed(typed))
    wanted += SENT.replace("beta\ngamma", "BETA\ngamma")
    assert until(lambda: project.saved() == wanted)


def test_a_selection_is_a_prompt(helix: Helix) -> None:
    helix.type_line("say hello, please")
    helix.type("x a")
    helix.wait_for("Ask the agent: say hello, please")
    helix.keys("Enter")
    helix.wait_for("I have heard: hello.")


def test_a_question_is_answered_by_code_action(helix: Helix, project: PlainProject) -> None:
    helix.choose(5, "Ask the agent: run the command")
    helix.choose(1, "Agent asks: bash: sleep 1; echo ran > ran.txt: Allow")
    assert until((project.folder / "ran.txt").exists)
    helix.wait_for("It has run.")


def test_a_long_answer_is_shown_by_code_action(helix: Helix) -> None:
    helix.choose(6, "Ask the agent: explain it")
    helix.wait_for("The agent has answered")
    helix.choose(1, "Show the agent's answer: explain it")
    helix.wait_for("Their names are Greek.")


def test_a_conversation_is_read_while_it_comes_and_written_in(
    helix: Helix, project: PlainProject
) -> None:
    helix.type(" lc")
    helix.wait_for(".chat.md")
    helix.keys("i")
    helix.wait_for("INS")
    helix.type("count to sixty")
    helix.keys("Escape")
    helix.wait_for("NOR")
    helix.type(" l")
    helix.keys("Enter")
    assert "n60" not in helix.wait_for("n5 ")
    helix.type("ge")  # the next prompt, while it comes
    helix.keys("o")
    helix.wait_for("INS")
    for word in ("then", "say", "hello"):
        helix.type(f"{word} ")
        time.sleep(0.4)
    helix.keys("Escape")
    helix.wait_for(lambda screen: "at work" not in screen)
    helix.write()
    (file,) = (project.folder / ".lsp-agent").glob("*.chat.md")
    answer = " ".join(f"n{number}" for number in range(1, 61))
    wanted = f"## You\n\ncount to sixty\n\n## Agent\n\n{answer}\n\n## You\n\nthen say hello \n"
    assert until(lambda: (text_of(file) or "").endswith(wanted)), text_of(file)


def test_what_a_conversation_names_completes_and_is_gone_to_and_its_turns_are_listed(
    helix: Helix, project: PlainProject
) -> None:
    project.converse()
    helix.type(":open x.chat.md")
    helix.keys("Enter")
    helix.wait_for("Why so?")
    helix.type(" s")
    helix.wait_for(lambda screen: "event    Why so?" in screen and "function bash: make" in screen)
    helix.keys("Escape")
    helix.type("9ggfhgd")
    helix.wait_for(lambda screen: " shop.py " in screen and " 2:1" in screen)
    helix.keys("C-o")
    helix.wait_for("Why so?")
    helix.type("geo")
    helix.wait_for("INS")
    helix.type("look at @sh")
    helix.wait_for("@shop.py file")
    helix.keys("C-n", "Enter")
    helix.wait_for("look at @shop.py\n")


def test_a_running_command_is_stopped(helix: Helix) -> None:
    helix.choose(7, "Ask the agent: nap for a while")
    helix.choose(1, f"Agent asks: bash: exec {NAP}: Allow")
    assert until(napping)
    helix.choose(1, "Stop the agent")
    assert until(lambda: not napping())
    helix.wait_for("stopped")


def test_the_agent_works_in_the_folder_of_helix_where_there_is_no_repository(
    project: PlainProject,
) -> None:
    (project.folder / ".git").rmdir()
    helix = Helix(project)
    try:
        helix.choose(4, "Ask the agent: shout about beta")
        helix.wait_for("BETA")
    finally:
        helix.close()


def test_why_a_prompt_cannot_be_taken_is_said(project: PlainProject) -> None:
    project.write("lsp-agent/config.toml", "")
    helix = Helix(project)
    try:
        helix.choose(4, "Ask the agent: shout about beta")
        helix.wait_for("The built-in agent has no model")
    finally:
        helix.close()
