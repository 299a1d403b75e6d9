"""Helix' content changes come mixed up; the document is still the one that Helix shows."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.project import Project, edit, step

from lsp_agent.server.client.in_order import ChangesInOrder
from lsp_agent.workspace.documents.documents import Documents

URI = "file:///p/a.txt"
TYPED = "typed fast"


def typed(number: int) -> list[Any]:
    """The change that makes version ``number``, of 1 on: its letter of TYPED, behind the others."""
    place = {"line": 0, "character": number - 1}
    return [{"range": {"start": place, "end": place}, "text": TYPED[number - 1]}]


@asynccontextmanager
async def opened() -> AsyncGenerator[tuple[ChangesInOrder, Documents]]:
    documents = Documents("utf-16")
    async with anyio.create_task_group() as tasks:
        changes = ChangesInOrder(documents, tasks)
        changes.open(URI, 0, "")
        yield changes, documents
        tasks.cancel_scope.cancel()


def shown(documents: Documents) -> tuple[str, int | None]:
    document = documents.get(URI)
    assert document is not None
    return document.text.content, document.version


@given(st.permutations(range(1, len(TYPED) + 1)))
def test_in_whatever_order_they_come_the_text_is_what_was_typed(order: Sequence[int]) -> None:
    async def come() -> None:
        async with opened() as (changes, documents):
            for number in order:
                changes.change(URI, number, typed(number))
            assert shown(documents) == (TYPED, len(TYPED))

    anyio.run(come)


@pytest.mark.asyncio
async def test_a_version_that_never_comes_is_not_waited_for_long() -> None:
    async with opened() as (changes, documents):
        changes.change(URI, 1, typed(1))
        place = {"line": 0, "character": 1}
        changes.change(URI, 3, [{"range": {"start": place, "end": place}, "text": "!"}])
        assert shown(documents) == ("t", 1)
        await anyio.sleep(0.6)
        assert shown(documents) == ("t!", 3)
        changes.change(URI, 4, [{"text": "whole"}])
        assert shown(documents) == ("whole", 4)


@pytest.mark.asyncio
async def test_a_document_that_is_opened_again_begins_anew() -> None:
    async with opened() as (changes, documents):
        changes.change(URI, 5, typed(5))
        changes.close(URI)
        changes.open(URI, 0, "new")
        await anyio.sleep(0.6)
        assert shown(documents) == ("new", 0)


def test_an_edit_after_mixed_up_typing_is_in_the_right_place(project: Project) -> None:
    path = project.file("a.txt", "one\n")
    editor = project.editor(
        step("", edit("a.txt", "one", "ONE")), step("Done."), clientInfo={"name": "helix"}
    )
    document = editor.open(path, version=0)
    sent: list[Any] = []
    notify = editor.notify
    editor.notify = lambda method, params=None: sent.append((method, params))  # type: ignore[method-assign]
    for letter in reversed("abcdefgh\n"):
        editor.type(document, 0, letter)
    editor.notify = notify  # type: ignore[method-assign]
    for method, params in reversed(sent):
        editor.notify(method, params)
    editor.ask_agent("Go.")
    assert document.text.content == "abcdefgh\nONE\n"
