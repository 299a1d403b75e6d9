"""What the server says in ``initialize`` beyond what pygls computes.

The names stand here once more, so that ``initialize`` is answered before pydantic and the
models of ``protocol/methods.py`` are imported; a test compares the two.
"""

from lsprotocol import types

from lsp_agent.server.client_info import ClientInfo

VERSION = 1
NAMES = (
    "prompt",
    "abort",
    "applyEdit",
    "rejectEdit",
    "keepEdit",
    "editText",
    "edits",
    "keepAll",
    "undoAll",
    "applyAll",
    "nextChange",
    "previewEdit",
    "revert",
    "state",
    "messages",
    "lastAnswer",
    "models",
    "setModel",
    "options",
    "setOption",
    "compact",
    "clear",
    "sessions",
    "agentSessions",
    "newSession",
    "closeSession",
    "resumeSession",
    "renameSession",
    "exportSession",
    "deleteSession",
    "commands",
    "runCommand",
)
METHODS = [f"agent/{name}" for name in NAMES]
COMMANDS = [f"lspAgent.{name}" for name in (*NAMES, "answer", "showQuestion")]
NOTIFICATIONS = ["agent/event"]


def complete(capabilities: types.ServerCapabilities, client: ClientInfo) -> None:
    """Adds all that is served, and a Neovim's barrier."""
    capabilities.text_document_sync = types.TextDocumentSyncOptions(
        open_close=True,
        change=types.TextDocumentSyncKind.Incremental,
        will_save=True,
        save=types.SaveOptions(include_text=False),
    )
    capabilities.execute_command_provider = types.ExecuteCommandOptions(commands=COMMANDS)
    capabilities.code_action_provider = types.CodeActionOptions(
        code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.Refactor]
    )
    capabilities.code_lens_provider = types.CodeLensOptions(resolve_provider=False)
    capabilities.experimental = {
        "agent": {
            "version": VERSION,
            "methods": METHODS,
            "notifications": NOTIFICATIONS,
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
