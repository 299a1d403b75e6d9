"""Which paths a command names, and what a person is told of what it did to them."""

import pwd
import time

import pytest

from lsp_agent.sessions.files.disk_notices import disk_notices
from lsp_agent.sessions.permissions.command_paths import command_paths
from lsp_agent.text.lines import Text
from lsp_agent.workspace.disk.look import Unreadable
from lsp_agent.workspace.mirror.disk_change import Brought, DiskChange

TEXT = Text.of("one\n")


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("rm a.py", {"/w/a.py"}),
        ("echo x>b.py", {"/w/b.py"}),
        ("sed -i 's/a/b/' \"my file.txt\"", {"/w/my file.txt"}),
        ("cd sub && mv x.py y.py", {"/w/sub/x.py", "/w/sub/y.py"}),
        ("cd a; cd b; touch c", {"/w/a/b/c"}),
        ("git -C repo checkout f.py", {"/w/repo/f.py"}),
        ("dd if=a.bin of=/w/b.bin", {"/w/a.bin", "/w/b.bin"}),
        ("black --config=x.toml .", {"/w/x.toml"}),
        ("cat > new.txt <<'EOF'\nit's\nEOF", {"/w/new.txt"}),
        ("(rm a.py)", {"/w/a.py"}),
    ],
)
def test_a_commands_words_are_taken_for_paths(command: str, named: set[str]) -> None:
    assert named <= set(command_paths(command, "/w"))


@pytest.mark.parametrize("command", ["", "ls -la", "echo $? && { :; }", "true; -f --x"])
def test_options_and_signs_are_none(command: str) -> None:
    assert set(command_paths(command, "/w")) <= {"/w/ls", "/w/echo", "/w/true"}


def test_a_long_command_is_cut() -> None:
    assert len(command_paths("x " * 10 + " ".join(f"f{i}" for i in range(5000)), "/w")) < 400


@pytest.mark.parametrize(
    "command",
    [
        "rm " + "a " * 500_000,
        "rm '" + "a" * 1_000_000 + "'",
        "rm '" + "a" * 1_000_000,
        "rm " + "a" * 1_000_000,
        "rm " + "a/../" * 200_000,
        "cd x; " * 200_000,
        "cd x; " * 60 + " ".join(f"f{number}" for number in range(5000)),
        "cat > a <<'EOF'\n" + "it's a text\n" * 100_000 + "EOF",
    ],
    ids=lambda command: command[:12],
)
def test_a_command_of_a_megabyte_is_looked_through_in_no_time(command: str) -> None:
    began = time.perf_counter()
    paths = command_paths(command, "/w")
    assert time.perf_counter() - began < 5
    assert len(paths) <= 200


def test_what_stands_behind_many_changes_of_folder_is_found() -> None:
    command = "cd x; " * 60 + "rm a b"
    assert {"/w/a", "/w/x/a", "/w/x/x/b"} <= set(command_paths(command, "/w"))


def test_the_home_of_another_user_is_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object) -> object:
        raise AssertionError("asked the system's directory of users")

    monkeypatch.setattr(pwd, "getpwnam", slow)
    monkeypatch.setattr(pwd, "getpwuid", slow)
    monkeypatch.setenv("HOME", "/home/me")
    command = "cd ~bob/d && cp ~bob/x ~/y --to=~me/z a~b"
    found = set(command_paths(command, "/w"))
    assert {"/home/me/y", "/w/a~b"} <= found
    assert not any("bob" in path or "z" in path for path in found)
    monkeypatch.delenv("HOME")
    assert command_paths("rm ~/y b", "/w") == ["/w/rm", "/w/b"]


def said(*brought: Brought, what: str = "rm x", tool: str = "bash") -> list[str]:
    return [notice.message for notice in disk_notices(brought, tool, what, "/w")]


def change(path: str, renamed_to: str | None = None) -> DiskChange:
    return DiskChange(path, TEXT, None if renamed_to else TEXT, renamed_to)


def test_what_the_editor_shows_needs_no_notice() -> None:
    assert said(
        Brought(change("/w/a"), "merged", open=True), Brought(change("/w/b"), "recorded")
    ) == []  # fmt: skip


def test_one_notice_names_all_files_of_a_kind() -> None:
    gone = [Brought(change(f"/w/f{i}"), "gone", open=True) for i in range(7)]
    (message,) = said(*gone)
    assert "(rm x) deleted f0, f1, f2, f3, f4 and 2 more on disk" in message


def test_a_clash_says_what_saving_does() -> None:
    (message,) = said(Brought(change("/w/a"), "proposed", open=True))
    assert "Yours stays" in message
    assert "Saving overwrites" in message


def test_a_renamed_file_is_said_with_both_names() -> None:
    (message,) = said(Brought(change("/w/a", "/w/sub/b"), "gone", open=True))
    assert "renamed a to sub/b" in message


def test_what_cannot_be_read_is_said_where_there_was_a_text() -> None:
    binary, made = (Unreadable("it looks binary", digest, binary=True) for digest in "ab")
    no_text = DiskChange("/w/a", TEXT, binary)
    was_none = DiskChange("/w/prog", None, binary)
    was_binary = DiskChange("/w/prog", binary, made)
    open_one = Brought(no_text, "unreadable", open=True, reason="it looks binary")
    closed = Brought(no_text, "unreadable", reason="it looks binary")
    assert "looks binary; the editor still shows" in said(open_one)[0]
    assert "cannot be reviewed" in said(closed)[0]
    assert said(Brought(was_none, "unreadable", reason="it looks binary")) == []
    assert said(Brought(was_binary, "unreadable", reason="it looks binary")) == []


def test_names_and_commands_are_escaped_and_cut() -> None:
    gone = Brought(change("/w/a\u202eb\x1b[1m"), "gone", open=True)
    (message,) = said(gone, what="rm\n" + "x" * 500, tool="ba\x07sh")
    assert message.isprintable()
    assert r"a\u202eb\x1b[1m" in message
    assert len(message) < 250
