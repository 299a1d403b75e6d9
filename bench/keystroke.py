"""A person types in a long document."""

import time
from collections.abc import Sequence

from bench.measure import Limit, Row, in_turns
from bench.setting import READER, Setting
from bench.texts import long_text
from bench.wire import SERVER, Client, frame


def keystroke(setting: Setting) -> Row:
    """All keys are sent at once and one request behind them: what one key takes of the server.
    The floor reads and decodes the same frames, and knows no document."""
    keys, lines = setting.sizes.keys, setting.sizes.lines
    uri = (setting.folder / "long.py").as_uri()
    item = {"uri": uri, "languageId": "python", "version": 1, "text": long_text(lines)}
    opened = frame({"method": "textDocument/didOpen", "params": {"textDocument": item}})
    typed = b"".join(_key(uri, number, lines // 2) for number in range(2, keys + 2))

    def type_in(client: Client) -> float:
        client.send(opened)
        client.answer(client.request("agent/sessions", {}))
        begun = time.perf_counter()
        client.send(typed)
        client.answer(client.request("agent/sessions", {}))
        return 1e6 * (time.perf_counter() - begun) / keys

    def served(command: Sequence[str]) -> float:
        with Client(command, setting.env, setting.folder) as client:
            client.start(setting.params())
            microseconds = type_in(client)
            client.stop()
        return microseconds

    rounds = min(3, setting.sizes.rounds)
    floor, ours = in_turns(rounds, lambda: served(READER), lambda: served(SERVER))
    what = f"key in {lines:,} lines, to its frame"
    return Row("keystroke", what, "µs", floor, ours, Limit(added=50))


def _key(uri: str, version: int, line: int) -> bytes:
    place = {"line": line, "character": version % 40}
    return frame(
        {
            "method": "textDocument/didChange",
            "params": {
                "textDocument": {"uri": uri, "version": version},
                "contentChanges": [{"range": {"start": place, "end": place}, "text": "x"}],
            },
        }
    )
