"""Whatever is judged to only read is really run, and seen by strace: random lines, fixed seeds."""

import itertools
import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest
from support.reading_lines import Lines

from lsp_agent.protocol.git_environment import git_environment
from lsp_agent.protocol.git_environment import unread as for_unread
from lsp_agent.sessions.permissions.reading import catalogue
from lsp_agent.sessions.permissions.reading import reads as reading
from lsp_agent.sessions.permissions.reading.reads import reads
from lsp_agent.sessions.permissions.shell.parse import parse
from lsp_agent.sessions.permissions.surroundings import Disk
from lsp_agent.workspace.disk.paths import Confinement

pytestmark = [pytest.mark.strace]

COUNT = int(os.environ.get("LSP_AGENT_READING_LINES", "600"))
SEED = int(os.environ.get("LSP_AGENT_READING_SEED", "1"))
_BATCH = 200
_CALLS = (
    "trace=open,openat,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,"
    "linkat,symlink,symlinkat,mknod,mknodat,truncate,ftruncate,chmod,fchmodat,fchmod,chown,fchown,"
    "fchownat,utimensat,setxattr,connect,sendto,execve"
)
#: Options end at the first operand in one of them.
_SHELLS = ({"SHELL": "/bin/sh"}, {"SHELL": "/bin/bash", "POSIXLY_CORRECT": "1"})
_OPENS = re.compile(r'open(?:at\(\S+<([^>]*)>, |\()"([^"]*)"\.*, (\S+)')
_WRITES = re.compile(r"O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)")
#: What is not there, or is a link that a search does not follow, was not read.
_NOT_THERE = re.compile(r" = -1 (?:ENOENT|ELOOP)")
_DEVICES = frozenset({"/dev/null", "/dev/tty"})
#: Where names of users are asked for.
_NAME_SERVICE = "/var/run/nscd/socket"
_RUN = re.compile(r'execve\("([^"]*)"')


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with links to a secret beside it, and programs of a reader's name in it."""
    folder = Path(os.path.realpath(tmp_path)) / "shop"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "decoy").mkdir()
    for name in ("a", "b.py", "sub/c", "../decoy/secret"):
        (folder / name).write_text("a\nx 1\n")
    (folder / "in").symlink_to("sub")
    (folder / "out").symlink_to("../decoy")
    (folder / "leak").symlink_to("../decoy/secret")
    (folder / "ls").write_text("#!/bin/sh\ntouch new\n")
    (folder / "ls").chmod(0o755)
    made = ("init -q -b master .", "add .", "-c user.name=a -c user.email=a@b.c commit -qm x")
    for each in made:
        subprocess.run(["git", *each.split()], cwd=folder, check=True, env=environment())
    subprocess.run(["git", "init", "-q", "repo"], cwd=folder, check=True, env=environment())
    with (folder / "repo" / ".git" / "config").open("a") as config:
        config.write("[diff]\n\texternal = touch new\n")
    return folder


def environment(*, unread: bool = True) -> dict[str, str]:
    """As an agent's commands get it, where nobody has read them."""
    own = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "LC_ALL": "C"}
    own |= git_environment(own)
    if not unread:
        return own
    name, count = for_unread(own)
    return own | {name: count}


def judged_reading(shop: Path, lines: Iterable[str]) -> list[str]:
    found: list[str] = []
    for line in lines:
        read = parse(line)
        disk = Disk(str(shop), Confinement([str(shop)]), environment())
        if not read.unknown and read.commands and all(reads(each, disk) for each in read.commands):
            found.append(line)
    return found


def observed(shop: Path, lines: Sequence[str], around: Mapping[str, str]) -> list[str]:
    """The calls of the lines, run one after the other, that do more than read in the workspace."""
    (shop / "a").touch()  # so that git would write its index anew
    log = shop.parent / "calls"
    own = {"LINE_" + str(number): line for number, line in enumerate(lines)}
    each = "".join(f'timeout 5 $SHELL -c "${name}" </dev/null >/dev/null 2>&1;' for name in own)
    subprocess.run(
        [
            "strace",
            "-f",
            "-qq",
            "-y",
            "-s",
            "400",
            "-o",
            str(log),
            "-e",
            _CALLS,
            "/bin/sh",
            "-c",
            each,
        ],
        cwd=shop,
        env=environment() | around | own,
        check=False,
    )
    text = log.read_text(errors="replace")
    assert text.count(f'"{around["SHELL"]}", "-c"') > len(lines) / 2, "strace has seen nothing"
    return [call for call in text.splitlines() if not _is_harmless(call.split(None, 1)[1], shop)]


def _is_harmless(call: str, shop: Path) -> bool:
    if call.startswith(("<...", "+++", "---")):
        return True
    opened = _OPENS.match(call)
    if opened:
        folder, path, flags = opened.groups()
        place = os.path.realpath(Path(folder or shop, path))
        led_out = "decoy" in place and not _NOT_THERE.search(call)
        return path in _DEVICES or not (_WRITES.search(flags) or led_out)
    run = _RUN.match(call)
    if run:
        return not run[1].startswith((str(shop), "."))
    return call.startswith(("connect(", "sendto(")) and _NAME_SERVICE in call


def guilty(shop: Path, lines: Sequence[str]) -> Mapping[str, list[str]]:
    """The lines that do more, each with such calls; in batches, and one by one where one does."""
    found: dict[str, list[str]] = {}
    for start, around in itertools.product(range(0, len(lines), _BATCH), _SHELLS):
        batch = lines[start : start + _BATCH]
        if observed(shop, batch, around):
            found |= {line: calls for line in batch if (calls := observed(shop, [line], around))}
            assert found, "they do more together than one by one"
    return found


@pytest.mark.slow
def test_what_is_judged_to_only_read_does(shop: Path) -> None:
    lines = Lines(SEED)
    reading_lines = judged_reading(shop, (lines.line() for _ in range(COUNT)))
    assert len(reading_lines) > COUNT / 10
    assert guilty(shop, reading_lines) == {}


@pytest.mark.parametrize(
    ("name", "line"),
    [("touch", "touch new"), ("tee", "tee new"), ("env", "env ./ls"), ("cp", "cp a new")],
)
def test_a_bad_row_of_the_catalogue_is_found_out(
    shop: Path, name: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {**catalogue.PROGRAMS, name: catalogue.options()}
    monkeypatch.setattr(reading, "PROGRAMS", rows)
    assert judged_reading(shop, [line]) == [line]
    assert list(guilty(shop, ["true", line])) == [line]


@pytest.mark.parametrize("line", ["cat leak", "cat out/secret", "cd out && cat secret", "./ls"])
def test_what_leads_out_is_seen(shop: Path, line: str) -> None:
    assert judged_reading(shop, [line]) == []
    assert list(guilty(shop, [line])) == [line]
