"""Calls of ``read``, ``write`` and ``edit`` that try to reach outside, as a list.

``lay_out`` puts what they need into the workspace; nothing in there is a secret.
"""

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ground import Ground, Json
from support.project import call, edit, write

REFUSED = "refused"  # an error, with these words
INSIDE = "inside"  # carried out, or found missing, without leaving the workspace

OUTSIDE = "lies outside the workspace folders"
GIT = "which only git may write"
PROCESS = "leads through /proc"
CIRCLE = "symlinks lead round in a circle"
TWO_WAYS = "can be read in two ways"
LARGE = "is larger than 64 MiB"


@dataclass(frozen=True)
class Attack:
    """``hosted`` and ``mirror`` are words of the first call's result; ``outcome`` holds for both
    but where ``mirror_outcome`` says otherwise. A mirror agent's own words may differ."""

    name: str
    calls: Sequence[Json]
    outcome: str
    hosted: str
    mirror: str
    mirror_outcome: str

    @property
    def prompt(self) -> str:
        return f"<{self.name}>"


def lay_out(ground: Ground) -> None:
    root, decoy = ground.folder, ground.decoy
    ground.file("a.txt", "one\ntwo\n")
    ground.file("sub/b.txt", "b\n")
    ground.file("d1/d2/d3/c.txt", "c\n")
    ground.file("d1/decoy/secret.txt", "not secret\n")  # where one reading of `..` leads
    ground.file("decoy/secret.txt", "not secret\n")
    links = {
        "link.txt": decoy / "secret.txt",
        "out": decoy,
        "chain1": "chain2",
        "chain2": "sub/../chain3",
        "chain3": "../decoy",
        "loop1": "loop2",
        "loop2": "loop1",
        "dangling": decoy / "new.txt",
        "down": "d1/d2/d3",
        "é": decoy,
        "here": "/proc/self/cwd",
        "into-git": ".git/config",
        "null": "/dev/null",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    for folder in (".git/hooks", "sub/.git", "gitdata/objects", "gitdata/refs", "linked"):
        (root / folder).mkdir(parents=True)
    ground.file(".git/config", "[core]\n")
    ground.file("gitdata/HEAD", "ref: refs/heads/main\n")
    ground.file("gitdata/config", "[core]\n")
    (root / "linked/.git").symlink_to("../gitdata")
    ground.file("worktree/.git", "gitdir: ../gitdata\n")
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(ground.runtime / "s"))
    (ground.runtime / "s").rename(root / "socket")
    hard = decoy / "hard.txt"
    hard.write_text("hard\n", encoding="utf-8")
    os.link(hard, root / "hard.txt")
    ground.file("locked.txt", "one\n").chmod(0o444)
    for name, size in (("huge.txt", 65 << 20), ("sparse.txt", 1 << 36)):
        with (root / name).open("wb") as file:
            file.truncate(size)


def attacks(ground: Ground) -> list[Attack]:
    """Each is one prompt. ``ground.cwd``, where the server runs, is ``d1`` in the workspace."""
    secret = f"{ground.decoy}/secret.txt"
    return [
        *_ways_out(ground, secret),
        *_symlinks(ground),
        *_git(),
        *_names(secret),
        *_kernel_files(secret),
        *_special_files(),
        *_arguments(secret),
    ]


def _attack(
    name: str,
    calls: Json | Sequence[Json],
    words: str,
    outcome: str = REFUSED,
    *,
    mirror: str | None = None,
    mirror_outcome: str | None = None,
) -> Attack:
    several = [calls] if isinstance(calls, dict) else calls
    mirror = words if mirror is None else mirror
    return Attack(name, several, outcome, words, mirror, mirror_outcome or outcome)


def _read(path: Any) -> Json:
    return call("read", path=path)


def _all_three(path: str, old: str = "CANARY") -> list[Json]:
    return [_read(path), write(path, "x"), edit(path, old, "x")]


def _ways_out(ground: Ground, secret: str) -> list[Attack]:
    """Plain ones."""
    root = ground.folder
    return [
        _attack("dots", _all_three("../decoy/secret.txt"), OUTSIDE),
        _attack("dots below a folder", _all_three("sub/../../decoy/secret.txt"), OUTSIDE),
        _attack(
            "dots below folders that are not there", _all_three("x/y/../../../decoy/new"), OUTSIDE
        ),
        _attack("absolute", _all_three(secret), OUTSIDE),
        _attack("absolute, with dots", _all_three(f"{root}/../decoy/secret.txt"), OUTSIDE),
        _attack("absolute, two slashes", _all_three(f"/{secret}"), OUTSIDE),
        _attack("a folder that begins alike", _all_three(f"{root}-other/secret.txt"), OUTSIDE),
        _attack("a new folder outside", write("../decoy/new/a.txt", "x"), OUTSIDE),
        _attack("the folder above", _all_three(".."), OUTSIDE),
        _attack("the root of all", [_read("/"), write("/", "x")], OUTSIDE),
        _attack("a key of the person's", _read(str(ground.home / ".ssh/id_ed25519")), OUTSIDE),
        _attack(
            "a file of the system's", [_read("/etc/passwd"), write("/etc/cron.d/x", "x")], OUTSIDE
        ),
    ]


