"""Neovim with the plugin, as the editor of ``tests/system/provenance``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from plugin_desk import PluginDesk
from provenance.hands import App, Shown
from provenance.hub import Json
from provenance.person import offset_of
from support.neovim import wait_until

LUA = Path(__file__).with_suffix(".lua")


class NeovimHands(App):
    CANNOT: ClassVar[Mapping[str, str]] = {
        "restart": "ends a server, not an editor's: test_plugin_server.py and its neighbours do so",
        "hot exit": "a buffer that is closed has no unsaved text afterwards",
    }

    def __init__(self, desk: PluginDesk) -> None:
        self._nvim = desk.nvim
        self._nvim.dismisses = True
        self._nvim.lua(LUA.read_text())

    def _do(self, name: str, *arguments: Any) -> Any:
        return self._nvim.lua(f"return _G.person.{name}(...)", *arguments)

    def open(self, path: Path) -> None:
        self._do("open", str(path))
        wait_until(lambda: self._do("is_attached", str(path)))

    def close(self, path: Path) -> None:
        self._do("close", str(path))

    def change(self, path: Path, before: str, after: str, told: Json) -> bool:
        start, end = (offset_of(before, told["range"][side]) for side in ("start", "end"))
        typed = told["text"]
        if start == len(before):  # behind the last line's end, where no cursor gets
            start, end, typed = start - 1, end - 1, f"\n{typed[:-1]}"
        line = before[before.rfind("\n", 0, start) + 1 : start]
        row, column = before.count("\n", 0, start), len(line.encode())
        keys = typed.replace("\n", "\r")
        return self._do("change", str(path), before, row, column, end - start, keys)

    def undo(self, path: Path, before: str, *, redo: bool) -> bool:
        return self._do("undo", str(path), before, "<C-r>" if redo else "u")

    def save(self, path: Path) -> bool:
        return self._do("save", str(path))

    def reload(self, path: Path) -> None:
        self._do("reload", str(path))

    def shown(self, path: Path) -> list[Shown]:
        return [(text, is_dirty) for text, is_dirty in self._do("take", str(path))]

    def is_dirty(self, path: Path) -> bool:
        return self._do("is_dirty", str(path))

    def flush(self) -> None:
        self._do("flush")
