"""Lines of a text that ask the agent: ``agent: what to do``. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

_MARKER = "agent:"
_COMMENT_SIGNS = "#/*-;%<!({\"'"
#: Of comments with an end: how they begin, with the sign that may be there more often, and end.
_COMMENTS = (("/", "*", "*/"), ("<!", "-", "-->"), ("(", "*", "*)"), ("{", "#", "#}"))
_LINE_COMMENTS = ("#", "//", "--", ";", "%")


@dataclass(frozen=True, slots=True)
class _Asked:
    """A line's prompt, and what is left of the line without it: ``head`` and ``tail`` stand around
    it."""

    prompt: str
    head: str
    tail: str = ""


def marked(text: str) -> str:
    """The prompt of the first line with ``agent: what to do``, up to where its comment ends; ""
    where there is none. No regular expression: a line may be very long."""
    for line in text.split("\n"):
        asked = _asked(line)
        if asked is not None and asked.prompt:
            return asked.prompt
    return ""


def without_prompt(lines: Sequence[str], near: int, asked: str) -> list[str] | None:
    """``lines`` without the prompt of the line that is ``asked``, the nearest to ``near`` if there
    are several; whatever else stands in it stays. None where it is gone already."""
    found = [at for at, line in enumerate(lines) if line.rstrip("\r\n") == asked]
    parts = _asked(asked)
    if not found or parts is None:
        return None
    at = min(found, key=lambda each: abs(each - near))
    left = _left(asked, parts)
    kept = [left + lines[at][len(asked) :]] if left else []
    return [*lines[:at], *kept, *lines[at + 1 :]]


def _left(line: str, parts: _Asked) -> str:
    head, tail = parts.head, parts.tail.rstrip()
    if not head:
        indent = line[: len(line) - len(line.lstrip())]
        return indent + tail.lstrip() if tail else ""
    between = " " if tail and not tail[0].isspace() else ""
    return f"{head}{between}{tail}"


def _asked(line: str) -> _Asked | None:
    at = line.find(_MARKER)
    while at > 0 and (line[at - 1].isalnum() or line[at - 1] == "_"):  # part of a word
        at = line.find(_MARKER, at + 1)
    if at < 0:
        return None
    before, behind = line[:at].rstrip(), line[at + len(_MARKER) :]
    for stem, sign, closer in _COMMENTS:
        opened = before.rstrip(sign)
        if opened != before and opened.endswith(stem):
            prompt, ended, rest = behind.partition(closer)
            # One that goes on in the next line keeps its beginning.
            head = opened.removesuffix(stem).rstrip() if ended else before
            return _Asked(prompt.strip(), head, rest)
    if before.strip() and not before.strip().strip("*"):  # a comment goes on that began above
        prompt, ended, rest = behind.partition("*/")
        return _Asked(prompt.strip(), "", ended + rest)
    bare = before.rstrip(_COMMENT_SIGNS).rstrip()
    text = behind.strip()
    if before.endswith(_LINE_COMMENTS):
        return _Asked(text, bare)
    closer = next((end for *_, end in _COMMENTS if text.endswith(end)), "")
    return _Asked(text.removesuffix(closer).rstrip(), before if closer else bare, closer)
