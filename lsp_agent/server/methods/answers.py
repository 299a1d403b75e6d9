"""``agent/lastAnswer``: what the agent said, for editors that show no chat."""

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.session_methods import LastAnswerResult, SessionParams
from lsp_agent.server.client.titles import shortened
from lsp_agent.server.context import Context
from lsp_agent.server.turns.last_answers import Answer


def last_answer(context: Context, params: SessionParams) -> LastAnswerResult:
    answer = _answer(context, params)
    return LastAnswerResult(session_id=answer.session_id, turn_id=answer.turn_id, text=answer.text)


async def show_last_answer(context: Context, params: SessionParams) -> LastAnswerResult:
    """The command's form: for a client that does not know us it is shown as a file.

    :raises RequestFailed: "editorFailed" where that file cannot be written
    """
    answer = _answer(context, params)
    result = last_answer(context, params)
    if context.client.events:
        return result
    answer.unseen = False
    text = f"# {shortened(answer.prompt)}\n\n{answer.text}\n"
    uri = await context.review.show_file(
        answer.turn_id, "answer", text, what="answer", title="The agent's answer", ending=".md"
    )
    return result.model_copy(update={"uri": uri})


def _answer(context: Context, params: SessionParams) -> Answer:
    answer = context.answers.get(params.session_id)
    if answer is None:
        raise RequestFailed("unknownTurn", "The agent has said nothing yet.")
    return answer
