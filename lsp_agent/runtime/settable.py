"""What the agent can be set to: its model, how much that thinks."""

from collections.abc import Mapping

from lsp_agent.runtime.agent import Agent
from lsp_agent.runtime.options import REASONING

#: The one option: the id, and the values, of which the first leaves it to the provider.
_THINKING = "thinkingLevel"
_LEVELS = ("default", *REASONING)


def models(agent: Agent) -> Mapping[str, object]:
    return {
        "models": [
            {
                "id": model.id,
                "provider": agent.provider.name,
                "context_window": model.context_window,
                "max_output": model.max_output,
                "reasoning": model.reasoning,
            }
            for model in agent.provider.models
        ]
    }


def options(agent: Agent) -> Mapping[str, object]:
    """Not among zot's commands: what the agent is set to, beside its model."""
    provider = agent.provider
    model = provider.find(agent.model)
    if provider.reasoning is None or model is None or not model.reasoning:
        return {"options": []}
    values = [{"value": level, "name": level.capitalize()} for level in _LEVELS]
    value = provider.reasoning or _LEVELS[0]
    option = {"id": _THINKING, "name": "Thinking level", "value": value, "values": values}
    return {"options": [option]}


def choose(agent: Agent, option: str, value: str) -> bool:
    """False for one that there is not."""
    if option != _THINKING or value not in _LEVELS:
        return False
    agent.provider.reasoning = "" if value == _LEVELS[0] else value
    return True
