"""What else editors ask of a document, answered for conversations: None for any other, so that an
editor looks elsewhere.

Nothing is read for it but names in the workspace, no symlink of which is followed out of it, and
what is open in the editor; no agent is started.
"""

import contextlib
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from lsprotocol import types

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.server.chat.completing import Begun, begun_at, fits, names_of
from lsp_agent.server.chat.grammar import is_chat
from lsp_agent.server.chat.outline import Entry, folds, outline
from lsp_agent.server.chat.places import Place, in_line, places
from lsp_agent.server.chat.symbols import Symbol, symbols
from lsp_agent.server.context import Context
from lsp_agent.sessions.agent import slash_commands
from lsp_agent.sessions.permissions.secret_files import is_secret
from lsp_agent.text.lines import Text
from lsp_agent.text.positions import to_column, to_units
from lsp_agent.workspace.disk.paths import Confinement, OutsideWorkspace, path_to_uri
from lsp_agent.workspace.documents.open_document import OpenDocument

#: An agent that is busy has no time to tell its commands.
_COMMANDS_SECONDS = 2.0


def document_symbols(
    context: Context, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | None:
    document = _conversation(context, params.text_document.uri)
    return None if document is None else [_symbol(one) for one in outline(document.text.content)]


def folding_ranges(
    context: Context, params: types.FoldingRangeParams
) -> list[types.FoldingRange] | None:
    document = _conversation(context, params.text_document.uri)
    if document is None:
        return None
    return [types.FoldingRange(one.first, one.last) for one in folds(document.text.content)]


def document_links(
    context: Context, params: types.DocumentLinkParams
) -> Awaitable[list[types.DocumentLink]] | None:
    document = _conversation(context, params.text_document.uri)
    return None if document is None else _links(context, document, document.text.content)


async def _links(context: Context, document: OpenDocument, text: str) -> list[types.DocumentLink]:
    found, lines = places(text), document.lines
    look = partial(_targets, found, *_ground(context, document))
    targets = await anyio.to_thread.run_sync(look)

    def position(place: Place, column: int) -> types.Position:
        units = to_units(lines[place.line], column, context.client.encoding)
        return types.Position(place.line, units)

    return [
        types.DocumentLink(
            types.Range(position(place, place.start), position(place, place.end)),
            path_to_uri(path) + (f"#L{place.at}" if place.at else ""),
        )
        for place, path in zip(found, targets, strict=True)
        if path is not None
    ]


def definition(context: Context, params: types.DefinitionParams) -> Awaitable[Any] | None:
    """The place that is named under the cursor."""
    document = _conversation(context, params.text_document.uri)
    number = params.position.line
    if document is None or number >= len(document.lines):
        return None
    line = document.lines[number]
    column = to_column(line, params.position.character, context.client.encoding)
    named = (one for one in in_line(line, number) if one.start <= column <= one.end)
    return _location(list(named), *_ground(context, document))


async def _location(
    named: list[Place], folder: str, confinement: Confinement
) -> list[types.Location]:
    targets = await anyio.to_thread.run_sync(_targets, named, folder, confinement)
    starts = [types.Position(max((place.at or 1) - 1, 0), 0) for place in named]
    return [
        types.Location(path_to_uri(path), types.Range(start, start))
        for path, start in zip(targets, starts, strict=True)
        if path is not None
    ]


def completion(
    context: Context, params: types.CompletionParams
) -> Awaitable[types.CompletionList] | None:
    document = _conversation(context, params.text_document.uri)
    if document is None:
        return None
    place, encoding = params.position, context.client.encoding
    line = document.lines[place.line] if place.line < len(document.lines) else ""
    column = to_column(line, place.character, encoding)
    begun = begun_at(document.text.content, place.line, column)
    if begun is None:
        return None
    start = types.Position(place.line, to_units(line, column - len(begun.typed) - 1, encoding))
    range_ = types.Range(start, place)
    made = partial(_item, range_, begun)
    return (
        _named(context, document, begun, made, partial(_symbol_item, range_))
        if begun.kind == "file"
        else _commands(context, document, made)
    )


#: A name and what it is.
Made = Callable[[str, str | None], types.CompletionItem]


async def _named(
    context: Context,
    document: OpenDocument,
    begun: Begun,
    made: Made,
    made_of: Callable[[Symbol], types.CompletionItem],
) -> types.CompletionList:
    """Files, and what is defined in those that are open."""
    ground = _ground(context, document)
    opened = [
        (each.path, each.text)
        for each in context.documents.all()
        if each.path is not None and not is_chat(each.path) and not is_secret(each.path)
    ]
    found = await anyio.to_thread.run_sync(partial(names_of, begun.typed, *ground))
    defined = await anyio.to_thread.run_sync(partial(_defined, begun.typed, opened, *ground))
    items = [made(name, None) for name in found.names] + [made_of(each) for each in defined]
    return types.CompletionList(is_incomplete=found.more, items=items)


def _defined(
    typed: str, opened: list[tuple[str, Text]], folder: str, confinement: Confinement
) -> list[Symbol]:
    """Blocking."""
    root = folder.rstrip(os.sep) + os.sep
    texts = [
        (path.removeprefix(root).replace(os.sep, "/"), text.content)
        for path, text in opened
        if path.startswith(root) and _target(path, folder, confinement) is not None
    ]
    return [each for each in symbols(texts) if fits(typed, each.name)]


async def _commands(context: Context, document: OpenDocument, made: Made) -> types.CompletionList:
    """Those of the agent that the document goes on with, if it runs."""
    session = context.chats.session(document.path or "")
    found: list[dict[str, object]] = []
    if session is not None and session.agent.link is not None:
        # One that just ended tells none.
        with anyio.move_on_after(_COMMANDS_SECONDS), contextlib.suppress(RequestFailed):
            found = await slash_commands.offered(session.agent)
    items = [made(str(each["name"]), str(each.get("description") or "") or None) for each in found]
    return types.CompletionList(is_incomplete=False, items=items)


def _item(range_: types.Range, begun: Begun, name: str, detail: str | None) -> types.CompletionItem:
    sign = "@" if begun.kind == "file" else "/"
    return types.CompletionItem(
        label=sign + name,
        kind=types.CompletionItemKind.File
        if begun.kind == "file"
        else types.CompletionItemKind.Function,
        detail=detail,
        filter_text=sign + name,
        text_edit=types.TextEdit(range_, sign + name),
    )


def _symbol_item(range_: types.Range, symbol: Symbol) -> types.CompletionItem:
    """Its place stands in the prompt, which leads to it as any other does."""
    return types.CompletionItem(
        label=f"@{symbol.name}",
        kind=types.CompletionItemKind.Reference,
        detail=symbol.place,
        filter_text=f"@{symbol.name}",
        text_edit=types.TextEdit(range_, f"@{symbol.place}"),
    )


def _conversation(context: Context, uri: str) -> OpenDocument | None:
    document = context.documents.get(uri)
    return document if document is not None and is_chat(document.path) else None


def _ground(context: Context, document: OpenDocument) -> tuple[str, Confinement]:
    """The folder that names are in, and what of it is the workspace's."""
    session = context.chats.session(document.path or "")
    folder = session.cwd if session else context.sessions.folder_of(document.path)
    return folder, context.confinement(False)


def _targets(found: list[Place], folder: str, confinement: Confinement) -> list[str | None]:
    """The files of the workspace that are named. Blocking."""
    return [_target(place.path, folder, confinement) for place in found]


def _target(name: str, folder: str, confinement: Confinement) -> str | None:
    try:
        path = confinement.confine(name, folder, write=False).path
    except OutsideWorkspace:
        return None
    return path if os.path.isfile(path) else None  # noqa: PTH113 - paths are strings here


def _symbol(entry: Entry, kind: types.SymbolKind = types.SymbolKind.Event) -> types.DocumentSymbol:
    start = types.Position(entry.first, 0)
    return types.DocumentSymbol(
        name=entry.title,
        kind=kind,
        range=types.Range(start, types.Position(entry.past, 0)),
        selection_range=types.Range(start, start),
        children=[_symbol(call, types.SymbolKind.Function) for call in entry.calls],
    )


#: By the name of the feature.
ANSWERS: Mapping[str, Callable[[Context, Any], object]] = {
    "completion": completion,
    "definition": definition,
    "documentLink": document_links,
    "documentSymbol": document_symbols,
    "foldingRange": folding_ranges,
}
