"""Review of the agents' edits."""

from collections.abc import Collection, Sequence

from lsp_agent.protocol.edit_methods import (
    ApplyEditResult,
    EditParams,
    EditResult,
    EditsParams,
    EditsResult,
    EditTextResult,
    RejectEditParams,
    RevertedFile,
    RevertParams,
    RevertResult,
)
from lsp_agent.protocol.edits import EditStatus
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import Notice
from lsp_agent.server.context import Context, path_of
from lsp_agent.server.review.open_review import OPEN
from lsp_agent.sessions.reverts.reverts import Reverted
from lsp_agent.text.plain import escaped_line
from lsp_agent.workspace.disk.paths import uri_to_path

_NOTHING_BACK = "There is nothing of the agent's left to take back."
#: Of files, in a message.
_MOST_NAMES = 3


async def apply_edit(context: Context, params: EditParams) -> ApplyEditResult:
    applied, reason, edit = await context.edits.apply(params.edit_id, params.hunks)
    return ApplyEditResult(applied=applied, failure_reason=reason, edit=edit)


async def reject_edit(context: Context, params: RejectEditParams) -> EditResult:
    edit = await context.edits.reject(params.edit_id, params.hunks, params.reason)
    return EditResult(edit=edit)


async def keep_edit(context: Context, params: EditParams) -> EditResult:
    return EditResult(edit=await context.edits.keep(params.edit_id, params.hunks))


async def edit_text(context: Context, params: EditParams) -> EditTextResult:
    before, after = await context.edits.texts(params.edit_id, params.hunks)
    return EditTextResult(before=before.content, after=after.content)


async def edits(context: Context, params: EditsParams) -> EditsResult:
    if params.session_id is not None:
        context.sessions.get(params.session_id)
    path = path_of(params.uri, "uri") if params.uri is not None else None
    await context.recovery.judged(params.session_id, path)
    wanted: Collection[EditStatus] | None = None if params.status is None else (params.status,)
    if params.open:
        wanted = OPEN if wanted is None else [each for each in OPEN if each == params.status]
    found = await context.edits.find(params.session_id, path, wanted, open_only=params.open)
    return EditsResult(edits=found)


async def revert(context: Context, params: RevertParams) -> RevertResult:
    return revert_result(
        await context.reverts.revert(params.session_id, params.turn_id, only=params.only)
    )


async def revert_and_tell(context: Context, params: RevertParams) -> RevertResult:
    """The command's form: it may have changed no file that is in sight. Of those that were left as
    they are it is said anyway."""
    result = await revert(context, params)
    left = any(file.outcome == "conflict" for file in result.files)
    changed = [file for file in result.files if file.outcome not in ("conflict", "unchanged")]
    if context.client.events or (left and not changed):
        return result
    if context.client.quirks.waits_for_a_key:  # it does not at an error that fits into its line
        count = f"{len(changed)} {'file' if len(changed) == 1 else 'files'}"
        context.displays.notice(Notice("error", f"Taken back in {count}.", "lsp-agent"))
    else:
        context.displays.show_text(_named(changed) if changed else _NOTHING_BACK)
    return result


def _named(changed: Sequence[RevertedFile]) -> str:
    names = [(uri_to_path(file.uri) or file.uri).rpartition("/")[2] for file in changed]
    shown, more = ", ".join(names[:_MOST_NAMES]), len(names) - _MOST_NAMES
    rest = f" and {more} more {'file' if more == 1 else 'files'}" if more > 0 else ""
    return f"Taken back in {escaped_line(shown)}{rest}."


def revert_result(reverted: Reverted) -> RevertResult:
    files = [
        RevertedFile(uri=file.uri, outcome=file.outcome, reason=file.reason)
        for file in reverted.files
    ]
    return RevertResult(revert_id=reverted.revert_id, files=files)


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
