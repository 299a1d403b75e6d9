"""The profile for macOS's sandbox-exec, of which only the text can be tried here, and that it is
not believed unseen: in its place stands a program that holds nothing."""

import sys
from pathlib import Path

import pytest

from lsp_agent.sandbox import seatbelt
from lsp_agent.sandbox.hold import CannotHold, Hold, Place, Store
from lsp_agent.sandbox.seatbelt import Seatbelt, profile

WORK = "/home/me/work"


def lines(hold: Hold) -> list[str]:
    return profile(hold).splitlines()


def test_what_is_held_in_a_folder_is_denied_after_the_folder_is_allowed() -> None:
    told = lines(Hold((WORK,), (Place(f"{WORK}/.git", "missing"),), (), network=False))
    allowed = next(line for line in told if line.startswith("(allow file-read* file-write*"))
    assert f'(subpath "{WORK}")' in allowed
    assert told.index(allowed) < told.index(f'(deny file-write* (subpath "{WORK}/.git"))')


def test_a_folder_in_what_is_hidden_is_seen_and_what_is_hidden_in_it_is_not() -> None:
    outer, inner = Place("/home/me", "folder"), Place(f"{WORK}/keys", "folder")
    told = lines(Hold((WORK,), (), (outer, inner), network=False))
    allowed = next(line for line in told if line.startswith("(allow file-read* file-write*"))
    assert told.index('(deny file-read* (subpath "/home/me"))') < told.index(allowed)
    assert told.index(allowed) < told.index(
        f'(deny file-read* file-write* (subpath "{WORK}/keys"))'
    )


def test_what_lies_above_a_held_place_cannot_be_renamed() -> None:
    told = lines(Hold((WORK,), (Place(f"{WORK}/a/b/python", "file"),), (), network=False))
    assert f'(deny file-write-unlink (literal "{WORK}/a"))' in told
    assert f'(deny file-write-unlink (literal "{WORK}/a/b"))' in told
    assert f'(deny file-write-unlink (literal "{WORK}"))' not in told


def test_with_a_store_that_alone_is_written_and_not_what_git_obeys_there() -> None:
    store = Store(f"{WORK}/.git", (Place(f"{WORK}/.git/hooks", "missing"),))
    told = lines(Hold((WORK,), (), (), network=False, store=store))
    written = next(line for line in told if line.startswith("(allow file-read* file-write*"))
    assert (
        written == f'(allow file-read* file-write* (subpath (param "OWN")) (subpath "{WORK}/.git"))'
    )
    assert f'(allow file-read* (subpath "{WORK}"))' in told
    assert told.index(written) < told.index(f'(deny file-write* (subpath "{WORK}/.git/hooks"))')
    assert f'(deny file-write-unlink (literal "{WORK}/.git"))' in told


def test_only_a_meant_yes_gives_the_network_and_no_sockets_with_a_path() -> None:
    assert "(deny network*)" in lines(Hold((WORK,), (), (), network=False))
    told = lines(Hold((WORK,), (), (), network=True))
    assert "(deny network*)" not in told
    assert "(deny network-outbound (remote unix-socket))" in told


def test_a_path_is_no_word_of_the_profile() -> None:
    told = profile(Hold(('/w") (allow default) ("\\',), (), (), network=False))
    assert '"/w\\") (allow default) (\\"\\\\"' in told


def test_one_that_holds_nothing_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "sandbox-exec"
    script.write_text('#!/bin/sh\nshift 4\nexec "$@"\n')
    script.chmod(0o700)
    monkeypatch.setattr(sys, "platform", "darwin")
    start = f'cd -- "$1"; profile=$2; shift 2; {script} -D OWN=x -p "$profile" "$@"'
    monkeypatch.setattr(seatbelt, "_START", start)
    assert seatbelt.fault(Seatbelt()) == "it holds nothing"
    with pytest.raises(CannotHold, match="it holds nothing"):
        seatbelt.working()


def test_nor_one_that_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(seatbelt, "_START", "echo 'no such profile' >&2; exit 65")
    assert seatbelt.fault(Seatbelt()) == "no such profile"
