"""What waits in a conversation's document, as problems, which any editor shows."""

from collections.abc import Callable
from typing import Any

from lsp_agent.protocol.edits import Position, Range
from lsp_agent.protocol.questions import Question
from lsp_agent.server.chat.grammar import marked
from lsp_agent.server.client.diagnostics_port import SOURCE
from lsp_agent.server.client.titles import shortened
from lsp_agent.server.questions.whole_question import fits_menu
from lsp_agent.text.plain import escaped_line

Json = dict[str, Any]

_INFORMATION = 3
_ASKS = "The agent asks: {}. Answer it by a code action."
_CUT_OFF = "The answer was cut off here. Send goes on with the conversation."


def waiting(text: str, asked: list[Question], is_written: Callable[[str], bool]) -> list[Json]:
    """``asked`` are the session's open questions. A mark of a turn of which no more is written is
    of one that was cut off."""
    marks = [(is_written(turn_id), text.count("\n", 0, at)) for turn_id, at in marked(text)]
    lines = [line for at_work, line in marks if at_work] or [text.rstrip().count("\n")]
    titles = (one.title if fits_menu(one) else shortened(one.title) for one in asked)
    found = [_problem(lines[-1], _ASKS.format(escaped_line(title))) for title in titles]
    return found + [_problem(line, _CUT_OFF) for at_work, line in marks if not at_work]


def _problem(line: int, message: str) -> Json:
    start, end = Position(line=line, character=0), Position(line=line + 1, character=0)
    place = Range(start=start, end=end).model_dump()
    return {"range": place, "severity": _INFORMATION, "source": SOURCE, "message": message}
