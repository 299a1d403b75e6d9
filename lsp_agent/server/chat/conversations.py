"""Which document goes on with which session, and the task that writes turns into it.

What ties the two is kept here, and with each session for the first Send of the next run: nothing
that a document says leads to a session. It is written as any other text is, through the editor
where it is open and to disk where not, but as nobody's edit: there is nothing to review.
"""

import os
import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

import anyio
from anyio.abc import TaskGroup

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.protocol.events import StampedEvent, TextDelta, TurnEnded, TurnStarted
from lsp_agent.server.chat.grammar import Part, without_stale, written
from lsp_agent.server.chat.pauses import Pauses
from lsp_agent.server.chat.turn_states import TurnStates
from lsp_agent.server.chat.words import Words
from lsp_agent.server.rpc.connection import Connection
from lsp_agent.sessions.session import Session
from lsp_agent.sessions.shared.turn import Turn
from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.text.plain import escaped_line
from lsp_agent.workspace.changing.file_host import FileHost, View
from lsp_agent.workspace.disk.paths import Reserved, SafePath
from lsp_agent.workspace.documents.documents import Documents

_WARNING = 2
_LABEL = "agent: answer"
_OURS = "is a conversation with the agent, whose last words are the person's next prompt"
#: Between two edits: often enough to read along, seldom enough to type beside.
_EVERY_SECONDS = 0.25
#: Between two tries of a document that takes no edit, at most.
_RETRY_SECONDS = 4.0
_MOST_TRIES = 3
#: Longer than an edit that is not proved is looked for.
_LATE_SECONDS = 90.0


@dataclass(slots=True)
class _Written:
    """A turn on its way into the document: ``told`` is how much of its words is in. ``here``:
    its prompt stands there already; ``is_in``: and has its answer, if only begun, under it."""

    session_id: str
    prompt: str
    words: Words
    here: bool = False
    is_in: bool = False
    told: int = 0
    failures: int = 0
    news: bool = True


class _Conversation:
    """``is_new``: the session has not said what else stands in the document. ``teller`` is the
    turn whose prompt tells it so."""

    def __init__(self, path: SafePath, session_id: str, pauses: Pauses, *, is_new: bool) -> None:
        self.path = path
        self.session_id = session_id
        self.pauses = pauses
        self.is_new = is_new
        self.teller: Turn | None = None
        self.news = anyio.Event()

    @property
    def is_untold(self) -> bool:
        """Whether a prompt, which is sent now, has to tell it: none has reached the agent that
        did, and none is on its way."""
        teller = self.teller
        was_lost = teller is None or (
            teller.ended and (not teller.sent or teller.stop_reason == "error")
        )
        return self.is_new and was_lost


