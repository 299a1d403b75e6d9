"""The review of many hunks at once: keeping, undoing, going from one to the next, previews."""

import itertools
import os
from collections.abc import Sequence

import anyio.to_thread
from anyio.lowlevel import checkpoint

from lsp_agent.protocol.edit_methods import (
    ApplyAllResult,
    ApplyEditResult,
    EditParams,
    EditsResult,
    NextChangeParams,
    NextChangeResult,
    PreviewEditResult,
    ReviewAllParams,
    UnappliedEdit,
)
from lsp_agent.protocol.edits import Edit, Position, Range
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import Notice
from lsp_agent.server.context import Context, path_of
from lsp_agent.server.methods.edits import apply_edit
from lsp_agent.server.review.open_review import OPEN, OpenHunk, is_open, open_hunks
from lsp_agent.server.review.walk import HunkKey, Place, following, shown_at
from lsp_agent.text.plain import escaped_line
from lsp_agent.text.unified import unified_diff


async def keep_all(context: Context, params: ReviewAllParams) -> EditsResult:
    found = await context.edits.keep_all(*await _scope(context, params))
    return EditsResult(edits=found)


async def undo_all(context: Context, params: ReviewAllParams) -> EditsResult:
    found = await context.edits.undo_all(*await _scope(context, params))
    return EditsResult(edits=found)


async def apply_all(context: Context, params: ReviewAllParams) -> ApplyAllResult:
    found, failures = await context.edits.apply_all(*await _scope(context, params))
    return ApplyAllResult(
        edits=found,
        failures=[
            UnappliedEdit(edit_id=each.edit_id, failure_reason=each.reason) for each in failures
        ],
    )


async def apply_and_tell(context: Context, params: EditParams) -> ApplyEditResult:
    """The command's form: nobody sees its result in a menu, so it is said what went wrong."""
    result = await apply_edit(context, params)
    if result.failure_reason is not None:
        _tell(context, f"Not applied: {_why(result.edit, result.failure_reason)}")
    return result


async def apply_all_and_tell(context: Context, params: ReviewAllParams) -> ApplyAllResult:
    """The command's form, as ``apply_and_tell``; of several failures the first."""
    result = await apply_all(context, params)
    reasons = {each.edit_id: each.failure_reason for each in result.failures}
    failed = [edit for edit in result.edits if edit.edit_id in reasons]
    if failed:
        count = f"{len(failed)} of {len(result.edits)} proposals not applied"
        _tell(context, f"{count}: {_why(failed[0], reasons[failed[0].edit_id])}")
    return result


async def undo_all_and_tell(context: Context, params: ReviewAllParams) -> EditsResult:
    """The command's form, as ``apply_and_tell``."""
    result = await undo_all(context, params)
    _tell_what_stays(context, result.edits)
    return result


async def undo_latest_turn(context: Context) -> EditsResult:
    """The command's form without arguments: of all that is open only the latest turn's.

    :raises RequestFailed: "unknownEdit" if nothing is open
    """
    for edit in reversed(await context.edits.find(statuses=OPEN)):
        if is_open(edit):
            found = await context.edits.undo_all(edit.session_id, edit.turn_id)
            _tell_what_stays(context, found)
            return EditsResult(edits=found)
    raise RequestFailed("unknownEdit", "No change of the agent's is open.")


async def next_change(context: Context, params: NextChangeParams) -> NextChangeResult:
    """The open hunk after a place, in the order of paths, round and round; shows it."""
    walk = context.review.walk
    start = _start(context, params)
    found = await _by_place(context, await context.edits.find(statuses=OPEN))
    unseen = {place for place, each in found.items() if _key(each) not in walk.shown}
    if walk.turns(start, previous=params.previous):
        unseen.clear()
    place = following(list(found), start, previous=params.previous, unseen=unseen)
    if place is None:
        return NextChangeResult()
    each = found[place]
    walk.led_to(place, _key(each), previous=params.previous)
    _show(context, each, Position(line=place[1], character=place[2]))
    await checkpoint()  # the client is asked to show it before it has this answer
    return NextChangeResult(
        uri=each.edit.uri,
        range=each.hunk.range,
        edit_id=each.edit.edit_id,
        hunk_id=each.hunk.hunk_id,
    )


