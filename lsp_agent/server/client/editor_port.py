"""The editor as ``workspace/`` needs it, over LSP: sends and answers, no policy."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, cast

from lsp_agent.protocol.client_requests import RELOAD_REQUEST, SAVE_REQUEST, SYNC_REQUEST
from lsp_agent.server.client.barrier import RefreshBarrier
from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.rpc.connection import Connection
from lsp_agent.server.rpc.dispatcher import Json
from lsp_agent.server.rpc.errors import ClientRefused
from lsp_agent.text.edits import TextEdit
from lsp_agent.text.positions import Encoding, to_units
from lsp_agent.workspace.documents.editor import Applied, EditorTraits

#: The live lines of an open document; None where it is not open.
LinesOf = Callable[[str], Sequence[str] | None]

_APPLY_SECONDS = 10.0
_SYNC_SECONDS = 0.3
_SAVE_SECONDS = 10.0

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
        if not self._client.quirks.prints_labels:
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
            await self._request(SYNC_REQUEST, {"uri": uri}, _SYNC_SECONDS)
        elif self._barrier:
            await self._barrier.sync(uri, _SYNC_SECONDS)

    async def save(self, uri: str, version: int | None = None, *, removes: bool = False) -> bool:
        """Whether the client saved the document."""
        if not self._client.save:
            return False
        params: Json = {"uri": uri}
        if version is not None:
            params["version"] = max(version, self.traits.min_version)
        if removes:
            params["removes"] = True
        answer = await self._request(SAVE_REQUEST, params, _SAVE_SECONDS)
        return answer.get("saved") is True

    async def reload(self, uri: str) -> bool:
        """Whether the client took the text on disk."""
        if not self._client.reload:
            return False
        answer = await self._request(RELOAD_REQUEST, {"uri": uri}, _SAVE_SECONDS)
        return answer.get("reloaded") is True

    async def _request(self, method: str, params: Json, timeout: float) -> Json:
        """The client's answer; empty where it gave none."""
        try:
            answer: Any = await self._connection.ask(method, params, timeout)
        except ClientRefused as exc:
            log.warning("%s for %s: %s", method, params["uri"], exc)
            return {}
        except TimeoutError:
            log.warning("%s for %s: no answer within %g s", method, params["uri"], timeout)
            return {}
        return cast(Json, answer) if isinstance(answer, dict) else {}


def traits_of(client: ClientInfo) -> EditorTraits:
    """What is known of ``client``, as far as an edit goes."""
    quirks = client.quirks
    return EditorTraits(
        min_version=quirks.begins_versions_at,
        can_sync=client.sync or client.refresh is not None,
        can_save=client.save,
        can_reload=client.reload,
        checks_versions=quirks.checks_versions is True
        or (quirks.checks_versions == "synced" and client.sync),
        keeps_last_line_end=quirks.keeps_last_line_end,
        # One that does not say that it takes edits may look at no version, as Kate.
        holds_back=not client.sync and (quirks.holds_back or not client.apply_edit),
        tells_at_edits=quirks.tells_at_edits,
        selects_line_ends=quirks.selects_line_ends,
        may_be_deaf=quirks.may_be_deaf and not client.sync,
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
