"""Making room in the conversation: a summary in the place of all but the last messages."""

import asyncio
from collections.abc import Sequence

import orjson

from lsp_agent.runtime.agent import CANCELED, Agent
from lsp_agent.runtime.providers.provider import ProviderFailure
from lsp_agent.runtime.transcript import Block, Message, message, results_of, text_block

#: Messages that a compaction leaves as they are.
KEPT = 4
#: The share of a model's context from which on the conversation is summarized by itself.
FULL = 0.85
#: For what has not been counted by the model yet; source code has about that many.
_CHARACTERS_PER_TOKEN = 3
_IMAGE_TOKENS = 1600


def compacted(
    messages: Sequence[Message], summary: str, prompt: Message | None = None
) -> list[Message]:
    """The summary, then the last messages; a tool's result stays with the call that it answers.

    ``prompt`` stays as well, wherever it is: what a running turn is about.
    """
    start = len(messages) - KEPT
    while start > 0 and messages[start]["role"] == "tool":
        start -= 1
    heading = text_block(f"## Context Summary (compacted)\n\n{summary}")
    kept = [one for one in messages[:start] if one is prompt]
    return [message("user", [heading]), *kept, *messages[start:]]


async def run_compaction(agent: Agent) -> None:
    """Because somebody asked for it.

    Ends in ``compact_done`` or ``error``; in ``error`` as well when it is cancelled, where zot
    falls silent for good.
    """
    try:
        await _compact(agent)
    except ProviderFailure as failed:
        agent.put("error", message=str(failed))
    except asyncio.CancelledError:
        agent.put("error", message=CANCELED)


async def make_room(agent: Agent) -> None:
    """Before a step: summarizes if the context is nearly full. Where that fails the person is
    told, and the step is tried as it is."""
    model = agent.provider.find(agent.model)
    if model is None or not agent.provider.compacts:
        return
    if _tokens(agent) > FULL * model.context_window:
        await compact_in_turn(agent)


async def compact_in_turn(agent: Agent) -> bool:
    """Whether there is room now."""
    if len(agent.messages) <= KEPT:
        return False
    try:
        await _compact(agent)
    except ProviderFailure as failed:
        agent.notify("warning", f"the conversation could not be summarized: {failed}")
        return False
    return True


async def _compact(agent: Agent) -> None:
    """Raises ProviderFailure, and then has changed nothing."""
    if not agent.messages:
        raise ProviderFailure("nothing to compact")
    if len(agent.messages) <= KEPT:
        raise ProviderFailure("nothing to compact: keep-tail covers the whole transcript")
    summary, usage = await agent.provider.summarize(agent.model, agent.messages)
    agent.usage += usage
    if not summary.strip():
        raise ProviderFailure("empty summary from model")
    agent.messages = compacted(agent.messages, summary, agent.prompt)
    agent.counted = (0, 0)
    agent.put("compact_done", summary=summary)


def _tokens(agent: Agent) -> int:
    """What the next request takes: what the model counted last, and a guess for the rest."""
    tokens, messages = agent.counted
    return tokens + sum(map(_guess, agent.messages[messages:]))


def _guess(source: Message) -> int:
    blocks = source["content"]
    if source["role"] == "tool":
        blocks = [block for _, inner in results_of(source) for block in inner]
    return sum(map(_guess_block, blocks))


def _guess_block(block: Block) -> int:
    if block["type"] == "image":
        return _IMAGE_TOKENS
    text = block["text"] if block["type"] == "text" else orjson.dumps(block["args"]).decode()
    return len(str(text)) // _CHARACTERS_PER_TOKEN
