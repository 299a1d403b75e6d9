"""``permissions.command = "sandbox"``: what git keeps runs unasked, held by each way; nothing gets
past git by it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ground import Ground, Json
from support import warm
from support.holders import WAYS, hold_by
from support.project import LSP_AGENT, Editor, bash, step
from support.raw_client import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.sampled,
    pytest.mark.skipif(sys.platform != "linux", reason="needs Linux"),
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]

Report = Callable[[str, str, str, str], None]
SANDBOX: Json = {"permissions": {"command": "sandbox"}}
KEEP = "git add -A && git commit -m x"

MORE_THAN_KEEPING = [
    "git -c core.editor='touch .git/pwned' commit -a",
    "git -c core.editor='touch .git/pwned' commit -a -m x -e",
    "git commit -a --template=/etc/passwd",
    "git commit -a -F /etc/hostname",
    "git commit -a -F ../decoy/secret.txt",
    "git -c alias.commit='!touch .git/pwned' commit -am x; git config alias.x '!sh'",
    "GIT_DIR=.git/../.git git commit -am x",
    "GIT_EDITOR='touch .git/pwned' git commit -a",
    'git commit -am "$(touch .git/pwned)"',
    'git commit -am "$(cat ../decoy/secret.txt)"',
    "git commit -am x --trailer='a: b' --amend",
    "git add ../decoy/secret.txt; git commit -am x",
    "git add -A && ln -s ../decoy out && git add out/secret.txt && git commit -am x",
    "git commit -am x; echo mine > .git/hooks/pre-commit",
    "git commit -am x; git config core.hooksPath .",
    "git commit -am x; mv .git away",
    "git stash; git reset --hard; git clean -fdx .git",
    "touch .git/pwned; git commit -am x",
    "echo ../src > .git/commondir; git commit -am x",
]


def git(folder: Path, *words: str) -> str:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
    done = subprocess.run(
        ["git", "-C", str(folder), *words], check=True, capture_output=True, text=True, env=env
    )
    return done.stdout


@pytest.fixture(params=WAYS, autouse=True)
def way(request: pytest.FixtureRequest, ground: Ground) -> str:
    """What holds the commands, in a repository with a commit."""
    hold_by(request.param, ground)
    git(ground.base, "init", "-q", "-b", "main", str(ground.folder))
    for key in ("user.name", "user.email"):
        git(ground.folder, "config", key, "a")
    ground.file("a.txt", "one\n")
    ground.file("src/b.txt", "one\n")
    git(ground.folder, "add", "-A")
    git(ground.folder, "commit", "-q", "-m", "first")
    return request.param


def ran(ground: Ground, *lines: str) -> tuple[Editor, list[Json]]:
    """The questions that were asked, each answered by no; all outside is as it was."""
    steps = [step("", bash(line)) for line in lines]
    editor = ground.attacked("hosted", *steps, step("Done."), options=SANDBOX)
    editor.result(editor.prompt("Go."), timeout=60)
    ground.check(editor)
    asked = [m["params"] for m in editor.messages if m.get("method") == "agent/ask"]
    return editor, asked


def subjects(ground: Ground) -> list[str]:
    return git(ground.folder, "log", "--format=%s").splitlines()


def decided(ground: Ground) -> list[tuple[str, int | None]]:
    """By what each command was let run, and what it ended with, as the person may read."""

    def entries() -> list[Json]:
        command = [*LSP_AGENT, "log", "commands", "--json"]
        done = warm.run(command, cwd=ground.folder, env=ground.environment())
        done.check_returncode()
        return json.loads(done.stdout)["commands"]

    assert wait_until(lambda: all(each["ended"] for each in entries()))
    return [(each["by"], each["ended"]["exit"]) for each in entries()]


def test_what_git_keeps_needs_no_question(ground: Ground) -> None:
    ground.file("src/b.txt", "two\n")
    ground.file("new.txt", "new\n")
    message = "\"$(cat <<'EOF'\nFix it\n\nAs $it was.\nEOF\n)\""
    _, asked = ran(
        ground,
        "git switch -c fix/it && git status --short",
        f"git add -A && git commit -m {message}",
        "git tag -a v1 -m One; git branch kept; git log --oneline | head -3",
        "echo three > src/b.txt",
        "cd src && git add b.txt && git restore --staged b.txt && git commit -q -am 'Do more'",
    )
    assert asked == []
    assert subjects(ground) == ["Do more", "Fix it", "first"]
    assert git(ground.folder, "show", "v1:new.txt") == "new\n"
    assert git(ground.folder, "status", "--short", "--branch") == "## fix/it\n"
    expected = [("keeping", 0)] * 5
    expected[3] = ("sandbox", 0)
    assert decided(ground) == expected


def a_hook(ground: Ground) -> None:
    for name in ("pre-commit", "post-commit", "post-index-change"):
        hook = ground.file(f".git/hooks/{name}", "#!/bin/sh\ntouch ../pwned pwned .git/pwned\n")
        hook.chmod(0o755)


def hooks_that_lie_in_the_workspace(ground: Ground) -> None:
    git(ground.folder, "config", "core.hooksPath", "hooks")
    hook = ground.file("hooks/pre-commit", "#!/bin/sh\ntouch pwned .git/pwned\n")
    hook.chmod(0o755)


def a_filter(ground: Ground) -> None:
    """A filter of the repository's, for files that the agent names."""
    git(ground.folder, "config", "filter.x.clean", "touch .git/pwned; cat")
    ground.file(".gitattributes", "* filter=x\n")


