"""Editors that behave differently: how they take edits and tell of them, reload and save."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from support.mirror_bench import MirrorEditor, Style
from support.scripted_editor import POLICIES, Point, Policy, ScriptedEditor

from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import EditorTraits


@dataclass(frozen=True)
class Client:
    """``reloads``: so many seconds after the disk has changed a clean document is loaded again,
    in this ``style``. ``saves``: so many seconds after it last changed, it is saved."""

    policy: Policy
    name: str = ""
    reloads: float | None = None
    style: Style = "a change"
    saves: float | None = None

    def __str__(self) -> str:
        return self.name or self.policy.name

    @property
    def only_mirror(self) -> bool:
        """What sets it apart is how it takes changes of the disk."""
        return self.reloads is not None or self.policy.traits.can_reload


PLAIN = POLICIES[0]
BY_NAME = {policy.name: policy for policy in POLICIES}
EGLOT = BY_NAME["eglot"]
CLIENTS = (
    *(Client(policy) for policy in POLICIES if policy is not EGLOT),
    Client(replace(EGLOT, traits=replace(EGLOT.traits, holds_back=True))),
    Client(Policy("tells of changes 2 s late", debounce=2.0)),
    Client(Policy("saves only by hand", traits=EditorTraits())),
    Client(PLAIN, "saves by itself after 1 s", saves=1.0),
    Client(BY_NAME["Neovim"], "Neovim, saves by itself after 0.3 s", saves=0.3),
    Client(PLAIN, "reloads at once", reloads=0.0),
    Client(PLAIN, "reloads after 0.3 s", reloads=0.3),
    Client(PLAIN, "reloads after 2 s", reloads=2.0),
    Client(PLAIN, "opens anew what it reloads", reloads=0.2, style="a new didOpen"),
    Client(BY_NAME["Neovim"], "Neovim, reloads after 0.3 s", reloads=0.3),
    Client(Policy("reloads when asked", traits=EditorTraits(can_save=True, can_reload=True))),
)


class ClientEditor(MirrorEditor):
    """``client`` showing ``file``."""

    def __init__(
        self,
        documents: Documents,
        uri: str,
        text: str,
        client: Client,
        file: Path,
        keys: Callable[[ScriptedEditor, Point, int], None],
    ) -> None:
        super().__init__(documents, uri, text, client.policy, keys, self._write)
        self.client = client
        self.file = file
        self.disk = text
        self.reloads, self.style = client.reloads, client.style
        self._saving: asyncio.TimerHandle | None = None

    def sees_the_disk(self) -> None:
        """The file has changed."""
        if self.reloads is not None:
            asyncio.get_running_loop().call_later(self.reloads, self._load)

    def flush(self) -> None:
        super().flush()
        if self.client.saves is not None and not self.clean:
            if self._saving is not None:
                self._saving.cancel()
            loop = asyncio.get_running_loop()
            self._saving = loop.call_later(self.client.saves, self._save_by_itself)

    def _load(self) -> None:
        if self.clean and self.file.exists():
            self.load(self.file)

    def _write(self, text: str) -> None:
        self.disk = text
        self.file.write_bytes(text.encode())

    def _save_by_itself(self) -> None:
        if not self.clean:
            self._write(self.buffer.text)
            self._send(lambda: self.documents.save(self.uri))
