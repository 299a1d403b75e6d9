"""One word of a line, as a program is given it."""

import itertools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lsp_agent.sessions.permissions.shell.line import Way, Word
from lsp_agent.sessions.permissions.shell.tree import NotUnderstoodError, depth_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: Their values are no secrets, and decide on nothing once they are in a word.
_TOLD_VARIABLES = frozenset({"?", "#", "$", "PWD", "OLDPWD", "HOME", "USER"})
_WORD = re.compile(r"(?:[^\\\s'\"`$&|;<>(){}\x00-\x1f]|\\[!-~ ])+")
_BRACES = re.compile(r",|\.\.")
_SPLITS = re.compile(r"[\s*?\[\]\\~]")
_GLOB = re.compile(r"[*?\[]")
#: bash looks up a home behind these, but for one that runs as sh.
_INNER_TILDE = re.compile(r"[=:]~")
_DELIMITER = re.compile(r"(['\"]?)([A-Za-z_]+)\1")
_HEREDOC = ["<<", "heredoc_start", "heredoc_body", "heredoc_end"]


class Words:
    """Reads the words of one line. ``run`` is given what a word has to run, where, and how
    deep that stands."""

    def __init__(
        self, source: bytes, run: Callable[[Sequence["Node"], frozenset[Way], int], object]
    ) -> None:
        self._source = source
        self._run = run
        #: What the variables of the loops that are read now stand for, and which of these are
        #: names of files that a shell looks for: no more is known of them than of a glob.
        self.bound: dict[str, str] = {}
        self.found: frozenset[str] = frozenset()

    def word(self, node: "Node", ways: frozenset[Way]) -> Word:
        """One word; the commands in it are collected."""
        text = self.text(node)
        match node.type:
            case "word" | "number" | "test_operator" | "file_descriptor" | "variable_name":
                return self._plain(node)
            case "raw_string":
                return text[1:-1]
            case "=" | "==" | "!=" | "!":
                return text
            case "string":
                return self._string(node, ways)
            case "concatenation":
                if any(a.end_byte != b.start_byte for a, b in itertools.pairwise(node.children)):
                    raise self.unknown(node)
                if "{" in text and _BRACES.search(text):
                    raise NotUnderstoodError("it has braces that stand for several words")
                return _joined([self.word(child, ways) for child in node.children])
            case "simple_expansion" | "expansion":
                value = self._variable(node)
                if value is not None and (not value or _SPLITS.search(value)):
                    raise NotUnderstoodError(f"{text} may be none or several words")
                return value
            case "command_substitution":
                self._substitution(node, ways)
                return None
            case _:
                raise self.unknown(node)

    def _substitution(self, node: "Node", ways: frozenset[Way]) -> None:
        # What a backslash means between backquotes is another thing in each shell.
        if node.children[0].type == "`" and "\\" in self.text(node):
            raise self.unknown(node)
        self._run(node.children[1:-1], ways, depth_of(node))

    def _plain(self, node: "Node") -> str:
        text = self.text(node)
        if text in ("{", "}"):
            return text
        if not _WORD.fullmatch(text) or _INNER_TILDE.search(text):
            raise self.unknown(node)
        return re.sub(r"\\(.)", r"\1", text)

    def _string(self, node: "Node", ways: frozenset[Way]) -> Word:
        """The grammar has no nodes for some of the blanks in it."""
        pieces: list[Word] = []
        end = node.start_byte + 1
        for child in node.children[1:-1]:
            # An expansion begins at the blanks before it.
            begin = child.children[0].start_byte if child.children else child.start_byte
            pieces.append(_unescaped(self._source[end:begin]))
            match child.type:
                case "string_content":
                    pieces.append(_unescaped(self._source[child.start_byte : child.end_byte]))
                case "simple_expansion" | "expansion":
                    pieces.append(self._variable(child))
                case "command_substitution":
                    self._substitution(child, ways)
                    pieces.append(None)
                case _:
                    raise self.unknown(child)
            end = child.end_byte
        return _joined([*pieces, _unescaped(self._source[end : node.end_byte - 1])])

    def _variable(self, node: "Node") -> Word:
        """What a loop lets it be. That of others is not known, and may be a secret."""
        text = self.text(node).strip()
        kinds = [child.type for child in node.children if not child.is_named]
        name = self.text(node.children[1])
        if len(node.children) - len(kinds) != 1 or kinds not in (["$"], ["${", "}"]):
            raise self.unknown(node)
        if name in self.bound:
            return self.bound[name]
        if name not in _TOLD_VARIABLES:
            raise NotUnderstoodError(f"what {text} is is not written in it")
        return None

    def require_plain_heredoc(self, node: "Node") -> None:
        """One that is nothing but text up to its end; what may stand behind its beginning in the
        same row is not looked for."""
        if [child.type for child in node.children] != _HEREDOC:
            raise self.unknown(node)
        start, body, end = map(self.text, node.children[1:])
        delimiter = _DELIMITER.fullmatch(start)
        is_text = delimiter is not None and (delimiter[1] or not set(body) & set("$`\\"))
        name = delimiter[2] if delimiter is not None else ""
        if not is_text or end != name or name in (row.strip() for row in body.splitlines()):
            raise self.unknown(node)

    def is_glob(self, node: "Node") -> bool:
        """Whether a shell looks for files with such names, or may: with what a substitution prints;
        or has looked for them, in the words of a loop."""
        match node.type:
            case "concatenation":
                return any(map(self.is_glob, node.children))
            case "command_substitution":
                return True
            case "string" | "simple_expansion" | "expansion":
                return self.is_found(node)
            case _:
                plain = re.sub(r"\\.", "", self.text(node))
                return node.type == "word" and _GLOB.search(plain) is not None

    def is_found(self, node: "Node") -> bool:
        """Whether a variable of a loop is in it that stands for files' names."""
        if node.type in ("simple_expansion", "expansion"):
            return self.text(node.children[1]) in self.found
        return any(map(self.is_found, node.children))

    def text(self, node: "Node") -> str:
        return self._source[node.start_byte : node.end_byte].decode()

    def unknown(self, node: "Node") -> NotUnderstoodError:
        first = self.text(node).strip().partition("\n")[0][:60]
        return NotUnderstoodError(f"`{first}` is more than is understood")


def _unescaped(content: bytes) -> str:
    """As a shell reads it between double quotes."""
    return re.sub(r'\\([\\"$`])', r"\1", content.decode().replace("\\\n", ""))


def _joined(pieces: Sequence[Word]) -> Word:
    known = [piece for piece in pieces if piece is not None]
    return "".join(known) if len(known) == len(pieces) else None
