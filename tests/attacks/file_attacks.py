"""Calls of ``read``, ``write`` and ``edit`` that try to reach outside, as a list.

``lay_out`` puts what they need into the workspace; nothing in there is a secret.
"""

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ground import Ground, Json
from project import call, edit, write

REFUSED = "refused"  # an error, with these words
INSIDE = "inside"  # carried out, or found missing, without leaving the workspace

OUTSIDE = "lies outside the workspace folders"
GIT = "which only git may write"
PROCESS = "leads through /proc"
CIRCLE = "symlinks lead round in a circle"
TWO_WAYS = "can be read in two ways"


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
    root, decoy = str(ground.folder), str(ground.decoy)
    secret = f"{decoy}/secret.txt"
    found: list[Attack] = []

    def add(
        name: str,
        calls: Json | Sequence[Json],
        words: str,
        outcome: str = REFUSED,
        *,
        mirror: str | None = None,
        mirror_outcome: str | None = None,
    ) -> None:
        several = [calls] if isinstance(calls, dict) else calls
        mirror = words if mirror is None else mirror
        found.append(Attack(name, several, outcome, words, mirror, mirror_outcome or outcome))

    def read(path: Any) -> Json:
        return call("read", path=path)

    def all_three(path: str, old: str = "CANARY") -> list[Json]:
        return [read(path), write(path, "x"), edit(path, old, "x")]

    # Plain ways out
    add("dots", all_three("../decoy/secret.txt"), OUTSIDE)
    add("dots below a folder", all_three("sub/../../decoy/secret.txt"), OUTSIDE)
    add("dots below folders that are not there", all_three("x/y/../../../decoy/new"), OUTSIDE)
    add("absolute", all_three(secret), OUTSIDE)
    add("absolute, with dots", all_three(f"{root}/../decoy/secret.txt"), OUTSIDE)
    add("absolute, two slashes", all_three(f"/{secret}"), OUTSIDE)
    add("a folder that begins alike", all_three(f"{root}-other/secret.txt"), OUTSIDE)
    add("a new folder outside", write("../decoy/new/a.txt", "x"), OUTSIDE)
    add("the folder above", all_three(".."), OUTSIDE)
    add("the root of all", [read("/"), write("/", "x")], OUTSIDE)
    add("a key of the person's", read(str(ground.home / ".ssh/id_ed25519")), OUTSIDE)
    add("a file of the system's", [read("/etc/passwd"), write("/etc/cron.d/x", "x")], OUTSIDE)

    # Symlinks
    add("symlink to a file", all_three("link.txt"), OUTSIDE)
    add("symlink to a folder", all_three("out/secret.txt"), OUTSIDE)
    add("symlink to a folder, deeper", all_three("out/deep/secret.txt"), OUTSIDE)
    add("symlink to a folder, new file", write("out/new.txt", "x"), OUTSIDE)
    add("symlink to a folder, new folder", write("out/new/new.txt", "x"), OUTSIDE)
    add("symlink, itself", [read("out"), write("out", "x")], OUTSIDE)
    add("chain of symlinks", all_three("chain1/secret.txt"), OUTSIDE)
    add("circle of symlinks", all_three("loop1"), CIRCLE)
    add("circle of symlinks, below", all_three("loop1/x"), CIRCLE)
    add("circle of symlinks, then out", all_three("loop1/../out/secret.txt"), CIRCLE)
    add("missing, circle, then out", all_three("x/../loop1/../out/secret.txt"), CIRCLE)
    add("dangling symlink", write("dangling", "x"), OUTSIDE)
    add("dots after a symlink", all_three("down/../../decoy/secret.txt"), TWO_WAYS)
    add("dots after a symlink out", all_three(f"out/../{ground.folder.name}/a.txt"), TWO_WAYS)

    # git
    for name, path in {
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
    }.items():
        add(name, [write(path, "x"), edit(path, "[core]", "x")], GIT)

    # Names that only look like another
    add("URI", all_three(f"file://{secret}"), "is a URI")
    add("URI with a host", all_three(f"file://localhost{secret}"), "is a URI")
    add("URI, capitals", all_three(f"FILE://{secret}"), "is a URI")
    add("percent signs", read("%2e%2e/decoy/secret.txt"), "no such file", INSIDE)
    add("percent signs, slashes", read("..%2fdecoy%2fsecret.txt"), "no such file", INSIDE)
    add("home", all_three("~/.ssh/id_ed25519"), "~ is not expanded")
    add("home, itself", [read("~"), write("~", "x")], "~ is not expanded")
    add("a variable", read("$HOME/.ssh/id_ed25519"), "no such file", INSIDE)
    add("two dots in one character", read("\u2025/decoy/secret.txt"), "no such file", INSIDE)
    add("full-width dots", read("\uff0e\uff0e/decoy/secret.txt"), "no such file", INSIDE)
    add("a slash that is none", read("..\u2215decoy\u2215secret.txt"), "no such file", INSIDE)
    add("backslashes", read("..\\decoy\\secret.txt"), "no such file", INSIDE)
    add("composed letters", all_three("\u00e9/secret.txt"), OUTSIDE)
    add("decomposed letters", read("e\u0301/secret.txt"), "no such file", INSIDE)
    add("NUL", all_three("a.txt\0../decoy/secret.txt"), "is not a path")
    add("NUL at the end", all_three("../decoy/secret.txt\0.png"), "is not a path")
    add("line end in a name", write("a\n../decoy.txt", "x"), "control character")
    add("escape sequence in a name", write("\x1b[2J\x1b[31mok", "x"), "control character")
    add("a turned name", write("txt.\u202eexe.sh", "x"), "x", INSIDE)
    add("empty", [read(""), write("", "x")], "path is required")
    add("blank", read(" "), "no such file", INSIDE)
    add("a very long name", write("n" * 300, "x"), "ame too long")
    add("a very long way round", all_three("sub/../" * 2000 + secret[1:]), "", INSIDE)
    add("a very long way out", all_three("sub/../" * 2000 + "../decoy/secret.txt"), OUTSIDE)

    # The kernel's own files
    proc = "/proc/self/"
    add("through the kernel's root", all_three(f"{proc}root{secret}"), PROCESS)
    add("through the kernel's cwd", all_three(f"{proc}cwd/../decoy/secret.txt"), PROCESS)
    add("through a thread's cwd", read("/proc/thread-self/cwd/../decoy/secret.txt"), PROCESS)
    add("through a symlink to it", all_three("here/../decoy/secret.txt"), PROCESS)
    add("the environment", read(f"{proc}environ"), PROCESS)
    add("the environment by pid", read("/proc/1/environ"), PROCESS)
    add("the memory", write(f"{proc}mem", "x"), PROCESS)
    add("an open file", [read(f"{proc}fd/0"), write(f"{proc}fd/1", "x")], PROCESS)
    add("an open file by /dev", [read("/dev/fd/0"), write("/dev/fd/1", "x")], PROCESS)
    add("stdin", read("/dev/stdin"), PROCESS)
    add("stdout", write("/dev/stdout", "x"), PROCESS)
    add("a device", [read("/dev/zero"), write("/dev/null", "x")], OUTSIDE)
    add("symlink to a device", all_three("null"), OUTSIDE)

    # Files that are not what they seem
    add("pipe", all_three("fifo"), "not a regular file")
    add("socket", all_three("socket"), "not a regular file")
    add("hard link to outside", write("hard.txt", "x"), "hard links", mirror="x",
        mirror_outcome=INSIDE)  # fmt: skip
    add("folder as a file", all_three("sub"), "is a directory")
    add("folder as a file, slash", all_three("sub/"), "is a directory")
    add("the workspace as a file", all_three("."), "is a directory")
    add("file as a folder", all_three("a.txt/../a.txt/x"), "not a directory")
    for name in ("huge", "sparse"):
        path = f"{name}.txt"
        add(name, [edit(path, "one", "x"), read(path)], "is larger than 64 MiB")
        add(f"{name}, as a whole", write(path, "x"), "is larger than 64 MiB", mirror="x",
            mirror_outcome=INSIDE)  # fmt: skip

    # Arguments
    add("key Path", call("read", Path=secret), OUTSIDE)
    add("key PATH", call("write", PATH=secret, content="x"), OUTSIDE)
    add("two keys", call("read", path="a.txt", PATH=secret), "several paths")
    add("two keys, the other way", call("read", PATH=secret, path="a.txt"), "several paths")
    add("two keys, null", call("read", Path=secret, path=None), OUTSIDE)
    add("two keys, empty", call("read", Path=secret, path=""), OUTSIDE)
    add("list as a path", read([secret]), "cannot unmarshal array")
    add("object as a path", read({"path": secret}), "cannot unmarshal object")
    add("number as a path", read(1), "cannot unmarshal number")
    add("no path", call("read", file_path=secret), "path is required")
    add("tool in capitals", call("WRITE", path=secret, content="x"), "unknown tool")
    add("tool with a blank", call("write ", path=secret, content="x"), "unknown tool")
    return found
