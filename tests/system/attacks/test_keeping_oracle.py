"""Whatever is judged to be kept by git is really run, and seen by strace: random lines, fixed seed.
They write git's own store and nothing else, and run no program of the workspace."""

import os
import random
import re
import shutil
from pathlib import Path

import pytest
from test_reading_oracle import environment, observed, shop

from lsp_agent.protocol.settings.settings import PermissionSettings
from lsp_agent.sessions.permissions.judge import Permissions
from lsp_agent.toolset.calls import ToolRequest
from lsp_agent.workspace.disk.paths import Confinement

pytestmark = [pytest.mark.strace]
__all__ = ["shop"]

COUNT = int(os.environ.get("LSP_AGENT_KEEPING_LINES", "400"))
_HERE = {"SHELL": "/bin/sh"}
_COMMANDS = ("add", "commit", "commit -m x", "commit -qam x", "restore --staged", "branch", "tag",
             "tag -m x -a", "switch -c", "checkout -b", "stash", "rm --cached", "mv", "reset",
             "commit --amend -m x", "status", "diff", "config a.b", "gc", "checkout")  # fmt: skip
_WORDS = ("-A", "-u", "-f", "-v", "-n", "-q", "-s", "-p", "-i", "-e", "-S", "-m x", "-a", "--all",
          "--no-verify", "--allow-empty", "--amend", "-F a", "-F leak", "--author='A <a@b>'",
          "--signoff", "--template=a", "--trailer=a=b", "--chmod=+x", "--force",
          "--edit")  # fmt: skip
_OPERANDS = (".", "a", "b.py", "sub", "sub/c", "*.py", "leak", "out", "../decoy", "new", "n1", "n2",
             "x/n3", "HEAD", "master", ":/", "'$(touch new)'", '"$(touch new)"', "--",
             "'*'")  # fmt: skip
_BESIDE = ("", "", "", " && git status --short", "; git diff HEAD", " | head -1", "; ls", "; ./ls",
           " && git commit -m x", " && git commit -am x && git status", " > new")  # fmt: skip
_PATHS = re.compile(r'(?:AT_FDCWD|\d+)<([^>]*)>, "([^"]*)"|"([^"]*)"')


def line(pick: random.Random) -> str:
    words = pick.choices(_WORDS, k=pick.choice((0, 0, 1, 2)))
    words += pick.choices(_OPERANDS, k=pick.choice((0, 1, 1, 2)))
    begin = pick.choice(("", "", "", "cd sub && ", "echo x; "))
    return f"{begin}git {' '.join([pick.choice(_COMMANDS), *words])}{pick.choice(_BESIDE)}"


def kept(folder: Path, lines: list[str]) -> list[str]:
    known = PermissionSettings.model_validate({"command": "sandbox"})
    permissions = Permissions(str(folder), lambda: known, lambda _: Confinement([str(folder)]))
    permissions.surround(environment(unread=False))
    return [
        each
        for each in lines
        if permissions.judge(ToolRequest("bash", {"command": each}, None)).store
    ]


def does_more(call: str, folder: Path) -> bool:
    """Than writing in git's own store."""
    if "execve(" in call:
        return True
    found = [(at or str(folder), path or other) for at, path, other in _PATHS.findall(call)]
    places = [os.path.normpath(os.path.join(at, path)) for at, path in found]  # noqa: PTH118
    store = str(folder / ".git")
    return not all(Path(place).is_relative_to(store) for place in places)


@pytest.mark.slow
def test_what_is_judged_to_be_kept_is_kept_in_gits_own_store(shop: Path) -> None:
    shutil.rmtree(shop / "repo")
    with (shop / ".git" / "config").open("a") as config:
        config.write("[user]\n\tname = a\n\temail = a\n")
    (shop / ".gitattributes").write_text("* filter=x diff=x merge=x\n")
    (shop / "b.py").write_text("changed\n")
    (shop / "sub" / "new.txt").write_text("new\n")
    pick = random.Random(1)
    found = kept(shop, [line(pick) for _ in range(COUNT)])
    assert len(found) > COUNT / 20
    calls = [call for call in observed(shop, found, _HERE) if does_more(call, shop)]
    assert calls == []
    made = (shop / ".git" / "logs" / "HEAD").read_text()
    assert made.count("commit: x") >= 1
    assert made.count("checkout: moving") > 1
    bad = observed(shop, ["git commit -am x > new; ./ls"], _HERE)
    assert len([call for call in bad if does_more(call, shop)]) >= 2
