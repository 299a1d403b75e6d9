"""``agent/permissions``: what a person has allowed for good, to be seen and taken back."""

import anyio.to_thread

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.session_methods import (
    KeptPermission,
    PermissionsParams,
    PermissionsResult,
)
from lsp_agent.server.context import Context
from lsp_agent.user_data.kept_grants import GrantsProblem, KeptGrant, read_grants, remove_grants


async def permissions(_context: Context, params: PermissionsParams) -> PermissionsResult:
    """:raises RequestFailed: "conflict" where they cannot be read or written"""
    try:
        if params.remove:
            await anyio.to_thread.run_sync(remove_grants, params.remove)
        kept = await anyio.to_thread.run_sync(read_grants)
    except GrantsProblem as problem:
        raise RequestFailed("conflict", str(problem)) from problem
    return PermissionsResult(permissions=tuple(_permission(each) for each in kept))


def _permission(grant: KeptGrant) -> KeptPermission:
    return KeptPermission(
        permission_id=grant.id,
        kind=grant.kind,
        command=grant.command,
        folder=grant.folder,
        since=grant.since,
    )
