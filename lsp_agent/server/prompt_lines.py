"""Lines of a text that ask the agent: ``agent: what to do``. Pure."""

from collections.abc import Sequence

_MARKER = "agent:"
_COMMENT_SIGNS = "#/*-;%<!({\"'"
_COMMENT_ENDS = ("*/", "-->", "*)", "#}")


def marked(text: str) -> str:
    """The prompt of the first line with ``agent: what to do``, without what closes a comment
    behind it; "" where there is none. No regular expression: a line may be very long."""
    for line in text.split("\n"):
        at = line.find(_MARKER)
        while at > 0 and (line[at - 1].isalnum() or line[at - 1] == "_"):  # part of a word
            at = line.find(_MARKER, at + 1)
        if at >= 0 and (prompt := _without_comment_end(line[at + len(_MARKER) :].strip())):
            return prompt
    return ""


def without_prompt(lines: Sequence[str], near: int, asked: str) -> list[str] | None:
    """``lines`` without the one that is ``asked``, the nearest to ``near`` if there are several;
    code that stands before the prompt stays. None where it is gone already."""
    found = [at for at, line in enumerate(lines) if line.rstrip("\r\n") == asked]
    if not found:
        return None
    at = min(found, key=lambda each: abs(each - near))
    before = asked[: asked.rindex(_MARKER)].rstrip().rstrip(_COMMENT_SIGNS).rstrip()
    end = lines[at][len(asked) :]
    kept = [before + end] if before else []
    return [*lines[:at], *kept, *lines[at + 1 :]]


def _without_comment_end(text: str) -> str:
    end = next((end for end in _COMMENT_ENDS if text.endswith(end)), "")
    return text.removesuffix(end).rstrip()
