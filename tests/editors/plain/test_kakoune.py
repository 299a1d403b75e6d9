"""What a person does with the agent in Kakoune."""

import time

import pytest
from plain_kakoune import Kakoune
from plain_project import NAP, NOTES, PlainProject, napping, text_of
from plain_terminal import until

pytestmark = [pytest.mark.kakoune, pytest.mark.slow, pytest.mark.timeout(400)]


def test_a_proposal_for_unsaved_text_is_seen_applied_kept_and_saved(
    kakoune: Kakoune, project: PlainProject
) -> None:
    kakoune.type_line("not saved")
    kakoune.choose(5, "Ask the agent: shout about beta")
    kakoune.wait_for("-beta")  # a hint's sign
    assert project.saved() == NOTES
    kakoune.choose(3, "Apply the agent's proposal (line 3)")
    kakoune.wait_for("BETA")
    kakoune.type_line("typed since")
    kakoune.choose(4, "Keep the agent's change (line 4)")
    kakoune.run("write")
    wanted = "typed since\nnot saved\n" + NOTES.replace("beta\ngamma", "BETA\ngamma")
    wanted = wanted.replace("agent: shout about beta\n", "")
    assert until(lambda: project.saved() == wanted), project.saved()


def test_the_editors_own_undo_takes_back_an_applied_proposal_alone(
    kakoune: Kakoune, project: PlainProject
) -> None:
    kakoune.type_line("not saved")
    kakoune.choose(5, "Ask the agent: shout about beta")
    kakoune.wait_for("-beta")
    kakoune.choose(3, "Apply the agent's proposal (line 3)")
    kakoune.wait_for("-BETA")
    kakoune.type("u")
    kakoune.wait_for(lambda screen: "\n beta" in screen)  # nor is there anything to review
    kakoune.run("write")
    wanted = "not saved\n" + NOTES.replace("agent: shout about beta\n", "")
    assert until(lambda: project.saved() == wanted), project.saved()


def test_a_proposal_is_applied_and_kept_by_code_lens(
    kakoune: Kakoune, project: PlainProject
) -> None:
    kakoune.type_line("not saved")
    kakoune.choose(5, "Ask the agent: shout about beta")
    kakoune.wait_for("-beta")
    kakoune.run("lsp-inlay-code-lenses-enable window")
    kakoune.wait_for("-beta [🔎 Apply]")
    kakoune.take_lens(3, "Apply")
    kakoune.wait_for("-BETA")
    kakoune.take_lens(3, "Keep")
    kakoune.wait_for(lambda screen: "-BETA" not in screen)
    kakoune.wait_at_rest(1, "\n BETA\n")
    kakoune.run("write")
    wanted = "not saved\n" + NOTES.replace("beta\ngamma", "BETA\ngamma")
    wanted = wanted.replace("agent: shout about beta\n", "")
    assert until(lambda: project.saved() == wanted), project.saved()


def test_a_proposals_preview_by_code_lens_says_which_file_to_open(kakoune: Kakoune) -> None:
    kakoune.type_line("not saved")
    kakoune.choose(5, "Ask the agent: shout about beta")
    kakoune.wait_for("-beta")
    kakoune.run("lsp-inlay-code-lenses-enable window")
    kakoune.take_lens(3, "Preview")
    screen = kakoune.wait_for("as a diff: ")
    path = screen.partition("as a diff: ")[2].split()[0]
    kakoune.run(f"edit {path}")
    kakoune.wait_for("+BETA")


def test_a_question_is_answered_by_code_action(kakoune: Kakoune, project: PlainProject) -> None:
    kakoune.choose(5, "Ask the agent: run the command")
    kakoune.wait_for("Answer the agent by code action: bash: sleep 1; echo ran > ran.txt")
    kakoune.choose(None, "Agent asks: bash: sleep 1; echo ran > ran.txt: Allow")
    assert until((project.folder / "ran.txt").exists)
    kakoune.wait_for("It has run.")


def test_a_long_answer_is_told_of_and_where_it_is_by_code_action(kakoune: Kakoune) -> None:
    kakoune.choose(6, "Ask the agent: explain it")
    kakoune.wait_for("The agent has answered")
    kakoune.choose(None, "Show the agent's answer: explain it")
    screen = kakoune.wait_for("answer.md")
    path = next(word for word in screen.split() if "answer.md" in word)
    kakoune.run(f"edit {path}")
    kakoune.wait_for("Their names are Greek.")


def test_an_hourglass_stands_in_the_mode_line_while_the_agent_works(kakoune: Kakoune) -> None:
    assert "⌛" not in kakoune.screen
    kakoune.choose(7, "Ask the agent: nap for a while")
    kakoune.wait_for("⌛")
    kakoune.type(" s")
    kakoune.wait_for(lambda screen: "⌛" not in screen)


def test_a_running_command_is_stopped_by_key(kakoune: Kakoune) -> None:
    kakoune.choose(7, "Ask the agent: nap for a while")
    kakoune.choose(None, f"Agent asks: bash: exec {NAP}: Allow")
    assert until(napping)
    kakoune.type(" s")
    assert until(lambda: not napping())


def test_a_conversation_is_read_while_it_comes_and_written_in(
    kakoune: Kakoune, project: PlainProject
) -> None:
    kakoune.type(" c")
    kakoune.wait_for("The conversation: ")
    (file,) = (project.folder / ".lsp-agent").glob("*.chat.md")
    kakoune.run(f"edit {file}")
    kakoune.wait_for("## You")
    kakoune.type("geo")
    kakoune.wait_for("insert")
    kakoune.type("count to sixty")
    kakoune.leave()
    kakoune.choose(None, "Send to the agent")
    assert "n60" not in kakoune.wait_for("n5 ")
    kakoune.type("geo")  # the next prompt, while it comes
    kakoune.wait_for("insert")
    for word in ("then", "say", "hello"):
        kakoune.type(f"{word} ")
        time.sleep(0.4)
    kakoune.leave()
    kakoune.wait_for(lambda screen: "at work" not in screen)
    kakoune.run("write")
    answer = " ".join(f"n{number}" for number in range(1, 61))
    wanted = f"## You\n\ncount to sixty\n\n## Agent\n\n{answer}\n\n## You\n\nthen say hello"
    assert until(lambda: (text_of(file) or "").rstrip().endswith(wanted)), text_of(file)


def test_what_a_conversation_names_completes_and_is_gone_to_and_its_turns_are_listed(
    kakoune: Kakoune, project: PlainProject
) -> None:
    project.converse()
    kakoune.run("edit x.chat.md")
    kakoune.wait_for("Why so?")
    kakoune.run("lsp-document-symbol")
    kakoune.wait_for(
        lambda screen: "Why so? (Event)" in screen and "bash: make (Function)" in screen
    )
    kakoune.run("buffer x.chat.md")
    kakoune.wait_for("See shop.py:2")
    kakoune.type("9gfhlh")
    kakoune.run("lsp-definition")
    kakoune.wait_for(" shop.py 2:1 ")
    kakoune.run("buffer x.chat.md")
    kakoune.wait_for("See shop.py:2")
    kakoune.type("geo")
    kakoune.wait_for("insert")
    kakoune.type("look at @sh")
    kakoune.wait_for("@shop.py File")
    kakoune.keys("C-n")
    kakoune.wait_for("look at @shop.py\n")
