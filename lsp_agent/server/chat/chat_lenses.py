"""Code lenses of a conversation's document, above what they are about."""

from collections.abc import Iterator

from lsprotocol import types

from lsp_agent.protocol.methods import ANSWER_COMMAND, SHOW_QUESTION_COMMAND
from lsp_agent.protocol.questions import Question
from lsp_agent.server.chat.grammar import marker_of, prompt_of, sections
from lsp_agent.server.chat.outline import earlier_prompts
from lsp_agent.server.questions.whole_question import SHOW_ALL, WholeQuestions
from lsp_agent.server.review.code_lenses import lens
from lsp_agent.sessions.session import Session

#: The others are in the menu of code actions.
_SHORT = ("allowOnce", "deny", "other")


def chat_lenses(
    uri: str, text: str, session: Session | None, asked: list[Question], whole: WholeQuestions
) -> Iterator[types.CodeLens]:
    """``asked`` are the session's open questions."""
    if prompt_of(text) is not None:
        line = text.count("\n", 0, sections(text)[-1].start)
        yield lens(line, "Send to the agent", "lspAgent.sendChat", {"uri": uri})
    for section in earlier_prompts(text):
        line = text.count("\n", 0, section.start)
        yield lens(line, "Fork here", "lspAgent.forkChat", {"uri": uri, "line": line})
    turn = session.turn if session is not None else None
    at = text.rfind(marker_of(turn.id)) if turn is not None else -1
    if session is None or at < 0:
        return
    line = text.count("\n", 0, at)
    for question in asked:
        argument = {"questionId": question.question_id}
        for option in whole.menu(question):
            if option is None:
                yield lens(line, SHOW_ALL, SHOW_QUESTION_COMMAND, argument)
            elif option.kind in _SHORT:
                answer = argument | {"optionId": option.option_id}
                yield lens(line, option.name, ANSWER_COMMAND, answer)
    yield lens(line, "Stop the agent", "lspAgent.abort", {"sessionId": session.id})
