"""All the attacks of the other files once more, as command lines that run unasked in the sandbox:
what no rule of ours stands before any more, the system holds.

A hard link in the workspace to a file outside is written through: the system knows one file, of two
names. docs/security.md says so."""

import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from file_attacks import attacks, lay_out
from ground import Ground, Json
from support.holders import WAYS, hold_by
from support.project import bash, step
from test_command_attacks import PRYING, SMUGGLED
from test_granted_patterns import THROUGH_LINKS
from test_kept_by_git import MORE_THAN_KEEPING, git
from test_reading_commands import DISGUISED

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs Linux"),
    pytest.mark.slow,
]

Report = Callable[[str, str, str, str], None]

#: Lines of one turn, of which each is a process that waits for its answer.
AT_ONCE = 40
#: Read no further, and wait no longer for what never ends.
BYTES, SECONDS = 10_000, 2
#: Names that no command line can have.
_NO_WORD = ("\0", "\ud800")


def by_command(made: Json) -> str | None:
    """What a file tool's call does, as a program does it; None where it names no path."""
    path = made["args"].get("path")
    if not isinstance(path, str) or any(each in path for each in _NO_WORD):
        return None
    word = shlex.quote(path)
    if path.startswith("~"):
        word = path
    match made["name"]:
        case "read":
            return f"timeout {SECONDS} head -c {BYTES} -- {word}"
        case "write":
            return f"timeout {SECONDS} sh -c {shlex.quote(f'printf x > {word}')}"
        case "edit":
            return f"timeout {SECONDS} sed -i s/CANARY/pwned/ -- {word}"
        case _:
            return None


def on_files(ground: Ground) -> Iterator[tuple[str, str]]:
    for attack in attacks(ground):
        if attack.name != "hard link to outside":
            for made in attack.calls:
                if (line := by_command(made)) is not None:
                    yield attack.name, line


def by_commands(ground: Ground) -> Iterator[tuple[str, str]]:
    for name, made in SMUGGLED.items():
        if (line := made["args"].get("command")) is not None:
            yield name, line
    yield from PRYING.items()
    for lines in THROUGH_LINKS.values():
        yield from (("through a link", line) for line in lines)
    secret = str(ground.decoy / "secret.txt")
    for line in (*DISGUISED, *MORE_THAN_KEEPING):
        yield "disguised", line.replace("{secret}", secret)


def ran(ground: Ground, lines: list[str]) -> list[str]:
    """What each printed. Nobody lets one run without the sandbox; all outside is as it was, and
    nobody was told what the person hides."""
    several = [lines[start : start + AT_ONCE] for start in range(0, len(lines), AT_ONCE)]
    hidden = [str(ground.decoy), str(ground.base / f"{ground.folder.name}-other")]
    editor = ground.attacked(
        "hosted",
        *(step("", *map(bash, some)) for some in several),
        step("Done."),
        options={"permissions": {"command": "sandbox", "hidden": hidden}},
    )
    editor.timeout = 300
    assert editor.ask_agent("Go.")["stopReason"] == "endTurn"
    editor.call("agent/messages")
    ground.check(editor)
    titles = [question["title"] for question in editor.received("agent/ask")]
    assert [title for title in titles if not title.startswith("Without the sandbox? ")] == []
    texts = editor.tool_texts()
    assert len(texts) == len(lines)
    return texts


@pytest.fixture(params=WAYS)
def held(request: pytest.FixtureRequest, ground: Ground) -> Ground:
    hold_by(request.param, ground)
    return ground


def store(ground: Ground) -> dict[Path, bytes]:
    """What git has of the workspace."""
    files = (path for path in (ground.folder / ".git").rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files}


def test_no_file_outside_is_reached(held: Ground, report: Report) -> None:
    lay_out(held)
    before = store(held)
    found = list(on_files(held))
    told(held, "file", found, ran(held, [line for _, line in found]), report)
    assert store(held) == before


def test_no_command_gets_out(held: Ground, report: Report) -> None:
    """What git keeps by itself comes from a line that git alone is in, and none of these is one."""
    for name in ("a.txt", "b.txt", "x", "d2/x", "d2/y", "h2/.x"):
        held.file(name, "mine\n")
    git(held.base, "init", "-q", "-b", "main", str(held.folder))
    for key in ("user.name", "user.email"):
        git(held.folder, "config", key, "a")
    git(held.folder, "add", "-A")
    git(held.folder, "commit", "-q", "-m", "first")
    held.file("a.txt", "mine now\n")
    (held.folder / "up").symlink_to(held.decoy)
    before = store(held)
    found = list(by_commands(held))
    told(held, "command", found, ran(held, [line for _, line in found]), report)
    assert store(held) == before


def told(
    ground: Ground, kind: str, found: list[tuple[str, str]], texts: list[str], report: Report
) -> None:
    """A row by each attack, with what its last line met."""
    for (name, line), text in zip(found, texts, strict=True):
        shown = ground.shown(text.rpartition("\n$ ")[2])
        report(f"in the sandbox, {kind}: {name}: {line[:40]!r}", "held", "held", shown)
