"""A day's work of an agent: which of its command lines a person is asked about."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lsp_agent.protocol.settings.settings import PermissionSettings
from lsp_agent.sessions.permissions.judge import Permissions
from lsp_agent.sessions.permissions.reading.builtins import OTHERS
from lsp_agent.sessions.permissions.reading.catalogue import PROGRAMS, VERSIONED
from lsp_agent.toolset.calls import ToolRequest
from lsp_agent.workspace.disk.paths import Confinement

DAY = Path(__file__).with_name("a_days_commands.txt")
#: What a person has allowed for the session.
GRANTED = [
    *("pytest*", "python -m pytest*", "ruff*", "mypy*", "make test", "mkdir*", "touch*"),
    *("npm test*", "npm run build*", "npm run lint*", "tsc*", "cargo test*", "cargo build*"),
    *("cargo check*", "go test*", "git add*", "git commit*"),
]


def the_day() -> Iterator[tuple[str, str]]:
    """The lines, each with what is expected of it."""
    for row in DAY.read_text(encoding="utf-8").splitlines():
        kind, _, line = row.partition(" ")
        if kind != "#":
            yield kind, line


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """On a machine that has all programs of the catalogue."""
    (tmp_path / "bin").mkdir()
    for name in {*PROGRAMS, *OTHERS, *VERSIONED, "find", "git"}:
        program = tmp_path / "bin" / name
        program.touch()
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    folder = tmp_path / "workspace"
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "refs").mkdir()
    (folder / ".git" / "HEAD").touch()
    return folder


def asked(workspace: Path, granted: Sequence[str] = (), **settings: object) -> list[str]:
    known = PermissionSettings.model_validate(settings)
    permissions = Permissions(
        str(workspace), lambda: known, lambda _: Confinement([str(workspace)])
    )
    for pattern in granted:
        permissions.grant(ToolRequest("bash", {"command": ""}, None), pattern=pattern)
    return [
        line
        for _, line in the_day()
        if permissions.judge(ToolRequest("bash", {"command": line}, None)).policy == "ask"
    ]


def test_it_is_a_day_of_two_hundred_lines() -> None:
    assert sum(Counter(kind for kind, _ in the_day()).values()) == 200


def test_exactly_those_lines_are_asked_about_that_do_more_than_was_granted(
    workspace: Path,
) -> None:
    assert asked(workspace, GRANTED) == [line for kind, line in the_day() if kind == "?"]


def test_without_a_yes_all_are_that_do_more_than_read(workspace: Path) -> None:
    assert asked(workspace) == [line for kind, line in the_day() if kind != "r"]


def test_nine_in_ten_need_no_question(workspace: Path) -> None:
    assert len(asked(workspace, GRANTED)) <= 20
    assert len(asked(workspace, GRANTED, reading="ask")) > 160
