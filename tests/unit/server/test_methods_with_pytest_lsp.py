"""The main job for a client that somebody else wrote: pytest-lsp's, which checks the protocol."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from typing import Any

import pytest
import pytest_asyncio
from lsprotocol import types
from pygls.exceptions import JsonRpcRequestCancelled
from pygls.protocol import (
    JsonRPCNotification,
    JsonRPCRequestMessage,
    JsonRPCResponseMessage,
    default_converter,
)
from pytest_lsp import LanguageClient, client_capabilities
from pytest_lsp.client import register_lsp_features
from support.project import ALLOWED, LSP_AGENT, Project, bash, edit, step


def plain_converter() -> Any:
    """Custom params and results stay dicts."""
    converter = default_converter()
    for kind in (JsonRPCRequestMessage, JsonRPCResponseMessage, JsonRPCNotification):
        converter.register_structure_hook(kind, lambda fields, cls: cls(**fields))
    return converter


class Client(LanguageClient):
    def __init__(self) -> None:
        super().__init__(converter_factory=plain_converter)
        register_lsp_features(self)
        self.text = ""

        @self.feature("workspace/applyEdit")
        def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
            return self.apply(params)

    def apply(self, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        (change,) = params.edit.document_changes or []
        assert isinstance(change, types.TextDocumentEdit)
        (one,) = change.edits
        lines = self.text.splitlines(keepends=True)
        line = lines[one.range.start.line]
        new = line[: one.range.start.character] + one.new_text + line[one.range.end.character :]
        lines[one.range.start.line] = new
        self.text = "".join(lines)
        item = types.VersionedTextDocumentIdentifier(uri=change.text_document.uri, version=2)
        whole = types.TextDocumentContentChangeWholeDocument(text=self.text)
        self.text_document_did_change(types.DidChangeTextDocumentParams(item, [whole]))
        return types.ApplyWorkspaceEditResult(applied=True)

    def ask(self, method: str, params: object, msg_id: str | None = None) -> Any:
        """Sends at once; the awaitable must not be cancelled (pygls' future would be)."""
        future: Future[Any] = self.protocol.send_request(method, params, msg_id=msg_id)
        return asyncio.shield(asyncio.wrap_future(future))


Start = Callable[..., Any]


@pytest_asyncio.fixture
async def start(project: Project) -> AsyncIterator[Start]:
    """Starts a server with an agent that follows the steps."""
    client = Client()

    async def started(*steps: Any) -> Client:
        environment = project.environment()
        await client.start_io(*LSP_AGENT, "serve", env=environment)
        options = {"agent": "scripted", "agents": {"scripted": project.agent(*steps)}} | ALLOWED
        await client.initialize_session(
            types.InitializeParams(
                capabilities=client_capabilities("visual-studio-code"),
                workspace_folders=[types.WorkspaceFolder(project.folder.as_uri(), "shop")],
                initialization_options=options,
            )
        )
        return client

    yield started
    await asyncio.wait_for(client.shutdown_session(), 10)
    await client.stop()


@pytest.mark.asyncio
async def test_a_prompt_edits_the_open_document(project: Project, start: Start) -> None:
    path = project.file("a.txt", "one\nold\n")
    client = await start(step("", edit("a.txt", "old", "new")), step("Done."))
    client.text = "one\nold\n"
    item = types.TextDocumentItem(path.as_uri(), "plaintext", 1, client.text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    result = await client.ask("agent/prompt", {"text": "Go."})
    assert (result["stopReason"], result["text"]) == ("endTurn", "Done.")
    assert [item["status"] for item in result["edits"]] == ["applied"]
    assert client.text == "one\nnew\n"


@pytest.mark.asyncio
async def test_a_cancelled_prompt_is_told_as_cancelled(start: Start) -> None:
    client = await start(step("", bash("sleep 30")))
    answer = client.ask("agent/prompt", {"text": "Go."}, "c1")
    await asyncio.sleep(0.3)
    client.cancel_request(types.CancelParams(id="c1"))
    with pytest.raises(JsonRpcRequestCancelled):
        await asyncio.wait_for(answer, 30)
