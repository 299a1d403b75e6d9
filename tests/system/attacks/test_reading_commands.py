"""What runs unasked since it only reads, and lines that look as if they did."""

from collections.abc import Callable
from pathlib import Path

import pytest
from ground import MODES, Ground
from support.project import bash, step

pytestmark = pytest.mark.slow

Report = Callable[[str, str, str, str], None]

#: ``{secret}`` is a file outside; ``up`` leads to its folder.
DISGUISED = [
    "cat {secret}",
    "cat up/secret.txt",
    "cat u*/s*",
    "cd up && cat secret.txt",
    "cd up; cat secret.txt",
    "grep -f {secret} a.txt",
    "head -n 1 < {secret}",
    "for f in up; do cat $f/secret.txt; done",
    "diff a.txt {secret}",
    "find up/ -name 's*'",
    "echo $CANARY_API_KEY",
    "echo `cat {secret}`",
    "git diff --no-index a.txt {secret}",
    "ls > up/x",
    "echo x | tee up/x",
    "sort -o up/x a.txt",
    "sort -\\\no up/x a.txt",
    "cat u\\\np/secret.txt",
    "sed -n 'w up/x' a.txt",
    "find . -name a.txt -exec cp a.txt up/x ';'",
    "PATH=. ls",
    "ls() { cat {secret}; }; ls",
    "cat <<E && cat {secret}\nE",
    'cat <<< "$(cat {secret})"',
    "for f in a.txt; do for f in up/secret.txt; do :; done; cat $f; done",
    "for f in true; do for f in touch; do :; done; $f up/x; done",
    'for f in *; do grep "$f" .; done',
    'for f in s,a*,b,; do sed "$f" a.txt; done',
    'for f in *; do printf "$f" ./up; done',
    "tree -Io x up/x",
    "test -v 'a[$(cat {secret})]'",
    "rg --pre cat x",
    "git -c core.pager=cat log",
    "echo a\n\\\ntouch up/x",
    "[ -z\npython3 ]",
    "cat <<E\nx\n E\ncat <<F\nE\ntouch up/x\nF\n",
    'echo "`echo \'`"; touch up/x; "`\'`"',
    "cat {]\\a,{secret}}",
    "cat ]\\s",
    "git stash list --format=tformat:x -- --output={secret}",
    "git shortlog --format=tformat:x --until -- --output={secret} HEAD",
    "git add a.txt\n\\\ntouch .git/hooks/post-checkout",
    "ls; {}#; touch up/x",
    ": {PATH}>&1; ls",
    "uniq a.txt 12>&1",
    'echo "$USER\\\n_TOKEN"',
    "cd up &>/dev/null && cat secret.txt",
    "{ ls; }#; touch up/x; }",
    "[ -f a.txt ]#; touch up/x",
    "cat <<E\nE; echo 'foo\nE\ntouch up/x #'",
]


@pytest.mark.parametrize("mode", MODES)
def test_a_line_that_only_seems_to_read_is_asked_about(
    ground: Ground, mode: str, report: Report
) -> None:
    ground.file("a.txt", "mine\n")
    (ground.folder / "up").symlink_to(ground.decoy)
    (ground.folder / "]s").symlink_to(ground.decoy / "secret.txt")
    secret = str(ground.decoy / "secret.txt")
    lines = [line.replace("{secret}", secret) for line in DISGUISED]
    # A few at a time: each is a process that waits, and one that waits too long is refused.
    steps = [
        step("", *map(bash, some))
        for some in (lines[start : start + 5] for start in range(0, len(lines), 5))
    ]
    editor = ground.attacked(mode, *steps, step("Done."))
    editor.ask_agent("Go.")
    ground.check(editor)
    texts = editor.tool_texts()
    assert [text for text in texts if "declined" not in text] == []
    assert len(editor.received("agent/ask")) == len(lines)
    report("a line that only seems to read", mode, "asked", ground.shown(texts[0]))


@pytest.mark.parametrize("mode", MODES)
def test_a_program_that_lies_in_the_workspace_does_not_read(
    ground: Ground, mode: str, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted: Path = ground.file("bin/ls", "#!/bin/sh\ntouch ran\n")
    planted.chmod(0o755)
    monkeypatch.setenv("PATH", str(planted.parent), prepend=":")
    editor = ground.attacked(mode, step("", bash("ls")), step("Done."))
    editor.ask_agent("Go.")
    ground.check(editor)
    assert not (ground.folder / "ran").exists()
    (text,) = editor.tool_texts()
    assert "declined" in text
    report("a program in the workspace with a reader's name", mode, "asked", ground.shown(text))


@pytest.mark.parametrize("mode", MODES)
def test_a_line_that_reads_runs_unasked(ground: Ground, mode: str) -> None:
    """The tables above would be empty words if nothing were read."""
    ground.file("a.txt", "mine\n")
    lines = ["cat a.txt", "ls | head -5 && wc -l < a.txt", "for f in a.txt; do cat $f; done"]
    editor = ground.attacked(mode, step("", *map(bash, lines)), step("Done."))
    editor.ask_agent("Go.")
    ground.check(editor)
    assert editor.received("agent/ask") == []
    assert all(text.startswith("$ ") for text in editor.tool_texts())
