"""What became of the agent's changes."""

from vscode_product import Product


def statuses(person: Product) -> list[str]:
    """Of the hunks of the last turn that changed something, in the order of its changes."""
    edits = person.command("lspAgent.edits")["edits"]
    last = [each for each in edits if each["turnId"] == edits[-1]["turnId"]]
    return [hunk["status"] for each in last for hunk in each["hunks"]]


def line_of_cursor(person: Product) -> int:
    """From 0."""
    return person.workbench.run("return vscode.window.activeTextEditor.selection.active.line")
