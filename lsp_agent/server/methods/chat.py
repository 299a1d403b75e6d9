"""``agent/openChat``, ``agent/sendChat`` and ``agent/forkChat``: the conversation as a document."""

import os
import re
from collections.abc import Awaitable, Sequence
from datetime import datetime
from functools import partial

from lsp_agent.protocol.edits import Position, Range
from lsp_agent.protocol.errors import BadParams, LspAgentError, RequestFailed
from lsp_agent.protocol.session_methods import (
    ForkChatParams,
    ForkChatResult,
    OpenChatParams,
    OpenChatResult,
    SendChatParams,
    SendChatResult,
)
from lsp_agent.server.chat.grammar import (
    ENDING,
    YOU,
    earlier,
    is_chat,
    prompt_of,
    replaced,
    sections,
    unheaded,
    without_stale,
)
from lsp_agent.server.chat.outline import aligned, earlier_prompts
from lsp_agent.server.context import Context
from lsp_agent.sessions.agent import slash_commands
from lsp_agent.sessions.session import Session
from lsp_agent.sessions.stored.excerpts import Excerpt
from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.text.plain import escaped_line
from lsp_agent.workspace.changing.file_host import View
from lsp_agent.workspace.disk.paths import OutsideWorkspace, SafePath, path_to_uri
from lsp_agent.workspace.documents.open_document import OpenDocument

#: In the workspace, since editors give no server to a file that lies elsewhere.
_FOLDER = ".lsp-agent"
_IGNORED = "# Conversations with the agent. To commit one, move it elsewhere.\n*\n"
#: As the chats of the plugins know one.
_COMMAND = re.compile(r"/([\w.:-]+)(?:\s+(.*))?", re.DOTALL)
_NOTHING = f"There is nothing to send: write it under the last `{YOU}`."
_IS_SENT = "This prompt is sent already; its answer comes under it."
_NO_PROMPT = "There is no earlier prompt in line {}."
_EARLIER = "{}, from its beginning on, which is text of a file and nothing that you have said"
#: Of what a document says was said before, in characters.
_EARLIER_LIMIT = 12_000
#: Of a title, in a file's name.
_NAME_WORDS = 5


async def open_chat(context: Context, params: OpenChatParams) -> OpenChatResult:
    """The session's document, made where there is none yet. Where nothing has begun since the
    server was started, it is the last one of before.

    :raises RequestFailed: "outsideWorkspace" where the workspace has no place for it
    """
    context.settings.forget()
    if params.new:
        beside = context.sessions.get(params.session_id).cwd if params.session_id else None
        session = context.sessions.open(beside)
    else:
        last = await _last(context) if params.session_id is None else None
        session = last or context.sessions.get(params.session_id)
    path = context.chats.document(session.id) or await _made(context, session)
    view = await context.host.view(SafePath(path, path), None)
    uri = path_to_uri(path)
    place = _end(context, view.require_text())
    context.review.shower.show(uri, place, f"The conversation: {escaped_line(path)}")
    return OpenChatResult(session_id=session.id, uri=uri)


def send_chat(context: Context, params: SendChatParams) -> Awaitable[SendChatResult]:
    """Answers at once: what comes of it can be read in the document, which is sent as it is now.
    One that names a command of the agent's is answered once that has run.

    :raises RequestFailed: "conflict" where nothing can be sent, or it is not said what;
        "outsideWorkspace"; as ``Session.prompt`` and ``slash_commands.run`` do
    """
    document = _document(context, params.uri)
    text = document.text.content
    prompt = prompt_of(text)
    if prompt is None:
        raise RequestFailed("conflict", _NOTHING)
    return _sent_once(context, _confined(context, document.path or ""), text, prompt.words)


async def _sent_once(context: Context, path: SafePath, text: str, words: str) -> SendChatResult:
    if context.chats.is_sent(path.path, words):
        raise RequestFailed("conflict", _IS_SENT)
    being_sent = path.path, words
    context.chats.being_sent.add(being_sent)
    try:
        return await _sent(context, path, text, words)
    finally:
        context.chats.being_sent.discard(being_sent)


