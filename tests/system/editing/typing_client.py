"""An editor over the real server's stdio in which keys are typed where they hurt.

The buffers and the policies are those of the in-process client (``scripted_editor``); what
waits there on a virtual clock waits here on real timers. One lock holds a client's buffers: keys,
edits, flushes and answers are in one order, as in an editor's one thread.
"""

import contextlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.project import LSP_AGENT, Editor, Project
from support.raw_client import Json, RpcError
from support.scripted_editor import Buffer, Point, Policy

from lsp_agent.text.positions import Encoding

Keys = Callable[["Shown", Point, int], None]


def no_keys(_shown: "Shown", _point: Point, _send: int) -> None: ...


@dataclass
class Shown:
    """A document that the editor shows. ``saves``: how often the server had it saved;
    ``saved_unsaved``: how often while there was unsaved text before the edit."""

    path: Path
    uri: str
    buffer: Buffer
    disk: str
    sends: int = 0
    saves: int = 0
    open: bool = True
    flushed: bool = False
    timer: threading.Timer | None = field(default=None, repr=False)

    @property
    def text(self) -> str:
        return self.buffer.text

    @property
    def dirty(self) -> bool:
        return self.text != self.disk


class TypingClient(Editor):
    """``keys`` is called at each point with the document and the number of the send, from 1 on
    for each edit, within the lock; it may use ``press``. ``save_order`` says when the key is
    typed during a save."""

    def __init__(self, command: Sequence[str], policy: Policy, **options: Any) -> None:
        self.policy = policy
        self.keys: Keys = no_keys
        self.before_sync: Callable[[], None] = lambda: None
        self.save_order = 0
        self.shown: dict[str, Shown] = {}
        self.lock = threading.RLock()
        self._over = False
        self._timers: list[threading.Timer] = []
        super().__init__(command, **options)
        self.handlers |= {"agent/sync": self._sync, "agent/saveDocument": self._saving}
        if policy.name.startswith("Neovim") and policy.traits.can_sync:
            self.handlers["workspace/semanticTokens/refresh"] = self._refresh

    def kill(self) -> None:
        with self.lock:
            self._over = True
            for timer in self._timers:
                timer.cancel()
        super().kill()

    # What the person does

    def show(self, path: Path, text: str | None = None) -> Shown:
        """Opens a file, with other ``text`` than the disk has if given."""
        disk = path.read_bytes().decode() if path.exists() else ""
        buffer = Buffer(disk if text is None else text, self.encoding, self.policy)
        shown = Shown(path, path.as_uri(), buffer, disk)
        with self.lock:
            self.shown[shown.uri] = shown
            item = {"uri": shown.uri, "languageId": "text", "version": buffer.version}
            self.notify("textDocument/didOpen", {"textDocument": item | {"text": buffer.text}})
        return shown

    def hide(self, shown: Shown) -> None:
        with self.lock:
            self.flush(shown)
            shown.open = False
            del self.shown[shown.uri]
            self.notify("textDocument/didClose", {"textDocument": {"uri": shown.uri}})

    def press(self, shown: Shown, offset: int, token: str) -> None:
        with self.lock:
            shown.buffer.type(offset, token)
            self._sometime(shown, restart=True)

    def save_by_hand(self, shown: Shown) -> None:
        with self.lock:
            self.flush(shown)
            self._write(shown)
            self._tell_saved(shown)

    def flush(self, shown: Shown) -> None:
        """Sends what is held back."""
        with self.lock:
            if shown.timer is not None:
                shown.timer.cancel()
                shown.timer = None
            if self._over or not shown.open:
                return
            for version, changes in shown.buffer.take():
                shown.flushed = True
                item = {"uri": shown.uri, "version": version}
                params = {"textDocument": item, "contentChanges": changes}
                self.notify("textDocument/didChange", params)

    def flush_all(self) -> None:
        with self.lock:
            for shown in list(self.shown.values()):
                self.flush(shown)

    # What the server asks for

    def _answer(self, message: Json) -> None:
        """Edits are answered here: with a policy's client, changes go out before and after."""
        if message["method"] != "workspace/applyEdit":
            super()._answer(message)
            return
        with self.lock:
            (change,) = message["params"]["edit"]["documentChanges"]
            shown = self.shown[change["textDocument"]["uri"]]
            shown.sends += 1
            send = shown.sends
            self.keys(shown, "before apply", send)
            applied = self._process(shown, change, send)
            if applied is not None:
                self._reply(message["id"], applied=applied)
                if self.policy.answers == "before" and not self.policy.debounce:
                    self.flush(shown)

    def _reply(self, msg_id: Any, *, applied: bool) -> None:
        answer: Json = {"id": msg_id}
        if applied or self.policy.checks != "sent":
            answer["result"] = {"applied": applied}
        else:  # as eglot does
            answer["error"] = {"code": -32603, "message": "Edits are for another version"}
        with contextlib.suppress(BrokenPipeError, ValueError):
            self.send(answer)

    def _process(self, shown: Shown, change: Json, send: int) -> bool | None:
        lie = self.policy.lie
        if lie == "refuses":
            return False
        if not shown.buffer.accepts(change["textDocument"]["version"]):
            self._later(0.002, lambda: self.keys(shown, "before retry", send))
            return not self.policy.admits
        if lie == "late":
            self._later(self.policy.late, lambda: self._edit(shown, change["edits"], send))
            return None
        if not lie.endswith("not done"):
            self._edit(shown, change["edits"], send)
        return {"t": True, "f": False, "s": None, "": True}[lie[:1]]

    def _edit(self, shown: Shown, edits: list[Json], send: int) -> None:
        shown.buffer.apply(edits)
        self.keys(shown, "same didChange", send)
        if self.policy.answers == "after" or self.policy.debounce or self.policy.lie:
            self._sometime(shown, restart=False)
        self.keys(shown, "unanswered", send)

    def _sync(self, params: Json) -> Json:
        if not self.policy.traits.can_sync:
            raise RpcError(-32601, "Method not found")
        with self.lock:
            self.before_sync()
            self.flush(self.shown[params["uri"]])
            return {}

    def _refresh(self, _params: object) -> None:
        """As Neovim does: every request of its own is preceded by what it held back."""
        with self.lock:
            self.before_sync()
            self.flush_all()
            for shown in self.shown.values():
                item = {"textDocument": {"uri": shown.uri}}
                self.request("textDocument/semanticTokens/full", item)

    def _saving(self, params: Json) -> Json:
        with self.lock:
            shown = self.shown[params["uri"]]
            shown.saves += 1
            key = lambda: self.keys(shown, "during save", shown.sends)  # noqa: E731
            if self.save_order == 0:
                key()
            self.flush(shown)
            version = params.get("version")
            if version is not None and not shown.buffer.accepts(version):
                return {"saved": False}
            self._write(shown)
            if self.save_order == 1:  # while the file is being written
                key()
                self.flush(shown)
            self._tell_saved(shown)
            if self.save_order == 2:
                key()
            return {"saved": True}

    def _write(self, shown: Shown) -> None:
        shown.path.write_bytes(shown.text.encode())
        shown.disk = shown.text

    def _tell_saved(self, shown: Shown) -> None:
        self.notify("textDocument/didSave", {"textDocument": {"uri": shown.uri}})

    # When changes go out

    def _sometime(self, shown: Shown, *, restart: bool) -> None:
        policy = self.policy
        if not policy.debounce:
            if policy.answers == "after" or restart:
                self.flush(shown)
            return
        again = policy.restarts == "always" or (policy.restarts == "first" and not shown.flushed)
        if shown.timer is not None and restart and again:
            shown.timer.cancel()
            shown.timer = None
        if shown.timer is None:
            shown.timer = self._later(policy.debounce, lambda: self.flush(shown))

    def _later(self, seconds: float, what: Callable[[], None]) -> threading.Timer:
        def run() -> None:
            with self.lock:
                if not self._over:
                    what()

        timer = threading.Timer(seconds, run)
        timer.daemon = True
        self._timers = [each for each in self._timers if each.is_alive()] + [timer]
        timer.start()
        return timer


