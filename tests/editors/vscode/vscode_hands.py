"""VS Code's workbench with the extension, as the editor of ``tests/system/provenance``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from provenance.hands import App, Shown
from provenance.hub import Json
from provenance.person import offset_of
from support.workbench import Workbench

CODE = Path(__file__).with_suffix(".js")


class VSCodeHands(App):
    CANNOT: ClassVar[Mapping[str, str]] = {
        "restart": "ends a server, not an editor's: test_vscode_server_life.py does so",
        "hot exit": "comes with a window that is closed, not with a tab",
    }

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        workbench.run(CODE.read_text())
        # The extension starts the server with the first use.
        workbench.run("await vscode.commands.executeCommand('lspAgent.server.restart')")

    def _do(self, name: str, **argument: Any) -> Any:
        return self._workbench.run(f"return globalThis.person.{name}(argument)", argument)

    def open(self, path: Path) -> None:
        self._do("open", path=str(path))

    def close(self, path: Path) -> None:
        self._do("close", path=str(path))

    def change(self, path: Path, before: str, after: str, told: Json) -> bool:
        """One word with the blank before it is one step of undo."""
        start, end = (offset_of(before, told["range"][side]) for side in ("start", "end"))
        typed = told["text"]
        while typed and start == end and typed[0] != " " and before[start - 1] == typed[-1]:
            start, end, typed = start - 1, end - 1, typed[-1] + typed[:-1]
        return self._do(
            "change",
            path=str(path),
            before=before,
            range=[units(before, start), units(before, end)],
            text=typed,
            isWord=not typed or (typed[0] == " " and typed.count(" ") == 1 and "\n" not in typed),
        )

    def undo(self, path: Path, before: str, *, redo: bool) -> bool:
        return self._do("undo", path=str(path), before=before, redo=redo)

    def save(self, path: Path) -> bool:
        return self._do("save", path=str(path))

    def reload(self, path: Path) -> None:
        self._do("reload", path=str(path), text=path.read_bytes().decode())

    def shown(self, path: Path) -> list[Shown]:
        return [(text, is_dirty) for text, is_dirty in self._do("take", path=str(path))]

    def is_dirty(self, path: Path) -> bool:
        return self._do("isDirty", path=str(path))

    def flush(self) -> None:
        self._do("flush")


def units(text: str, offset: int) -> int:
    """The offset in UTF-16."""
    return len(text[:offset].encode("utf-16-le")) // 2
