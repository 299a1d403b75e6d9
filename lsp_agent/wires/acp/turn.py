"""One turn of an ACP agent: from the sending of ``session/prompt`` to its response.

Agents name a call first in an update, in a request for permission or only in its failure, tell
its arguments late and may never tell its end; a turn makes of that exactly one ``ToolCall`` and
one ``ToolResult`` a call, in steps of its own making.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from types import MappingProxyType
from typing import Literal

from lsp_agent.protocol.catalogue import AcpHabits, Level
from lsp_agent.protocol.events import (
    AssistantMessage,
    ErrorReported,
    Notice,
    Plan,
    StepEnded,
    StepStarted,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolCallStarted,
    ToolKind,
    ToolProgress,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from lsp_agent.protocol.messages import Block, Message, PlanEntry, plain_text, text
from lsp_agent.toolset.loose_json import Frame, frame, string
from lsp_agent.wires.acp import messages as acp
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.open_calls import missing_result
from lsp_agent.wires.wire import Approve


@dataclass(slots=True)
class _Call:
    id: str
    tool: str
    kind: ToolKind = "other"
    args: object = None
    paths: tuple[str, ...] = ()
    #: "asked" is one that was asked about under the id of one that has ended, and not told of yet.
    state: Literal["asked", "started", "called", "ended"] = "started"
    #: What named it last.
    naming: Frame = field(default_factory=dict[str, object])
    #: All that was printed so far, and in pieces what a terminal of the agent's own has printed.
    shown: str = ""
    printed: list[str] = field(default_factory=list[str])
    refusal: str | None = None
    #: Why its last request for a file was refused.
    not_served: str | None = None

    def learn(self, update: Frame) -> None:
        """What an update leaves out stays as it was. A permission may be asked in terms of its
        own, so what is known of the call is kept once it was told."""
        if self.is_told:
            return
        self.tool = acp.tool_name(update) or self.tool
        if name := string(update, "kind"):
            self.kind = acp.tool_kind(name)
        self.naming = {**self.naming, **acp.naming(update)}
        self.args = update.get("rawInput") or self.args
        if self.kind != "command":  # whose location is the folder that it runs in
            self.paths = acp.call_paths(update) or self.paths

    @property
    def is_told(self) -> bool:
        return self.state in ("called", "ended")

    @property
    def is_open(self) -> bool:
        """Whether it was begun, and has no result yet."""
        return self.state in ("started", "called")

    @property
    def told_enough(self) -> bool:
        """Whether what it will do can be said while its arguments may still be coming."""
        match self.kind:
            case "command":
                return bool(acp.command_of(self.args))
            case "read" | "edit":
                return bool(self.paths and self.args)
            case "other":
                return False


class Turn:
    """``aborted`` is set by whoever asked for the abort; ``left`` are the calls that the turn
    before has left open, with their arguments, of which the agent may still tell."""

    def __init__(
        self,
        request_id: str,
        prompt: Message,
        habits: AcpHabits,
        left: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        self.request_id = request_id
        self.aborted = False
        self.begun = False
        #: The agent has said that it fails, before it says why.
        self.failing = False
        self._prompt = prompt
        self._habits = habits
        self._left = left
        #: The agent's own last words, where they are of a failure.
        self._failure: str | None = None
        #: The last words, where they were told as the model's and may be of a failure.
        self._seeming: str | None = None
        self._step = 1
        self._calls: dict[str, _Call] = {}
        #: A call was made in this step, so what the model says next is the next one's.
        self._has_calls = False
        #: The last that came is a piece of the model's words by no name, so the next one may be.
        self._goes_on = False
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._plan: tuple[PlanEntry, ...] = ()

    def begin(self, batch: Batch) -> None:
        self.begun = True
        batch.add(TurnStarted(plain_text(self._prompt["content"])))
        batch.add(UserMessage(self._prompt))
        batch.add(StepStarted(self._step))

    def own_words(self, kind: str, update: Frame) -> Level | None:
        """Whether a message's piece is not of the model's words but of the agent's own."""
        goes_on, self._goes_on = self._goes_on, False
        self._seeming = None
        if kind != "agent_message_chunk" or "messageId" in update:
            return None
        if self.failing:
            return "error"
        own = self._habits.own_words
        said = acp.chunk_text(update) if own else ""
        level: Level | None = next((own[each] for each in own if said.startswith(each)), None)
        if goes_on:
            self._seeming = said if level == "error" else None
            level = None
        self._goes_on = level is None
        return level

    def interrupted(self) -> None:
        """Something else was told, so what comes next may be another message's."""
        self._goes_on = False

    def report(self, level: Level, words: str, batch: Batch) -> None:
        """Own words of the agent's. An error is the turn's, if it is the last that is said."""
        self._went_on(batch)
        if level == "error":
            self._failure = _reason(words)
        else:
            batch.add(Notice(level, words.strip(), "agent"))

    @property
    def failure(self) -> str | None:
        """Why it failed, by the last words of an agent that ends such a turn well."""
        if self._failure is None and self._seeming is not None:
            return _reason(self._seeming)
        return self._failure

    def _went_on(self, batch: Batch) -> None:
        """What was reported did not end the turn."""
        if self._failure is not None:
            batch.add(Notice("warning", self._failure, "agent"))
            self._failure = None

    def say(self, delta: str, batch: Batch) -> None:
        self._went_on(batch)
        self._next_step(batch)
        self._text.append(delta)
        batch.add(TextDelta(delta))

    def think(self, delta: str, batch: Batch) -> None:
        self._next_step(batch)
        self._thoughts.append(delta)
        batch.add(ThinkingDelta(delta))

    def update(self, update: Frame, batch: Batch) -> None:
        """A ``tool_call`` or ``tool_call_update``."""
        self._went_on(batch)
        self._seeming = None
        call = self._sight(update, batch)
        if call is None:
            return
        content = update.get("content")
        if delta := acp.terminal_output(update):
            call.printed.append(delta)
            if string(update, "status") not in ("completed", "failed"):
                self._called(call, batch)
                batch.piece(ToolProgress, call.id, delta)
        match string(update, "status"):
            case "completed" | "failed" as status:
                self._called(call, batch)
                blocks = acp.result_blocks(content, update.get("rawOutput"))
                if call.not_served is not None:
                    blocks = acp.with_reason(blocks, call.not_served)
                if not blocks and call.printed:
                    blocks.append(text("".join(call.printed)))
                self._result(call, blocks, batch, is_error=status == "failed")
            case status:
                if self._tells_all(call, content) or (status == "in_progress" and call.args):
                    self._called(call, batch)
                printed = "" if self._habits.describes_in_content else acp.content_text(content)
                if printed:
                    self._progress(call, printed, batch)

    def plan(self, update: Frame, batch: Batch) -> None:
        """Agents tell it in place of the call by which the model changed it, or beside that, so
        what the model says next is the next step's."""
        self._say_message(batch)
        self._has_calls = True
        entries = acp.plan(update)
        if entries != self._plan:
            self._plan = entries
            batch.add(Plan(entries))

    def asks(self, key: str, update: Frame, batch: Batch) -> Approve:
        """The agent asks whether it may make a call. It may ask in terms of its own, as "a folder
        outside", for a call whose path it has told before."""
        call_id = string(update, "toolCallId")
        call = self._calls.get(call_id)
        if call is not None and call.state in ("asked", "ended"):
            opened = None
            tool = acp.tool_name(update) or "tool"
            call = self._calls[call_id] = _Call(call_id, tool, state="asked")
            call.learn(update)
        else:
            opened = self._sight(update, batch)
            call = opened or _Call(call_id, acp.tool_name(update))
        asked = _Call(call_id, acp.tool_name(update) or call.tool)
        asked.learn(update)
        if asked.kind == "other":
            asked.kind = call.kind
        asked.args = asked.args if asked.told_enough or not call.args else call.args
        asked.paths = asked.paths or call.paths
        if opened is not None:
            self._called(opened, batch)
        if acp.searches_files(asked.tool, asked.args):
            asked.kind, asked.paths = "read", asked.paths or (".",)
        paths = asked.paths if asked.kind in ("read", "edit") else ()
        folder = acp.command_folder(asked.args) or acp.command_folder(call.args)
        judged = acp.judged_as(asked.kind, asked.args, paths)
        if judged is not None:
            return Approve(key, *judged, call_id or None, paths, folder)
        name = acp.named_tool(asked.kind, update, call.naming)
        tool = name or acp.not_ours(asked.tool or "tool")
        args = dict(frame(asked.args)) or acp.shown_args({**call.naming, **update})
        named = name is not None
        return Approve(key, tool, args, call_id or None, paths, folder, named=named)

    def refused(self, call_id: str, reason: str) -> None:
        """An agent may say nothing more of a call that it was refused."""
        if (call := self._calls.get(call_id)) is not None:
            call.refusal = reason

    def served(self, call_id: str, refused: str | None) -> None:
        """A request of the call's for a file was answered, ``refused`` for that reason: some
        agents hand on no word of it, and a few do not look."""
        if (call := self._calls.get(call_id)) is not None:
            call.not_served = refused

    def call_at(self, path: str, kind: ToolKind) -> str | None:
        """The open call that a file request for ``path`` is of; the last one where several are,
        the only one of its kind where none names the path."""
        opened = [call for call in self._calls.values() if call.state != "ended"]
        named = [call for call in opened if path in call.paths]
        if named:
            return named[-1].id
        alike = [call for call in opened if call.kind == kind]
        same = [call for call in alike if PurePath(path).name in map(_name, call.paths)]
        return same[-1].id if same else alike[0].id if len(alike) == 1 else None

    @property
    def left(self) -> Mapping[str, object]:
        """The calls that its end would close, with their arguments."""
        return {call.id: call.args for call in self._open_calls()}

    def end(self, reason: StopReason, error: str | None, batch: Batch) -> None:
        if self.aborted:
            reason, error = "aborted", None
        self._say_message(batch)
        for call in self._open_calls():
            self._called(call, batch)
            told = text(call.refusal) if call.refusal else missing_result(reason)
            self._result(call, [told], batch, is_error=True)
        if error is not None:
            batch.add(ErrorReported(error))
        batch.add(StepEnded(reason, error))
        batch.add(TurnEnded(reason, error))

    def _open_calls(self) -> list[_Call]:
        return [call for call in self._calls.values() if call.is_open]

    def _tells_all(self, call: _Call, content: object) -> bool:
        if self._habits.tells_arguments_singly and call.kind == "edit":
            return acp.has_diff(content)
        return call.told_enough

    def _sight(self, update: Frame, batch: Batch) -> _Call | None:
        """The call that an update is of, made known at its first; None if it has ended."""
        call_id = string(update, "toolCallId")
        call = self._calls.get(call_id)
        begins = string(update, "sessionUpdate") != "tool_call_update"
        if call is None and call_id and (begins or not self._is_late(call_id, update)):
            call = self._begin_call(call_id, update, batch)
        elif call is not None and (call.state == "asked" or (begins and call.state == "ended")):
            # A provider may count its ids anew in each step.
            self._next_step(batch)
            call = self._begin_call(call_id, update, batch)
        if call is None or call.state == "ended":
            batch.add(Notice("debug", "an update of a call that is not open", "agent"))
            return None
        call.learn(update)
        return call

    def _is_late(self, call_id: str, update: Frame) -> bool:
        """Whether it tells of a call that was left open. Agents say again of which kind one is
        and how it is titled, but one with other arguments is another."""
        args = update.get("rawInput")
        return call_id in self._left and (not args or args == self._left[call_id])

    def _begin_call(self, call_id: str, update: Frame, batch: Batch) -> _Call:
        call = self._calls.get(call_id)
        if call is None or call.state == "ended":
            call = self._calls[call_id] = _Call(call_id, acp.tool_name(update) or "tool")
        call.state = "started"
        batch.add(ToolCallStarted(call_id, call.tool))
        return call

    def _called(self, call: _Call, batch: Batch) -> None:
        if call.state == "started":
            call.state = "called"
            self._say_message(batch)
            self._has_calls = True
            batch.add(ToolCall(call.id, call.tool, call.kind, call.args, call.paths))

    def _progress(self, call: _Call, printed: str, batch: Batch) -> None:
        """``printed`` is all so far, or where it is not, something else in its place."""
        new = printed.removeprefix(call.shown)
        call.shown = printed
        if new:
            self._called(call, batch)
            batch.piece(ToolProgress, call.id, new)

    def _result(self, call: _Call, blocks: list[Block], batch: Batch, *, is_error: bool) -> None:
        call.state = "ended"
        batch.add(ToolResult(call.id, is_error=is_error, content=blocks))

    def _next_step(self, batch: Batch) -> None:
        if not self._has_calls:
            return
        for call in self._open_calls():
            if call.refusal is not None:
                self._result(call, [text(call.refusal)], batch, is_error=True)
        self._has_calls = False
        self._step += 1
        batch.add(StepEnded(None))
        batch.add(StepStarted(self._step))

    def _say_message(self, batch: Batch) -> None:
        """The message that the deltas so far make up."""
        content: list[Block] = []
        if thoughts := "".join(self._thoughts):
            content.append({"type": "thinking", "text": thoughts})
        if said := "".join(self._text):
            content.append(text(said))
        self._thoughts.clear()
        self._text.clear()
        if content:
            batch.add(AssistantMessage({"role": "assistant", "content": content}))


def _reason(words: str) -> str:
    return words.strip().removeprefix("Error: ")


def _name(path: str) -> str:
    return PurePath(path).name
