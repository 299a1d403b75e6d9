"""A question that is too long for a dialog or a menu is shown whole before it can be allowed.

Editors cut what they show: a message at some lines, a menu's entry at the edge of the screen. What
a person allows must not go on behind that.
"""

import logging

from anyio.abc import TaskGroup

from lsp_agent.protocol.questions import Option, Question
from lsp_agent.server.client.show import Shower
from lsp_agent.server.client.titles import shortened
from lsp_agent.server.review.preview import PreviewFiles
from lsp_agent.server.rpc.connection import Connection
from lsp_agent.workspace.disk.paths import path_to_uri

SHOW_ALL = "Show all of it"

_WARNING = 2
#: Of a message, so that every editor shows all of it.
_MOST_LINES = 8
_MOST_CHARACTERS = 600

log = logging.getLogger(__name__)


class WholeQuestions:
    """Shows questions whole. Menus offer to allow a long one only while it is the one shown last,
    so that of two that begin alike it is plain which one is meant."""

    def __init__(
        self, connection: Connection, shower: Shower, files: PreviewFiles, tasks: TaskGroup
    ) -> None:
        self._connection = connection
        self._shower = shower
        self._files = files
        self._tasks = tasks
        self._shown_last: str | None = None

    async def show(self, question: Question) -> None:
        """By a message with the whole text; where that would be cut by ``window/showDocument``,
        which takes the focus."""
        text = whole_text(question)
        if fits_message(question) or not await self._shown_as_file(question, text):
            self._connection.notify("window/showMessage", {"type": _WARNING, "message": text})
        self._shown_last = question.question_id

    def start_showing(self, question: Question) -> None:
        """For a request of the editor's, which may answer ours only when it has its own answer."""
        self._tasks.start_soon(self.show, question)

    def menu(self, question: Question) -> tuple[Option | None, ...]:
        """The options that a menu may offer now; None stands for ``SHOW_ALL``. That is the first:
        editors choose it for who presses Enter in a menu that was opened for something else."""
        if fits_menu(question) or question.question_id == self._shown_last:
            return None, *question.options
        return None, *refusals(question)

    async def _shown_as_file(self, question: Question, text: str) -> bool:
        try:
            path = await self._files.write(question.question_id, "question", f"{text}\n", ".txt")
        except OSError as error:
            log.warning("a question cannot be written to a file: %s", error)
            return False
        return await self._shower.shown(path_to_uri(path), None)


def refusals(question: Question) -> list[Option]:
    """The options that allow nothing. What an agent's own option does is not known."""
    return [option for option in question.options if option.kind == "deny"]


def fits_menu(question: Question) -> bool:
    """Whether a menu's entry, which has only the title, shows all that is decided on."""
    return _title_is_whole(question) and shortened(question.title) == question.title


def fits_message(question: Question) -> bool:
    """Whether a message with title and detail is seen whole. A permission's detail has the whole
    call, also where its title is cut."""
    text = whole_text(question)
    short = len(text) <= _MOST_CHARACTERS and text.count("\n") < _MOST_LINES
    is_cut = question.title.endswith("…")
    return short and (not is_cut or (question.kind == "permission" and bool(question.detail)))


def whole_text(question: Question) -> str:
    return f"{question.title}\n{question.detail}" if question.detail else question.title


def _title_is_whole(question: Question) -> bool:
    """A permission's title has the whole call unless it ends in an ellipsis: its detail then adds
    only which files are not saved."""
    if question.title.endswith("…"):
        return False
    return question.kind == "permission" or (question.detail or "") in question.title
