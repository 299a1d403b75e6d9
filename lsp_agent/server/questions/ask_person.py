"""The ways to put a question to the person: ``agent/ask``, else ``window/showMessageRequest``.

The latter only where it takes no key that is typed. Everywhere else a notice says how to answer.
"""

import logging
import time
from collections.abc import Sequence
from typing import Any, cast

from lsp_agent.protocol.client_requests import ASK_REQUEST
from lsp_agent.protocol.questions import CANNOT_ASK, Answer, NotAsked, Option, Question
from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.questions.meant import Shown, is_read
from lsp_agent.server.questions.whole_question import (
    SHOW_ALL,
    WholeQuestions,
    fits_message,
    refusals,
    whole_text,
)
from lsp_agent.server.rpc.connection import Connection
from lsp_agent.server.rpc.errors import METHOD_NOT_FOUND, ClientRefused
from lsp_agent.text.plain import escaped_line

_INFO, _WARNING, _ERROR = 3, 2, 1
_HOW_TO_ANSWER = "Answer the agent by code action"
_TEXT_LIMIT = 4000
_TITLE_LIMIT = 200
_SHOW = Option(option_id="show", name=SHOW_ALL)
#: A client that answers at once time and again has nobody who reads.
_MOST_UNREAD = 3

log = logging.getLogger(__name__)


class PersonAsker:
    """An ``Asker`` over one client. There is no time limit: cancelling withdraws the question.

    ``CANNOT_ASK`` where the client has no way to ask or fails at it: the question then stays
    open for the ``lspAgent.answer`` command, and the person is told how to answer. None where
    they dismissed it. A question too long for a message is shown whole before it can be allowed.
    """

    def __init__(
        self, connection: Connection, client: ClientInfo, whole: WholeQuestions, shown: Shown
    ) -> None:
        self._connection = connection
        self._whole = whole
        self._shown = shown
        self._can_ask = client.ask
        self._can_show = client.show_message_request
        self._sees_events = client.events
        self._waits_for_a_key = client.quirks.waits_for_a_key

    async def __call__(self, question: Question) -> Answer | NotAsked | None:
        self._shown.now(question.question_id)
        answer = await self._asked(question)
        if answer is CANNOT_ASK and not self._sees_events:
            kind, title = _WARNING, f": {escaped_line(question.title)}"
            if self._waits_for_a_key:
                kind, title = _ERROR, ""
            message = {"type": kind, "message": f"{_HOW_TO_ANSWER}{title}"}
            self._connection.notify("window/showMessage", message)
        return answer

    async def _asked(self, question: Question) -> Answer | NotAsked | None:
        if self._can_ask:
            return await self._ask(question)
        if self._can_show:
            return await self._show(question)
        return CANNOT_ASK

    async def _ask(self, question: Question) -> Answer | NotAsked | None:
        try:
            answer = await self._connection.ask(ASK_REQUEST, question, None)
        except ClientRefused as exc:
            self._can_ask = self._can_ask and not _unknown(exc)
            return await self._show(question) if self._can_show else CANNOT_ASK
        chosen = _member(answer, "optionId")
        return None if chosen is None else Answer(chosen, _member(answer, "reason"))

    async def _show(self, question: Question) -> Answer | NotAsked | None:
        """Before the answers stands a button that gives none: with a screen reader VS Code has a
        key that presses the first one, which on Linux is the key for a comment."""
        is_whole = fits_message(question)
        unread = 0
        while unread < _MOST_UNREAD:
            message = _text(question) if is_whole else _beginning(question)
            options = question.options if is_whole else refusals(question)
            since = time.monotonic()
            chosen = await self._choose(question, message, [_SHOW, *options])
            if isinstance(chosen, Option) and not is_read(since):
                unread += 1
            elif chosen is _SHOW:
                await self._whole.show(question)
                is_whole = True
            else:
                return Answer(chosen.option_id) if isinstance(chosen, Option) else chosen
        return CANNOT_ASK

    async def _choose(
        self, question: Question, message: str, options: Sequence[Option]
    ) -> Option | NotAsked | None:
        buttons = _buttons(options)
        params = {
            "type": _WARNING if question.kind == "permission" else _INFO,
            "message": message,
            "actions": [{"title": title} for title in buttons],
        }
        try:
            answer = await self._connection.ask("window/showMessageRequest", params, None)
        except ClientRefused as exc:
            self._can_show = self._can_show and not _unknown(exc)
            return CANNOT_ASK
        return buttons.get(_member(answer, "title") or "")


def _buttons(options: Sequence[Option]) -> dict[str, Option]:
    """Each option by the title of its button, which is all that comes back: an agent's own
    options may have one name for several, or none."""
    buttons: dict[str, Option] = {}
    for option in options:
        title = option.name or escaped_line(option.option_id)
        while not title or title in buttons:
            title += f" ({len(buttons) + 1})"
        buttons[title] = option
    return buttons


def _unknown(refusal: ClientRefused) -> bool:
    log.info("the person cannot be asked: %s", refusal)
    return refusal.code == METHOD_NOT_FOUND


def _member(answer: Any, key: str) -> str | None:
    value = cast(dict[str, Any], answer).get(key) if isinstance(answer, dict) else None
    return value if isinstance(value, str) else None


def _text(question: Question) -> str:
    text = whole_text(question)
    if len(text) <= _TEXT_LIMIT:
        return text
    return f"{text[:_TEXT_LIMIT]}…\n({len(text) - _TEXT_LIMIT} more characters are not shown)"


def _beginning(question: Question) -> str:
    text = question.detail or question.title
    lines = text.count("\n") + 1
    size = f"{lines} {'line' if lines == 1 else 'lines'}, {len(text)} characters"
    title = escaped_line(question.title[:_TITLE_LIMIT])
    return f"{title}\n({size}: it can be allowed when all of it has been shown)"
