"""``workspace/executeCommand``: a twin of each custom method, and those on open questions."""

from collections.abc import Awaitable, Mapping
from typing import Any

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.methods import Method
from lsp_agent.protocol.questions import Answer
from lsp_agent.protocol.session_methods import (
    AnswerParams,
    AnswerResult,
    Empty,
    PromptParams,
    RetryParams,
    ShowQuestionParams,
)
from lsp_agent.protocol.wire_model import Model
from lsp_agent.server.context import Context
from lsp_agent.server.methods import HANDLERS, Handler
from lsp_agent.server.methods.answers import show_last_answer
from lsp_agent.server.methods.background import list_and_show
from lsp_agent.server.methods.edits import revert_and_tell, the_edit
from lsp_agent.server.methods.prompting import abort_all, start_prompt, start_retry
from lsp_agent.server.methods.review import (
    apply_all_and_tell,
    apply_and_tell,
    show_preview,
    undo_all_and_tell,
    undo_latest_turn,
)
from lsp_agent.server.methods.slash_commands import run_and_act

#: Which edits a review command without an ``editId`` can mean.
_MEANT: Mapping[str, tuple[EditStatus, ...]] = {
    "applyEdit": ("proposed", "lost"),
    "rejectEdit": ("proposed", "applied"),
    "keepEdit": ("applied",),
    "editText": ("proposed", "applied"),
    "previewEdit": ("proposed",),
}

#: What is more than the request where it is run from a menu.
_SHOWN: Mapping[str, Handler] = {
    "applyEdit": apply_and_tell,
    "applyAll": apply_all_and_tell,
    "undoAll": undo_all_and_tell,
    "previewEdit": show_preview,
    "revert": revert_and_tell,
    "lastAnswer": show_last_answer,
    "runCommand": run_and_act,
    "backgroundCommands": list_and_show,
}

_TOO_SOON = "Not answered: the question had only just come up. Answer it again."
_NOT_OPEN = "No such question is open."

Json = dict[str, Any]


def call(context: Context, method: Method, params: Json) -> Model | Awaitable[Model]:
    """Runs a custom method on raw params."""
    return HANDLERS[method.name](context, method.params.model_validate(params))


def run(context: Context, method: Method, argument: Json) -> Model | Awaitable[Model]:
    """Runs a method's command; ``argument`` is its first, the params object."""
    if method.name == "prompt":
        return start_prompt(context, PromptParams.model_validate(argument))
    if method.name == "retry":
        return start_retry(context, RetryParams.model_validate(argument))
    if method.name == "abort" and not argument:
        return abort_all(context)
    if method.name in _MEANT and not argument.get("editId"):
        return _with_the_edit(context, method, argument)
    if method.name == "undoAll" and not argument:
        return undo_latest_turn(context)
    if method.name in _SHOWN:
        return _SHOWN[method.name](context, method.params.model_validate(argument))
    return call(context, method, argument)


def answer(context: Context, argument: Json) -> AnswerResult:
    """Answers an open question; a null option dismisses it.

    :raises RequestFailed: "conflict" where it is not said which option is meant, or nobody can
        have read the question yet
    """
    params = AnswerParams.model_validate(argument)
    if "option_id" not in params.model_fields_set:
        raise RequestFailed("conflict", _options_of(context))
    for question in context.questions.open():
        is_meant = params.question_id in (None, question.question_id)
        if is_meant and not context.shown.is_read(question.question_id):
            raise RequestFailed("conflict", _TOO_SOON)
    chosen = None if params.option_id is None else Answer(params.option_id, params.reason)
    return AnswerResult(answered=context.questions.answer(params.question_id, chosen))


def show_question(context: Context, argument: Json) -> Empty:
    """Begins to show an open question whole; a menu then offers to allow it.

    :raises RequestFailed: "conflict" where none is meant
    """
    wanted = ShowQuestionParams.model_validate(argument).question_id
    meant = [one for one in context.questions.open() if wanted in (None, one.question_id)]
    if len(meant) != 1:
        text = "Several questions are open; name one by questionId." if meant else _NOT_OPEN
        raise RequestFailed("conflict", text, {"questionIds": [one.question_id for one in meant]})
    context.whole.start_showing(meant[0])
    return Empty()


def _options_of(context: Context) -> str:
    questions = context.questions.open()
    if not questions:
        return _NOT_OPEN
    lines = (
        f"{question.title}: " + ", ".join(option.option_id for option in question.options)
        for question in questions
    )
    return "Say which optionId answers the question. " + "; ".join(lines)


async def _with_the_edit(context: Context, method: Method, argument: Json) -> Model:
    edit_id = await the_edit(context, _MEANT[method.name])
    result = run(context, method, {**argument, "editId": edit_id})
    return result if isinstance(result, Model) else await result