def a_filter_of_the_persons(ground: Ground) -> None:
    ground.file("../home/.gitconfig", '[filter "x"]\n\tclean = ./strip\n')
    ground.file("strip", "#!/bin/sh\ntouch .git/pwned; cat\n").chmod(0o755)
    ground.file(".gitattributes", "* filter=x\n")


def a_common_folder(ground: Ground) -> None:
    shutil.copytree(ground.folder / ".git", ground.folder / "other")
    git(ground.folder, "config", "-f", "other/config", "core.hooksPath", "../hooks")
    ground.file(".git/commondir", "../other\n")
    ground.file("hooks/pre-commit", "#!/bin/sh\ntouch .git/pwned\n").chmod(0o755)


def a_link_for_git(ground: Ground) -> None:
    (ground.folder / ".git").rename(ground.base / "store")
    (ground.folder / ".git").symlink_to(ground.base / "store")


def a_linked_work_tree(ground: Ground) -> None:
    (ground.folder / ".git").rename(ground.base / "main.git")
    git(ground.base, "clone", "-q", "main.git", "main")
    git(ground.base / "main", "worktree", "add", "-q", str(ground.base / "linked"))
    shutil.copy(ground.base / "linked" / ".git", ground.folder / ".git")


def signing(ground: Ground) -> None:
    git(ground.folder, "config", "commit.gpgSign", "true")
    git(ground.folder, "config", "gpg.program", f"{ground.folder}/sign")
    ground.file("sign", "#!/bin/sh\ntouch .git/pwned\n").chmod(0o755)


def an_inner_repository(ground: Ground) -> None:
    """Git asks one that it knows for its state, by that one's own configuration."""
    git(ground.folder, "clone", "-q", ".", "inner")
    git(ground.folder / "inner", "config", "filter.x.clean", "touch ../.git/pwned; cat")
    ground.file("inner/.gitattributes", "* filter=x\n")
    ground.file("inner/a.txt", "two\n")


def a_secret(ground: Ground) -> None:
    ground.file(".env", "TOKEN=x\n")


@pytest.mark.parametrize(
    "prepare",
    [
        *(a_hook, hooks_that_lie_in_the_workspace, a_filter, a_filter_of_the_persons, signing),
        *(a_common_folder, a_link_for_git, a_linked_work_tree, an_inner_repository, a_secret),
    ],
    ids=lambda prepare: prepare.__name__,
)
def test_where_git_would_run_or_take_more_it_writes_nothing_unasked(
    ground: Ground, prepare: Callable[[Ground], None], report: Report
) -> None:
    prepare(ground)
    ground.file("a.txt", "two\n")
    before = git(ground.folder, "rev-parse", "HEAD")
    editor, asked = ran(ground, f"{KEEP}; git add -A; git status && git commit -am y")
    assert all(question["title"].startswith("Without the sandbox?") for question in asked)
    assert git(ground.folder, "rev-parse", "HEAD") == before
    assert not list(ground.base.rglob("pwned"))
    title = f"git add && git commit: {prepare.__name__.replace('_', ' ')}"
    report(title, "hosted", "held", ground.shown(editor.tool_texts()[0]))


@pytest.mark.parametrize("line", MORE_THAN_KEEPING)
def test_a_line_that_does_more_writes_nothing_of_gits(
    ground: Ground, line: str, report: Report
) -> None:
    ground.file("a.txt", "two\n")
    store = ground.folder / ".git"
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    editor, _ = ran(ground, line)
    after = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    assert after == before
    report(line, "hosted", "held", ground.shown(editor.tool_texts()[0]))


def test_an_alias_takes_no_commands_place(
    ground: Ground, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the person's own, which the environment may have as well as a file."""
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "alias.commit")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "!touch .git/pwned")
    ground.file("a.txt", "two\n")
    editor, asked = ran(ground, KEEP)
    assert asked == []
    assert subjects(ground) == ["x", "first"]
    assert not (ground.folder / ".git" / "pwned").exists()
    report("an alias called commit", "hosted", "unused", ground.shown(editor.tool_texts()[0]))


def test_a_link_that_leads_out_is_kept_as_a_link(ground: Ground, report: Report) -> None:
    (ground.folder / "out").symlink_to(ground.decoy)
    (ground.folder / "leak").symlink_to(ground.decoy / "secret.txt")
    editor, asked = ran(ground, KEEP)
    assert asked == []
    assert git(ground.folder, "cat-file", "-p", "HEAD:leak") == str(ground.decoy / "secret.txt")
    report("links that lead out", "hosted", "as links", ground.shown(editor.tool_texts()[0]))
