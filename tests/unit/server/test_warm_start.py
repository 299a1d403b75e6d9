"""A server that tests start without its imports (support/warm.py) is as one of an editor."""

import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.raw_client import RawClient, descendants, left_behind
from support.warm import SERVE
from support.warm_door import WarmDoor


@pytest.fixture
def begun(tmp_path: Path):
    clients: list[RawClient] = []

    def begin(
        *arguments: str, warm: bool = True, door: WarmDoor | None = None, **env: str
    ) -> RawClient:
        command = [*shlex.split(door.command), "serve"] if door else SERVE
        client = RawClient(
            [*command, *arguments], cwd=tmp_path, env=os.environ | env, warm_start=warm
        )
        clients.append(client)
        return client

    yield begin
    for client in clients:
        client.kill()


def test_it_answers_as_one_that_an_editor_starts(begun: Any, tmp_path: Path):
    answers = [
        begun(warm=warm).initialize(folders=[tmp_path], agent={"events": True})
        for warm in (True, False)
    ]
    assert answers[0] == answers[1]


def test_it_has_its_own_arguments_environment_and_folder(begun: Any, tmp_path: Path):
    client: RawClient = begun("--log-file", "here.log", XDG_CONFIG_HOME="elsewhere", NEW="one")
    client.initialize()
    assert (tmp_path / "here.log").exists()
    assert Path(f"/proc/{client.process.pid}/cwd").resolve() == tmp_path
    assert client.process.pid in left_behind(client.mark)


def test_it_has_the_umask_of_who_starts_it(begun: Any, tmp_path: Path):
    begun("--log-file", "before.log").initialize()
    before = os.umask(0)
    try:
        begun("--log-file", "open.log").initialize()
    finally:
        os.umask(before)
    modes = [(tmp_path / f"{name}.log").stat().st_mode & 0o777 for name in ("before", "open")]
    assert modes == [0o666 & ~before, 0o666]


def test_it_says_what_is_wrong_with_its_arguments(begun: Any):
    client: RawClient = begun("--nonsense")
    assert client.wait_for_exit() == 2
    assert "--nonsense" in client.stderr


def test_its_end_is_known_by_its_code(begun: Any):
    asked, killed, still = begun(), begun(), begun()
    asked.initialize()
    assert asked.shut_down() == 0
    killed.process.kill()
    assert killed.process.wait(10) == -signal.SIGKILL
    assert still.process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        still.process.wait(0.1)


def test_one_starts_after_what_it_is_forked_from_was_killed(begun: Any):
    begun().initialize()
    for pid in descendants(os.getpid()):
        os.kill(pid, signal.SIGKILL)
    begun().initialize()


@pytest.fixture
def door(tmp_path: Path) -> Iterator[WarmDoor]:
    with (
        tempfile.TemporaryDirectory(prefix="la-") as folder,
        closing(WarmDoor(Path(folder))) as door,
    ):
        yield door


def test_through_a_door_it_answers_and_ends_as_one_that_an_editor_starts(
    begun: Any, door: WarmDoor, tmp_path: Path
):
    client: RawClient = begun(door=door)
    client.initialize(folders=[tmp_path])
    assert client.shut_down() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_what_kills_one_behind_a_door_is_seen_by_its_editor(
    begun: Any, door: WarmDoor, number: int
):
    behind: RawClient = begun(door=door)
    cold: RawClient = begun(warm=False)
    behind.initialize()
    cold.initialize()
    os.kill(door.processes[-1].pid, number)
    os.kill(cold.process.pid, number)
    assert behind.wait_for_exit() == cold.wait_for_exit()


def test_one_behind_a_door_goes_with_the_program_that_its_editor_has_started(
    begun: Any, door: WarmDoor
):
    client: RawClient = begun(door=door)
    client.initialize()
    client.kill()
    door.processes[-1].wait(20)
