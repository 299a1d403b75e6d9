"""What a person sees and does in VS Code with nothing but a plain language client."""

import re
from typing import Any

import pytest
from support.workbench import wait_until
from vscode_desk import SHOW, Desk, done, edit, step

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.xdist_group("vscode"),
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


IN_CHAT = pytest.mark.parametrize("desk", ["x.chat.md"], indirect=True)
SAID = "## You\n\nWhy so?\n\n## Agent\n\n- `bash: make`\n\nSee shop.py:2\n\n## You\n\n"
#: Of the rendered words of this text, in the order of the lines.
COLOURS = """
words => [...document.querySelectorAll(".view-lines .view-line span span")]
  .filter((span) => span.textContent.replaceAll("\u00a0", " ") === words)
  .map((span) => getComputedStyle(span).color)
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


@IN_CHAT
def test_what_a_conversation_names_completes_and_is_gone_to_and_its_turns_are_listed(
    desk: Desk,
) -> None:
    desk.path.with_name("shop.py").write_text("one\ntwo\n")
    desk.open(SAID)
    desk.start(done())
    page = desk.workbench.page
    wait_until(lambda: {"Why so?", "bash: make"} <= {*listed(desk)})
    desk.go_to("shop.py:2", at_mark=True)
    desk.workbench.key("F12")
    wait_until(lambda: shown(desk)[0] == "shop.py")
    line = "return vscode.window.activeTextEditor.selection.active.line"
    wait_until(lambda: desk.workbench.run(line) == 1)
    desk.workbench.run(SHOW, str(desk.path))
    desk.workbench.key("Control+End")
    desk.workbench.type("look at @sh")
    desk.workbench.key("Control+Space")
    page.locator(".suggest-widget .monaco-list-row", has_text="@shop.py").first.wait_for()
    desk.workbench.key("Tab")
    wait_until(lambda: desk.text().endswith("look at @shop.py"))


@IN_CHAT
def test_how_a_turn_stands_is_behind_its_lines_and_who_speaks_is_in_colours(desk: Desk) -> None:
    shop = desk.path.with_name("shop.py")
    shop.write_text("one\ntwo\n")
    wait = {"name": "bash", "args": {"command": "until test -e go; do sleep 0.05; done"}}
    desk.open("## You\n\nName it.\n")
    desk.start(step(wait), step(edit("shop.py", ("two", "TWO"))), done(), permissions=ALLOWED)
    desk.call("workspace/executeCommand", command="lspAgent.sendChat", arguments=[uri(desk)])
    lines = desk.workbench.page.locator(".view-lines")
    wait_until(lambda: re.search(r"at work: t-\w+ -->\s*step 1, ([2-9]|\d{2,}) s", seen(lines)))
    desk.path.with_name("go").touch()
    wait_until(lambda: re.search(r"## Agent\s*\d+ s, .*tokens", seen(lines)))
    wait_until(lambda: re.search(r"shop\.py:2\s*\+1 −1", seen(lines)))
    you, agent = ({*desk.workbench.page.evaluate(COLOURS, f"## {who}")} for who in ("You", "Agent"))
    assert len(you) == len(agent) == 1
    assert you != agent  # to Markdown they are the same


def listed(desk: Desk) -> list[str]:
    """What there is to go to in the document, as it is listed; sooner it is Markdown's alone."""
    desk.workbench.command("workbench.action.gotoSymbol")
    rows = desk.workbench.page.locator(".quick-input-list .monaco-list-row .label-name")
    rows.first.wait_for()
    found = [text.strip() for text in rows.all_inner_texts()]
    desk.workbench.key("Escape")
    return found


def uri(desk: Desk) -> dict[str, str]:
    return {"uri": desk.path.as_uri()}


def seen(lines: Any) -> str:
    return lines.first.inner_text().replace("\u00a0", " ")
