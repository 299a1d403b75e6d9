"""The clone explains itself: what a comment, a docstring or a guide cites is in the repository."""

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[2]
#: Names of documents that the code was once written by; what they said is in docs/ now.
ELSEWHERE = re.compile(
    r"\b(CONTRACT|DESIGN|MEASURED|LAYOUT|EDITORS|STYLE|[A-Z]+-SPIKE|zot-hosting)\b|§|\.\./shared"
)
URL = re.compile(r"\w+://[^\s\"')>]+")
DOCUMENT = re.compile(r"[\w./-]*\w\.md\b")
#: Files that agents read in whatever folder they work in, and those that the examples make.
AGENTS_OWN = {
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    "CONTEXT.md",
    "GEMINI.md",
    "GLOSSARY.md",
    "QWEN.md",
    "SYSTEM.md",
    "APPEND_SYSTEM.md",
}
#: How a person's conversations with an agent are named.
CONVERSATION = ".chat.md"
#: How other languages begin a comment, wherever in a line.
MARKS = {".lua": "--", ".ts": "//", ".mjs": "//", ".js": "//", ".sh": "#", ".yml": "#", "": "#"}
FOLDERS = ("lsp_agent", "tests", "editors", "bench", "tools", "examples", ".ci", "Makefile")


@cache
def tracked() -> tuple[str, ...]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(name for name in listed.stdout.split("\0") if name)


def sources() -> Iterator[str]:
    for name in tracked():
        if name.split("/")[0] in FOLDERS and not name.startswith("tests/recordings/"):
            yield name


def words_about(name: str) -> Iterator[tuple[int, str]]:
    """Line and text of what ``name`` says to its reader: comments, docstrings, prose."""
    path = ROOT / name
    suffix = path.suffix
    if suffix not in {".md", ".py", *MARKS} or not path.is_file():
        return
    source = path.read_text(encoding="utf-8", errors="replace")
    if not DOCUMENT.search(source) and not ELSEWHERE.search(source):
        return
    if suffix == ".md":
        yield from enumerate(source.splitlines(), 1)
    elif suffix == ".py":
        yield from comments(source)
    else:
        for number, line in enumerate(source.splitlines(), 1):
            _, mark, comment = line.partition(MARKS[suffix])
            if mark or line.lstrip().startswith(("*", "/*")):
                yield number, comment or line


def comments(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text is not None:
                yield node.body[0].lineno, text


def is_there(document: str, citing: str) -> bool:
    """A document is cited by its path from the root, from docs/, or from who cites it."""
    name = PurePosixPath(document).name
    if name in AGENTS_OWN or name.endswith(CONVERSATION):
        return True
    places = (ROOT, ROOT / "docs", (ROOT / citing).parent)
    return any((place / document).is_file() for place in places)


@cache
def cited() -> tuple[tuple[str, int, str], ...]:
    names = [*sources(), *(name for name in tracked() if re.match(r"docs/.*\.md|[A-Z]+\.md", name))]
    return tuple(
        (name, number, URL.sub("", text))
        for name in names
        if name != "CHANGELOG.md" and ROOT / name != Path(__file__)
        for number, text in words_about(name)
    )


def test_every_document_that_is_cited_is_in_the_repository():
    missing = [
        f"{name}:{number}: {document}"
        for name, number, text in cited()
        for document in DOCUMENT.findall(text)
        if not is_there(document, name)
    ]
    assert missing == []


def test_nothing_cites_what_the_project_was_planned_by():
    found = [
        f"{name}:{number}: {match[0]}"
        for name, number, text in cited()
        if (match := ELSEWHERE.search(text))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('"""As CONTRACT §4 has it."""', True),
        ("x = 1  # canonical.md: Gaps", True),
        ('"""See docs/protocol.md and editors/vim.md."""', False),
        ('x = "DESIGN.md"', False),
    ],
)
def test_these_tests_find_what_they_are_to_find(text: str, wrong: bool):
    found = [
        word
        for _, words in comments(text)
        for word in [*DOCUMENT.findall(words), *ELSEWHERE.findall(words)]
        if not is_there(word, "lsp_agent/x.py")
    ]
    assert bool(found) == wrong
