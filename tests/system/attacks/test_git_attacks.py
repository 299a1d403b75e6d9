"""A workspace that becomes a repository of the agent's making, or was brought as one: an allowed
``git status`` would run what its configuration names."""

import itertools
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from ground import MODES, Ground, Json
from support.project import bash, step, write

Report = Callable[[str, str, str, str], None]

pytestmark = [
    pytest.mark.sampled,
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]

MINE = "which only git may write"
CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch pwned; false\n"
PIECES = {
    "HEAD": "ref: refs/heads/main\n",
    "objects/x": "x\n",
    "refs/x": "x\n",
}
PATTERNS: Json = {"permissions": {"command": "ask", "allow": ["command: git status*"]}}


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", list(itertools.permutations(PIECES)), ids=" ".join)
def test_file_tools_make_no_folder_a_repository(
    ground: Ground, mode: str, order: tuple[str, ...], report: Report
) -> None:
    calls = [write(name, PIECES[name]) for name in order]
    editor = ground.attacked(
        mode,
        step("", write("config", CONFIG), *calls),
        step("", bash("git status")),
        step("Done."),
        options=PATTERNS,
    )
    editor.ask_agent("Go.")
    ground.check(editor)
    refused = [text for text in editor.tool_texts() if MINE in text]
    assert refused
    assert not (ground.folder / "pwned").exists()
    assert not all((ground.folder / name).exists() for name in PIECES)
    report(f"pieces of a repository: {' '.join(order)}", mode, "refused", ground.shown(refused[0]))


def test_proposals_that_a_person_accepts_make_no_folder_a_repository(
    ground: Ground, report: Report
) -> None:
    """Each alone is harmless, and was looked at when nothing of the others was there."""
    editor = ground.attacked(
        "hosted",
        step("", *(write(f"sub/{name}", text) for name, text in PIECES.items())),
        step("Done."),
        options={"edits": {"review": "before"}},
    )
    result = editor.ask_agent("Go.")
    assert [edit["status"] for edit in result["edits"]] == ["proposed"] * len(PIECES)
    asked = [
        editor.request("agent/applyEdit", {"editId": edit["editId"]}) for edit in result["edits"]
    ]
    shown = [str(editor.answer(each)) for each in asked]
    assert sum(MINE in text for text in shown) >= 1
    assert not all((ground.folder / "sub" / name).exists() for name in PIECES)
    ground.check(editor)
    report("pieces of a repository, proposed", "hosted", "refused", ground.shown(shown[-1]))


@pytest.mark.parametrize("mode", MODES)
def test_no_allowed_git_takes_a_bare_repository_for_its_own(
    ground: Ground, mode: str, report: Report
) -> None:
    """A repository may bring one as ordinary files, in a folder of it."""
    git(ground.base, "init", "--quiet", "--bare", str(ground.folder))
    (ground.folder / "config").write_text(CONFIG + f"\tworktree = {ground.folder}\n")
    editor = ground.attacked(mode, step("", bash("git status")), step("Done."), options=PATTERNS)
    editor.ask_agent("Go.")
    (text,) = editor.tool_texts()
    assert text.startswith("$ git status\n")
    assert not (ground.folder / "pwned").exists()
    report("a bare repository that was brought", mode, "unused", ground.shown(text))


@pytest.mark.parametrize("mode", MODES)
def test_no_allowed_git_runs_a_monitor(ground: Ground, mode: str, report: Report) -> None:
    git(ground.folder, "init", "--quiet")
    git(ground.folder, "config", "core.fsmonitor", "touch pwned; false")
    editor = ground.attacked(
        mode, step("", bash("git status --short"), bash("git status")), step("Done."),
        options=PATTERNS,
    )  # fmt: skip
    editor.answers = []
    editor.ask_agent("Go.")
    assert all(text.startswith("$ git status") for text in editor.tool_texts())
    assert not (ground.folder / "pwned").exists()
    report("a monitor of the repository's", mode, "unused", ground.shown(editor.tool_texts()[0]))


@pytest.mark.parametrize("mode", MODES)
def test_only_a_git_that_a_person_has_read_runs_hooks(
    ground: Ground, mode: str, report: Report
) -> None:
    """Hooks lie in the workspace where ``core.hooksPath`` says so, and the agent may edit them."""
    git(ground.folder, "init", "--quiet")
    git(ground.folder, "config", "core.hooksPath", "hooks")
    git(ground.folder, "config", "user.email", "a@example.org")
    git(ground.folder, "config", "user.name", "A")
    hook = ground.file("hooks/post-index-change", "#!/bin/sh\ntouch pwned\n")
    hook.chmod(0o755)
    ground.file("hooks/pre-commit", "#!/bin/sh\ntouch checked\n").chmod(0o755)
    ground.file("a.txt", "one\n")
    git(ground.folder, "-c", "core.hooksPath=/dev/null", "add", "a.txt")
    (ground.folder / "a.txt").touch()  # so that git writes its index anew
    editor = ground.attacked(
        mode,
        step("", bash("git status"), bash("git status -s && true")),
        step("", bash("git commit -m first")),
        step("Done."),
        options=PATTERNS,
    )
    pwned = []

    def answer(question: Json) -> Json:
        pwned.append((ground.folder / "pwned").exists())
        return {"optionId": "allow"}

    editor.handlers["agent/ask"] = answer
    editor.ask_agent("Go.")
    assert pwned[0] is False
    assert (ground.folder / "checked").exists()
    texts = editor.tool_texts()
    assert all("GIT_CONFIG" not in text for text in texts)
    report("hooks behind a pattern", mode, "unused", ground.shown(texts[0]))
