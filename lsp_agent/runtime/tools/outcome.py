"""How a tool call ends."""

from dataclasses import dataclass

from lsp_agent.runtime.json_text import whole
from lsp_agent.runtime.transcript import Block, text_block


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the model reads; ``content`` are text and image blocks."""

    content: list[Block]
    is_error: bool = False


def text(result: str) -> Outcome:
    return Outcome([text_block(whole(result))])


def failure(message: str) -> Outcome:
    return Outcome([text_block(whole(message))], is_error=True)
