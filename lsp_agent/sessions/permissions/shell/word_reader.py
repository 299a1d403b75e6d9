"""Reads a word of a command line: its quotes, its variables and the commands in it."""

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence

from lsp_agent.sessions.permissions.shell.cursor import Cursor
from lsp_agent.sessions.permissions.shell.written import (
    Block,
    NotUnderstoodError,
    Substitution,
    Text,
    Variable,
    Written,
)

ENDS_WORD = frozenset(" \t\n&|;<>()")
_PLAIN = re.compile(r"(?:[^\\\s'\"`$&|;<>()]|\\[!-~ ])+")
_RAW = re.compile(r"'[^']*'")
_QUOTED = re.compile(r'(?:[^\\"$`]|\\(?s:.))+')
#: What a backslash between double quotes is not written for itself before.
_ESCAPED = re.compile(r'\\(\n|[\\"$`])')
_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*|[?#$])|\{([A-Za-z_]\w*|[?#$])\})", re.ASCII)
#: Behind an escaped row a name goes on; of an unbraced one zsh takes a part behind the others.
_GOES_ON = ("\\\n", "[", ":")
#: A sign that stands for itself between double quotes, as at the end of a pattern.
_DOLLAR = re.compile(r'\$(?=["|) ])')
#: All that may stand between braces which are no list of words.
_BRACES = re.compile(r"\{[\w^-]*\}")
_GLOB = re.compile(r"[*?\[]")
#: bash looks up a home behind these, but for one that runs as sh.
_INNER_TILDE = re.compile(r"[=:]~")

_Parts = Sequence[Text | Variable | Substitution]


class WordReader(Cursor, ABC):
    @abstractmethod
    def some(self, *closers: str) -> Block:
        """The commands up to one of ``closers``, which is left; there is at least one."""

    @abstractmethod
    def inner(self, start: int, end: int) -> Block:
        """The commands that are all there is from ``start`` to ``end``."""

    def word(self) -> Written:
        """:raises NotUnderstoodError: also where none begins"""
        start = self.at
        parts: list[Text | Variable | Substitution] = []
        sections: list[str] = []
        while self.at < self.end and self.sign not in ENDS_WORD:
            section = self.at
            parts += self._section()
            sections.append(self.line[section : self.at])
        if not sections:
            raise self.unknown()
        _require_no_list(sections)
        if sections == ["["]:  # the program: no pattern without the other bracket
            parts = [Text("[")]
        whole = len(sections) == 1 and sections[0].startswith('"')
        return Written(tuple(parts), start, self.at, whole)

    def _section(self) -> _Parts:
        match self.sign:
            case "'":
                return [self._raw()]
            case '"':
                return self._quoted()
            case "$" | "`":
                return [self._expansion(quoted=False)]
            case _:
                return [self._plain()]

    def _plain(self) -> Text:
        written = self.pass_over(_PLAIN)
        if _INNER_TILDE.search(written):
            raise NotUnderstoodError("a home may be looked up in a word of it")
        is_glob = _GLOB.search(re.sub(r"\\.", "", written)) is not None
        return Text(re.sub(r"\\(.)", r"\1", written), is_glob)

    def _raw(self) -> Text:
        if self.match(_RAW) is None:
            raise NotUnderstoodError("it is no complete line")
        return Text(self.pass_over(_RAW)[1:-1])

    def _quoted(self) -> _Parts:
        parts: list[Text | Variable | Substitution] = [Text("")]
        self.at += 1
        while self.at < self.end:
            if self.sign == '"':
                self.at += 1
                return parts
            if self.sign in "$`":
                parts.append(self._expansion(quoted=True))
            else:
                text = self.pass_over(_QUOTED)
                parts.append(Text(_ESCAPED.sub(lambda each: each[1].strip("\n"), text)))
        raise NotUnderstoodError("it is no complete line")

    def _expansion(self, *, quoted: bool) -> Text | Variable | Substitution:
        if self.sign == "`":
            return self._backquoted(quoted=quoted)
        if self.starts("$("):
            return self._substitution(quoted=quoted)
        if quoted and self.match(_DOLLAR):
            self.at += 1
            return Text("$")
        return self._variable(quoted=quoted)

    def _variable(self, *, quoted: bool) -> Variable:
        found = self.match(_VARIABLE)
        if found is None:
            raise self.unknown()
        unbraced, braced = found[1], found[2]
        self.at = found.end()
        goes_on = self.starts(*_GOES_ON[: 1 if braced else None])
        if goes_on or (unbraced and not self.sign.isascii()):  # to zsh and ksh a letter of the name
            raise self.unknown()
        return Variable(unbraced or braced, found[0], quoted)

    def _substitution(self, *, quoted: bool) -> Substitution:
        start = self.at
        if self.starts("$(("):
            raise self.unknown()
        self.at += len("$(")
        block = self.some(")")
        self.at += 1
        _require_new_enough(self.line[start : self.at])
        return Substitution(block, quoted)

    def _backquoted(self, *, quoted: bool) -> Substitution:
        """What a backslash means between backquotes, and a quote where they are quoted themselves,
        is another thing in each shell."""
        start = self.at + 1
        end = self.line.find("`", start, self.end)
        text = self.line[start:end]
        if end < 0 or "\\" in text or (quoted and '"' in text):
            raise self.unknown()
        _require_new_enough(text)
        block = self.inner(start, end)
        self.at = end + 1
        return Substitution(block, quoted)


def _require_no_list(sections: Sequence[str]) -> None:
    """That braces in a word do not stand for several."""
    plain = ("\0" if each[0] in "'\"$`" else _BRACES.sub("", each) for each in sections)
    if set("".join(plain)) & set("{}"):
        raise NotUnderstoodError("it has braces that may stand for several words")


def _require_new_enough(text: str) -> None:
    """The old bash of macOS counts the brackets in a here-document and in a comment."""
    if sys.platform == "darwin" and ("<<" in text or "#" in text):
        raise NotUnderstoodError("where what it substitutes ends is not certain")