class Conversations:
    """``take`` is called with every session's events; ``living`` finds a session that is open;
    ``keeps_after`` is the editor's quirk."""

    def __init__(
        self,
        connection: Connection,
        host: FileHost,
        documents: Documents,
        tasks: TaskGroup,
        living: Callable[[str], Session | None],
        keeps_after: float,
    ) -> None:
        self._connection = connection
        self._host = host
        self._documents = documents
        self._tasks = tasks
        self._living = living
        self._keeps_after = keeps_after
        self._by_path: dict[str, _Conversation] = {}
        self.states = TurnStates()
        #: Those that run, so that a document that comes later has all of them; and those that are
        #: not in their document yet.
        self._turns: dict[str, _Written] = {}
        #: Held while it is looked for the session of one: two Sends would begin two.
        self.one_at_a_time = anyio.Lock()
        #: Documents by path and what is sent of each, until it is known what comes of it.
        self.being_sent: set[tuple[str, str]] = set()

    def session(self, path: str) -> Session | None:
        """The one that the document of a real path goes on with."""
        conversation = self._by_path.get(path)
        return None if conversation is None else self._living(conversation.session_id)

    def document(self, session_id: str) -> str | None:
        """The path of the document that goes on with a session, as long as there is one."""
        conversation = self._of(session_id)
        if conversation is None:
            return None
        path = conversation.path.path
        there = self._documents.at(path) is not None or os.path.lexists(path)
        return path if there else None

    def is_open(self, session_id: str) -> bool:
        """Whether what the agent says there can be read in an open document."""
        conversation = self._of(session_id)
        return conversation is not None and self._documents.at(conversation.path.path) is not None

    def is_written(self, turn_id: str) -> bool:
        """Whether more of a turn comes into its document."""
        return turn_id in self._turns

    @property
    def is_at_work(self) -> bool:
        """Whether a turn runs whose words come into an open document."""
        return any(self.is_open(turn.session_id) for turn in self._turns.values())

    def reserved(self) -> list[Reserved]:
        """Documents that agents are kept from writing: what stands there last is sent."""
        return [Reserved(path, _OURS, readable=True) for path in self._by_path]

    def tie(self, path: SafePath, session: Session, *, is_new: bool = False) -> None:
        """From here on the session's turns are written into the document, and into no other.
        ``is_new``: what stands there was not said in the session."""
        for before in (self._of(session.id), self._by_path.get(path.path)):
            if before is not None:
                self._by_path.pop(before.path.path, None)
                before.news.set()  # which ends its task
        pauses = Pauses(self._keeps_after)
        conversation = _Conversation(path, session.id, pauses, is_new=is_new)
        self._by_path[path.path] = conversation
        self._tasks.start_soon(self._write_all, conversation)
        conversation.news.set()

    def is_untold(self, path: str) -> bool:
        """Whether a prompt, which is sent now, has to tell its session what else stands in the
        document at ``path``."""
        conversation = self._by_path.get(path)
        return conversation is not None and conversation.is_untold

    def answered(self, prompt: str, session: Session, answer: str) -> None:
        """Without a turn, as by a command."""
        words = Words(session.cwd)
        words.take(TextDelta(answer))
        words.take(TurnEnded("endTurn"))
        self._turns[uuid.uuid4().hex] = _Written(session.id, prompt, words, here=True)
        self._tell(session.id)

    def is_sent(self, path: str, prompt: str) -> bool:
        """Whether that prompt of the document was sent, and stands there as if it were not: a
        second Send of it comes of a key that was pressed twice."""
        session = self.session(path)
        return (path, prompt) in self.being_sent or any(
            turn.here and not turn.is_in and turn.prompt == prompt
            for turn in self._turns.values()
            if session is not None and turn.session_id == session.id
        )

    def sent(self, turn: Turn, session: Session) -> None:
        """The prompt of the session's document has begun a turn."""
        conversation = self._of(session.id)
        if conversation is not None and conversation.is_untold:
            conversation.teller = turn
        words = Words(session.cwd)
        self._turns[turn.id] = _Written(session.id, turn.words, words, here=True)
        self._tell(session.id)

    def take(self, stamped: StampedEvent) -> None:
        turn_id, session_id, event = stamped.turn_id, stamped.session_id, stamped.event
        if turn_id is None:
            return
        turn = self._turns.get(turn_id)
        if turn is None and isinstance(event, TurnStarted):
            session = self._living(session_id)
            running = session.turn if session is not None else None
            prompt = running.words if running is not None else event.prompt
            words = Words(session.cwd if session is not None else "")
            turn = self._turns[turn_id] = _Written(session_id, prompt.strip(), words)
            self._tell(session_id)
        if turn is None:
            return
        self.states.take(turn_id, stamped, turn.prompt)
        said, ended = turn.words.length, turn.words.ended
        turn.words.take(event)
        if (turn.words.length, turn.words.ended) != (said, ended):
            turn.news = True
            self._tell(session_id)
        if turn.words.ended and self._of(session_id) is None:
            del self._turns[turn_id]

    def _of(self, session_id: str) -> _Conversation | None:
        return next(
            (each for each in self._by_path.values() if each.session_id == session_id), None
        )

    def _tell(self, session_id: str) -> None:
        if (conversation := self._of(session_id)) is not None:
            conversation.news.set()

    async def _write_all(self, conversation: _Conversation) -> None:
        """One edit at a time; what comes meanwhile goes into the next."""
        while True:
            await conversation.news.wait()
            if self._by_path.get(conversation.path.path) is not conversation:
                return
            conversation.news = anyio.Event()
            await self._pause(conversation)
            failures = 0
            for turn_id, turn in list(self._turns.items()):
                if turn.session_id == conversation.session_id and turn.news:
                    await self._write(conversation, turn_id, turn)
                    failures = max(failures, turn.failures)
            conversation.pauses.written(self._documents.clock())
            await anyio.sleep(min(_EVERY_SECONDS * 2**failures, _RETRY_SECONDS))

    async def _pause(self, conversation: _Conversation) -> None:
        while (document := self._documents.at(conversation.path.path)) is not None:
            now = self._documents.clock()
            seconds = conversation.pauses.before_a_write(document.typed_at, now)
            if not seconds:
                return
            await anyio.sleep(seconds)

    async def _write(self, conversation: _Conversation, turn_id: str, turn: _Written) -> None:
        turn.news, begun = False, self._documents.clock()
        said, ended = turn.words.said, turn.words.ended
        part = Part(turn_id, turn.prompt, said, turn.told, ended, turn.here)
        resolve = partial(_resolved, part, frozenset(self._turns))
        try:
            entry = await self._host.put(conversation.path, resolve, _LABEL)
            with anyio.move_on_after(_LATE_SECONDS):
                await entry.settled.wait()
            why = "" if entry.is_in else "the editor did not take it"
        except LspAgentError as error:
            why = str(error)
        if why:
            document = self._documents.at(conversation.path.path)
            if document is not None and document.typed_at > begun:
                turn.failures = 0  # beside typing an editor may take none for as long as it lasts
            self._failed(conversation, turn_id, turn, why)
            return
        turn.told, turn.failures, turn.is_in = len(said), 0, True
        if ended:
            self._turns.pop(turn_id, None)

    def _failed(self, conversation: _Conversation, turn_id: str, turn: _Written, why: str) -> None:
        turn.failures += 1
        if not turn.words.ended or turn.failures < _MOST_TRIES:
            turn.news = True
            conversation.news.set()
            return
        self._turns.pop(turn_id, None)
        name = escaped_line(os.path.basename(conversation.path.path))  # noqa: PTH119
        message = (
            f"The agent's answer is not in {name}: {escaped_line(why)}."
            " The command lspAgent.lastAnswer shows it."
        )
        self._connection.notify("window/showMessage", {"type": _WARNING, "message": message})


def _resolved(part: Part, live: Collection[str], view: View) -> Text:
    text = view.require_text() if view.exists else EMPTY
    content = text.content if part.told else without_stale(text.content, live)
    return Text.of(written(content, part), like=text)
