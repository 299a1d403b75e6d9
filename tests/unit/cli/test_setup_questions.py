"""What ``lsp-agent setup`` asks, and what it makes of it where nobody answers."""

import io
from pathlib import Path

import pytest

from lsp_agent.cli import setup_agent
from lsp_agent.cli.main import main
from lsp_agent.cli.setup_agent import Choice


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a person who can choose an agent that needs a key of theirs."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    choice = Choice("anthropic", "Anthropic, by your key", "builtin", found=False)
    monkeypatch.setattr(setup_agent, "choices", lambda: [choice])
    monkeypatch.setattr(setup_agent, "lacks_key", lambda _choice: True)
    return tmp_path


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch):
    def typed(text: str) -> None:
        """At a terminal, and Ctrl-D behind it."""
        monkeypatch.setattr("sys.stdin", Terminal(text))

    return typed


def test_no_answer_to_whether_to_write_is_no(types, home: Path, capsys) -> None:
    types("")
    assert main(["setup", "kate"]) == 1
    assert capsys.readouterr().err == ""
    assert not (home / "config").exists()


def test_no_answer_to_which_agent_chooses_none(types, home: Path, capsys) -> None:
    types("7\n")
    assert main(["setup"]) == 2
    assert capsys.readouterr().err == "lsp-agent: nothing was chosen\n"
    assert not (home / "config").exists()


def test_no_answer_to_the_question_for_a_key_is_none(
    types, home: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends(*_: object, **__: object) -> str:
        raise EOFError

    monkeypatch.setattr("getpass.getpass", ends)
    types("1\n")
    assert main(["setup"]) == 2
    assert capsys.readouterr().err == "lsp-agent: no key was given\n"
    assert not (home / "config").exists()


def test_with_stdin_closed_there_is_no_terminal_to_ask_on(
    capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert main(["setup", "kate"]) == 2
    assert "there is no terminal to ask on; say --yes" in capsys.readouterr().err


@pytest.mark.parametrize("stdin", [None, io.StringIO("\n")])
def test_a_key_that_does_not_come_is_asked_for(
    stdin: io.StringIO | None, home: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", stdin)
    assert main(["setup", "--yes", "--agent", "anthropic", "--key"]) == 2
    assert "--key: no key came on stdin" in capsys.readouterr().err
    assert not (home / "config").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "say --yes, and which --agent\n"),
        (["kate"], "say --yes\n"),
        (["--agent", "anthropic"], "say --yes\n"),
        (["--undo"], "say --yes\n"),
        (["kate", "--undo"], "say --yes\n"),
    ],
)
def test_without_a_terminal_it_says_only_what_is_missing(
    arguments: list[str], said: str, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main(["setup", *arguments]) == 2
    assert capsys.readouterr().err == f"lsp-agent: there is no terminal to ask on; {said}"
