"""What a person does with the agent in Emacs."""

import time

import pytest
from plain_emacs import Emacs
from plain_project import NAP, NOTES, PlainProject, napping
from plain_terminal import UNREAD, until

pytestmark = [pytest.mark.emacs, pytest.mark.slow, pytest.mark.timeout(400)]


def test_an_edit_of_unsaved_text_is_asked_for_seen_reviewed_and_saved(
    emacs: Emacs, project: PlainProject
) -> None:
    emacs.type("not saved\n")
    emacs.choose(5, "Ask the agent: shout about beta")
    emacs.wait_for("BETA")
    emacs.wait_for("It is loud now.")
    assert project.saved() == NOTES
    emacs.choose(3, "Keep the agent's change (line 3)")
    emacs.save()
    wanted = "not saved\n" + NOTES.replace("beta\ngamma", "BETA\ngamma")
    assert until(lambda: project.saved() == wanted)


def test_the_editors_own_undo_takes_back_the_edit_alone(
    emacs: Emacs, project: PlainProject
) -> None:
    emacs.type("not saved\n")
    emacs.choose(5, "Ask the agent: shout about beta")
    emacs.wait_for("It is loud now.")
    emacs.wait_for("Flymake[0 0 1]")  # there is something to review
    emacs.keys("C-x", "u")
    emacs.wait_for(lambda screen: "BETA" not in screen and "Flymake[0 0]" in screen)
    emacs.save()
    assert until(lambda: project.saved() == "not saved\n" + NOTES), project.saved()


def test_a_turn_and_its_tools_are_seen_as_progress(emacs: Emacs) -> None:
    emacs.choose(5, "Ask the agent: run the command")
    emacs.wait_for("agent: run the command...")
    emacs.wait_for("bash: sleep 1; echo ran > ran.txt...")
    emacs.choose(1, "Agent asks: bash: sleep 1; echo ran > ran.txt: Deny")
    emacs.wait_for("It has run.")


def test_what_waits_for_review_is_a_note_of_flymakes(emacs: Emacs) -> None:
    emacs.choose(4, "Ask the agent: shout about beta")
    emacs.wait_for("Flymake[0 0 1]")
    emacs.keys("M-x")
    emacs.type("flymake-show-buffer-diagnostics")
    emacs.keys("Enter")
    emacs.wait_for("2   0 note     e-f-b    lsp-agent: 1 change of the agent's to review")
    emacs.choose(2, "Keep the agent's change (line 2)")
    emacs.wait_for(lambda screen: "Flymake[0 0]" in screen and "to review" not in screen)


def test_what_was_saved_before_an_edit_is_saved_after_it(
    emacs: Emacs, project: PlainProject
) -> None:
    emacs.choose(4, "Ask the agent: shout about beta")
    emacs.wait_for("BETA")
    assert until(lambda: project.saved() == NOTES.replace("beta\ngamma", "BETA\ngamma"))
    emacs.choose(2, "Undo the agent's change (line 2)")
    emacs.wait_for(lambda screen: "BETA" not in screen)


def test_a_prompt_asks(emacs: Emacs) -> None:
    emacs.keys("C-c", "a", "p")
    emacs.wait_for("Ask the agent:")
    emacs.type("say hello")
    emacs.keys("Enter")
    emacs.wait_for("I have heard: hello.")


def test_the_region_is_a_prompt(emacs: Emacs) -> None:
    emacs.type("say hello, please\n")
    emacs.keys("M-<", "C-Space", "C-e")
    emacs.choose(None, "Ask the agent: say hello, please")
    emacs.wait_for("I have heard: hello.")


def test_a_question_is_answered_by_code_action(emacs: Emacs, project: PlainProject) -> None:
    emacs.choose(5, "Ask the agent: run the command")
    emacs.wait_for("Agent asks: C-c a a")
    emacs.wait_for_message("Answer the agent by code action: bash: sleep 1")
    emacs.choose(1, "Agent asks: bash: sleep 1; echo ran > ran.txt: Allow")
    assert until((project.folder / "ran.txt").exists)
    emacs.wait_for("It has run.")


def test_a_question_stands_in_the_mode_line_until_it_is_answered(
    emacs: Emacs, project: PlainProject
) -> None:
    emacs.choose(5, "Ask the agent: run the command")
    emacs.wait_for("Agent asks: C-c a")
    emacs.keys("M-x")
    emacs.type("what-line")  # whose message takes the place of the question's
    emacs.keys("Enter")
    emacs.wait_for("Line 5")
    assert "Agent asks: C-c a" in emacs.screen
    emacs.choose(1, "Agent asks: bash: sleep 1; echo ran > ran.txt: Deny")
    emacs.wait_for(lambda screen: "Agent asks: C-c a" not in screen)
    assert not (project.folder / "ran.txt").exists()


