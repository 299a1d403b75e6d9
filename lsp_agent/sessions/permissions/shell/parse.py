"""What a command line runs: each command, and the folders that it may run in.

Nothing is said of a line of which anything is not understood.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from lsp_agent.sessions.permissions.shell.flow import Flow, changed_to, changing, merged, staying
from lsp_agent.sessions.permissions.shell.line import HERE, Command, Line, Way, Word
from lsp_agent.sessions.permissions.shell.reader import read
from lsp_agent.sessions.permissions.shell.words import Bound, is_found, is_glob, word
from lsp_agent.sessions.permissions.shell.written import (
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
from lsp_agent.text.plain import is_seen

#: In characters.
LONGEST_LINE = 4096
_MOST_COMMANDS = 64
_MOST_WORDS = 64
_TO_FILES = frozenset({">", ">>", "&>", "&>>", ">|"})
#: To dash the sign before it ends all that is joined to the command by ``&&``, ``||`` and ``|``,
#: which runs in the background then; so does ``|&`` to ksh.
_BACKGROUND = frozenset({"&>", "&>>"})


def parse(line: str) -> Line:
    """Of a line that is longer or deeper than any that a person would write nothing is said."""
    if len(line) > LONGEST_LINE:
        return Line((), "it is too long")
    if not all(is_seen(row) for row in re.split(r"[\n\t]", line)):
        return Line((), "it has signs that do not show")
    run = _Run()
    try:
        run.block(read(line), HERE, Bound())
    except NotUnderstoodError as error:
        return Line((), str(error))
    return Line(run.commands)


class _Run:
    """Collects the commands of one line."""

    def __init__(self) -> None:
        self.commands: list[Command] = []

    def block(self, block: Block, ways: frozenset[Way], bound: Bound) -> Flow:
        flow = staying(ways)
        for and_or in block:
            done = self._and_or(and_or.pipelines, flow.either, bound)
            # In the background it runs beside what follows.
            flow = staying(flow.either | done.either) if and_or.in_background else done
        return flow

    def _and_or(
        self, pipelines: Sequence[tuple[Join, Pipeline]], ways: frozenset[Way], bound: Bound
    ) -> Flow:
        flow = staying(ways)
        for before, pipeline in pipelines:
            if flow.either != ways and _may_end_it(pipeline):
                raise NotUnderstoodError("in which folder a part of it runs is not certain")
            if before == "":
                flow = self._pipeline(pipeline, ways, bound)
            elif before == "&&":
                done = self._pipeline(pipeline, flow.well, bound)
                flow = Flow(done.well, flow.ill | done.ill)
            else:
                done = self._pipeline(pipeline, flow.ill, bound)
                flow = Flow(flow.well | done.well, done.ill)
        return flow

    def _pipeline(self, pipeline: Pipeline, ways: frozenset[Way], bound: Bound) -> Flow:
        flows = [self._part(part, ways, bound) for part in pipeline.parts]
        # Some shells run the last part of a pipe themselves, and so change their folder.
        flow = flows[0] if len(flows) == 1 else merged([staying(ways), *flows])
        return flow.not_() if pipeline.negated else flow

    def _part(self, part: Part, ways: frozenset[Way], bound: Bound) -> Flow:
        if isinstance(part, Simple):
            return self._simple(part, ways, bound)
        opened = [self._opens(each, ways, bound) for each in part.redirections]
        if _may_be_left(part) or any(each != ((), ()) for each in opened):
            raise NotUnderstoodError("several commands are led to or from a file")
        match part:
            case Group():
                flow = self.block(part.block, ways, bound)
                return staying(ways) if part.is_subshell else flow
            case If():
                flows = [staying(ways)]
                for block in part.blocks:  # whichever is taken
                    flows.append(self.block(block, merged(flows).either, bound))
                return merged(flows)
            case For():
                return self._for(part, ways, bound)

    def _for(self, loop: For, ways: frozenset[Way], bound: Bound) -> Flow:
        if loop.name in bound.values:  # of the outer loop it would have another value from here on
            raise NotUnderstoodError(f"{loop.name} is two loops' variable")
        values = [self._word(value, ways, bound) for value in loop.values]
        flow = staying(ways)
        for value, written in zip(values, loop.values, strict=True):
            if value is None:
                raise NotUnderstoodError(f"what {loop.name} is is not written in it")
            if found := is_glob(written, bound):  # which files there are, is then known
                self._add(Command(("echo", value), loop.source, frozenset({1}), ways=ways))
            inner = bound.with_value(loop.name, value, is_found=found)
            flow = merged([flow, self.block(loop.block, ways, inner)])
        if flow.either != ways:  # and so elsewhere again the next time
            raise NotUnderstoodError("a loop changes the folder")
        return flow

    def _simple(self, simple: Simple, ways: frozenset[Way], bound: Bound) -> Flow:
        words = tuple(self._word(each, ways, bound) for each in simple.words)
        numbered = list(enumerate(simple.words))
        for number, written in numbered:
            # What a shell has found for a loop is no program and no part of an option.
            if is_found(written, bound) and (not number or (words[number] or "").startswith("-")):
                raise NotUnderstoodError("a program or an option is not written in it")
        command = Command(
            words,
            simple.source,
            frozenset(number for number, written in numbered if is_glob(written, bound)),
            ways=ways,
            whole=frozenset(number for number, written in numbered if written.whole),
        )
        for redirection in simple.redirections:
            reads, writes = self._opens(redirection, ways, bound)
            command = replace(
                command, reads=(*command.reads, *reads), writes=(*command.writes, *writes)
            )
        self._add(command)
        if words[0] is None:
            raise NotUnderstoodError("the program that it runs is not written in it")
        if words[0] not in ("cd", "pushd", "popd"):
            return staying(ways)
        folder = changed_to(words)
        if folder is None or _may_be_left(simple):
            raise NotUnderstoodError("the folder that it changes to is not written in it")
        return changing(ways, folder)

    def _add(self, command: Command) -> None:
        if len(command.words) > _MOST_WORDS or len(self.commands) == _MOST_COMMANDS:
            raise NotUnderstoodError("it is too long")
        self.commands.append(command)

    def _opens(
        self, redirection: Redirection, ways: frozenset[Way], bound: Bound
    ) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        """The files that a redirection reads from and writes to."""
        if redirection.target is None:
            return (), ()
        operator, target = redirection.operator, self._word(redirection.target, ways, bound)
        if operator == "<<<" or (operator == ">&" and target in ("1", "2")):
            return (), ()
        if operator == "<":
            return (target,), ()
        if operator in _TO_FILES:
            return (), () if target == "/dev/null" else (target,)
        raise NotUnderstoodError(f"`{operator}{target}` is more than is understood")

    def _word(self, written: Written, ways: frozenset[Way], bound: Bound) -> Word:
        return word(written, bound, lambda block: self.block(block, ways, bound))


def _may_end_it(pipeline: Pipeline) -> bool:
    return pipeline.with_errors or any(map(_may_be_left, pipeline.parts))


def _may_be_left(part: Part) -> bool:
    """Whether it may run in the background."""
    return any(each.operator in _BACKGROUND for each in part.redirections)
