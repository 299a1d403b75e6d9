"""A git that keeps, in each way of holding: it writes its own store, and nothing beside that."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.holders import run_held

from lsp_agent.sandbox import bubblewrap, landlock
from lsp_agent.sandbox.bubblewrap import Bubblewrap
from lsp_agent.sandbox.hold import Hold, Holder
from lsp_agent.sandbox.places import find, for_store

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

BUBBLEWRAP = pytest.param(bubblewrap.working, marks=pytest.mark.bubblewrap, id="bubblewrap")
LANDLOCK = pytest.param(landlock.working, marks=pytest.mark.landlock, id="landlock")


class Shop:
    """A repository in a folder, and a home beside it."""

    def __init__(self, base: Path, holder: Holder) -> None:
        self.holder = holder
        self.folder, self.home = base / "shop", base / "home"
        (self.home / ".ssh").mkdir(parents=True)
        self.git("init", "-q", str(self.folder), at=base)
        for key in ("user.name", "user.email"):
            self.git("config", key, "a")
        for name in ("a.txt", "sub/b.txt"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text("one\n")
        self.git("add", "a.txt")
        self.git("commit", "-q", "-m", "first")

    def git(self, *words: str, at: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *words], cwd=at or self.folder, check=True, capture_output=True, text=True
        )
        return done.stdout

    def hold(self) -> Hold:
        hold = find([str(self.folder)], home=str(self.home), runtime="", network=True)
        return for_store(hold, str(self.folder / ".git"))

    def run(self, command: str) -> "subprocess.CompletedProcess[str]":
        return run_held(self.holder, self.hold(), self.folder, command)

    def outside(self) -> list[tuple[str, int, bytes]]:
        """All but what git keeps."""
        found = [path for path in self.folder.parent.rglob("*") if ".git" not in path.parts]
        return [
            (str(path), path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
            for path in sorted(found)
        ]


@pytest.fixture(params=[BUBBLEWRAP, LANDLOCK])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Shop:
    return Shop(Path(os.path.realpath(tmp_path)), request.param())


def test_what_git_keeps_is_kept(shop: Shop) -> None:
    before = shop.outside()
    (shop.folder / "a.txt").write_text("two\n")
    done = shop.run(
        "git switch -c new && git add -A && git commit -m second && git tag v1 && git branch b"
        " && git tag -a v2 -m Two && git restore --staged . && git commit --allow-empty -m third"
    )
    assert done.returncode == 0, done
    assert shop.git("log", "--format=%s", "new").split() == ["third", "second", "first"]
    assert shop.git("show", "v2:a.txt") == "two\n"
    assert shop.git("status", "--short") == ""
    (shop.folder / "a.txt").write_text("one\n")
    assert shop.outside() == before


@pytest.mark.parametrize(
    "command",
    [
        "echo x >> a.txt; echo x > new; rm sub/b.txt; mv sub away; mkdir d",
        "echo x >> {home}/new; echo x > .git/../../new",
        "mv .git away; mkdir .git; rm -rf .git/../a.txt",
        "ln a.txt .git/a; echo x >> .git/a",
        "ln -s ../a.txt .git/a; echo x >> .git/a",
        "git rm -f a.txt; git checkout -f; git stash; git clean -fdx",
        "chmod 777 a.txt sub; touch -d @7 a.txt",
    ],
)
def test_nothing_else_is_written(shop: Shop, command: str) -> None:
    (shop.folder / "sub" / "b.txt").write_text("changed\n")
    before = shop.outside()
    shop.run(command.format(home=shop.home))
    assert shop.outside() == before
    assert (shop.folder / ".git").is_dir()


@pytest.mark.bubblewrap
def test_what_git_obeys_is_not_written_where_a_part_of_a_folder_can_be_held(tmp_path: Path) -> None:
    """Landlock gives all below a folder: there only what was judged before holds it."""
    shop = Shop(Path(os.path.realpath(tmp_path)), bubblewrap.working())
    store = shop.folder / ".git"
    shutil.rmtree(store / "hooks", ignore_errors=True)
    (store / "info").mkdir(exist_ok=True)
    (store / "info" / "attributes").write_text("as it was\n")
    config = (store / "config").read_text()
    done = shop.run(
        "cd .git && git config core.hooksPath x; echo x >> config; echo x > info/attributes;"
        " mv config away; mv info away; mv hooks away; echo x > hooks/pre-commit; cd ..; mv .git a"
    )
    assert (store / "config").read_text() == config, done
    assert (store / "info" / "attributes").read_text() == "as it was\n"
    assert [*(store / "hooks").iterdir()] == []


def test_it_has_no_network_whatever_the_settings_say(shop: Shop) -> None:
    assert not shop.hold().network


def test_what_is_mounted_on_and_not_there_is_taken_away_again(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    hold = for_store(find([str(tmp_path)], home="/home/me", runtime=""), f"{tmp_path}/.git")
    assert Bubblewrap("bwrap").mount_points(hold) == [f"{tmp_path}/.git/hooks"]
