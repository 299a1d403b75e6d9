"""The tree that tree-sitter's grammar of bash makes of a line."""

import functools
import re
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

#: One parser for all threads.
_PARSING = Lock()
#: Rows may be joined in it. Where nothing else stands between two leaves, they are one word.
_GAP = re.compile(rb"(?:(?:(?:\\\n)*[ \t\n])+(?:\\\n)*)?")
_BRANCH_WORDS = ("if", "then", "elif", "else", "fi")


class NotUnderstoodError(Exception):
    """Of a line; the message says why."""


def tree_of(source: bytes) -> "Node":
    """:raises NotUnderstoodError: for no complete line"""
    with _PARSING:
        root = _parser().parse(source).root_node
    if root.has_error:
        raise NotUnderstoodError("it is no complete line")
    _require_blank_gaps(root, source)
    return root


@functools.cache
def _parser() -> "Parser":
    # Imported with the first command that is judged: it takes as long as ten of our modules.
    import tree_sitter_bash  # noqa: PLC0415
    from tree_sitter import Language, Parser  # noqa: PLC0415

    return Parser(Language(tree_sitter_bash.language()))


def _require_blank_gaps(root: "Node", source: bytes) -> None:
    """All that no node stands for is blank; a line's end may be escaped."""
    end = 0
    for leaf in _leaves(root):
        if not _GAP.fullmatch(source[end : leaf.start_byte]):
            raise NotUnderstoodError("a part of it has no meaning")
        end = max(end, leaf.end_byte)
    if not _GAP.fullmatch(source[end:]):
        raise NotUnderstoodError("a part of it has no meaning")


def _leaves(node: "Node") -> Iterator["Node"]:
    left = [node]
    while left:
        last = left.pop()
        if last.children and last.type != "heredoc_body":
            left += reversed(last.children)
        else:
            yield last


def branches(children: Sequence["Node"]) -> Iterator[Sequence["Node"]]:
    """What stands between the words of an ``if``."""
    rows: list[Node] = []
    for child in children:
        if child.type in _BRANCH_WORDS:
            yield rows
            rows = []
        else:
            rows.append(child)
    yield rows


def operands(nodes: Sequence["Node"]) -> Iterator["Node"]:
    """The words of a test."""
    for node in nodes:
        if node.type in ("unary_expression", "binary_expression", "parenthesized_expression"):
            yield from operands(node.children)
        else:
            yield node


def depth_of(node: "Node") -> int:
    depth = 0
    parent = node.parent
    while parent is not None:
        depth, parent = depth + 1, parent.parent
    return depth