def test_a_long_answer_is_shown_by_code_action(emacs: Emacs) -> None:
    emacs.choose(6, "Ask the agent: explain it")
    emacs.wait_for("The agent has answered")
    emacs.choose(1, "Show the agent's answer: explain it")
    emacs.wait_for("Their names are Greek.")


def test_a_conversation_is_read_while_it_comes_and_written_in(
    emacs: Emacs, project: PlainProject
) -> None:
    emacs.keys("C-c", "a", "c")
    emacs.wait_for(".chat.md")
    emacs.type("count to sixty")
    emacs.keys("C-c", "a", "Enter")
    assert "n60" not in emacs.wait_for("n5 ")
    emacs.keys("M->")  # the next prompt, while it comes
    for word in ("then", "say", "hello"):
        emacs.type(f"{word} ")
        time.sleep(0.4)
    emacs.wait_for(lambda screen: "at work" not in screen)
    emacs.save()
    (file,) = (project.folder / ".lsp-agent").glob("*.chat.md")
    answer = " ".join(f"n{number}" for number in range(1, 61))
    wanted = f"## You\n\ncount to sixty\n\n## Agent\n\n{answer}\n\n## You\n\nthen say hello "
    assert until(lambda: file.read_text().rstrip("\n").endswith(wanted)), file.read_text()


def test_what_a_conversation_names_completes_and_is_gone_to_and_its_turns_are_listed(
    emacs: Emacs, project: PlainProject
) -> None:
    project.converse()
    emacs.keys("C-x", "C-f")
    emacs.wait_for("Find file: ")
    emacs.type("x.chat.md")
    emacs.keys("Enter")
    emacs.wait_for("Why so?")
    emacs.keys("M->")
    emacs.type("look at @sh")
    emacs.keys("C-M-i")
    emacs.wait_for("@shop.py File")
    emacs.keys("M-Down", "M-Enter")
    emacs.wait_for("look at @shop.py\n")
    emacs.keys("M-x")
    emacs.type("imenu")
    emacs.keys("Enter")
    emacs.wait_for("Index item")
    emacs.type("Why.so")  # as Imenu writes it
    emacs.keys("Tab", "Enter")
    emacs.wait_for(lambda screen: "Index item" in screen and "Why.so" not in screen)
    emacs.type("bash")  # among those of the turn
    emacs.keys("Tab", "Enter")
    emacs.wait_for(" L7 ")
    emacs.keys("C-s")
    emacs.type("See shop")
    emacs.keys("Enter", "M-.")
    emacs.wait_for(lambda screen: " shop.py " in screen and " L2 " in screen)


def test_eglot_alone_shows_it_while_it_comes_beside_what_is_typed(project: PlainProject) -> None:
    (project.folder / "x.chat.md").write_text("## You\n\ncount to sixty\n")
    emacs = Emacs(project, "count to sixty", "x.chat.md", alone=True)
    try:
        emacs.keys("M-x")
        emacs.type("imenu")  # answered once the server is up: Eglot gives a request ten seconds
        emacs.keys("Enter")
        emacs.wait_for("Index item")
        emacs.keys("C-g")
        emacs.keys("M-x")
        emacs.type("eglot-code-actions")
        emacs.keys("Enter")
        emacs.wait_for("Pick an action")
        emacs.type("Send to the agent: count to sixty")
        emacs.wait_for("Send to the agent: count to sixty")
        time.sleep(UNREAD)
        emacs.keys("Enter")
        assert "n60" not in emacs.wait_for("n3 ")
        emacs.keys("M-<")
        for number in range(30):
            emacs.type(f"k{number}\n" if number % 6 == 5 else f"k{number} ")
            time.sleep(0.1)
        emacs.wait_for(lambda screen: "at work" not in screen)
        emacs.save()
        mine = "".join(f"k{n}\n" if n % 6 == 5 else f"k{n} " for n in range(30))
        answer = " ".join(f"n{number}" for number in range(1, 61))
        wanted = f"{mine}## You\n\ncount to sixty\n\n## Agent\n\n{answer}\n\n## You"
        chat = project.folder / "x.chat.md"
        assert until(lambda: chat.read_text().rstrip("\n") == wanted, 20), chat.read_text()
    finally:
        emacs.close()


def test_a_running_command_is_stopped(emacs: Emacs) -> None:
    emacs.choose(7, "Ask the agent: nap for a while")
    emacs.wait_for("Agent asks: C-c a a")  # stays, unlike the echo area's question
    emacs.choose(1, f"Agent asks: bash: exec {NAP}: Allow")
    assert until(napping)
    emacs.keys("C-c", "a", "s")
    assert until(lambda: not napping())
