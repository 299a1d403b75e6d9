"""From the start of the process to its first answers."""

import time
from collections.abc import Sequence

from bench.measure import Limit, Row, in_turns
from bench.setting import PYGLS, Setting
from bench.vscode import initialize_params
from bench.wire import SERVER, Client


def start_up(setting: Setting) -> Row:
    """``initialize`` is answered before the server is imported, so far below the floor."""
    floor, ours = _measured(setting, requested=False)
    limit = Limit(times=0.35)
    return Row("start_up", "start to initialize, to bare pygls", "ms", floor, ours, limit)


def first_request(setting: Setting) -> Row:
    floor, ours = _measured(setting, requested=True)
    limit = Limit(times=1.1)
    return Row("first_request", "start to a custom request, to pygls", "ms", floor, ours, limit)


def _measured(setting: Setting, *, requested: bool) -> tuple[float, float]:
    params = initialize_params(setting.folder)

    def start(command: Sequence[str]) -> float:
        begun = time.perf_counter()
        with Client(command, setting.env, setting.folder) as client:
            client.answer(client.request("initialize", params))
            if requested:
                client.notify("initialized", {})
                answer = client.answer(client.request("agent/edits", {}))
                assert "result" in answer, answer
            seconds = time.perf_counter() - begun
            client.stop()
        return 1000 * seconds

    for command in (PYGLS, SERVER):
        start(command)  # what is compiled once does not count
    return in_turns(setting.sizes.starts, lambda: start(PYGLS), lambda: start(SERVER))