async def _sent(context: Context, path: SafePath, text: str, words: str) -> SendChatResult:
    """``words`` are the prompt of ``text``, which is the document's."""
    context.settings.forget()
    async with context.chats.one_at_a_time:
        session = context.chats.session(path.path) or await _tied(context, path, text)
    prompt = words
    if command := _COMMAND.fullmatch(words):
        ran = await _ran(session, command[1], command[2] or "")
        if ran is not None and ran[0] != "prompt":
            await _told(context, path, session, words, *ran)
            return SendChatResult(session_id=session.id)
        prompt = ran[1] if ran is not None else words
    excerpts: list[Excerpt] = []
    if context.chats.is_untold(path.path) and (before := earlier(text)):
        name = _EARLIER.format(os.path.basename(path.path))  # noqa: PTH119
        excerpts.append(Excerpt(name, before[-_EARLIER_LIMIT:]))
    turn = session.prompt(prompt, excerpts, words=words)
    context.displays.begin(session, turn, words, None)
    context.chats.sent(turn, session)
    return SendChatResult(session_id=session.id, turn_id=turn.id)


async def _ran(session: Session, name: str, args: str) -> tuple[slash_commands.Action, str] | None:
    """What comes of the agent's command; None where it has none, so that words are words."""
    if not await slash_commands.offered(session.agent):
        return None
    return await slash_commands.run(session.agent, name, args)


async def _told(
    context: Context,
    path: SafePath,
    session: Session,
    words: str,
    action: slash_commands.Action,
    text: str,
) -> None:
    """What a command that prompts nothing has said, in the document."""
    if action == "insert":
        resolve = partial(_put_in, words, unheaded(text))
        await context.host.put(path, resolve, "agent: inserted")
    else:
        context.chats.answered(words, session, text if action == "display" else "")


def _put_in(words: str, text: str, view: View) -> Text:
    here = view.require_text() if view.exists else EMPTY
    return Text.of(replaced(here.content, words, text), like=here)


async def _tied(context: Context, path: SafePath, text: str) -> Session:
    """The session that the document goes on with from here on."""
    session = await _taken_up(context, path, text)
    if session is not None:
        _tie(context, path, session)
        return session
    session = context.sessions.open(context.sessions.folder_of(path.path))
    _tie(context, path, session, is_new=True)
    return session


async def _taken_up(context: Context, path: SafePath, text: str) -> Session | None:
    """The session that the document went on with before the server was started. That is known from
    what the server has kept, and the document has to have its last prompt, or its first ones where
    an editor has not saved the last: another one may stand in its place by now.

    :raises RequestFailed: "conflict" where it goes on in another editor
    """
    session_id = await context.sessions.of_document(path.path)
    if session_id is None:
        return None
    here = [text[one.body : one.end].strip() for one in earlier_prompts(text)]
    try:
        kept = [each.words.strip() for each in await context.sessions.prompts(session_id)]
        if not kept or (kept[-1] not in here and not (here and here == kept[: len(here)])):
            return None
        return await context.sessions.resume(session_id)
    except RequestFailed:
        return None  # as of an agent that is not to be had any more: a new one goes on


async def _never_saved(context: Context, path: str) -> Session | None:
    """The session of a document that an editor has not saved once: it goes on in another one."""
    session_id = await context.sessions.of_document(path)
    try:
        if session_id is None or not await context.sessions.prompts(session_id):
            return None
        return await context.sessions.resume(session_id)
    except RequestFailed:
        return None


async def _last(context: Context) -> Session | None:
    """Taken up as by a Send, which the person has not given yet: no agent is started."""
    async with context.chats.one_at_a_time:
        path = await context.sessions.last_document()
        if path is None:
            return None
        try:
            safe = _confined(context, path)
            text = (await context.host.view(safe, None)).require_text().content
        except LspAgentError:
            return None  # as one that is gone, or no text any more: a new one is made
        session = await _taken_up(context, safe, text)
        if session is not None:
            _tie(context, safe, session)
        elif not earlier_prompts(text):
            session = await _never_saved(context, safe.path)
        if session is not None:
            context.sessions.make_default(session)
        return session


def _tie(context: Context, path: SafePath, session: Session, *, is_new: bool = False) -> None:
    context.chats.tie(path, session, is_new=is_new)
    context.sessions.keep_document(session, path.path)


def fork_chat(context: Context, params: ForkChatParams) -> Awaitable[ForkChatResult]:
    """Goes on from an earlier prompt as it stands there now, in a document of its own beside; the
    one that it is forked from stays as it is.

    :raises RequestFailed: "conflict" where there is no such prompt; as ``send_chat`` does
    """
    document = _document(context, params.uri)
    text = document.text.content
    prompts = earlier_prompts(text)
    for index, section in enumerate(prompts):
        first = text.count("\n", 0, section.start)
        if first <= params.line < first + text.count("\n", section.start, section.end):
            here = [text[one.body : one.end].strip() for one in prompts]
            before = text[: section.start]
            return _forked(context, document.path or "", before, here, index, send=params.send)
    raise RequestFailed("conflict", _NO_PROMPT.format(params.line + 1))


