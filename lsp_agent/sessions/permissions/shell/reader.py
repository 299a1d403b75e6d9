"""Reads a command line by the grammar of POSIX (Shell Command Language, 2.10), of which it knows
the part that agents write and that all shells take alike; bash's ``|&``, ``&>`` and ``<<<`` too.

Whatever is not plainly of that part is not understood, so that a gap in here asks a question too
many and lets no command through. Pure.
"""

import re
from collections.abc import Collection

from lsp_agent.sessions.permissions.shell.word_reader import ENDS_WORD, WordReader
from lsp_agent.sessions.permissions.shell.written import (
    AndOr,
    Block,
    For,
    Group,
    If,
    Join,
    NotUnderstoodError,
    Part,
    Pipeline,
    Redirection,
    Simple,
    Written,
)

_DEEPEST = 40
_ASSIGNMENT = re.compile(r"\w+(?:\[.*\])?\+?=")
#: None that a program, a loader or a shell obeys: ``PATH``, zsh's ``path``.
_LOOP_VARIABLE = re.compile(r"(?!\w*path)[a-z][a-z0-9_]*(?=[ \t])", re.ASCII)
#: With the descriptor before it, of one digit.
_REDIRECTION = re.compile(r"[0-9]?(<<<|<<|<|>>|>\||>&|>)|(&>>|&>)")
#: zsh puts the descriptor into it, also with a blank between.
_VARIABLE_SET = re.compile(r"\{\w+\}")
#: Alone at the end of its row.
_DELIMITER = re.compile(r"(['\"]?)([A-Za-z_]+)\1\n")
#: What ends the commands before it.
_CLOSER = re.compile(r"\)|(?:then|elif|else|fi|done|\})(?=[ \t\n;&|<>)]|\Z)")
#: What commands follow, in this row or the next.
_OPENER = re.compile(r"(?:if|then|elif|else|do|[{!])(?=[ \t\n])")
_FOR = re.compile(r"for(?=[ \t])")
_IN = re.compile(r"in(?=[ \t])")
#: No programs, where they stand first.
_OF_THE_SHELL = frozenset(
    {"[[", "]]", "if", "then", "elif", "else", "fi", "for", "in", "do", "done", "case", "esac"}
    | {"while", "until", "select", "function", "time", "coproc"}
    | {"declare", "export", "local", "readonly", "typeset", "unset"}
)


def read(line: str) -> Block:
    """:raises NotUnderstoodError:"""
    return _Reader(line, 0, len(line), 0).whole()


