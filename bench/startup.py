"""From the start of the process to the answer to ``initialize``."""

import time
from collections.abc import Sequence

from bench.measure import Limit, Row, in_turns
from bench.setting import PYGLS, Setting
from bench.vscode import initialize_params
from bench.wire import SERVER, Client


def start_up(setting: Setting) -> Row:
    params = initialize_params(setting.folder)

    def start(command: Sequence[str]) -> float:
        begun = time.perf_counter()
        with Client(command, setting.env, setting.folder) as client:
            client.answer(client.request("initialize", params))
            seconds = time.perf_counter() - begun
            client.stop()
        return 1000 * seconds

    for command in (PYGLS, SERVER):
        start(command)  # what is compiled once does not count
    floor, ours = in_turns(setting.sizes.starts, lambda: start(PYGLS), lambda: start(SERVER))
    return Row(
        "start_up", "start to initialize, to bare pygls", "ms", floor, ours, Limit(times=1.1)
    )
