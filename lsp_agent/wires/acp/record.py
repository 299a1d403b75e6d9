"""What is known of an ACP agent and its session: ACP has no requests for most of it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import cast

from lsp_agent.protocol.catalogue import AcpHabits, of_acp_name
from lsp_agent.protocol.events import AssistantMessage, Plan, ToolCall, ToolResult, UserMessage
from lsp_agent.protocol.messages import Message, Usage
from lsp_agent.protocol.plan import put_plan
from lsp_agent.toolset.loose_json import Frame, frame, frames, string
from lsp_agent.wires.acp import messages as acp
from lsp_agent.wires.acp.messages import Models
from lsp_agent.wires.acp.options import Options
from lsp_agent.wires.usage import added
from lsp_agent.wires.wire import Command, Decoded, GetCommands, GetMessages, GetModels, GetOptions


class Agent:
    """What its ``initialize`` said."""

    def __init__(self, told: Frame) -> None:
        info = frame(told.get("agentInfo"))
        able = frame(told.get("agentCapabilities"))
        session = frame(able.get("sessionCapabilities"))
        self.name = string(info, "title") or string(info, "name")
        self.version = string(info, "version")
        self.login = frames(told.get("authMethods"))
        self.images = frame(able.get("promptCapabilities")).get("image") is True
        self.loads = able.get("loadSession") is True
        self.resumes = isinstance(session.get("resume"), dict)
        self.closes = isinstance(session.get("close"), dict)
        self.lists = isinstance(session.get("list"), dict)
        known = of_acp_name(string(info, "name"))
        self.habits = known.acp if known else AcpHabits()
        #: What a person says in a terminal to log in, where that is known.
        self.sign_in = known.sign_in if known else ""


class Record:
    """Of one session; ``id`` is the agent's, None until it has one."""

    def __init__(self, habits: AcpHabits) -> None:
        self.id: str | None = None
        self.models: Models | None = None
        self.options = Options(habits)
        self.commands: list[dict[str, object]] = []
        self.usage: Usage = {}
        #: In US dollars, as last told.
        self.cost: float | None = None
        #: What of it no turn is charged with any more; None as long as it is not known.
        self._charged: float | None = 0.0
        #: The calls that its last turn has left open, by their ids, with their arguments.
        self.left: Mapping[str, object] = {}
        self._messages: list[Message] = []

    def take(self, decoded: Iterable[Decoded]) -> None:
        """Keeps the messages that the events tell of; a call belongs to the last message."""
        for event in decoded:
            match event:
                case UserMessage(message) | AssistantMessage(message):
                    content = list(message["content"])
                    self._messages.append({"role": message["role"], "content": content})
                case ToolCall(call_id, tool, _, args):
                    self._last("assistant")["content"].append(
                        {"type": "toolCall", "toolCallId": call_id, "tool": tool, "args": args}
                    )
                case ToolResult(call_id, is_error, content):
                    self._last("tool")["content"].append(
                        {
                            "type": "toolResult",
                            "toolCallId": call_id,
                            "isError": is_error,
                            "content": content,
                        }
                    )
                case Plan(entries):
                    put_plan(self._messages, entries)
                case _:
                    pass

    def _last(self, role: str) -> Message:
        if not self._messages or self._messages[-1]["role"] != role:
            self._messages.append(
                {"role": "tool" if role == "tool" else "assistant", "content": []}
            )
        return self._messages[-1]

    def taken_up(self, cost: float | None) -> None:
        """The session has cost that already, if it is known."""
        self.cost = self._charged = cost

    def told_cost(self, cost: float | None, *, runs: bool) -> None:
        """``runs``: a turn does."""
        self.cost = cost
        if self._charged is None and not runs:
            self._charged = cost

    def configure(self, source: Frame) -> None:
        """Takes models, modes and options from an answer or update."""
        self.models = acp.models(source, self.models)
        self.options = self.options.told_by(source)

    def choose(self, model: str, provider: str) -> None:
        """A model was set; an older agent's answer to that says nothing of it."""
        if self.models is not None and self.models.option is None and model:
            self.models = replace(self.models, current=self.models.named(model, provider))

    def since(self, told: Usage, agent: Agent) -> Usage:
        """A turn's usage of what was told at its end: by the protocol the session's so far."""
        before = self.usage
        if agent.habits.tells_turns_usage or any(
            told.get(key, 0) < before.get(key, 0) for key in told
        ):
            return told
        return cast(Usage, {key: told.get(key, 0) - before.get(key, 0) for key in told})

    def count(self, step: Usage) -> tuple[Usage, Usage]:
        """A step's usage with its cost, and the session's so far."""
        if self.cost is not None:
            if self._charged is not None:
                step = {**step, "cost": self.cost - self._charged}
            self._charged = self.cost
        self.usage = added(self.usage, step)
        return step, self.usage

    def set_commands(self, update: Frame) -> None:
        self.commands = []
        for command in frames(update.get("availableCommands")):
            told: dict[str, object] = {"name": string(command, "name")}
            if description := string(command, "description"):
                told["description"] = description
            self.commands.append(told)

    def answer(self, command: Command, agent: Agent) -> Mapping[str, object]:
        """The data of the reply to what is answered from the record."""
        match command:
            case GetMessages():
                return {"messages": [dict(message) for message in self._messages]}
            case GetModels():
                ids = self.models.ids if self.models else ()
                return {"models": [self._model(model, agent) for model in ids]}
            case GetCommands():
                return {"commands": self.commands}
            case GetOptions():
                return self.told_options()
            case _:
                return self.state(agent)

    def told_options(self) -> dict[str, object]:
        return {"options": [option.told() for option in self.options.all]}

    def state(self, agent: Agent) -> dict[str, object]:
        state: dict[str, object] = {"messageCount": len(self._messages)}
        if self.id is not None:
            state["sessionRef"] = self.id
        if agent.version:
            state["version"] = agent.version
        if self.models is not None and self.models.current:
            state["model"] = self.models.current
            state["provider"] = provider(self.models.current, agent)
        if self.usage:
            state["usage"] = self.usage
        return state

    def _model(self, model: str, agent: Agent) -> dict[str, object]:
        told: dict[str, object] = {"id": model, "provider": provider(model, agent)}
        if self.models is not None and (size := self.models.windows.get(model)) is not None:
            told["contextWindow"] = size
        return told


def provider(model: str, agent: Agent) -> str:
    """Many agents name a model ``provider/model``; ACP itself knows no providers."""
    before, slash, _ = model.partition("/")
    return before if slash else agent.name