class TypingProject(Project):
    """A project whose editors follow a policy."""

    policy = Policy("plain")

    def start(self, *arguments: str) -> TypingClient:
        command = [*LSP_AGENT, "serve", *arguments]
        client = TypingClient(
            command, self.policy, cwd=self._base, env=self.environment(), warm_start=True
        )
        self._editors.enter_context(client)
        return client

    def client(
        self, policy: Policy, encoding: Encoding, *steps: Json, **options: Json
    ) -> TypingClient:
        """A running server with a client that follows ``policy``; ``options`` are the server's
        settings."""
        self.policy = policy
        traits, is_neovim = policy.traits, policy.name.startswith("Neovim")
        client = self.editor(
            *steps,
            client={
                "events": True,
                "sync": traits.can_sync and not is_neovim,
                "save": traits.can_save,
            },
            options=options,
            capabilities={"general": {"positionEncodings": [encoding]}},
            clientInfo=_client_info(policy),
        )
        assert isinstance(client, TypingClient)
        assert client.encoding == encoding
        return client


def _client_info(policy: Policy) -> Json:
    if policy.name.startswith("Neovim"):
        return {"name": "Neovim", "version": "0.11.4"}
    if policy.traits.checks_versions:
        return {"name": "Visual Studio Code", "version": "1.106.0"}
    return {"name": "Some editor"}
