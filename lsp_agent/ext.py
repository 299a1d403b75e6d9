"""Write an extension of the embedded agent, or of zot, in Python: standard library only.

    from lsp_agent.ext import Extension, Prompt

    extension = Extension("greeter", "1.0.0")

    @extension.command("greet", "have the agent greet somebody")
    def greet(args: str) -> Prompt:
        return Prompt(f"Greet {args or 'me'} in one sentence.")

    extension.run()

Each call of a handler has a thread of its own, but events come one after the other. What a handler
raises is told to whoever waits for it, and a call that is asked about is then refused; ``print``
goes to the extension's log (``lsp-agent ext logs NAME``). ``docs/extensions.md`` has the rest.
"""

import json
import os
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Literal, TextIO

Json = Mapping[str, Any]
EventName = Literal["session_start", "turn_start", "turn_end", "tool_call", "assistant_message"]
Level = Literal["info", "success", "warn", "error"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """Have the agent run a turn with this prompt."""

    text: str


@dataclass(frozen=True, slots=True)
class Insert:
    """Put the text at the person's cursor."""

    text: str


@dataclass(frozen=True, slots=True)
class Display:
    """Show the text; the model does not see it."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """``data`` is base64."""

    mime_type: str
    data: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answers, where it is more than a text."""

    content: Sequence[str | Image]
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Host:
    """Who runs the extension. ``folder`` is the extension's own, and its cwd; ``cwd`` is where
    the agent works."""

    version: str
    provider: str
    model: str
    cwd: str
    folder: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that is about to run. ``args`` are None where the model's JSON was cut."""

    tool: str
    args: Mapping[str, Any] | None
    call_id: str


@dataclass(frozen=True, slots=True)
class Block:
    """What was asked about is not to be: a call does not run, and the model reads the reason; a
    turn ends with it; a message is hidden, and the person is told the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Change:
    """The call runs with these arguments instead."""

    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Replace:
    """The person reads this text instead; the model keeps its own."""

    text: str


#: What a handler may raise; somebody waits for its answer even if it wants to exit.
_ANYTHING = (Exception, SystemExit)

CommandHandler = Callable[[str], Prompt | Insert | Display | None]
ToolHandler = Callable[[dict[str, Any]], str | Result]
EventHandler = Callable[[Json], object]
CallHandler = Callable[[ToolCall], Block | Change | None]
TurnHandler = Callable[[int], Block | None]
MessageHandler = Callable[[str], Block | Replace | None]
#: Answers an event that it is asked about: what is to be, in the words of the wire.
_Judge = Callable[[Json], Json]


@dataclass(slots=True)
class _Tool:
    description: str
    schema: Json
    handler: ToolHandler


@dataclass(slots=True)
class _Handlers:
    commands: dict[str, tuple[str, CommandHandler]] = field(
        default_factory=dict[str, tuple[str, CommandHandler]]
    )
    tools: dict[str, _Tool] = field(default_factory=dict[str, _Tool])
    events: dict[str, EventHandler] = field(default_factory=dict[str, EventHandler])
    #: By the event that each is asked about.
    judges: dict[str, _Judge] = field(default_factory=dict[str, _Judge])


class Extension:
    """Handlers are added by its decorators, before :meth:`run`; ``name`` is the manifest's."""

    def __init__(self, name: str, version: str) -> None:
        self._name = name
        self._version = version
        self._handlers = _Handlers()
        self._out: TextIO | None = None
        self._writing = threading.Lock()
        self._host: Host | None = None

    @property
    def host(self) -> Host:
        """Known to every handler; not before :meth:`run`."""
        if self._host is None:
            raise RuntimeError("the agent has not said hello yet")
        return self._host

    def command(self, name: str, description: str) -> Callable[[CommandHandler], CommandHandler]:
        """A slash command. The handler gets what the person typed after the name; None back means
        that nothing is left to do."""

        def add(handler: CommandHandler) -> CommandHandler:
            self._handlers.commands[name] = (description, handler)
            return handler

        return add

    def tool(
        self, name: str, description: str, schema: Json
    ) -> Callable[[ToolHandler], ToolHandler]:
        """A tool for the model; ``schema`` is the JSON Schema of its arguments. The handler gets
        them as the model made them, unchecked, and has 60 seconds."""

        def add(handler: ToolHandler) -> ToolHandler:
            self._handlers.tools[name] = _Tool(description, schema, handler)
            return handler

        return add

    def on(self, event: EventName) -> Callable[[EventHandler], EventHandler]:
        """The handler gets the event as it is on the wire."""

        def add(handler: EventHandler) -> EventHandler:
            self._handlers.events[event] = handler
            return handler

        return add

    def on_call(self, handler: CallHandler) -> CallHandler:
        """The handler is asked before every tool call, and has 5 seconds: later, the call runs
        unless the extension is required. None lets it run."""

        def judge(frame: Json) -> Json:
            args, call_id = frame.get("tool_args"), frame.get("tool_id") or ""
            return _verdict("call", handler(ToolCall(frame["tool_name"], args, call_id)), Change)

        self._handlers.judges["tool_call"] = judge
        return handler

    def on_turn(self, handler: TurnHandler) -> TurnHandler:
        """The handler is asked before each step of a turn, which it gets the number of, and has 5
        seconds. None lets the model be asked."""
        self._handlers.judges["turn_start"] = lambda frame: _verdict("turn", handler(frame["step"]))
        return handler

    def on_message(self, handler: MessageHandler) -> MessageHandler:
        """The handler is asked about each message of the model's once it is whole, and has 5
        seconds; what was streamed of it has been seen. None lets it be shown."""

        def judge(frame: Json) -> Json:
            return _verdict("message", handler(frame.get("text") or ""), Replace)

        self._handlers.judges["assistant_message"] = judge
        return handler

    def notify(self, message: str, level: Level = "info") -> None:
        """Tells the person something, at any time once it runs."""
        self._send(type="notify", level=level, message=message)

    def run(self) -> None:
        """Serves the agent until it ends."""
        self._take_stdout()
        self._introduce()
        events: SimpleQueue[Json] = SimpleQueue()
        threading.Thread(target=self._hear, args=(events,), daemon=True).start()
        for line in sys.stdin.buffer:
            frame: dict[str, Any] = json.loads(line)
            match frame.get("type"):
                case "hello_ack":
                    self._host = _host(frame)
                case "event":
                    events.put(frame)
                case "command_invoked":
                    self._start(self._run_command, frame)
                case "tool_call":
                    self._start(self._run_tool, frame)
                case "event_intercept":
                    self._start(self._decide, frame)
                case "shutdown":
                    self._send(type="shutdown_ack")
                    return
                case _:
                    pass  # what a later agent may say

    # -- the wire

    def _take_stdout(self) -> None:
        """Only frames may go to it: a stray ``print`` would be read as one."""
        sys.stdout.flush()
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def _send(self, **frame: object) -> None:
        if self._out is None:
            raise RuntimeError("the extension does not run yet")
        line = json.dumps(frame)
        with self._writing:
            self._out.write(line + "\n")
            self._out.flush()

    def _introduce(self) -> None:
        handlers = self._handlers
        capabilities = ["commands", "tools", "events", "ready"]
        self._send(type="hello", name=self._name, version=self._version, capabilities=capabilities)
        for name, (description, _) in handlers.commands.items():
            self._send(type="register_command", name=name, description=description)
        for name, tool in handlers.tools.items():
            self._send(
                type="register_tool", name=name, description=tool.description, schema=tool.schema
            )
        intercept = list(handlers.judges)
        self._send(type="subscribe", events=list(handlers.events), intercept=intercept)
        self._send(type="ready")

    # -- the handlers

    def _start(self, answer: Callable[[dict[str, Any]], None], frame: dict[str, Any]) -> None:
        threading.Thread(target=answer, args=(frame,), daemon=True).start()

    def _hear(self, events: "SimpleQueue[Json]") -> None:
        while True:
            event = events.get()
            try:
                self._handlers.events[event["event"]](event)
            except _ANYTHING:  # the next event is to be heard
                traceback.print_exc()

    def _run_command(self, frame: dict[str, Any]) -> None:
        answer: dict[str, object] = {"type": "command_response", "id": frame["id"]}
        try:
            handler = self._handlers.commands[frame["name"]][1]
            self._send(**answer, **_action(handler(frame.get("args") or "")))
        except _ANYTHING as error:  # told to the person
            self._send(**answer, action="noop", error=_words(error))

    def _run_tool(self, frame: dict[str, Any]) -> None:
        answer: dict[str, object] = {"type": "tool_result", "id": frame["id"]}
        try:
            handler = self._handlers.tools[frame["name"]].handler
            self._send(**answer, **_answer(handler(frame.get("args") or {})))
        except _ANYTHING as error:  # told to the model
            self._send(**answer, **_answer(Result([_words(error)], is_error=True)))

    def _decide(self, frame: dict[str, Any]) -> None:
        try:
            self._answer(frame, self._handlers.judges[frame["event"]](frame))
        except _ANYTHING as error:  # what nobody judged is not to be
            reason = f"{self._name} could not decide: {_words(error)}"
            self._answer(frame, {"block": True, "reason": reason})

    def _answer(self, frame: Json, verdict: Json) -> None:
        if frame["event"] == "assistant_message" and verdict.get("block"):
            # Of this the agent itself tells nobody.
            self.notify(f"a message is hidden: {verdict['reason']}", "warn")
        self._send(type="event_intercept_response", id=frame["id"], **verdict)


def _action(result: object) -> Json:
    match result:
        case Prompt(text):
            return {"action": "prompt", "prompt": text}
        case Insert(text):
            return {"action": "insert", "insert": text}
        case Display(text):
            return {"action": "display", "display": text}
        case None:
            return {"action": "noop"}
        case _:
            raise TypeError(f"a command answers Prompt, Insert, Display or None, not {result!r}")


def _answer(result: object) -> Json:
    match result:
        case str():
            return {"content": [_block(result)], "is_error": False}
        case Result(content, is_error):
            return {"content": [_block(part) for part in content], "is_error": is_error}
        case _:
            raise TypeError(f"a tool answers a str or a Result, not {result!r}")


def _verdict(what: str, decision: object, *changes: type[Change | Replace]) -> Json:
    """``changes``: what it may be answered with beside Block and None."""
    match decision:
        case Block(reason):
            return {"block": True, "reason": reason}
        case Change(args) if Change in changes:
            return {"modified_args": args}
        case Replace(text) if Replace in changes:
            return {"replace_text": text}
        case None:
            return {}
        case _:
            known = ", ".join(["Block", *(change.__name__ for change in changes)])
            raise TypeError(f"a {what} is answered by {known} or None, not {decision!r}")


def _block(part: str | Image) -> Json:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image", "mime_type": part.mime_type, "data": part.data}


def _host(frame: Json) -> Host:
    def text(name: str) -> str:
        return str(frame.get(name) or "")

    return Host(
        text("zot_version"), text("provider"), text("model"), text("cwd"), text("extension_dir")
    )


def _words(error: BaseException) -> str:
    """The error for who waits; the whole of it goes to the log."""
    traceback.print_exception(error)
    return f"{type(error).__name__}: {error}"
