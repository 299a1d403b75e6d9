"""Our answer to ``initialize`` is the one that pygls and lsprotocol compute."""

import logging
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types
from pydantic.alias_generators import to_camel
from pygls.lsp.server import LanguageServer
from pytest_lsp import client_capabilities

from lsp_agent import __version__
from lsp_agent.protocol.errors import BadParams
from lsp_agent.server.client import capabilities
from lsp_agent.server.client.info import ClientInfo, Introduction
from lsp_agent.server.rpc.typed import lenient_converter

Json = dict[str, Any]

CONVERTER = lenient_converter()
CLIENTS = ["neovim", "visual-studio-code", "emacs"]
NAMES = ["", "Neovim", "Visual Studio Code", "helix", "Eglot", "another"]
VERSIONS = ["", "0.9.5", "0.10.4", "v0.11.4", "0.12.0-dev", "1.139.1", "odd"]


def of_pygls(params: Json) -> Json:
    """pygls' answer, completed with lsprotocol's types by what it cannot know."""
    server = LanguageServer("lsp-agent", __version__, converter_factory=lenient_converter)
    for method in ("textDocument/codeAction", "textDocument/codeLens"):
        server.feature(method)(lambda _params: None)
    typed = CONVERTER.structure(params, types.InitializeParams)
    work = server.protocol.lsp_initialize(typed)
    try:
        while True:
            next(work)
    except StopIteration as end:
        result: types.InitializeResult = end.value
    served = result.capabilities
    served.text_document_sync = types.TextDocumentSyncOptions(
        open_close=True,
        change=types.TextDocumentSyncKind.Incremental,
        will_save=True,
        save=types.SaveOptions(include_text=False),
    )
    served.execute_command_provider = types.ExecuteCommandOptions(capabilities.COMMANDS)
    kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.Refactor]
    served.code_action_provider = types.CodeActionOptions(code_action_kinds=kinds)
    served.code_lens_provider = types.CodeLensOptions(resolve_provider=False)
    client = ClientInfo.of(params, "utf-16")
    legend = types.SemanticTokensLegend(capabilities.TOKEN_TYPES, token_modifiers=[])
    tokens = types.SemanticTokensOptions(legend, full=types.SemanticTokensFullDelta(delta=True))
    if not client.events:
        of_chats: dict[str, Any] = {
            "completion": types.CompletionOptions(trigger_characters=["@", "/"]),
            "definition": types.DefinitionOptions(),
            "document_link": types.DocumentLinkOptions(),
            "document_symbol": types.DocumentSymbolOptions(),
            "folding_range": types.FoldingRangeOptions(),
            "inlay_hint": types.InlayHintOptions(),
            "semantic_tokens": tokens,
        }
        for name, options in of_chats.items():
            harms = name == "completion" and client.name == "Neovim"
            if to_camel(name) not in client.registers and not harms:
                setattr(served, f"{name}_provider", options)
    served.experimental = {
        "agent": {
            "version": capabilities.VERSION,
            "methods": capabilities.METHODS,
            "notifications": capabilities.NOTIFICATIONS,
        }
    }
    match client.refresh:
        case "semanticTokens":
            served.semantic_tokens_provider = tokens
        case "diagnostic":
            served.diagnostic_provider = types.DiagnosticOptions(
                inter_file_dependencies=False, workspace_diagnostics=False
            )
        case None:
            pass
    return CONVERTER.unstructure(result, types.InitializeResult)


def ours(params: Json) -> Json:
    return capabilities.initialize_result(Introduction.of(params).client)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_same_for_each_known_client(name: str, version: str) -> None:
    info = {"name": name, "version": version}
    params: Json = {"processId": None, "rootUri": None, "capabilities": {}, "clientInfo": info}
    assert ours(params) == of_pygls(params)


@pytest.mark.parametrize("client", CLIENTS)
def test_it_is_the_same_for_all_that_an_editor_can_do(client: str) -> None:
    able = CONVERTER.unstructure(client_capabilities(client), types.ClientCapabilities)
    params: Json = {"processId": None, "rootUri": None, "capabilities": able}
    assert ours(params) == of_pygls(params)


flags = st.booleans()
dynamic = st.fixed_dictionaries({}, optional={"dynamicRegistration": flags})
tokens = st.fixed_dictionaries(
    {name: st.just([]) for name in ("tokenTypes", "tokenModifiers", "formats")}
    | {"requests": st.just({"full": True})},
    optional={"dynamicRegistration": flags},
)
encodings = st.sampled_from(["utf-8", "utf-16", "utf-32", "latin-1"])
able = st.fixed_dictionaries(
    {},
    optional={
        "general": st.fixed_dictionaries(
            {}, optional={"positionEncodings": st.none() | st.lists(encodings)}
        ),
        "textDocument": st.fixed_dictionaries(
            {},
            optional={
                "synchronization": st.fixed_dictionaries(
                    {}, optional={"willSave": flags, "willSaveWaitUntil": flags, "didSave": flags}
                ),
                "codeAction": dynamic,
                "codeLens": dynamic,
                "completion": dynamic,
                "definition": dynamic,
                "documentLink": dynamic,
                "documentSymbol": dynamic,
                "foldingRange": dynamic,
                "inlayHint": dynamic,
                "semanticTokens": tokens,
                "diagnostic": dynamic,
                "rename": st.fixed_dictionaries({}, optional={"prepareSupport": flags}),
            },
        ),
        "notebookDocument": st.just({"synchronization": {}}),
        "workspace": st.fixed_dictionaries(
            {},
            optional={
                "workspaceFolders": flags,
                "configuration": flags,
                "fileOperations": st.fixed_dictionaries(
                    {}, optional={"willCreate": flags, "didRename": flags, "willDelete": flags}
                ),
            },
        ),
        "experimental": st.none() | st.dictionaries(st.text(), flags),
    },
)
initialize = st.fixed_dictionaries(
    {"processId": st.none() | st.integers(1, 9), "rootUri": st.none(), "capabilities": able},
    optional={
        "clientInfo": st.fixed_dictionaries(
            {"name": st.sampled_from(NAMES)}, optional={"version": st.sampled_from(VERSIONS)}
        ),
        "rootPath": st.none() | st.just("/a/b"),
        "workspaceFolders": st.none() | st.just([{"uri": "file:///a", "name": "a"}]),
        "trace": st.sampled_from(["off", "messages", "verbose"]),
        "initializationOptions": st.none() | st.dictionaries(st.text(), st.integers()),
    },
)


@settings(max_examples=200, deadline=None)
@given(initialize)
def test_it_is_the_same_whatever_a_client_can_do(params: Json) -> None:
    logging.getLogger("pygls").setLevel(logging.ERROR)  # of encodings that nobody knows
    assert ours(params) == of_pygls(params)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("capabilities", 7),
        ("capabilities", None),
        ("workspaceFolders", "file:///a"),
        ("workspaceFolders", [{"uri": "file:///a"}]),
        ("rootUri", 7),
        ("rootPath", 7),
        ("rootPath", "not/absolute"),
    ],
)
def test_wrong_params_are_named(field: str, value: object) -> None:
    with pytest.raises(BadParams) as caught:
        Introduction.of({"capabilities": {}, field: value})
    assert caught.value.field == field
