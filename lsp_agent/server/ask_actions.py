"""The code actions that ask the agent: about a selection, a line meant for it, a problem. Pure."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from lsprotocol import types

from lsp_agent.server.client.diagnostics_port import SOURCE
from lsp_agent.server.client.titles import shortened
from lsp_agent.server.prompt_lines import marked
from lsp_agent.server.review.actions import action
from lsp_agent.text.positions import Encoding, to_column
from lsp_agent.workspace.documents.open_document import OpenDocument

#: Of ASCII: a prompt in other scripts may have no spaces. Helix sends the character under the
#: cursor, Emacs the word.
_WORD = re.compile(r"[!-~]*\s?")

#: Of more problems under the cursor the worst; the others have actions where they are alone.
_MOST_PROBLEMS = 3
#: Above and below a problem, for the agent to read.
_LINES_AROUND = 5
_LONGEST_MESSAGE = 2000


def ask_actions(
    document: OpenDocument,
    range_: types.Range,
    diagnostics: Sequence[types.Diagnostic],
    encoding: Encoding,
    *,
    take_out: bool,
) -> Iterator[types.CodeAction]:
    """First those on ``diagnostics``, then the one on the selection or the line; ``take_out``: a
    line that was written to ask goes once it is sent."""
    theirs = [each for each in diagnostics if each.source != SOURCE]
    for problem in sorted(theirs, key=_order)[:_MOST_PROBLEMS]:
        yield from _on_problem(document, problem)
    yield from _on_text(document, range_, encoding, take_out=take_out)


def _order(problem: types.Diagnostic) -> tuple[int, int]:
    return _severity(problem), problem.range.start.line


def _severity(problem: types.Diagnostic) -> int:
    """1 is an error, which is also what one without a severity counts as."""
    return problem.severity.value if problem.severity else 1


def _on_problem(document: OpenDocument, problem: types.Diagnostic) -> Iterator[types.CodeAction]:
    start, end = problem.range.start.line, problem.range.end.line
    around = {
        "start": {"line": max(start - _LINES_AROUND, 0), "character": 0},
        "end": {"line": min(end + _LINES_AROUND + 1, len(document.lines)), "character": 0},
    }
    context = [{"uri": document.uri, "range": around}]
    name = (document.path or document.uri).rpartition("/")[2]
    said = f"{name}, line {start + 1}:\n\n{_quoted(problem)}\n\n"
    for verb, prompt in (
        ("fix", f"Fix this problem in {said}Change only what that needs."),
        (
            "explain",
            f"Explain this problem in {said}Say what it means here and how it can be fixed."
            " Change nothing.",
        ),
    ):
        made = action(
            f"Ask the agent to {verb}: {shortened(problem.message)}",
            types.CodeActionKind.QuickFix,
            "lspAgent.prompt",
            {"text": prompt, "context": context},
        )
        made.diagnostics = [problem]
        yield made


def _quoted(problem: types.Diagnostic) -> str:
    """The message, each line marked as said by another, then who says it."""
    lines = problem.message[:_LONGEST_MESSAGE].strip().splitlines() or [""]
    kind = "error" if _severity(problem) == 1 else "problem"
    code = "" if problem.code is None else f" {problem.code}"
    by = f" of {problem.source}" if problem.source else ""
    return "\n".join(f"> {line}" for line in lines) + f"\n\n({kind}{code}{by})"


def _on_text(
    document: OpenDocument, range_: types.Range, encoding: Encoding, *, take_out: bool
) -> Iterator[types.CodeAction]:
    """What follows ``agent:`` in the selection or the cursor's line is the prompt, else the
    selection itself; either way the selection goes along as context."""
    text = _selected(document, range_, encoding)
    line = document.lines[range_.start.line] if range_.start.line < len(document.lines) else ""
    prompt = marked(text) or marked(line) or text.strip()
    if not prompt:
        return
    excerpt = {"uri": document.uri, "range": _json(range_)}
    argument: dict[str, Any] = {
        "text": prompt,
        "context": [excerpt if text else {"uri": document.uri}],
    }
    if take_out and not text and marked(line):
        number = range_.start.line
        argument["from"] = {"uri": document.uri, "line": number, "text": line.rstrip("\r\n")}
    yield action(
        f"Ask the agent: {shortened(prompt)}",
        types.CodeActionKind.Refactor,
        "lspAgent.prompt",
        argument,
    )


def _selected(document: OpenDocument, range_: types.Range, encoding: Encoding) -> str:
    """The selected text; "" for a single word, which some editors send of where the cursor is."""
    start, end = range_.start, range_.end
    lines = document.lines[start.line : end.line + 1]
    if not lines or (start.line, start.character) == (end.line, end.character):
        return ""
    if end.line - start.line < len(lines):
        lines[-1] = lines[-1][: to_column(lines[-1], end.character, encoding)]
    lines[0] = lines[0][to_column(lines[0], start.character, encoding) :]
    text = "".join(lines)
    return "" if _WORD.fullmatch(text) else text


def _json(range_: types.Range) -> dict[str, Any]:
    return {
        "start": {"line": range_.start.line, "character": range_.start.character},
        "end": {"line": range_.end.line, "character": range_.end.character},
    }
