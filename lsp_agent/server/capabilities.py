"""What the server says in ``initialize`` beyond what pygls computes."""

from collections.abc import Sequence

from lsprotocol import types

from lsp_agent.protocol.methods import (
    ANSWER_COMMAND,
    EVENT_NOTIFICATION,
    METHODS,
    PROTOCOL_VERSION,
)
from lsp_agent.server.client_info import ClientInfo

#: The commands of ``workspace/executeCommand``.
COMMANDS: tuple[str, ...] = (*(method.command for method in METHODS), ANSWER_COMMAND)


def complete(
    capabilities: types.ServerCapabilities, client: ClientInfo, commands: Sequence[str] = COMMANDS
) -> None:
    """Adds the document sync, the commands, the custom methods and a Neovim's barrier."""
    capabilities.text_document_sync = types.TextDocumentSyncOptions(
        open_close=True,
        change=types.TextDocumentSyncKind.Incremental,
        will_save=True,
        save=types.SaveOptions(include_text=False),
    )
    capabilities.execute_command_provider = types.ExecuteCommandOptions(commands=list(commands))
    capabilities.experimental = {
        "agent": {
            "version": PROTOCOL_VERSION,
            "methods": [method.method for method in METHODS],
            "notifications": [EVENT_NOTIFICATION],
        }
    }
    # Providers of nothing: asked anew, the client sends what it held back first (barrier.py).
    if client.refresh == "semanticTokens":
        capabilities.semantic_tokens_provider = types.SemanticTokensOptions(
            legend=types.SemanticTokensLegend(token_types=[], token_modifiers=[]), full=True
        )
    elif client.refresh == "diagnostic":
        capabilities.diagnostic_provider = types.DiagnosticOptions(
            inter_file_dependencies=False, workspace_diagnostics=False
        )