def _symlinks(ground: Ground) -> list[Attack]:
    """Symlinks, also with `..` after them."""
    return [
        _attack("symlink to a file", _all_three("link.txt"), OUTSIDE),
        _attack("symlink to a folder", _all_three("out/secret.txt"), OUTSIDE),
        _attack("symlink to a folder, deeper", _all_three("out/deep/secret.txt"), OUTSIDE),
        _attack("symlink to a folder, new file", write("out/new.txt", "x"), OUTSIDE),
        _attack("symlink to a folder, new folder", write("out/new/new.txt", "x"), OUTSIDE),
        _attack("symlink, itself", [_read("out"), write("out", "x")], OUTSIDE),
        _attack("chain of symlinks", _all_three("chain1/secret.txt"), OUTSIDE),
        _attack("circle of symlinks", _all_three("loop1"), CIRCLE),
        _attack("circle of symlinks, below", _all_three("loop1/x"), CIRCLE),
        _attack("circle of symlinks, then out", _all_three("loop1/../out/secret.txt"), CIRCLE),
        _attack("missing, circle, then out", _all_three("x/../loop1/../out/secret.txt"), CIRCLE),
        _attack("dangling symlink", write("dangling", "x"), OUTSIDE),
        _attack("dots after a symlink", _all_three("down/../../decoy/secret.txt"), TWO_WAYS),
        _attack(
            "dots after a symlink out", _all_three(f"out/../{ground.folder.name}/a.txt"), TWO_WAYS
        ),
    ]


def _git() -> list[Attack]:
    """What belongs to git."""
    paths = {
        "git's settings": ".git/config",
        "git's settings, dots": "sub/../.git/./config",
        "a git hook": ".git/hooks/pre-commit",
        "a git hook, .GIT": ".GIT/hooks/pre-commit",
        "a git hook, .Git": ".Git/hooks/pre-commit",
        "a nested repository": "sub/.git/hooks/pre-commit",
        "a .git file": "worktree/.git",
        "a new .git": "new/.git",
        "symlink into .git": "into-git",
        ".git as a symlink": "linked/.git/hooks/pre-commit",
        "what a .git symlink leads to": "gitdata/hooks/pre-commit",
        "a name that HFS+ takes for .git": ".g\u200cit/hooks/pre-commit",
        "a short name of NTFS": "GIT~1/hooks/pre-commit",
        "dots that NTFS drops": ".git. ./hooks/pre-commit",
        "a stream of NTFS": ".git::$INDEX_ALLOCATION/config",
    }
    return [
        _attack(name, [write(path, "x"), edit(path, "[core]", "x")], GIT)
        for name, path in paths.items()
    ]


def _names(secret: str) -> list[Attack]:
    """Names that only look like another."""
    return [
        _attack("URI", _all_three(f"file://{secret}"), "is a URI"),
        _attack("URI with a host", _all_three(f"file://localhost{secret}"), "is a URI"),
        _attack("URI, capitals", _all_three(f"FILE://{secret}"), "is a URI"),
        _attack("percent signs", _read("%2e%2e/decoy/secret.txt"), "no such file", INSIDE),
        _attack("percent signs, slashes", _read("..%2fdecoy%2fsecret.txt"), "no such file", INSIDE),
        _attack("home", _all_three("~/.ssh/id_ed25519"), "~ is not expanded"),
        _attack("home, itself", [_read("~"), write("~", "x")], "~ is not expanded"),
        _attack("a variable", _read("$HOME/.ssh/id_ed25519"), "no such file", INSIDE),
        _attack(
            "two dots in one character", _read("\u2025/decoy/secret.txt"), "no such file", INSIDE
        ),
        _attack("full-width dots", _read("\uff0e\uff0e/decoy/secret.txt"), "no such file", INSIDE),
        _attack(
            "a slash that is none", _read("..\u2215decoy\u2215secret.txt"), "no such file", INSIDE
        ),
        _attack("backslashes", _read("..\\decoy\\secret.txt"), "no such file", INSIDE),
        _attack("composed letters", _all_three("\u00e9/secret.txt"), OUTSIDE),
        _attack("decomposed letters", _read("e\u0301/secret.txt"), "no such file", INSIDE),
        _attack("NUL", _all_three("a.txt\0../decoy/secret.txt"), "is not a path"),
        _attack("NUL at the end", _all_three("../decoy/secret.txt\0.png"), "is not a path"),
        _attack("line end in a name", write("a\n../decoy.txt", "x"), "control character"),
        _attack("escape sequence in a name", write("\x1b[2J\x1b[31mok", "x"), "control character"),
        _attack("a turned name", write("txt.\u202eexe.sh", "x"), "x", INSIDE),
        _attack("empty", [_read(""), write("", "x")], "path is required"),
        _attack("blank", _read(" "), "no such file", INSIDE),
        _attack("a very long name", write("n" * 300, "x"), "ame too long"),
        _attack("below a very long name", _all_three("n" * 300 + "/x"), "ame too long"),
        _attack("a very long path", _all_three("d/" * 3000 + "x"), "ame too long"),
        _attack("a very long way round", _all_three("sub/../" * 2000 + secret[1:]), "", INSIDE),
        _attack(
            "a very long way out", _all_three("sub/../" * 2000 + "../decoy/secret.txt"), OUTSIDE
        ),
    ]


