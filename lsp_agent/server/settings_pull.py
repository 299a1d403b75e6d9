"""``workspace/configuration``: the client's settings, section ``lspAgent``."""

import logging
from typing import Any, cast

from lsp_agent.server.client_info import ClientInfo
from lsp_agent.server.connection import Connection
from lsp_agent.server.rpc_error import ClientRefused

SECTION = "lspAgent"

_SECONDS = 5.0

log = logging.getLogger(__name__)


async def pull(
    connection: Connection, client: ClientInfo, scope_uri: str | None = None
) -> dict[str, Any] | None:
    """The section as the client sends it, for a folder or the whole workspace.

    None where the client has no such request, has nothing set, or does not answer within 5 s.
    """
    if not client.configuration:
        return None
    item = {"section": SECTION} | ({"scopeUri": scope_uri} if scope_uri else {})
    try:
        answer: Any = await connection.ask("workspace/configuration", {"items": [item]}, _SECONDS)
    except (ClientRefused, TimeoutError) as exc:
        log.warning("the client's settings are not read: %s", exc or "no answer")
        return None
    values = cast(list[object], answer) if isinstance(answer, list) else []
    first = values[0] if values else None
    if first is not None and not isinstance(first, dict):
        log.warning("the client's settings are not read: %s is not an object", SECTION)
    return cast(dict[str, Any], first) if isinstance(first, dict) else None
