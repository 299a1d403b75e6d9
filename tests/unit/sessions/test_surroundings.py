"""Where a command's words lead on a real disk, and which program a name finds there."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from lsp_agent.sessions.permissions import surroundings
from lsp_agent.sessions.permissions.reading.reads import Reach, reads
from lsp_agent.sessions.permissions.shell.parse import parse
from lsp_agent.sessions.permissions.surroundings import Disk
from lsp_agent.workspace.disk.paths import Confinement, Reserved


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with links to what lies beside it, and a program that not all machines have."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "rg").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "rg").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    folder = Path(os.path.realpath(tmp_path)) / "shop"
    (folder / "src" / "deep").mkdir(parents=True)
    for name in ("a", "src/b.py", "../secret"):
        (folder / name).write_text("x\n")
    (folder / "out").symlink_to(folder.parent)
    (folder / "src" / "leak").symlink_to(folder.parent / "secret")
    (folder / "in").symlink_to("src")
    (folder / "far").symlink_to("src/deep")
    return folder


def make_repository(git: Path) -> Path:
    """As git tells one; ``git`` is the folder of its own."""
    (git / "objects").mkdir(parents=True)
    (git / "refs").mkdir()
    (git / "HEAD").touch()
    return git


def only_reads(
    folder: Path,
    line: str,
    *reserved: Reserved,
    environment: Mapping[str, str] | None = None,
) -> bool:
    around = {**os.environ, **(environment or {})}
    disk = Disk(str(folder), Confinement([str(folder)], reserved), around)
    read = parse(line)
    return not read.unknown and all(reads(each, disk) for each in read.commands)


@pytest.mark.parametrize(
    "line",
    [
        *("cat a", "cat src/*.py", "cat in/b.py", "cat {shop}/a", "cd src && cat b.py ../a"),
        *("ls *", "cd src/deep && ls ..", "cd {shop}/src && cat b.py", "cat .envx", "ls"),
        *("cat none", "diff a src/b.py", "cat < a", "grep -e '**' a"),
    ],
)  # fmt: skip
def test_what_lies_in_the_workspace_may_be_read(shop: Path, line: str) -> None:
    (shop / "out").unlink()  # which `ls *` would list
    assert only_reads(shop, line.replace("{shop}", str(shop)))


@pytest.mark.parametrize(
    "line",
    [
        *("cat /etc/passwd", "cat ../secret", "cat ~/x", "cat ~root/x", "cat out/secret", "ls out"),
        *("cat src/leak", "cat src/l*", "cat o*/secret", "cat src/*", "cat .*/secret", "cat [o]ut"),
        *("cd .. && ls", "cd out && ls", "cd src && cat ../../secret", "cd far && cat ../a"),
        *("cd src && cat leak", "cd src && cat l*", "cd src; cat ../../secret", "diff src in"),
        *("cat < ../secret", "cat < src/leak", "grep -f ../secret a", "grep -r x /", "cd /"),
        *("echo /etc/*", "cat =ls", "cat **/leak", "cat **", "find / -name x"),
        *("find . -newer /etc/passwd", "cat /proc/self/environ", "git -C .. status","ls ./out/"),
        "git diff /etc/passwd a",
    ],
)  # fmt: skip
def test_what_lies_elsewhere_may_not(shop: Path, line: str) -> None:
    assert not only_reads(shop, line)


def test_a_folder_that_holds_what_no_agent_sees_is_not_searched(shop: Path) -> None:
    hidden = Reserved(str(shop / "src" / "keys"), "belongs to lsp-agent")
    assert only_reads(shop, "grep x a", hidden)
    for line in ("grep -r x .", "rg x", "grep -r x src", "cat src/keys/x", "grep -r x"):
        assert not only_reads(shop, line, hidden)


def test_a_glob_that_finds_an_option_is_not_read(shop: Path) -> None:
    (shop / "src" / "leak").unlink()
    (shop / "src" / "-o").touch()
    for line in ("sort src/*", "cd src && sort ./*"):
        assert only_reads(shop, line)
    assert not only_reads(shop, "cd src && sort *")


@pytest.mark.parametrize("place", ["bin", "."])
def test_a_program_of_the_workspace_is_not_known(
    shop: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "bin").mkdir(exist_ok=True)
    (shop / place / "ls").write_text("#!/bin/sh\n")
    (shop / place / "ls").chmod(0o755)
    monkeypatch.setenv("PATH", str(shop / place), prepend=":")
    assert not only_reads(shop, "ls")
    assert only_reads(shop, "wc a")


def test_a_link_to_a_program_of_the_workspace_is_not_known(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "evil").write_text("#!/bin/sh\n")
    (shop / "evil").chmod(0o755)
    (tmp_path / "bin" / "ls").symlink_to(shop / "evil")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    assert not only_reads(shop, "ls")


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("PATH", ".:/usr/bin:/bin", "ls"),
        ("PATH", ":/usr/bin:/bin", "ls"),
        ("PATH", "/nowhere", "ls"),
        ("BASH_FUNC_ls%%", "() { rm x; }", "ls"),
        ("BASH_FUNC_echo%%", "() { rm x; }", "echo"),
        ("CDPATH", "/", "cd src && ls"),
    ],
)
def test_an_environment_that_changes_what_a_name_means_is_seen(
    shop: Path, name: str, value: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert only_reads(shop, line)
    monkeypatch.setenv(name, value)
    assert not only_reads(shop, line)


def test_a_repository_of_another_configuration_is_not_read(shop: Path) -> None:
    assert only_reads(shop, "git status")
    make_repository(shop / ".git")
    for line in ("git status", "cd src && git diff", "git -C src log"):
        assert only_reads(shop, line)
    (shop / "src" / ".git").mkdir()
    for line in ("cd src && git diff", "git -C src log", "cd src; git diff"):
        assert not only_reads(shop, line)


def test_a_repository_that_reaches_out_of_the_workspace_is_not_read(shop: Path) -> None:
    (shop.parent / ".git").mkdir()
    assert not only_reads(shop, "git diff")


@pytest.mark.parametrize("reach", ["itself", "below", "listed"])
def test_a_folder_that_the_line_never_left_needs_no_way(shop: Path, reach: Reach) -> None:
    (shop / "out").unlink()
    (shop / "in").unlink()
    assert Disk(str(shop), Confinement([str(shop)]), os.environ).may_read((), ".", reach)


@pytest.mark.parametrize(
    "line",
    [
        *("cat .env", "head -5 src/../.env", "cat .en*", "cat < .env", "git show HEAD:.env"),
        *("cat .git/config", "cat .env.local", "diff . src", "grep -r x ."),
        *("grep -rn x", "cat .npmrc"),
        *("rg -. x", "rg --hidden x", "rg -uu x", "rg -g '.env' x", "rg --glob=.e* x"),
    ],
)  # fmt: skip
def test_a_file_that_is_made_for_secrets_is_not_read(shop: Path, line: str) -> None:
    (shop / "out").unlink()
    (shop / "src" / "leak").unlink()
    (shop / ".env").write_text("KEY=x\n")
    assert not only_reads(shop, line)


@pytest.mark.parametrize(
    "line", ["cat .env.example", "grep -r x src", "rg x", "rg -g '*.py' x src"]
)
def test_what_lies_beside_it_is(shop: Path, line: str) -> None:
    (shop / ".env").write_text("KEY=x\n")
    assert only_reads(shop, line)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere grep is BSD's")
def test_a_grep_that_follows_links_is_asked_about_where_one_leads_out(
    shop: Path, tmp_path: Path
) -> None:
    assert only_reads(shop, "grep -r x src")
    programs = tmp_path / "bin"
    (programs / "busybox").write_text("#!/bin/sh\n")
    (programs / "busybox").chmod(0o755)
    (programs / "grep").symlink_to("busybox")
    assert not only_reads(shop, "grep -r x src")
    (shop / "src" / "leak").unlink()
    assert only_reads(shop, "grep -r x src")


def test_git_searches_no_folder_that_has_become_a_link_out_of_the_workspace(shop: Path) -> None:
    make_repository(shop / ".git")
    assert only_reads(shop, "git grep x src")
    (shop / "src" / "deep" / "was").symlink_to(shop.parent)
    assert not only_reads(shop, "git grep x src")
    assert only_reads(shop, "git grep --cached x src")


@pytest.mark.parametrize("line", ["cat .env", "cat src/.env", "cat .en*", "grep x .env"])
def test_one_is_not_whatever_file_it_is_a_link_to(shop: Path, line: str) -> None:
    for folder in (shop, shop / "src"):
        (folder / ".env").symlink_to(shop / "a")
    assert only_reads(shop, "cat a")
    assert not only_reads(shop, line)


def test_what_git_keeps_of_others_is_not_searched(shop: Path) -> None:
    """Passwords of remotes and of submodules, and what CI has git send along."""
    (shop / "src" / "leak").unlink()
    (shop / "out").unlink()
    make_repository(shop / ".git")
    config = shop / ".git" / "config"
    config.write_text("[core]\n")
    assert only_reads(shop, "grep -r x .")
    for line in ("rg url .git", "cd .git && rg url", "rg x .git/*"):
        assert not only_reads(shop, line)
    config.write_text("[http]\n\textraheader = AUTHORIZATION: basic eA==\n")
    assert not only_reads(shop, "grep -r x .")
    config.write_text("[core]\n")
    inner = make_repository(shop / ".git" / "modules" / "a" / "b") / "config"
    inner.write_text('[remote "o"]\n\turl = https://me:word@host/x\n')
    assert not only_reads(shop, "grep -r x .")


def test_git_compares_folders_nowhere_but_in_a_repository(shop: Path) -> None:
    assert not only_reads(shop, "git diff src in")
    make_repository(shop / ".git")
    assert only_reads(shop, "git diff src")


def test_a_script_that_runs_a_program_of_the_workspace_is_not_known(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert only_reads(shop, "egrep x a")
    (shop / "grep").write_text("#!/bin/sh\n")
    (shop / "grep").chmod(0o755)
    monkeypatch.setenv("PATH", str(shop), prepend=":")
    assert not only_reads(shop, "egrep x a")


def test_a_search_of_more_than_is_looked_at_is_not_read(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert only_reads(shop, "grep -r x src")
    monkeypatch.setattr(surroundings, "MOST_SEARCHED", 2)
    assert not only_reads(shop, "grep -r x src")


@pytest.mark.parametrize(
    ("folder", "file"),
    [("shims", "ls"), ("bin", "mise"), ("bin", "volta-shim"), ("bin", "asdf")],
)
def test_a_program_that_looks_in_the_workspace_for_another_is_not_known(
    shop: Path, tmp_path: Path, folder: str, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    managed = tmp_path / "managed"
    (managed / folder).mkdir(parents=True)
    (managed / "real").mkdir()
    (managed / "real" / file).write_text("#!/bin/sh\n")
    (managed / "real" / file).chmod(0o755)
    (managed / folder / "ls").symlink_to(managed / "real" / file)
    monkeypatch.setenv("PATH", str(managed / folder), prepend=":")
    assert not only_reads(shop, "ls")


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("GIT_DIR", "/nowhere", "git status"),
        ("GIT_EXTERNAL_DIFF", "touch new", "git diff"),
        ("GIT_WORK_TREE", "/", "git status"),
        ("RIPGREP_CONFIG_PATH", "/x", "rg x"),
        ("PATH", "bin", "ls"),
        ("BASH_FUNC_ls%%", "() { rm x; }", "ls"),
    ],
)
def test_the_environment_is_that_of_the_commands(
    shop: Path, name: str, value: str, line: str
) -> None:
    assert only_reads(shop, line)
    assert not only_reads(shop, line, environment={name: value})


@pytest.mark.parametrize(
    "rows",
    [
        *('[filter "x"]\n\tclean = rm', "[diff]\n\texternal = rm", '[diff "x"]\n\ttextconv = rm'),
        *("[include]\n\tpath = ../evil", '[remote "o"]\n\tpromisor = true', "[gpg]\n\tprogram"),
        *("[core]\n\tworktree = /", "[core] worktree = /", "[CORE]\n\tWorkTree = /"),
        *("[extensions]\n\tpartialClone = o", "[log]\n\tshowSignature", "[core]\n\tbare = \\\n"),
        "\ufeff[core]",
    ],
)  # fmt: skip
def test_a_repository_whose_configuration_may_run_a_program_is_not_read(
    shop: Path, rows: str
) -> None:
    make_repository(shop / ".git")
    config = shop / ".git" / "config"
    config.write_text('[core]\n\tbare = false\n[remote "origin"]\n\turl = x:y\n# x\n')
    assert only_reads(shop, "git diff")
    config.write_text(config.read_text() + rows + "\n")
    assert not only_reads(shop, "git diff")


def test_a_work_tree_of_a_repository_is_read_by_its_configuration(shop: Path) -> None:
    common = shop.parent / "main" / ".git"
    own = common / "worktrees" / "shop"
    own.mkdir(parents=True)
    (own / "HEAD").touch()
    (own / "commondir").write_text("../..\n")
    (shop / ".git").write_text(f"gitdir: {own}\n")
    assert not only_reads(shop, "git log")  # that of somebody else, by a file in an archive
    (own / "gitdir").write_text(f"{shop / '.git'}\n")
    assert only_reads(shop, "git log")
    (own / "config.worktree").write_text("[diff]\n\texternal = rm\n")
    assert not only_reads(shop, "git log")
    (own / "config.worktree").unlink()
    (common / "config").write_text("[diff]\n\texternal = rm\n")
    assert not only_reads(shop, "git log")


def test_a_work_tree_whose_git_folder_an_agent_could_write_is_not_read(shop: Path) -> None:
    make_repository(shop / "src")
    (shop / ".git").write_text("gitdir: src\n")
    assert not only_reads(shop, "git log")


def test_a_repository_with_others_in_it_is_not_read(shop: Path) -> None:
    make_repository(shop / ".git")
    (shop / ".git" / "index").write_bytes(b"DIRC" + bytes(30) + b"\0\0\x81\xa4")
    assert only_reads(shop, "git status")
    (shop / ".git" / "index").write_bytes(b"DIRC" + bytes(30) + b"\0\0\xe0\0")
    assert not only_reads(shop, "git status")


def test_a_bare_repository_is_not_read(shop: Path) -> None:
    make_repository(shop / "src")
    for line in ("cd src && git status", "git -C src/deep log"):
        assert not only_reads(shop, line)


def test_a_folder_that_git_passes_by_is_no_repository(shop: Path) -> None:
    (shop / ".git").mkdir()
    assert not only_reads(shop, "git log")


def test_a_configuration_that_is_a_pipe_holds_nobody_up(shop: Path) -> None:
    os.mkfifo(make_repository(shop / ".git") / "config")
    assert not only_reads(shop, "git log")


def test_a_git_that_compares_names_what_lies_in_its_repository(shop: Path) -> None:
    """Of a path outside of it, though in a folder of the workspace, it compares what is there."""
    make_repository(shop / "src" / ".git")
    disk = Disk(str(shop / "src"), Confinement([str(shop)]), dict(os.environ))

    def is_let(line: str) -> bool:
        read = parse(line)
        return not read.unknown and all(reads(each, disk) for each in read.commands)

    for path in ("b.py", "deep", "./deep/../b.py", f"{shop}/src/b.py", "HEAD~1"):
        assert is_let(f"git diff {path}"), path
        assert is_let(f"cd deep && git diff ../{path}") or path.startswith("/")
    for path in ("../a", f"{shop}/a", "deep/../../a"):
        assert not is_let(f"git diff b.py {path}"), path
    assert is_let("cat ../a")
