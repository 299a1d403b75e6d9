"""The notes that a model writes in the place of a conversation."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest

from lsp_agent.runtime.providers.provider import (
    Model,
    Piece,
    ProviderFailure,
    Request,
    Stopped,
    TextPiece,
)
from lsp_agent.runtime.providers.summary import summarize
from lsp_agent.runtime.transcript import (
    Block,
    Message,
    Usage,
    image_block,
    message,
    text_block,
    text_of,
)


class Writer:
    """Answers with these texts; of those that end in "…" the token limit has cut the rest off."""

    name = "writer"
    models = (Model("m", context_window=1000, max_output=100, reasoning=False),)
    compacts = True
    reasoning: str | None = None

    def __init__(self, *texts: str) -> None:
        self._texts = list(texts)
        self.asked: list[str] = []

    def find(self, model: str) -> Model | None:
        return self.models[0] if model else None

    async def answer(self, request: Request) -> AsyncGenerator[Piece]:
        self.asked.append(text_of(request.messages[-1]))
        text = self._texts.pop(0)
        yield TextPiece(text)
        yield Usage(output=1)
        yield Stopped("length" if text.endswith("…") else "end")

    async def summarize(self, model: str, messages: Sequence[Message]) -> tuple[str, Usage]:
        return await summarize(self, model, messages)


def notes(writer: Writer, *content: Block) -> tuple[str, int]:
    """The notes, and how often the model's answer was paid for."""
    result: Block = {"type": "tool_result", "call_id": "1", "is_error": False}
    messages = [message("tool", [{**result, "content": list(content)}])]
    text, usage = asyncio.run(writer.summarize("m", messages))
    return text, usage.output


def test_notes_that_were_cut_off_are_asked_for_once_more_and_shorter():
    writer = Writer("The person wants…", "Short.")
    assert notes(writer, text_block("x")) == ("Short.", 2)
    assert writer.asked[1].endswith("in 300 words at most.")


def test_they_are_asked_for_of_half_the_record_as_it_may_have_left_them_no_room():
    writer = Writer("The person wants…", "Short.")
    notes(writer, *[text_block(f"{number} {'x' * 500}") for number in range(40)])
    first, second = map(len, writer.asked)
    assert second < 0.6 * first


def test_notes_that_are_cut_off_again_are_none():
    with pytest.raises(ProviderFailure, match="cut off by its token limit"):
        notes(Writer("The person wants…", "The person…"), text_block("x"))


@pytest.mark.parametrize(
    ("content", "words"),
    [([], "(empty)"), ([text_block("")], "(empty)"), ([image_block("i", "AAAA")], "(an image)")],
)
def test_what_has_no_words_is_told_by_what_it_is(content: list[Block], words: str):
    writer = Writer("Short.")
    notes(writer, *content)
    assert f"[result] {words}\n" in writer.asked[0]
