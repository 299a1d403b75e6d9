"""What the way to a named host adds to a request of a held command."""

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import anyio
from anyio.from_thread import start_blocking_portal

from bench.measure import Limit, Row, in_turns
from bench.setting import ASKER, FAR, Setting
from lsp_agent.sandbox import bubblewrap, landlock
from lsp_agent.sandbox.hold import CannotHold, Holder, Way
from lsp_agent.sandbox.network.door import Door
from lsp_agent.sandbox.network.proxy import Proxy
from lsp_agent.sandbox.places import find

_PROXIES = ("http_proxy", "all_proxy", "no_proxy")


def held_by_bubblewrap_to_a_host(setting: Setting) -> Row | None:
    return _measured(setting, "held_by_bubblewrap_to_a_host", bubblewrap.working)


def held_by_landlock_to_a_host(setting: Setting) -> Row | None:
    return _measured(setting, "held_by_landlock_to_a_host", landlock.working)


def _measured(setting: Setting, name: str, working: Callable[[], Holder]) -> Row | None:
    try:
        holder = working()
    except CannotHold:
        return None
    env = {key: value for key, value in setting.env.items() if key.lower() not in _PROXIES}

    def ask(words: Sequence[str], port: int) -> float:
        command = [*words, *ASKER, f"http://127.0.0.1:{port}/", str(setting.sizes.requests)]
        done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
        return float(done.stdout)

    with _far_host() as port, _door(setting, f"127.0.0.1:{port}") as door:

        def held() -> list[str]:
            way = Way(door.path, door.ticket(lambda _host: None))
            hold = find([str(setting.folder)], home=str(setting.home), runtime="", way=way)
            return holder.words(hold, str(setting.folder))

        floor, ours = in_turns(
            setting.sizes.rounds, lambda: ask([], port), lambda: ask(held(), port)
        )
    what = f"a request to a named host, held by {holder.name}, to plain"
    return Row(name, what, "ms", floor, ours, Limit(times=3, added=3))


@contextmanager
def _far_host() -> Iterator[int]:
    with subprocess.Popen(FAR, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield int(server.stdout.readline())
        finally:
            server.kill()


@contextmanager
def _door(setting: Setting, host: str) -> Iterator[Door]:
    """As the server has one, in an event loop of its own."""
    door = Door(str(setting.home / "hosts.sock"), Proxy(lambda: [host]))

    async def serve(*, task_status: anyio.abc.TaskStatus[anyio.CancelScope]) -> None:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                await tasks.start(door.serve)
                task_status.started(scope)

    with start_blocking_portal() as portal:
        future, scope = portal.start_task(serve)
        try:
            yield door
        finally:
            portal.call(scope.cancel)
            future.result()
            (setting.home / "hosts.sock").unlink()
