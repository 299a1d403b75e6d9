"""The code actions of a conversation's document, in the place of those that ask about its text."""

from collections.abc import Iterator

from lsprotocol import types

from lsp_agent.server.chat.grammar import prompt_of
from lsp_agent.server.chat.outline import earlier_prompts
from lsp_agent.server.client.titles import shortened
from lsp_agent.server.review.actions import action
from lsp_agent.server.review.review_actions import NEXT
from lsp_agent.sessions.session import Session


def send_action(uri: str, text: str) -> Iterator[types.CodeAction]:
    """Where there is something to send."""
    if (prompt := prompt_of(text)) is not None:
        title = f"Send to the agent: {shortened(prompt.words)}"
        yield action(title, types.CodeActionKind.Refactor, "lspAgent.sendChat", {"uri": uri})


def fork_actions(uri: str, text: str, line: int) -> Iterator[types.CodeAction]:
    """Where the cursor is in an earlier prompt."""
    for section in earlier_prompts(text):
        first = text.count("\n", 0, section.start)
        if first <= line < first + text.count("\n", section.start, section.end):
            words = shortened(text[section.body : section.end]) or "…"
            argument = {"uri": uri, "line": line}
            kind, command = types.CodeActionKind.Refactor, "lspAgent.forkChat"
            yield action(f"Fork here: {words}", kind, command, argument)
            yield action(f"Fork here and send: {words}", kind, command, argument | {"send": True})


def session_actions(session: Session | None, *, is_open: bool) -> Iterator[types.CodeAction]:
    """``is_open``: some change of the session's is to be reviewed."""
    kind = types.CodeActionKind.Refactor
    named = {} if session is None else {"sessionId": session.id}
    if session is not None and is_open:
        yield action(NEXT, kind, "lspAgent.nextChange", {})
        yield action("Keep all of the agent's changes", kind, "lspAgent.keepAll", named)
    if session is not None and session.runner.last is not None and not session.busy:
        yield action("Undo the agent's last turn", kind, "lspAgent.revert", named)
    yield action("New conversation", kind, "lspAgent.openChat", named | {"new": True})
