"""What the method handlers work with."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from lsp_agent.protocol.errors import BadParams
from lsp_agent.server.chat.conversations import Conversations
from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.client.live_settings import LiveSettings
from lsp_agent.server.questions.meant import Shown
from lsp_agent.server.questions.whole_question import WholeQuestions
from lsp_agent.server.review.review_ui import ReviewUi
from lsp_agent.server.turns.last_answers import LastAnswers
from lsp_agent.server.turns.turn_display import TurnDisplays
from lsp_agent.sessions.reverts.reverts import Reverts
from lsp_agent.sessions.sessions import Sessions
from lsp_agent.sessions.shared.questions import Questions
from lsp_agent.workspace.changing.file_host import FileHost
from lsp_agent.workspace.disk.paths import Confinement, uri_to_path
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.recovery import Recovery
from lsp_agent.workspace.review.edits import Edits


@dataclass(frozen=True, slots=True)
class Context:
    client: ClientInfo
    documents: Documents
    sessions: Sessions
    edits: Edits
    reverts: Reverts
    questions: Questions
    whole: WholeQuestions
    shown: Shown
    answers: LastAnswers
    chats: Conversations
    displays: TurnDisplays
    settings: LiveSettings
    review: ReviewUi
    recovery: Recovery
    host: FileHost
    confinement: Callable[[bool], Confinement]


def path_of(uri: str, field: str) -> str:
    """The real path of a ``file:`` URI, as the folders' and the ledger's are.

    :raises BadParams: for any other
    """
    path = uri_to_path(uri)
    if path is None:
        raise BadParams(field, f"{uri!r} is not the URI of a file")
    return os.path.realpath(path)