def _kernel_files(secret: str) -> list[Attack]:
    """`/proc` and `/dev`."""
    proc = "/proc/self/"
    return [
        _attack("through the kernel's root", _all_three(f"{proc}root{secret}"), PROCESS),
        _attack("through the kernel's cwd", _all_three(f"{proc}cwd/../decoy/secret.txt"), PROCESS),
        _attack(
            "through a thread's cwd", _read("/proc/thread-self/cwd/../decoy/secret.txt"), PROCESS
        ),
        _attack("through a symlink to it", _all_three("here/../decoy/secret.txt"), PROCESS),
        _attack("the environment", _read(f"{proc}environ"), PROCESS),
        _attack("the environment by pid", _read("/proc/1/environ"), PROCESS),
        _attack("the memory", write(f"{proc}mem", "x"), PROCESS),
        _attack("an open file", [_read(f"{proc}fd/0"), write(f"{proc}fd/1", "x")], PROCESS),
        _attack("an open file by /dev", [_read("/dev/fd/0"), write("/dev/fd/1", "x")], PROCESS),
        _attack("stdin", _read("/dev/stdin"), PROCESS),
        _attack("stdout", write("/dev/stdout", "x"), PROCESS),
        _attack("a device", [_read("/dev/zero"), write("/dev/null", "x")], OUTSIDE),
        _attack("symlink to a device", _all_three("null"), OUTSIDE),
    ]


def _special_files() -> list[Attack]:
    """Files that are not what they seem."""
    return [
        _attack("pipe", _all_three("fifo"), "not a regular file"),
        _attack("socket", _all_three("socket"), "not a regular file"),
        _attack(
            "hard link to outside",
            write("hard.txt", "x"),
            "hard links",
            mirror="x",
            mirror_outcome=INSIDE,
        ),
        _attack("folder as a file", _all_three("sub"), "is a directory"),
        _attack("folder as a file, slash", _all_three("sub/"), "is a directory"),
        _attack("the workspace as a file", _all_three("."), "is a directory"),
        _attack("file as a folder", _all_three("a.txt/../a.txt/x"), "not a directory"),
        *(
            _attack(name, [edit(f"{name}.txt", "one", "x"), _read(f"{name}.txt")], LARGE)
            for name in ("huge", "sparse")
        ),
        *(
            _attack(
                f"{name}, as a whole",
                write(f"{name}.txt", "x"),
                LARGE,
                mirror="x",
                mirror_outcome=INSIDE,
            )
            for name in ("huge", "sparse")
        ),
    ]


def _arguments(secret: str) -> list[Attack]:
    """Arguments of another form."""
    return [
        _attack("key Path", call("read", Path=secret), OUTSIDE),
        _attack("key PATH", call("write", PATH=secret, content="x"), OUTSIDE),
        _attack("two keys", call("read", path="a.txt", PATH=secret), "several paths"),
        _attack(
            "two keys, the other way", call("read", PATH=secret, path="a.txt"), "several paths"
        ),
        _attack("two keys, null", call("read", Path=secret, path=None), OUTSIDE),
        _attack("two keys, empty", call("read", Path=secret, path=""), OUTSIDE),
        _attack("list as a path", _read([secret]), "cannot unmarshal array"),
        _attack("object as a path", _read({"path": secret}), "cannot unmarshal object"),
        _attack("number as a path", _read(1), "cannot unmarshal number"),
        _attack("no path", call("read", file_path=secret), "path is required"),
        _attack("tool in capitals", call("WRITE", path=secret, content="x"), "unknown tool"),
        _attack("tool with a blank", call("write ", path=secret, content="x"), "unknown tool"),
    ]