async def _forked(
    context: Context, path: str, before: str, here: Sequence[str], index: int, *, send: bool
) -> ForkChatResult:
    """``here`` are the earlier prompts of the document at ``path``; ``before`` is what stands
    before that at ``index``."""
    context.settings.forget()
    made = _unused(context, path.removesuffix(ENDING) + "-fork")
    text = f"{without_stale(before, ())}{YOU}\n\n{here[index]}\n"
    session, fork = context.chats.session(path), None
    if session is not None:
        kept = await context.sessions.prompts(session.id)
        place = aligned(here, [one.words.strip() for one in kept], index)
        if place is not None:
            fork, _ = await context.sessions.fork(session.id, kept[place].turn_id)
    await context.host.put(made, partial(_if_missing, text), "agent: conversation")
    if fork is not None:
        _tie(context, made, fork)
    uri = path_to_uri(made.path)
    end = _end(context, Text.of(text))
    context.review.shower.show(uri, end, f"The fork: {escaped_line(made.path)}")
    if send:
        sent = await _sent(context, made, text, here[index])
        return ForkChatResult(uri=uri, session_id=sent.session_id, turn_id=sent.turn_id)
    return ForkChatResult(uri=uri, session_id=fork.id if fork else None)


def _document(context: Context, uri: str | None) -> OpenDocument:
    if uri is not None:
        document = context.documents.get(uri)
        if document is None:
            raise BadParams("uri", f"{uri} is not open in the editor")
        if document.path is None or not is_chat(document.path):
            raise BadParams("uri", f"{uri} is no file whose name ends with {ENDING}")
        return document
    opened = [each for each in context.documents.all() if is_chat(each.path)]
    if len(opened) != 1:
        several = "Several conversations are open; name one by its uri, or use the code action."
        none = f"No conversation is open: open one by lspAgent.openChat, or a file *{ENDING}."
        raise RequestFailed("conflict", several if opened else none)
    return opened[0]


def _confined(context: Context, path: str) -> SafePath:
    try:
        return context.confinement(False).confine(path, os.sep, write=True)
    except OutsideWorkspace as error:
        raise RequestFailed(
            "outsideWorkspace", f"{error}. Save the conversation in a folder that is open."
        ) from None


async def _made(context: Context, session: Session) -> str:
    """A new document with what was said so far, which goes on with the session."""
    folder = os.path.join(session.cwd, _FOLDER)  # noqa: PTH118
    ignore = _confined(context, os.path.join(folder, ".gitignore"))  # noqa: PTH118
    path = _unused(context, os.path.join(folder, _name(session)))  # noqa: PTH118
    said = await context.sessions.export(session.id)
    running = session.turn.words if session.turn is not None else None
    for file, text in ((ignore, _IGNORED), (path, begun(said, running))):
        await context.host.put(file, partial(_if_missing, text), "agent: conversation")
    _tie(context, path, session)
    return path.path


def _unused(context: Context, beginning: str) -> SafePath:
    number = 1
    while True:
        path = _confined(context, beginning + (f"-{number}" if number > 1 else "") + ENDING)
        if not os.path.lexists(path.path) and context.documents.at(path.path) is None:
            return path
        number += 1


def begun(said: str, running: str | None) -> str:
    """A conversation as it is exported, and an empty prompt. Without the turn that runs, whose
    prompt is given: it is written as it goes on."""
    found = sections(said) if running is not None else []
    asked = [section for section in found if section.speaker == "you"][-1:]
    for section in asked:
        if running and said[section.body :].strip().startswith(running.strip()):
            said = said[: section.start]
    return f"{said.rstrip()}\n\n{YOU}\n\n"


def _if_missing(text: str, view: View) -> Text:
    return view.require_text() if view.exists else Text.of(text)


def _name(session: Session) -> str:
    words = re.findall(r"[a-z0-9]+", (session.title or "").lower())[:_NAME_WORDS]
    return "-".join([datetime.now().astimezone().strftime("%Y-%m-%d"), *words])


def _end(context: Context, text: Text) -> Range:
    """Where the next prompt is written. Behind the last line's end some editors have no line, and
    refuse one."""
    behind = text.content.count("\n")
    if context.client.quirks.keeps_last_line_end:
        behind = max(len(text.lines) - 1, 0)
    line = Position(line=behind, character=0)
    return Range(start=line, end=line)
