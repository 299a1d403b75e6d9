"""Making room in the conversation: a summary in the place of all but the last messages."""

import asyncio
import math
from collections.abc import Sequence

import orjson

from lsp_agent.runtime.agent import CANCELED, Agent
from lsp_agent.runtime.providers.provider import ProviderFailure
from lsp_agent.runtime.transcript import (
    Block,
    Message,
    message,
    results_of,
    text_block,
    text_in,
    text_of,
)

#: Messages that a compaction leaves as they are.
KEPT = 4
#: The share of a model's context from which on the conversation is summarized by itself.
FULL = 0.85
#: For what has not been counted by the model yet; source code has about that many.
_CHARACTERS_PER_TOKEN = 3
_IMAGE_TOKENS = 1600
_HEADING = "## Context Summary (compacted)"
#: Of the model's context: what the messages that stay may take, but for the last step's, and what
#: the results of one step may.
_TAIL = 0.25
_RESULTS = 0.5
#: Characters that every result may have.
_LEAST_ROOM = 2000


def compacted(
    messages: Sequence[Message], start: int, summary: str, prompt: Message | None
) -> list[Message]:
    """The summary, then the messages from ``start`` on.

    ``prompt`` stays as well, wherever it is: what a running turn is about.
    """
    heading = text_block(f"{_HEADING}\n\n{summary}")
    kept = [one for one in messages[:start] if one is prompt]
    return [message("user", [heading]), *kept, *messages[start:]]


def first_kept(messages: Sequence[Message], most_tokens: float) -> int:
    """From where on messages stay as they are: the last KEPT, fewer if these take more than
    ``most_tokens``. A tool's result stays with the call that it answers."""
    starts = [at for at, one in enumerate(messages) if one["role"] != "tool"]
    start = max((at for at in starts if at <= len(messages) - KEPT), default=0)
    for later in (at for at in starts if at > start):
        if sum(map(_guess, messages[start:])) <= most_tokens:
            break
        start = later
    return start


def fitted(agent: Agent, content: list[Block], used: int) -> list[Block]:
    """A tool's result, its text cut to what there is room for beside the ``used`` characters of
    the same step's results: one that fills the context alone could never be sent."""
    model = agent.provider.find(agent.model)
    text = text_in(content)
    if model is None or len(text) <= _LEAST_ROOM:
        return content
    room = int(model.context_window * _CHARACTERS_PER_TOKEN * _RESULTS) - used
    over = len(text) - max(room, _LEAST_ROOM)
    if over <= 0:
        return content
    note = f"\n[cut: {over} more characters than there is room for; ask for less]"
    return [text_block(text[:-over] + note), *(one for one in content if one["type"] != "text")]


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
    leaving = [one for one in agent.messages[: _first_kept(agent)] if one is not agent.prompt]
    if all(_is_summary(one) for one in leaving):
        return False
    agent.notify("info", "summarizing the conversation, to make room")
    try:
        await _compact(agent)
    except ProviderFailure as failed:
        agent.notify("warn", f"the conversation could not be summarized: {failed}")
        return False
    return True


async def _compact(agent: Agent) -> None:
    """Raises ProviderFailure, and then has changed nothing."""
    if not agent.messages:
        raise ProviderFailure("nothing to compact")
    start = _first_kept(agent)
    if start == 0:
        raise ProviderFailure("nothing to compact: keep-tail covers the whole transcript")
    summary, usage = await agent.provider.summarize(agent.model, agent.messages)
    agent.usage += usage
    if not summary.strip():
        raise ProviderFailure("empty summary from model")
    agent.replace(compacted(agent.messages, start, summary, agent.prompt))
    agent.put("compact_done", summary=summary)


def _is_summary(source: Message) -> bool:
    return source["role"] == "user" and text_of(source).startswith(_HEADING)


def _first_kept(agent: Agent) -> int:
    model = agent.provider.find(agent.model)
    return first_kept(agent.messages, math.inf if model is None else _TAIL * model.context_window)


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
