"""A day's work of an agent: which of its command lines a person is asked about."""

import shutil
import subprocess
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
#: Of what does more than read: what the sandbox refuses, so that a person is asked. With the hosts
#: that the day needs in ``permissions.network``, and bubblewrap.
REFUSED = [
    *("git add src/app.py", "git add -A && git status --short", "git commit -m 'Fix the parser'"),
    'git add src tests && git commit -m "Add tests for the parser"',
    *("git push origin HEAD", "git checkout -b fix/parser", "touch /etc/q1"),
    "docker compose up -d",
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


def judge_of(workspace: Path, **settings: object) -> Permissions:
    known = PermissionSettings.model_validate(settings)
    return Permissions(str(workspace), lambda: known, lambda _: Confinement([str(workspace)]))


def asked(workspace: Path, granted: Sequence[str] = (), **settings: object) -> list[str]:
    permissions = judge_of(workspace, **settings)
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


@pytest.fixture
def repository(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a real git, of a person who has no settings of their own."""
    found = shutil.which("git", path="/usr/bin:/bin:/usr/local/bin")
    assert found is not None
    program = workspace.parent / "bin" / "git"
    program.unlink()
    program.symlink_to(found)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    shutil.rmtree(workspace / ".git")
    subprocess.run([found, "init", "-q", str(workspace)], check=True)
    return workspace


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_in_the_sandbox_three_in_two_hundred_need_a_question(repository: Path) -> None:
    permissions = judge_of(repository, command="sandbox")

    def is_kept(line: str) -> bool:
        judged = permissions.judge(ToolRequest("bash", {"command": line}, None))
        assert judged.policy == "sandbox"
        return judged.store is not None

    lines = [line for _, line in the_day()]
    kept = [line for line in lines if is_kept(line)]
    assert set(kept) <= set(REFUSED), "what is kept does nothing that the sandbox does not refuse"
    left = [line for line in lines if line in REFUSED and line not in kept]
    assert left == ["git push origin HEAD", "docker compose up -d", "touch /etc/q1"]
    assert len(left) * 200 <= 3 * len(lines)
