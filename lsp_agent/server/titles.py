"""Code actions: commands under titles that are short, in one line, told apart."""

from collections.abc import Iterable

from lsprotocol import types

from lsp_agent.text.plain import escaped_line

_LENGTH = 60


def shortened(text: str) -> str:
    """The first line of ``text``, escaped and cut to 60 characters; "" for blank text."""
    first, _, _ = text.strip().partition("\n")
    shown = escaped_line(first[: _LENGTH + 1].rstrip())
    return shown if len(shown) <= _LENGTH else f"{shown[:_LENGTH]}…"


def told_apart(actions: Iterable[types.CodeAction]) -> list[types.CodeAction]:
    """The same in the same order; a title that came already gets a number."""
    seen: dict[str, int] = {}
    told: list[types.CodeAction] = []
    for action in actions:
        title = action.title
        seen[title] = seen.get(title, 0) + 1
        if seen[title] > 1:
            action.title = f"{title} ({seen[title]})"
            if action.command is not None:
                action.command.title = action.title
        told.append(action)
    return told


def action(
    title: str, kind: types.CodeActionKind, command: str, argument: object
) -> types.CodeAction:
    return types.CodeAction(
        title=title,
        kind=kind,
        command=types.Command(title=title, command=command, arguments=[argument]),
    )
