"""What the server answers to ``initialize``, made of nothing but what the client names.

Plain values, and the methods' names stand here once more, so that ``initialize`` is answered before
lsprotocol, pydantic and the models of ``protocol/methods.py`` are imported; tests compare the
names with that table, and the answer with the one that pygls computes.
"""

from typing import Any

from lsp_agent import __version__
from lsp_agent.server.client.info import ClientInfo

Json = dict[str, Any]

VERSION = 1
NAMES = (
    "prompt",
    "retry",
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
    "prompts",
    "rewind",
    "fork",
    "state",
    "messages",
    "lastAnswer",
    "openChat",
    "sendChat",
    "forkChat",
    "models",
    "agents",
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
    "backgroundCommands",
    "stopBackgroundCommand",
    "permissions",
)
METHODS = [f"agent/{name}" for name in NAMES]
COMMANDS = [f"lspAgent.{name}" for name in (*NAMES, "answer", "showQuestion")]
NOTIFICATIONS = ["agent/event"]

#: Those of LSP's that a conversation has (``chat/token_marks.py``).
TOKEN_TYPES = [
    "keyword",
    "namespace",
    "event",
    "enumMember",
    "function",
    "parameter",
    "property",
    "macro",
    "comment",
]
#: What is answered for conversations alone, by its name in a client's capabilities, with its
#: options: with lsprotocol's types (``chat_documents.py``), or as plain values.
TYPED_FOR_CHATS: dict[str, Json] = {
    "completion": {"triggerCharacters": ["@", "/"]},
    "definition": {},
    "documentLink": {},
    "documentSymbol": {},
    "foldingRange": {},
}
FOR_CHATS: dict[str, Json] = TYPED_FOR_CHATS | {
    "inlayHint": {},
    "semanticTokens": {
        "legend": {"tokenTypes": TOKEN_TYPES, "tokenModifiers": []},
        "full": {"delta": True},
    },
}
_CHATS = [{"pattern": "**/*.chat.md"}]

_INCREMENTAL = 2


def initialize_result(client: ClientInfo) -> Json:
    """All that is served, and a Neovim's barrier."""
    served: Json = {
        "positionEncoding": client.encoding,
        "textDocumentSync": {
            "openClose": True,
            "change": _INCREMENTAL,
            "willSave": True,
            "save": {"includeText": False},
        },
        "codeActionProvider": {"codeActionKinds": ["quickfix", "refactor"]},
        "codeLensProvider": {"resolveProvider": False},
        "executeCommandProvider": {"commands": COMMANDS},
        "workspace": {
            "workspaceFolders": {"supported": True, "changeNotifications": True},
            "fileOperations": {},
        },
        "experimental": {
            "agent": {"version": VERSION, "methods": METHODS, "notifications": NOTIFICATIONS}
        },
    }
    # For all documents where it cannot be said which; a client with a chat of its own needs none.
    if not client.events:
        harmful = {"completion"} if client.quirks.completes_by_one else set[str]()
        for name in FOR_CHATS.keys() - client.registers - harmful:
            served[f"{name}Provider"] = FOR_CHATS[name]
    # For each document, of most of them nothing: asked anew, the client sends what it held back
    # first (barrier.py).
    if client.refresh == "semanticTokens":
        served["semanticTokensProvider"] = FOR_CHATS["semanticTokens"]
    elif client.refresh == "diagnostic":
        served["diagnosticProvider"] = {
            "interFileDependencies": False,
            "workspaceDiagnostics": False,
        }
    return {
        "capabilities": served,
        "serverInfo": {"name": "lsp-agent", "version": __version__},
    }


def registrations(client: ClientInfo) -> list[Json]:
    """For conversations alone, where a client can be told so."""
    return [
        {
            "id": f"lsp-agent-{name}",
            "method": f"textDocument/{name}",
            "registerOptions": {"documentSelector": _CHATS, **options},
        }
        for name, options in FOR_CHATS.items()
        if name in client.registers
    ]
