"""What bubblewrap is told, in its order: a later mount covers an earlier one."""

from pathlib import Path

from lsp_agent.sandbox.bubblewrap import arguments, fault
from lsp_agent.sandbox.hold import Hold, Place, Store, Way
from lsp_agent.sandbox.places import find

WORK = "/home/me/work"


def mounts(hold: Hold) -> str:
    return " ".join(arguments("bwrap", hold, WORK))


def test_what_is_held_in_a_folder_is_mounted_after_it() -> None:
    git = Place(f"{WORK}/.git", "folder")
    told = mounts(Hold((WORK,), (git,), (), network=False))
    assert told.index(f"--bind {WORK} {WORK}") < told.index(f"--ro-bind {git.path} {git.path}")


def test_a_folder_in_what_is_hidden_is_seen_all_the_same() -> None:
    told = mounts(Hold((WORK,), (), (Place("/home/me", "folder"),), network=False))
    assert told.index("--tmpfs /home/me") < told.index(f"--bind {WORK} {WORK}")
    assert told.index(f"--bind {WORK} {WORK}") < told.index("--remount-ro /home/me")


def test_what_lies_above_a_held_place_cannot_be_renamed() -> None:
    program = Place(f"{WORK}/a/b/python", "file")
    told = mounts(Hold((WORK,), (program,), (), network=False))
    assert f"--bind {WORK}/a {WORK}/a --bind {WORK}/a/b {WORK}/a/b" in told


def test_with_a_store_that_alone_is_written_and_not_what_git_obeys_there() -> None:
    hooks, store = Place(f"{WORK}/.git/hooks", "folder"), f"{WORK}/.git"
    told = mounts(Hold((WORK,), (), (), network=False, store=Store(store, (hooks,))))
    wanted = [f"--ro-bind {WORK} {WORK}", f"--bind {store} {store}", f"--ro-bind {hooks.path}"]
    assert sorted(wanted, key=told.index) == wanted
    assert told.count("--bind ") == 1


def test_only_a_meant_yes_gives_the_network() -> None:
    assert "--unshare-net" in mounts(Hold((WORK,), (), (), network=False))
    assert "--unshare-net" not in mounts(Hold((WORK,), (), (), network=True))


def test_a_link_is_hidden_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / ".ssh").symlink_to("real")
    hold = find([str(tmp_path / "work")], home=str(tmp_path), runtime="", hidden=["~/none"])
    assert hold.hidden == (Place(str(tmp_path / "real"), "folder"),)


def test_a_program_that_holds_nothing_is_no_holder(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2; exit 1\n")
    broken.chmod(0o700)
    assert fault(str(broken)) == "No permissions to create new namespace"


def test_hosts_are_reached_by_their_door_alone() -> None:
    told = mounts(Hold((WORK,), (), (), network=False, way=Way("/run/user/1/door", "t1")))
    assert "--unshare-net" in told
    assert told.index("--tmpfs /run") < told.index("--ro-bind /run/user/1/door /run/lsp-agent/door")
    assert told.endswith(" /run/lsp-agent/door t1")
