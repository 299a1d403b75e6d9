"""What a person does with the agent in Kate."""

from contextlib import closing
from pathlib import Path

import pytest
from plain_kate import Kate
from plain_project import NAP, NOTES, SCRIPT, PlainProject, napping
from plain_terminal import until

pytestmark = [pytest.mark.kate, pytest.mark.slow, pytest.mark.timeout(400)]

LOUD = "not saved\n" + NOTES.replace("beta\ngamma", "BETA\ngamma")


def test_a_proposal_for_unsaved_text_is_asked_for_applied_kept_and_saved(
    kate: Kate, project: PlainProject
) -> None:
    kate.type_line("not saved")
    kate.choose(5, "Ask the agent: shout about beta")
    assert until(lambda: kate.is_said("It is loud now."))
    assert project.saved() == NOTES
    kate.apply(3, "Apply the agent's proposal (line 3)", LOUD)
    kate.choose(3, "Keep the agent's change (line 3)")
    kate.keys("ctrl+s")
    assert until(lambda: project.saved() == LOUD), project.saved()


def test_the_editors_own_undo_takes_back_an_applied_proposal_alone(
    kate: Kate, project: PlainProject
) -> None:
    kate.type_line("not saved")
    kate.choose(5, "Ask the agent: shout about beta")
    kate.apply(3, "Apply the agent's proposal (line 3)", LOUD)
    kate.keys("ctrl+z")
    assert until(lambda: kate.text == "not saved\n" + NOTES), kate.text
    kate.keys("ctrl+s")
    assert until(lambda: project.saved() == "not saved\n" + NOTES), project.saved()


def test_an_edit_later_than_kate_takes_one_is_a_proposal_that_it_takes(tmp_path: Path) -> None:
    shout, *others = SCRIPT
    project = PlainProject(tmp_path, [{**shout, "delay_ms": 3000}, *others])
    with closing(Kate(project)) as kate:
        kate.choose(4, "Ask the agent: shout about beta")
        assert until(lambda: kate.is_said("It is loud now."))
        assert not any(each.get("method") == "workspace/applyEdit" for each in kate.said)
        text = NOTES.replace("beta\ngamma", "BETA\ngamma")
        kate.apply(2, "Apply the agent's proposal (line 2)", text)


def test_a_question_is_answered_by_code_action(kate: Kate, project: PlainProject) -> None:
    kate.choose(5, "Ask the agent: run the command")
    kate.choose(1, "Agent asks: bash: sleep 1; echo ran > ran.txt: Allow")
    assert until((project.folder / "ran.txt").exists)
    assert until(lambda: kate.is_said("It has run."))


def test_a_long_answer_is_told_of_and_where_it_is_by_code_action(kate: Kate) -> None:
    kate.choose(6, "Ask the agent: explain it")
    assert until(lambda: kate.is_said("The agent has answered"))
    kate.choose(6, "Show the agent's answer: explain it")
    assert until(lambda: kate.is_said("/answer.md"))


def test_a_running_command_is_stopped_by_code_action(kate: Kate) -> None:
    kate.choose(7, "Ask the agent: nap for a while")
    kate.choose(7, f"Agent asks: bash: exec {NAP}: Allow")
    assert until(napping)
    kate.choose(7, "Stop the agent: nap for a while")
    assert until(lambda: not napping())
