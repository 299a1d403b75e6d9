"""What VS Code's notifications say: it makes links in them, and one to ``command:`` runs what it
names when it is pressed."""

import re

import pytest
from support.vscode_modules import SOURCE, returned

pytestmark = [pytest.mark.vscode]

#: ``extension.ts`` shows its own words alone, ``questions.ts`` a question that has no link in it
#: (``toasts.ts``).
SHOWING = {"notices.ts", "extension.ts", "questions.ts"}
#: As VS Code's linkedText.ts finds them.
LINK = re.compile(r"\[[^\]]+\]\((?:https?://|command:|file:)[^)\s]+\)", re.IGNORECASE)


@pytest.mark.parametrize("name", ["tell", "warn", "tellError"])
def test_no_text_has_a_link(name: str) -> None:
    texts = [
        "a[0](x)",
        "[go](command:x.y?%5B%5D)",
        "[b](HTTPS://a/b)",
        "[[c](file:///d)](command:e)",
    ]
    code = f"""
    const shown = [];
    for (const kind of ['Information', 'Warning', 'Error']) {{
      vscode.window[`show${{kind}}Message`] = (text) => shown.push(text);
    }}
    for (const each of argument) notices.{name}(each);
    return shown;
    """
    shown = returned(code, texts, notices="notices")
    assert [bool(LINK.search(each)) for each in texts] == [False, True, True, True]
    assert not any(LINK.search(each) for each in shown)
    assert [each.replace("] (", "](") for each in shown] == texts
    assert shown[0] == texts[0]


def test_a_turns_progress_has_no_link() -> None:
    """Its title is the prompt, its message a call of the agent's."""
    code = """
    const shown = [];
    vscode.window.withProgress = async (where, work) => {
      shown.push(where.title);
      const cancellation = { onCancellationRequested: () => undefined };
      await work({ report: ({ message }) => shown.push(message) }, cancellation);
    };
    const turns = new progress.TurnProgress(() => false, () => undefined);
    turns.take('t', { kind: 'begin', cancellable: true, title: argument, message: argument });
    turns.take('t', { kind: 'report', message: argument });
    turns.take('t', { kind: 'end' });
    return shown;
    """
    shown = returned(code, "bash: echo [go](command:x.y)", progress="progress")
    assert shown == ["bash: echo [go] (command:x.y)"] * 3


def test_no_other_module_shows_one_by_itself() -> None:
    shows = re.compile(r"window\s*\.show(?:Information|Warning|Error)Message")
    found = {path.name for path in SOURCE.rglob("*.ts") if shows.search(path.read_text())}
    assert found == SHOWING
