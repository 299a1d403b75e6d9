"""The editor as ``workspace/`` needs it, over LSP: sends and answers, no policy."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, cast

from lsp_agent.protocol.methods import RELOAD_REQUEST, SAVE_REQUEST, SYNC_REQUEST
from lsp_agent.server.barrier import RefreshBarrier
from lsp_agent.server.client_info import ClientInfo
from lsp_agent.server.connection import Connection
from lsp_agent.server.protocol import Json
from lsp_agent.server.rpc_error import ClientRefused
from lsp_agent.text.edits import TextEdit
from lsp_agent.text.positions import Encoding, to_units
from lsp_agent.workspace.editor import Applied, EditorTraits

#: The live lines of an open document; None where it is not open.
LinesOf = Callable[[str], Sequence[str] | None]

_APPLY_SECONDS = 10.0
_SYNC_SECONDS = 0.3
_SAVE_SECONDS = 10.0

#: Clients that were seen to refuse an edit whose version is no longer theirs.
_CHECKING = ("Visual Studio Code", "VSCodium", "code-server", "helix", "Neovim")

log = logging.getLogger(__name__)


class EditorPort:
    """Implements ``workspace.editor.Editor`` for one client."""

    def __init__(
        self,
        connection: Connection,
        client: ClientInfo,
        barrier: RefreshBarrier | None,
        lines_of: LinesOf,
    ) -> None:
        self._connection = connection
        self._client = client
        self._barrier = barrier
        self._lines_of = lines_of
        self.traits = traits_of(client)

    async def apply(
        self, uri: str, version: int | None, edits: Sequence[TextEdit], label: str
    ) -> Applied:
        """Sends one ``workspace/applyEdit``; waits up to 10 s for the answer."""
        lines = self._lines_of(uri)
        if lines is None:
            return Applied(False, "the document is not open")
        if version is not None:
            version = max(version, self.traits.min_version)
        changes = [wire_edit(edit, lines, self._client.encoding) for edit in edits]
        document = {"textDocument": {"uri": uri, "version": version}, "edits": changes}
        params: Json = {"edit": {"documentChanges": [document]}}
        # Neovim prints the label: many or long ones end at a prompt that takes the next key.
        if not self._client.is_neovim:
            params["label"] = label
        try:
            answer = await self._connection.ask("workspace/applyEdit", params, _APPLY_SECONDS)
        except ClientRefused as exc:
            return Applied(False, str(exc))
        except TimeoutError:
            return Applied(None, f"no answer within {_APPLY_SECONDS:g} s")
        if not isinstance(answer, dict):  # eglot answers null to what it does not know
            return Applied(None, "an answer without `applied`")
        answer = cast(Json, answer)
        return Applied(answer.get("applied") is True, answer.get("failureReason"))

    async def sync(self, uri: str) -> None:
        """Returns when the client has sent what it held back, at the latest after 0.3 s."""
        if self._client.sync:
            await self._request(SYNC_REQUEST, uri, _SYNC_SECONDS)
        elif self._barrier:
            await self._barrier.sync(uri, _SYNC_SECONDS)

    async def save(self, uri: str) -> bool:
        """Whether the client saved the document."""
        if not self._client.save:
            return False
        return (await self._request(SAVE_REQUEST, uri, _SAVE_SECONDS)).get("saved") is True

    async def reload(self, uri: str) -> bool:
        """Whether the client took the text on disk."""
        if not self._client.reload:
            return False
        return (await self._request(RELOAD_REQUEST, uri, _SAVE_SECONDS)).get("reloaded") is True

    async def _request(self, method: str, uri: str, timeout: float) -> Json:
        """The client's answer; empty where it gave none."""
        try:
            answer: Any = await self._connection.ask(method, {"uri": uri}, timeout)
        except (ClientRefused, TimeoutError) as exc:
            log.warning("%s for %s: %s", method, uri, exc or "no answer")
            return {}
        return cast(Json, answer) if isinstance(answer, dict) else {}


def traits_of(client: ClientInfo) -> EditorTraits:
    """What is known of ``client``. Eglot refuses by version too, but its version is behind its
    buffer unless it syncs; of unknown clients nothing is known."""
    return EditorTraits(
        min_version=1 if client.is_neovim else 0,
        can_sync=client.sync or client.refresh is not None,
        can_save=client.save,
        can_reload=client.reload,
        checks_versions=client.name.startswith(_CHECKING)
        or (client.name == "Eglot" and client.sync),
        keeps_last_line_end=client.is_neovim,
        holds_back=client.name == "Eglot" and not client.sync,
        # Our plugin keeps its buffers heard while no server runs.
        may_be_deaf=client.is_neovim and not client.sync,
    )


def wire_edit(edit: TextEdit, lines: Sequence[str], encoding: Encoding) -> Json:
    """LSP's TextEdit; columns in units of ``encoding``, counted in ``lines``."""
    return {
        "range": {
            "start": _position(edit.start_line, edit.start_column, lines, encoding),
            "end": _position(edit.end_line, edit.end_column, lines, encoding),
        },
        "newText": edit.new_text,
    }


def _position(line: int, column: int, lines: Sequence[str], encoding: Encoding) -> Json:
    # The line after the last has no text: only its column 0 can be meant.
    units = to_units(lines[line], column, encoding) if line < len(lines) else 0
    return {"line": line, "character": units}
