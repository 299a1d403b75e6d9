"""One prompt, from ``user_message`` to ``done``.

A turn is a task; stopping it is cancelling that task once. It then closes what is open, in the
way the wire has it: a streaming answer keeps the text so far and ends with ``turn_end{aborted}``;
of a step's calls the running one answers with how far it got, the others are not run and say
so, and ``done`` follows without a ``turn_end``. (zot runs the remaining calls even so.)

Beyond zot's wire, whose events and commands may grow: ``thinking_delta`` has what the model thinks,
and what comes by ``steer`` is a ``user_message`` between two steps; a turn does not end before it
was answered, unless it is stopped.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from lsp_agent.runtime import json_text
from lsp_agent.runtime.agent import CANCELED, Agent
from lsp_agent.runtime.compaction import compact_in_turn, fitted, make_room
from lsp_agent.runtime.extensions import Blocked
from lsp_agent.runtime.providers.provider import (
    CallArguments,
    CallEnded,
    CallStarted,
    Piece,
    Request,
    Stopped,
    TextPiece,
    ThinkingPiece,
    Waiting,
)
from lsp_agent.runtime.tools import outcome
from lsp_agent.runtime.tools.outcome import Outcome
from lsp_agent.runtime.tools.toolbox import ToolRun, unknown
from lsp_agent.runtime.transcript import (
    Block,
    Message,
    Native,
    Usage,
    message,
    shown_blocks,
    text_block,
    text_in,
)

_NOT_RUN = "aborted: not run"
_CUT_OFF = "not run: the answer was cut off by the token limit"
_NOTHING_SAID = (
    "the model came to its token limit before it said anything; choose a lower reasoning level, or"
    " a model with longer answers"
)


@dataclass(slots=True)
class _Call:
    call_id: str
    name: str
    text: str = ""

    @property
    def args(self) -> object:
        """None if the model's JSON was cut."""
        return json_text.arguments(self.text)

    def block(self) -> Block:
        return {"type": "tool_call", "id": self.call_id, "name": self.name, "args": self.args}


@dataclass(slots=True)
class _Answer:
    """An answer as far as it has come in."""

    started: bool = False
    spent: bool = False
    text: list[str] = field(default_factory=list[str])
    calls: dict[str, _Call] = field(default_factory=dict[str, _Call])
    usage: Usage = field(default_factory=Usage)
    native: Native | None = None

    def text_blocks(self) -> list[Block]:
        return [text_block("".join(self.text))] if self.text else []


def run_turn(agent: Agent, content: list[Block]) -> Coroutine[Any, Any, None]:
    """Says the prompt ``content``, and runs it when awaited; from now on it can be steered. When
    cancelled it ends in order, without an exception."""
    news = agent.background.news()
    agent.prompt = _say(agent, [text_block(f"{news}\n\n"), *content] if news else content)
    agent.background.turn_begins()
    return _run(agent)


async def _run(agent: Agent) -> None:
    try:
        await _steps(agent)
    except asyncio.CancelledError:  # the step has closed what was open
        await agent.background.turn_stopped()
    agent.prompt = None
    agent.steered.clear()
    agent.spent()
    agent.put("done")


async def _steps(agent: Agent) -> None:
    for step in range(1, agent.max_steps + 1):
        await make_room(agent)
        goes_on = await _Step(agent, step).run()
        if not (_take_steered(agent) or goes_on):
            return
    agent.put("error", message=f"max steps ({agent.max_steps}) exceeded")


def _take_steered(agent: Agent) -> bool:
    """Whether the person has said anything since the step began; the next one answers it."""
    said = bool(agent.steered)
    while agent.steered:
        _say(agent, agent.steered.popleft())
    return said


def _say(agent: Agent, content: list[Block]) -> Message:
    user = message("user", content)
    agent.add(user)
    agent.put("user_message", content=shown_blocks(content), time=user["time"])
    return user


