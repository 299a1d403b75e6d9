"""What a person sees and does in VS Code with nothing but a plain language client."""

from typing import Any

import pytest
from support.workbench import wait_until
from vscode_desk import Desk, done, edit, step

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.xdist_group("vscode of its own"),
]

TEXT = "alpha\nbeta\ngamma\nagent: shout about beta\n"
LONG = "Three letters.\n\nTheir names are Greek."
ALLOWED = {"command": "allow"}

HINTS = """
const uri = vscode.Uri.file(argument);
const found = vscode.languages.getDiagnostics(uri);
const hints = found.filter((each) => each.severity === vscode.DiagnosticSeverity.Hint);
return hints.map((each) => [each.range.start.line, each.message]);
"""
SHOWN = """
const document = vscode.window.activeTextEditor?.document;
return document && [document.uri.path.split("/").pop(), document.getText()];
"""


def loud(desk: Desk) -> Any:
    return edit(desk.name, ("beta\ngamma", "BETA\ngamma"))


def shown(desk: Desk) -> list[str]:
    """The name and the text of the document that is in front."""
    return desk.workbench.run(SHOWN) or ["", ""]


def hints(desk: Desk) -> Any:
    return desk.workbench.run(HINTS, str(desk.path))


def test_a_line_asks_by_code_action(desk: Desk) -> None:
    desk.open(TEXT)
    desk.start(step(loud(desk), match="^shout"), done())
    desk.go_to("agent:")
    desk.workbench.pick("Ask the agent: shout about beta")
    wait_until(lambda: desk.text().startswith("alpha\nBETA\ngamma\n"))


def test_what_waits_for_review_is_a_hint(desk: Desk) -> None:
    desk.open(TEXT)
    desk.start(step(loud(desk)), done())
    desk.ask()
    wait_until(lambda: hints(desk) == [[1, "1 change of the agent's to review"]])
    desk.go_to("BETA")
    desk.workbench.pick("Keep the agent's change (line 2)")
    wait_until(lambda: hints(desk) == [])


def test_a_proposal_is_previewed_in_an_editor_and_applied(desk: Desk) -> None:
    desk.open(TEXT)
    desk.start(step(loud(desk)), done(), edits={"review": "before"})
    desk.ask()
    desk.go_to("beta")
    desk.workbench.pick("Preview the agent's proposal (line 2)")
    wait_until(lambda: shown(desk)[0] == f"{desk.name}.diff")
    assert "-beta\n+BETA\n" in shown(desk)[1]
    desk.workbench.command("workbench.action.closeActiveEditor")
    wait_until(lambda: shown(desk)[0] == desk.name)
    desk.go_to("beta")
    desk.workbench.pick("Apply the agent's proposal (line 2)")
    wait_until(lambda: "BETA" in desk.text())


def test_a_turn_is_progress_in_the_status_bar_and_stopped_by_code_action(desk: Desk) -> None:
    nap = {"name": "bash", "args": {"command": "sleep 600"}}
    desk.open(TEXT)
    desk.start(step(nap), done(), permissions=ALLOWED)
    turn = desk.prompt("Nap.")
    bar = desk.workbench.page.locator(".statusbar")
    wait_until(lambda: "bash: sleep 600" in bar.inner_text())
    desk.workbench.pick("Stop the agent")
    assert desk.wait(turn)["stopReason"] == "aborted"
    wait_until(lambda: "bash: sleep 600" not in bar.inner_text())


def test_a_long_answer_is_told_of_and_opened_by_code_action(desk: Desk) -> None:
    desk.open(TEXT)
    desk.start(step(text=LONG))
    desk.ask("Explain.")
    told = desk.workbench.page.locator(".notification-toast", has_text="The agent has answered")
    told.first.wait_for()
    desk.workbench.pick("Show the agent's answer: Explain.")
    wait_until(lambda: shown(desk) == ["answer.md", f"# Explain.\n\n{LONG}\n"])
