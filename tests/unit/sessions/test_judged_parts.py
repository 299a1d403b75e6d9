"""A line is judged by its commands: those that only read need no yes, each other needs its own."""

from pathlib import Path

import pytest

from lsp_agent.protocol.settings.settings import PermissionSettings
from lsp_agent.sessions.permissions.judge import Judgement, Permissions
from lsp_agent.toolset.calls import ToolRequest
from lsp_agent.workspace.disk.paths import Confinement


class Session:
    def __init__(self, folder: Path, **settings: object) -> None:
        known = PermissionSettings.model_validate(settings)
        self.permissions = Permissions(
            str(folder),
            lambda: known,
            lambda free: Confinement(["/"] if free else [str(folder)]),
        )

    def judge(self, line: str) -> Judgement:
        return self.permissions.judge(ToolRequest("bash", {"command": line}, None))

    def offer(self, line: str) -> str | None:
        return self.permissions.offer(ToolRequest("bash", {"command": line}, None))

    def allow(self, pattern: str) -> None:
        self.permissions.grant(ToolRequest("bash", {"command": ""}, None), pattern=pattern)


def test_a_line_that_only_reads_is_not_asked_about(tmp_path: Path) -> None:
    session = Session(tmp_path)
    for line in ("ls", "cat a && git status --short | head -5", "for f in a b; do wc $f; done"):
        assert session.judge(line) == Judgement("allow", by_pattern=True, by="reading")


@pytest.mark.parametrize(
    "line", ["", " ", "# ls", "ls; rm a", "ls > a", "cat ../a", "ls &&", "cd / && ls", "A=1 ls"]
)
def test_any_other_is(tmp_path: Path, line: str) -> None:
    assert Session(tmp_path).judge(line).policy == "ask"


@pytest.mark.parametrize("settings", [{"reading": "ask"}, {"read": "ask"}, {"read": "deny"}])
def test_reading_is_asked_about_where_the_settings_say_so(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    assert Session(tmp_path, **settings).judge("ls").policy == "ask"


@pytest.mark.parametrize("policy", ["deny", "sandbox"])
def test_another_policy_for_commands_stands_above_reading(tmp_path: Path, policy: str) -> None:
    assert Session(tmp_path, command=policy).judge("ls").policy == policy


@pytest.mark.parametrize(
    "line",
    [
        *("pytest -q", "pytest -q 2>&1 | tail -5", "cd tests && pytest a.py", "pytest && git diff"),
        *("for f in a b; do pytest $f.py; done", "pytest -q; echo $?", "if pytest; then ls; fi"),
    ],
)
def test_a_granted_pattern_covers_its_part_of_a_line(tmp_path: Path, line: str) -> None:
    session = Session(tmp_path)
    assert session.judge(line).policy == "ask"
    session.allow("pytest*")
    assert session.judge(line).policy == "allow"


@pytest.mark.parametrize(
    "line",
    [
        *(
            "pytest -q && rm a",
            "pytest > a",
            "pytest | sh",
            "cd .. && pytest",
            "pytest; pytest ../a",
        ),
        *("pytest $(rm a)", "A=1 pytest", "pytest && python -m pytest", "pytest < a"),
        *("cd tests && pytest ../../a", "cd tests; pytest ../a", "$(echo pytest)"),
    ],
)
def test_it_covers_no_other_part(tmp_path: Path, line: str) -> None:
    session = Session(tmp_path)
    session.allow("pytest*")
    assert session.judge(line).policy == "ask"


def test_each_part_may_have_a_pattern_of_its_own(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.allow("pytest*")
    session.allow("ruff*")
    assert session.judge("ruff check . && pytest -q").policy == "allow"


def test_in_the_sandbox_a_granted_part_takes_the_line_out_of_it(tmp_path: Path) -> None:
    session = Session(tmp_path, command="sandbox")
    session.allow("pytest*")
    assert session.judge("pytest -q | tail -5").policy == "allow"
    assert session.judge("ls | tail -5").policy == "sandbox"


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("cd tests && pytest -q 2>&1 | tail -5", "pytest*"),
        ("pytest a.py; pytest b.py", "pytest*"),
        ("ruff check . && pytest -q", None),
        ("pytest -q && rm a", None),
        ("ls > a", None),
    ],
)
def test_the_pattern_that_is_offered_is_what_the_line_lacks(
    tmp_path: Path, line: str, pattern: str | None
) -> None:
    assert Session(tmp_path).offer(line) == pattern
