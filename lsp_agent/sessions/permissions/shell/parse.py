"""A command line, read by tree-sitter's grammar of bash.

Only what is in the tables of this module is understood, so that what the grammar may learn or
take for something else is not. How commands are joined is read from their operators, as a shell
does it: the grammar lets a redirection bind more loosely.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lsp_agent.sessions.permissions.shell.flow import (
    Flow,
    changed_to,
    changing,
    merged,
    staying,
)
from lsp_agent.sessions.permissions.shell.line import HERE, Command, Line, Way, Word
from lsp_agent.sessions.permissions.shell.tree import (
    NotUnderstoodError,
    branches,
    operands,
    tree_of,
)
from lsp_agent.sessions.permissions.shell.words import Words
from lsp_agent.text.plain import is_seen

if TYPE_CHECKING:
    from tree_sitter import Node

#: In characters.
LONGEST_LINE = 4096
_MOST_COMMANDS = 64
_MOST_WORDS = 64
_DEEPEST = 40
#: None that a program, a loader or a shell obeys: ``PATH``, zsh's ``path``.
_LOOP_VARIABLE = re.compile(r"(?!\w*path)[a-z][a-z0-9_]*")
_REDIRECTIONS = ("file_redirect", "herestring_redirect", "heredoc_redirect")
_JOINS = frozenset({"&&", "||", "|", "|&", ";", "&", "\n"})


def parse(line: str) -> Line:
    """Of a line that is longer or deeper than any that a person would write nothing is said."""
    if len(line) > LONGEST_LINE:
        return Line((), "it is too long")
    if not all(is_seen(row) for row in re.split(r"[\n\t]", line)):
        return Line((), "it has signs that do not show")
    source = line.encode()
    reader = _Reader(source)
    try:
        reader.block(tree_of(source).children, HERE, 0)
    except NotUnderstoodError as error:
        return Line(reader.commands, str(error))
    return Line(reader.commands)


@dataclass(slots=True)
class _Part:
    """What stands between two operators; ``redirections`` are those behind it."""

    node: "Node"
    redirections: list["Node"] = field(default_factory=list["Node"])


class _Reader:
    """Collects the commands of one line."""

    def __init__(self, source: bytes) -> None:
        self.commands: list[Command] = []
        self._source = source
        self._words = Words(source, self.block)

    def block(self, nodes: Sequence["Node"], ways: frozenset[Way], depth: int) -> Flow:
        """A sequence of lists, as between ``do`` and ``done``."""
        if depth > _DEEPEST:
            raise NotUnderstoodError("it is nested too deeply")
        tokens = _with_breaks(token for node in nodes for token in self._flat(node, depth))
        flow = staying(ways)
        for and_or, end in _split(tokens, {";", "&", "\n"}):
            done = self._and_or(and_or, flow.either, depth)
            # In the background it runs beside what follows.
            flow = staying(flow.either | done.either) if end == "&" else done
        return flow

    def _flat(self, node: "Node", depth: int) -> Iterator[_Part | str]:
        """Parts and operators, in the order in which they are written."""
        if depth > _DEEPEST:
            raise NotUnderstoodError("it is nested too deeply")
        match node.type:
            case "comment":
                return
            case "list" | "pipeline":
                for child in node.children:
                    yield from self._flat(child, depth + 1)
            case "redirected_statement":
                yield from self._redirected(node, depth)
            case operator if not node.is_named:
                if operator not in _JOINS:
                    raise self._words.unknown(node)
                yield operator
            case _:
                yield _Part(node)

    def _redirected(self, node: "Node", depth: int) -> Iterator[_Part | str]:
        inner = node.child_by_field_name("body")
        if inner is None:
            raise self._words.unknown(node)
        tokens = list(self._flat(inner, depth + 1))
        last = tokens[-1]
        if not isinstance(last, _Part):
            raise self._words.unknown(node)
        last.redirections += [child for child in node.children if child != inner]
        yield from tokens

    def _and_or(self, tokens: list[_Part | str], ways: frozenset[Way], depth: int) -> Flow:
        flow, before = staying(ways), ""
        for pipeline, operator in _split(tokens, {"&&", "||"}):
            if before == "":
                flow = self._pipeline(pipeline, ways, depth)
            elif before == "&&":
                done = self._pipeline(pipeline, flow.well, depth)
                flow = Flow(done.well, flow.ill | done.ill)
            else:
                done = self._pipeline(pipeline, flow.ill, depth)
                flow = Flow(flow.well | done.well, done.ill)
            before = operator
        return flow

    def _pipeline(self, tokens: list[_Part | str], ways: frozenset[Way], depth: int) -> Flow:
        parts = [token for token in tokens if isinstance(token, _Part)]
        flows = [self._part(part, ways, depth) for part in parts]
        # Some shells run the last part of a pipe themselves, and so change their folder.
        return flows[0] if len(flows) == 1 else merged([staying(ways), *flows])

    def _part(self, part: _Part, ways: frozenset[Way], depth: int) -> Flow:
        node = part.node
        match node.type:
            case "command":
                return self._command(node, part.redirections, ways)
            case "test_command":
                return self._test(node, part.redirections, ways)
            case "negated_command":
                inner = _Part(node.children[-1], part.redirections)
                return self._part(inner, ways, depth + 1).not_()
            case _:
                return self._compound(part, ways, depth)

    def _compound(self, part: _Part, ways: frozenset[Way], depth: int) -> Flow:
        node = part.node
        for redirection in part.redirections:
            if self._opens(redirection, ways) != ((), ()):
                raise self._words.unknown(redirection)
        match node.type:
            case "subshell":
                self.block(node.children[1:-1], ways, depth + 1)
                return staying(ways)
            case "compound_statement":
                return self.block(node.children[1:-1], ways, depth + 1)
            case "if_statement":
                return self._if(node, ways, depth + 1)
            case "for_statement":
                return self._for(node, ways, depth + 1)
            case _:
                raise self._words.unknown(node)

    def _if(self, node: "Node", ways: frozenset[Way], depth: int) -> Flow:
        """Its conditions and its branches, whichever is taken, one after the other."""
        clauses = [c for c in node.children if c.type in ("elif_clause", "else_clause")]
        own = [child for child in node.children if child not in clauses]
        flows = [staying(ways)]
        for rows in branches(own):
            flows.append(self.block(rows, merged(flows).either, depth))
        for clause in clauses:
            flows.append(self._if(clause, merged(flows).either, depth))
        return merged(flows)

    def _for(self, node: "Node", ways: frozenset[Way], depth: int) -> Flow:
        children = node.children
        names = [child for child in children if child.type == "variable_name"]
        body = node.child_by_field_name("body")
        if children[0].type != "for" or len(names) != 1 or body is None:
            raise self._words.unknown(node)
        name = self._words.text(names[0])
        # Of an outer loop it would have another value from here on.
        if not _LOOP_VARIABLE.fullmatch(name) or name in self._words.bound:
            raise self._words.unknown(names[0])
        named = [child for child in children[3:] if child.is_named and child != body]
        values = [self._words.word(child, ways) for child in named]
        if not values or children[2].type != "in":
            raise self._words.unknown(node)
        found = [self._words.is_glob(child) for child in named]
        flow = staying(ways)
        outer, outer_found = self._words.bound, self._words.found
        for value, is_found in zip(values, found, strict=True):
            if value is None:
                raise NotUnderstoodError(f"what {name} is is not written in it")
            if is_found:  # which files there are, is then known
                head = self._source[node.start_byte : named[-1].end_byte].decode()
                self._add(Command(("echo", value), head, frozenset({1}), ways=ways), ())
            self._words.bound = {**outer, name: value}
            self._words.found = outer_found | ({name} if is_found else set())
            flow = merged([flow, self.block(body.children[1:-1], ways, depth)])
        self._words.bound, self._words.found = outer, outer_found
        if flow.either != ways:  # and so elsewhere again the next time
            raise NotUnderstoodError("a loop changes the folder")
        return flow

    def _command(self, node: "Node", redirections: Sequence["Node"], ways: frozenset[Way]) -> Flow:
        words: list[Word] = []
        globs: set[int] = set()
        whole: set[int] = set()
        behind = list(redirections)
        end = node.end_byte
        for child in node.children:
            if child.type in _REDIRECTIONS:
                behind.append(child)
                end = min(end, child.start_byte)
            elif end < child.start_byte:  # what is run would not be one piece of the line
                raise self._words.unknown(child)
            else:
                named = child.children[0] if child.type == "command_name" else child
                word = self._words.word(named, ways)
                if self._words.is_glob(named):
                    globs.add(len(words))
                    self._require_file(named, word, first=not words)
                whole |= {len(words)} if named.type == "string" else set()
                words.append(word)
        source = self._source[node.start_byte : end].decode().rstrip()
        read = Command(tuple(words), source, frozenset(globs), ways=ways, whole=frozenset(whole))
        command = self._add(read, behind)
        if words[0] is None:
            raise NotUnderstoodError("the program that it runs is not written in it")
        if words[0] not in ("cd", "pushd", "popd"):
            return staying(ways)
        folder = changed_to(command.words)
        if folder is None:
            raise NotUnderstoodError("the folder that it changes to is not written in it")
        return changing(ways, folder)

    def _require_file(self, node: "Node", word: Word, *, first: bool) -> None:
        """What a shell has found for a loop is no program and no part of an option."""
        if self._words.is_found(node) and (first or (word or "").startswith("-")):
            raise NotUnderstoodError(f"what {self._words.text(node)} is is not written in it")

    def _test(self, node: "Node", redirections: Sequence["Node"], ways: frozenset[Way]) -> Flow:
        """``[ … ]``, which is a program with these words."""
        if node.children[0].type != "[":
            raise self._words.unknown(node)
        leaves = list(operands(node.children[1:-1]))
        if any(map(self._words.is_glob, leaves)):
            raise self._words.unknown(node)
        inner = [self._words.word(leaf, ways) for leaf in leaves]
        self._add(Command(("[", *inner, "]"), self._words.text(node), ways=ways), redirections)
        return staying(ways)

    def _add(self, command: Command, redirections: Sequence["Node"]) -> Command:
        reads: tuple[Word, ...] = ()
        writes: tuple[Word, ...] = ()
        for redirection in redirections:
            read, written = self._opens(redirection, command.ways)
            reads, writes = reads + read, writes + written
        if len(command.words) > _MOST_WORDS or len(self.commands) == _MOST_COMMANDS:
            raise NotUnderstoodError("it is too long")
        command = replace(command, reads=reads, writes=writes)
        self.commands.append(command)
        return command

    def _opens(
        self, node: "Node", ways: frozenset[Way]
    ) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        """The files that a redirection reads from and writes to."""
        if node.type == "heredoc_redirect":
            self._words.require_plain_heredoc(node)
            return (), ()
        children = [child for child in node.children if child.type != "file_descriptor"]
        if node.type not in _REDIRECTIONS or len(children) != 2:
            raise self._words.unknown(node)
        operator, word = children[0].type, self._words.word(children[1], ways)
        if operator == "<<<" or (operator == ">&" and word in ("1", "2")):
            return (), ()
        if operator == "<":
            return (word,), ()
        if operator in (">", ">>", "&>", "&>>", ">|"):
            return (), () if word == "/dev/null" else (word,)
        raise self._words.unknown(node)


def _with_breaks(tokens: Iterable[_Part | str]) -> list[_Part | str]:
    """With a break where two parts stand beside each other, which are then in two rows."""
    found: list[_Part | str] = []
    for token in tokens:
        if isinstance(token, _Part) and found and isinstance(found[-1], _Part):
            found.append("\n")
        found.append(token)
    return found


def _split(
    tokens: list[_Part | str], operators: set[str]
) -> Iterator[tuple[list[_Part | str], str]]:
    """The tokens between the operators, each with the one behind it, if any."""
    piece: list[_Part | str] = []
    for token in tokens:
        if isinstance(token, str) and token in operators:
            if piece:
                yield piece, token
            piece = []
        else:
            piece.append(token)
    if piece:
        yield piece, ""