class _Step:
    """One model call and the tools that it asks for."""

    def __init__(self, agent: Agent, number: int) -> None:
        self._agent = agent
        self._number = number
        self._answer = _Answer()
        self._results: list[Block] = []
        #: Characters of the results so far.
        self._told = 0

    async def run(self) -> bool:
        """Whether another step follows."""
        agent, answer = self._agent, self._answer
        agent.put("turn_start", step=self._number)
        agent.extensions.tell("turn_start", step=self._number)
        try:
            await agent.extensions.before_turn(self._number)
            stopped = await self._receive()
            if stopped.too_long and not answer.started and await compact_in_turn(agent):
                stopped = await self._receive()
            if stopped.reason == "length" and not (answer.text or answer.calls):
                stopped = Stopped("error", f"{agent.provider.name}: {_NOTHING_SAID}")
            if stopped.reason != "error":
                await self._complete()
        except Blocked as blocked:
            self._end("error", str(blocked))
            return False
        except asyncio.CancelledError:
            self._keep_what_came()
            self._end("aborted", CANCELED)
            raise
        if stopped.reason == "error":
            error = stopped.error or "the provider failed without saying why"
            self._keep_what_came()
            self._end("error", error)
            agent.put("error", message=error)
            return False
        self._end(stopped.reason)
        if not answer.calls:
            return False
        if stopped.reason != "tool_use":
            self._refuse_open_calls(_CUT_OFF)
            return False
        await self._run_calls()
        return True

    # -- the answer

    async def _receive(self) -> Stopped:
        agent, answer = self._agent, self._answer
        request = Request(
            agent.model,
            tuple(agent.messages),
            agent.toolbox.specs(),
            step=self._number,
            system=agent.system,
        )
        async with aclosing(agent.provider.answer(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Stopped):
                    return piece
                if isinstance(piece, Waiting):
                    agent.notify("info", piece.reason)
                    continue
                if not answer.started:
                    answer.started = True
                    agent.put("assistant_start")
                await self._take(piece)
        return Stopped("error", "the provider's stream broke off")

    async def _take(self, piece: Piece) -> None:
        agent, answer = self._agent, self._answer
        match piece:
            case TextPiece(text):
                answer.text.append(text)
                agent.said(text)
                await agent.emit("text_delta", delta=text)
            case ThinkingPiece(text):
                await agent.emit("thinking_delta", delta=text)
            case CallStarted(call_id, name):
                answer.calls[call_id] = _Call(call_id, name)
                await agent.emit("tool_use_start", id=call_id, name=name)
            case CallArguments(call_id, text):
                answer.calls[call_id].text += text
                await agent.emit("tool_use_args", id=call_id, delta=text)
            case CallEnded(call_id):
                await agent.emit("tool_use_end", id=call_id)
            case Usage():
                answer.usage += piece
            case Native():
                answer.native = piece
            case Waiting() | Stopped():
                pass  # seen by the caller

    def _spend(self) -> None:
        """Once for each answer that has begun."""
        agent, answer = self._agent, self._answer
        if answer.started and not answer.spent:
            answer.spent = True
            agent.usage += answer.usage
            agent.put("usage", **answer.usage.to_json(), cumulative=agent.usage.to_json())

    async def _complete(self) -> None:
        """The whole answer: into the transcript, past the extensions, out."""
        agent, answer = self._agent, self._answer
        self._spend()
        calls = [call.block() for call in answer.calls.values()]
        entry = message("assistant", [*answer.text_blocks(), *calls])
        if not entry["content"]:
            return  # the model only thought
        text = "".join(answer.text)
        shown = await agent.extensions.before_message(text)
        if answer.native is not None:
            entry["native"] = answer.native
        agent.add(entry)
        if answer.usage.tokens > answer.usage.output:  # some servers do not count the prompt
            agent.counted = (answer.usage.tokens, len(agent.messages))
        if shown is not None:
            content = entry["content"]
            if shown != text:
                content = [text_block(shown), *calls]
            agent.put("assistant_message", content=content, time=entry["time"])
            agent.extensions.tell("assistant_message", **({"text": shown} if shown else {}))
        for call in answer.calls.values():
            agent.put("tool_call", id=call.call_id, name=call.name, args=call.args)
            agent.extensions.tell(
                "tool_call", tool_id=call.call_id, tool_name=call.name, tool_args=call.args
            )

    def _keep_what_came(self) -> None:
        """Of an answer that was cut short: its text. Calls are only worth something whole."""
        agent, answer = self._agent, self._answer
        self._spend()
        if answer.started and answer.text:
            entry = message("assistant", answer.text_blocks())
            agent.add(entry)
            agent.put("assistant_message", content=entry["content"], time=entry["time"])

    def _end(self, stop: str, error: str | None = None) -> None:
        fields = {"stop": stop} | ({} if error is None else {"error": error})
        self._agent.put("turn_end", **fields)
        self._agent.extensions.tell("turn_end", **fields)

    # -- the calls

    async def _run_calls(self) -> None:
        """One after the other. Cancelled, those that have no result yet get one."""
        try:
            for call in self._answer.calls.values():
                self._result(call, await self._run_call(call))
                _raise_if_cancelled()
                await self._agent.out.drain()
        finally:
            self._refuse_open_calls(_NOT_RUN)

    async def _run_call(self, call: _Call) -> Outcome:
        agent = self._agent
        if not agent.toolbox.knows(call.name):
            return unknown(call.name)
        try:
            let = await agent.extensions.before_call(call.call_id, call.name, call.args)
        except Blocked as blocked:
            return outcome.failure(str(blocked))

        async def progress(text: str) -> None:
            await agent.emit("tool_progress", id=call.call_id, text=text)

        run = ToolRun(call.call_id, call.name, let.args, call.args, let.gated)
        result = await agent.toolbox.run(run, progress)
        if news := agent.background.news():
            return Outcome([*result.content, text_block(f"\n\n{news}")], result.is_error)
        return result

    def _refuse_open_calls(self, reason: str) -> None:
        for call in list(self._answer.calls.values())[len(self._results) :]:
            self._result(call, outcome.failure(reason))
        self._keep_results()

    def _result(self, call: _Call, result: Outcome) -> None:
        content, is_error = fitted(self._agent, result.content, self._told), result.is_error
        self._told += len(text_in(content))
        self._agent.put(
            "tool_result", id=call.call_id, is_error=is_error, content=shown_blocks(content)
        )
        self._results.append(
            {
                "type": "tool_result",
                "call_id": call.call_id,
                "is_error": is_error,
                "content": content,
            }
        )

    def _keep_results(self) -> None:
        self._agent.add(message("tool", self._results))


def _raise_if_cancelled() -> None:
    """A tool that is cancelled answers all the same, with how far it got."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