async def preview_edit(context: Context, params: EditParams) -> PreviewEditResult:
    edit = await context.edits.get(params.edit_id)
    before, after = await context.edits.texts(params.edit_id, params.hunks)
    text = await anyio.to_thread.run_sync(unified_diff, before, after, _name(edit))
    return PreviewEditResult(text=text)


async def show_preview(context: Context, params: EditParams) -> PreviewEditResult:
    """The command's form: for a client that does not know us the diff is shown as a file.

    :raises RequestFailed: "editorFailed" where that file cannot be written
    """
    preview = await preview_edit(context, params)
    if context.client.events:
        return preview
    edit = await context.edits.get(params.edit_id)
    key = "\0".join([params.edit_id, *(params.hunks or ())])
    title = f"The agent's edit of {_name(edit)}, as a diff"
    uri = await context.review.show_file(
        key, _name(edit), preview.text, what="preview", title=title
    )
    return PreviewEditResult(text=preview.text, uri=uri)


def _start(context: Context, params: NextChangeParams) -> Place | None:
    if params.uri is None:
        return context.review.walk.at
    path = path_of(params.uri, "uri")
    if params.position is not None:
        return path, params.position.line, params.position.character
    # Before the file's first place, or behind its last.
    return (path + "\0", 0, 0) if params.previous else (path, -1, 0)


async def _by_place(context: Context, edits: Sequence[Edit]) -> dict[Place, OpenHunk]:
    """The open hunks by where they are shown, ascending; of several in one place the oldest
    edit's."""
    found: dict[Place, OpenHunk] = {}
    for uri, of_file in itertools.groupby(sorted(edits, key=_uri), key=_uri):
        path = path_of(uri, "uri")
        hunks = open_hunks(of_file)
        text = await context.edits.shown(path) if hunks else None
        for each in hunks:
            start = each.hunk.range.start
            place = shown_at(start, text.lines) if text is not None else start
            found.setdefault((path, place.line, place.character), each)
    return dict(sorted(found.items()))


def _uri(edit: Edit) -> str:
    return edit.uri


def _key(each: OpenHunk) -> HunkKey:
    return each.edit.edit_id, each.hunk.hunk_id


def _show(context: Context, each: OpenHunk, at: Position) -> None:
    kind = "proposal" if each.proposed else "change"
    message = f"The agent's next {kind}: {_name(each.edit)}, line {at.line + 1}"
    # The place and not the lines: a selection would be typed over.
    context.review.shower.show(each.edit.uri, Range(start=at, end=at), message)


def _name(edit: Edit) -> str:
    """The file's name, fit to be shown."""
    return escaped_line(os.path.basename(path_of(edit.uri, "uri")))  # noqa: PTH119


def _why(edit: Edit, reason: str) -> str:
    """With the file's name in place of its path."""
    return f"{_name(edit)}: {reason.removeprefix(path_of(edit.uri, 'uri')).removeprefix(': ')}"


def _tell_what_stays(context: Context, edits: Sequence[Edit]) -> None:
    """What an undo of all has left, since lines of the person's cannot be told from it."""
    staying = [edit for edit in edits if edit.status == "applied"]
    if staying:
        count = sum(hunk.status == "applied" for edit in staying for hunk in edit.hunks)
        what = "1 change stays" if count == 1 else f"{count} changes stay"
        names = ", ".join(dict.fromkeys(map(_name, staying)))
        _tell(context, f"{what}: you have changed its lines in {names}; keep or undo it by hand")


def _tell(context: Context, message: str) -> None:
    """A client with ``events`` of ours has a way of its own."""
    if not context.client.events:
        context.displays.notice(Notice("warning", message, "lsp-agent"))


async def _scope(
    context: Context, params: ReviewAllParams
) -> tuple[str | None, str | None, str | None]:
    """Once what earlier runs have left there is known."""
    path = path_of(params.uri, "uri") if params.uri is not None else None
    await context.recovery.judged(params.session_id, path)
    return params.session_id, params.turn_id, path
