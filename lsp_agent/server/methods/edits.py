"""Review of the agents' edits, whole edits at a time."""

from collections.abc import Collection

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.methods import (
    ApplyEditResult,
    EditParams,
    EditResult,
    EditsParams,
    EditsResult,
    EditTextResult,
    RejectEditParams,
    RevertParams,
    RevertResult,
)
from lsp_agent.server.context import Context, path_of


async def apply_edit(context: Context, params: EditParams) -> ApplyEditResult:
    _whole(params)
    applied, reason, edit = await context.edits.apply(params.edit_id)
    return ApplyEditResult(applied=applied, failure_reason=reason, edit=edit)


async def reject_edit(context: Context, params: RejectEditParams) -> EditResult:
    _whole(params)
    return EditResult(edit=await context.edits.reject(params.edit_id))


async def keep_edit(context: Context, params: EditParams) -> EditResult:
    _whole(params)
    return EditResult(edit=await context.edits.keep(params.edit_id))


async def edit_text(context: Context, params: EditParams) -> EditTextResult:
    _whole(params)
    before, after = await context.edits.texts(params.edit_id)
    return EditTextResult(before=before, after=after)


async def edits(context: Context, params: EditsParams) -> EditsResult:
    if params.session_id is not None:
        context.sessions.get(params.session_id)
    path = path_of(params.uri, "uri") if params.uri is not None else None
    statuses = None if params.status is None else (params.status,)
    return EditsResult(edits=await context.edits.find(params.session_id, path, statuses))


async def revert(context: Context, params: RevertParams) -> RevertResult:
    raise RequestFailed(
        "unsupported",
        "Taking back a whole turn is not there yet; reject its edits one by one.",
        {"feature": "revert"},
    )


async def the_edit(context: Context, statuses: Collection[EditStatus]) -> str:
    """The id of the one edit that a command without arguments means.

    :raises RequestFailed: "unknownEdit" if there is none, "conflict" if there are several
    """
    found = await context.edits.find(statuses=statuses)
    if not found:
        raise RequestFailed("unknownEdit", f"There is no {' or '.join(statuses)} edit.")
    if len(found) > 1:
        names = ", ".join(f"{edit.edit_id} ({edit.uri.rsplit('/', 1)[-1]})" for edit in found)
        raise RequestFailed(
            "conflict",
            f"Several edits are open; name one by editId: {names}.",
            {"editIds": [edit.edit_id for edit in found]},
        )
    return found[0].edit_id


def _whole(params: EditParams) -> None:
    if params.hunks is not None:
        raise RequestFailed(
            "unsupported",
            "Single hunks cannot be reviewed yet; leave out hunks to mean the whole edit.",
            {"feature": "hunks"},
        )
