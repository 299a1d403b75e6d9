"""Asks the client what its language servers say (``agent/diagnostics``)."""

import logging
from collections.abc import Mapping, Sequence

from pydantic import ValidationError

from lsp_agent.protocol.client_requests import DIAGNOSTICS_REQUEST, Diagnostic, DiagnosticsAnswer
from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.rpc.connection import Connection
from lsp_agent.server.rpc.errors import ClientRefused
from lsp_agent.workspace.disk.paths import uri_to_path

#: The source of our own hints, which are not asked for.
SOURCE = "lsp-agent"
_SECONDS = 0.3

log = logging.getLogger(__name__)


class DiagnosticsPort:
    """An ``AskDiagnostics`` over one client. Our own hints are left out."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @classmethod
    def of(cls, connection: Connection, client: ClientInfo) -> "DiagnosticsPort | None":
        """The port of ``client``, where it answers such requests."""
        return cls(connection) if client.diagnostics else None

    async def __call__(self, uris: Sequence[str]) -> Mapping[str, list[Diagnostic]]:
        params = {"uris": list(uris)}
        try:
            answer = await self._connection.ask(DIAGNOSTICS_REQUEST, params, _SECONDS)
            files = DiagnosticsAnswer.model_validate(answer).files
        except (ClientRefused, TimeoutError, ValidationError) as exc:
            log.info("%s: %s", DIAGNOSTICS_REQUEST, exc or "no answer in time")
            return {}
        # A client may write the same URI in another way than it did in didOpen.
        asked = {uri_to_path(uri): uri for uri in uris}
        said = {asked.get(uri_to_path(file.uri)): file.diagnostics for file in files}
        return {
            uri: [each for each in diagnostics if each.source != SOURCE]
            for uri, diagnostics in said.items()
            if uri is not None
        }