class _Reader(WordReader):
    """Of what stands ``depth`` deep in a line."""

    def __init__(self, line: str, at: int, end: int, depth: int) -> None:
        super().__init__(line, at, end)
        self._depth = depth

    def whole(self) -> Block:
        return self._block({""})

    def inner(self, start: int, end: int) -> Block:
        return _Reader(self.line, start, end, self._depth).some("")

    def some(self, *closers: str) -> Block:
        block = self._block(closers)
        if not block:  # to a shell ``{}`` is a program's name
            raise self.unknown()
        return block

    def _block(self, closers: Collection[str]) -> Block:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotUnderstoodError("it is nested too deeply")
        found: list[AndOr] = []
        self.rows()
        while self._closer() not in closers:
            pipelines = self._and_or()
            in_background = self.take("&")
            is_apart = in_background or self.take(";")
            self.comment()
            is_apart = is_apart or self.sign in ("\n", ")", "")
            self.rows()
            if not is_apart:
                raise self.unknown()
            found.append(AndOr(pipelines, in_background))
        self._depth -= 1
        return tuple(found)

    def _closer(self) -> str | None:
        """That of a block, if one stands here; nothing at the end."""
        found = self.match(_CLOSER)
        if self.at < self.end:
            return found[0] if found is not None else None
        return ""

    def _close(self, closer: str) -> None:
        if self._closer() != closer:
            raise self.unknown()
        self.at += len(closer)

    def _and_or(self) -> tuple[tuple[Join, Pipeline], ...]:
        pipelines: list[tuple[Join, Pipeline]] = [("", self._pipeline())]
        joins: tuple[Join, Join] = ("&&", "||")
        while join := next(filter(self.take, joins), None):
            self.rows()
            pipelines.append((join, self._pipeline()))
        return tuple(pipelines)

    def _pipeline(self) -> Pipeline:
        negated, with_errors = self._opener("!"), False
        parts = [self._part()]
        while (both := self.take("|&")) or self.take("|"):
            with_errors = with_errors or both
            self.rows()
            parts.append(self._part())
        return Pipeline(tuple(parts), negated, with_errors)

    # -- commands

    def _part(self) -> Part:
        self.blanks()
        if self.starts("((") or self.sign == "":
            raise self.unknown()
        if self.sign == "(":
            self.at += 1
            return self._group(")")
        if self._opener("{"):
            return self._group("}")
        if self._opener("if"):
            return self._if()
        if self.match(_FOR):
            return self._for()
        return self._simple()

    def _group(self, closer: str) -> Group:
        block = self.some(closer)
        self._close(closer)
        return Group(block, closer == ")", self._redirections())

    def _if(self) -> If:
        blocks = [self.some("then"), self._then()]
        while self._opener("elif"):
            blocks += [self.some("then"), self._then()]
        if self._opener("else"):
            blocks.append(self.some("fi"))
        self._close("fi")
        return If(tuple(blocks), self._redirections())

    def _then(self) -> Block:
        if not self._opener("then"):
            raise self.unknown()
        return self.some("elif", "else", "fi")

    def _for(self) -> For:
        start = self.at
        self.pass_over(_FOR)
        self.blanks()
        name = self.pass_over(_LOOP_VARIABLE)
        self.blanks()
        self.pass_over(_IN)
        values = self._words()
        self.take(";")
        self.rows()
        if not values or not self._opener("do"):
            raise self.unknown()
        block = self.some("done")
        self._close("done")
        source = self.line[start : values[-1].end]
        return For(name, values, source, block, self._redirections())

    def _opener(self, word: str) -> bool:
        """Whether this keyword stands here; it is passed over."""
        self.blanks()
        found = self.match(_OPENER)
        if found is None or found[0] != word:
            return False
        self.at = found.end()
        return True

    def _simple(self) -> Simple:
        start = self.at
        words = self._words()
        first = self.line[start : words[0].end] if words else ""
        last = self.line[words[-1].start : words[-1].end] if words else ""
        if not words or _ASSIGNMENT.match(first) or first in _OF_THE_SHELL or set(first) & {*"{}!"}:
            self.at = start
            raise self.unknown()
        redirections = self._redirections()
        if redirections and _VARIABLE_SET.fullmatch(last):
            raise NotUnderstoodError("a variable may be set by a redirection")
        return Simple(words, self.line[start : words[-1].end], redirections)

    def _words(self) -> tuple[Written, ...]:
        """Behind each other in a row."""
        words: list[Written] = []
        self.blanks()
        while not (self.sign == "" or self.sign in ENDS_WORD or self.sign == "#"):
            if self.match(_REDIRECTION):
                break
            words.append(self.word())
            self.blanks()
        return tuple(words)

    def _redirections(self) -> tuple[Redirection, ...]:
        found: list[Redirection] = []
        self.blanks()
        while sign := self.match(_REDIRECTION):
            if self.line[self.at - 1] not in " \t)":  # `a5>b`: whose the digit is
                raise self.unknown()
            self.at = sign.end()
            operator = sign[1] or sign[2]
            self.blanks()
            if operator == "<<":
                self._heredoc()
                return (*found, Redirection(operator, None))
            found.append(Redirection(operator, self.word()))
            self.blanks()
        return tuple(found)

    def _heredoc(self) -> None:
        """One that is nothing but text up to its end, and the last of its row."""
        begin = self.match(_DELIMITER)
        if begin is None:
            raise self.unknown()
        name = begin[2]
        last = re.compile(rf"^{name}$", re.MULTILINE).search(self.line, begin.end(), self.end)
        if last is None:
            raise NotUnderstoodError("it is no complete line")
        body = self.line[begin.end() : last.start()]
        # Some end it at a row that is indented.
        if name in map(str.strip, body.split("\n")) or (not begin[1] and set(body) & {*"$`\\"}):
            raise self.unknown()
        self.at = last.end()
