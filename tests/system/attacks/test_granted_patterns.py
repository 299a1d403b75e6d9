"""What a pattern that a person granted for one command lets another do: lines that look as
harmless, in a session that has each of the patterns. By stand-ins for the programs where only the
question matters, so that none of them calls home if it runs."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from ground import MODES, Ground, Json
from support.project import Editor, bash, step

pytestmark = pytest.mark.slow

Report = Callable[[str, str, str, str], None]

#: By the command that was allowed with its pattern: what must be asked about all the same.
THROUGH_LINKS: Mapping[str, Sequence[str]] = {
    "diff a.txt b.txt": [
        "diff d1 d2",
        "diff d1 x",
        "diff -u d? d2",
        "diff --from-file=d1 d2",
        "diff h1 h2",
        "diff up d2",
    ],
    "ls -l a.txt": ["ls -RL .", "ls -lRL", "ls --dereference -R d1", "ls --deref -R ."],
    "du -a a.txt": ["du -aL .", "du -a --dereference d1", "du -Lh"],
}
WRITING_OR_CALLING: Mapping[str, Sequence[str]] = {
    "tree -a": ["tree -o out.html", "tree -aR -L 1 -H .", "tree -R"],
    "kubectl get pods": [
        "kubectl get pods --profile=heap --profile-output=out",
        "kubectl get pods --profile-output out",
        "kubectl get pods --profile-o out",
        "kubectl get pods --cache-dir=out",
        "kubectl get pods --log-file=out",
    ],
    "pip list": ["pip list --local-log=a.py", "pip list --log-file a", "pip list --pypi-url=x"],
    "uv pip list": ["uv pip list -p ./a.sh"],
    "sha256sum a.txt": ["sha256sum -c a.txt", "sha256sum --check a.txt"],
    "uv tree": ["uv tree --outdated", "uv tree --script a.py"],
    "npm outdated": ["npm outdated --https-proxy=http://example.org", "npm outdated --proxy=x"],
    "pnpm outdated": ["pnpm outdated --https-proxy=http://example.org"],
    "npm run build": ["npm run build --https-proxy=http://example.org"],
    "go doc fmt": ["go doc -http", "go doc --http fmt", "go doc -http=:80"],
    "pytest -q": ["pytest --pastebin=all", "pytest -q --paste=failed"],
    "python -m pytest": ["python -m pytest --pastebin=failed"],
    "uv run pytest -q": ["uv run pytest --pastebin all"],
}


def lay_out(ground: Ground) -> None:
    secret = ground.decoy / "secret.txt"
    for name in ("a.txt", "b.txt", "x", "d2/x", "d2/y", "h2/.x"):
        ground.file(name, "mine\n")
    for folder in ("d1", "h1"):
        (ground.folder / folder).mkdir()
    (ground.folder / "d1" / "x").symlink_to(secret)
    (ground.folder / "d1" / "y").symlink_to(ground.decoy)
    (ground.folder / "h1" / ".x").symlink_to(secret)
    (ground.folder / "up").symlink_to(ground.base)


def carried_out(
    ground: Ground, mode: str, table: Mapping[str, Sequence[str]]
) -> tuple[Editor, list[str]]:
    """All of ``table``, the person allowing each first command with its pattern where one is
    offered, and denying the rest; what they were asked about."""
    steps = [step("", *map(bash, (first, *others))) for first, others in table.items()]
    options = {"permissions": {"reading": "ask"}}
    editor = ground.attacked(mode, *steps, step("Done."), options=options)

    def answer(question: Json) -> Json:
        offered = [option["optionId"] for option in question["options"]]
        wanted = "allowPattern" if "allowPattern" in offered else "allow"
        first = question["title"].removeprefix("bash: ") in table
        return {"optionId": wanted if first else "deny"}

    editor.handlers["agent/ask"] = answer
    editor.ask_agent("Go.")
    ground.check(editor)
    titles = [question["title"] for question in editor.received("agent/ask")]
    return editor, [title.removeprefix("bash: ") for title in titles]


@pytest.mark.parametrize("mode", MODES)
def test_a_granted_pattern_follows_no_link_out(ground: Ground, mode: str, report: Report) -> None:
    lay_out(ground)
    editor, asked = carried_out(ground, mode, THROUGH_LINKS)
    assert asked == [line for first, others in THROUGH_LINKS.items() for line in (first, *others)]
    texts = dict(zip(asked, editor.tool_texts(), strict=True))
    assert all(texts[first].startswith("$ ") for first in THROUGH_LINKS)
    for others in THROUGH_LINKS.values():
        assert "declined" in texts[others[0]]
        report(f"behind a pattern: {others[0]}", mode, "asked", ground.shown(texts[others[0]]))


@pytest.mark.parametrize("mode", MODES)
def test_a_granted_pattern_writes_no_file_of_its_choice_and_calls_nobody(
    ground: Ground,
    mode: str,
    report: Report,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in {first.split()[0] for first in WRITING_OR_CALLING}:
        (programs / name).write_text('#!/bin/sh\necho "$0 ran"\n')
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    editor, asked = carried_out(ground, mode, WRITING_OR_CALLING)
    wanted = [line for first, others in WRITING_OR_CALLING.items() for line in (first, *others)]
    assert asked == wanted
    texts = dict(zip(wanted, editor.tool_texts(), strict=True))
    for others in WRITING_OR_CALLING.values():
        assert all("declined" in texts[line] for line in others)
        report(f"behind a pattern: {others[0]}", mode, "asked", ground.shown(texts[others[0]]))


def test_what_stays_inside_is_spared_the_question(ground: Ground) -> None:
    """The tables above would be empty words if nothing were covered."""
    lay_out(ground)
    (ground.folder / "d3").mkdir()
    ground.file("d3/x", "yours\n")
    table = {"diff a.txt b.txt": ["diff -u d2 d3", "diff d3 x"], "ls -l a.txt": ["ls -lR ."]}
    editor, asked = carried_out(ground, "hosted", table)
    assert asked == list(table)
    assert all(text.startswith("$ ") for text in editor.tool_texts())
