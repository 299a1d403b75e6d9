"""Code actions: commands under titles, told apart."""

from collections.abc import Iterable

from lsprotocol import types


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
