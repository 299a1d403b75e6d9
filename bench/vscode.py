"""``initialize`` params of the size and depth that Visual Studio Code sends."""

from pathlib import Path
from typing import Any

Json = dict[str, Any]

_DYNAMIC: Json = {"dynamicRegistration": True}
_REFRESH: Json = {"refreshSupport": True}
_LINKED: Json = {"dynamicRegistration": True, "linkSupport": True}


def _kinds(count: int) -> Json:
    return {"valueSet": list(range(1, count + 1))}


_WORKSPACE: Json = {
    "applyEdit": True,
    "workspaceEdit": {
        "documentChanges": True,
        "resourceOperations": ["create", "rename", "delete"],
        "failureHandling": "textOnlyTransactional",
        "normalizesLineEndings": True,
        "changeAnnotationSupport": {"groupsOnLabel": True},
    },
    "configuration": True,
    "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
    "symbol": {
        "dynamicRegistration": True,
        "symbolKind": _kinds(26),
        "tagSupport": {"valueSet": [1]},
        "resolveSupport": {"properties": ["location.range"]},
    },
    "codeLens": _REFRESH,
    "executeCommand": _DYNAMIC,
    "didChangeConfiguration": _DYNAMIC,
    "workspaceFolders": True,
    "foldingRange": _REFRESH,
    "semanticTokens": _REFRESH,
    "fileOperations": {
        "dynamicRegistration": True,
        **{
            moment + what: True
            for moment in ("did", "will")
            for what in ("Create", "Rename", "Delete")
        },
    },
    "inlineValue": _REFRESH,
    "inlayHint": _REFRESH,
    "diagnostics": _REFRESH,
}

_SYMBOLS: Json = {
    "dynamicRegistration": True,
    "symbolKind": _kinds(26),
    "hierarchicalDocumentSymbolSupport": True,
    "tagSupport": {"valueSet": [1]},
    "labelSupport": True,
}

_COMPLETION: Json = {
    "dynamicRegistration": True,
    "contextSupport": True,
    "completionItem": {
        "snippetSupport": True,
        "commitCharactersSupport": True,
        "documentationFormat": ["markdown", "plaintext"],
        "deprecatedSupport": True,
        "preselectSupport": True,
        "tagSupport": {"valueSet": [1]},
        "insertReplaceSupport": True,
        "resolveSupport": {"properties": ["documentation", "detail", "additionalTextEdits"]},
        "insertTextModeSupport": {"valueSet": [1, 2]},
        "labelDetailsSupport": True,
    },
    "insertTextMode": 2,
    "completionItemKind": _kinds(25),
    "completionList": {
        "itemDefaults": [
            "commitCharacters",
            "editRange",
            "insertTextFormat",
            "insertTextMode",
            "data",
        ]
    },
}

_CODE_ACTION: Json = {
    "dynamicRegistration": True,
    "isPreferredSupport": True,
    "disabledSupport": True,
    "dataSupport": True,
    "resolveSupport": {"properties": ["edit"]},
    "codeActionLiteralSupport": {
        "codeActionKind": {
            "valueSet": [
                "",
                "quickfix",
                "refactor",
                "refactor.extract",
                "refactor.inline",
                "refactor.rewrite",
                "source",
                "source.organizeImports",
            ]
        }
    },
    "honorsChangeAnnotations": True,
}

_SEMANTIC_TOKENS: Json = {
    "dynamicRegistration": True,
    "tokenTypes": [
        *("namespace", "type", "class", "enum", "interface", "struct", "typeParameter"),
        *("parameter", "variable", "property", "enumMember", "event", "function", "method"),
        *("macro", "keyword", "modifier", "comment", "string", "number", "regexp", "operator"),
        "decorator",
    ],
    "tokenModifiers": [
        *("declaration", "definition", "readonly", "static", "deprecated", "abstract", "async"),
        *("modification", "documentation", "defaultLibrary"),
    ],
    "formats": ["relative"],
    "requests": {"range": True, "full": {"delta": True}},
    "multilineTokenSupport": False,
    "overlappingTokenSupport": False,
    "serverCancelSupport": True,
    "augmentsSyntaxTokens": True,
}

_TEXT_DOCUMENT: Json = {
    "publishDiagnostics": {
        "relatedInformation": True,
        "versionSupport": False,
        "tagSupport": {"valueSet": [1, 2]},
        "codeDescriptionSupport": True,
        "dataSupport": True,
    },
    "synchronization": {
        "dynamicRegistration": True,
        "willSave": True,
        "willSaveWaitUntil": True,
        "didSave": True,
    },
    "completion": _COMPLETION,
    "hover": {"dynamicRegistration": True, "contentFormat": ["markdown", "plaintext"]},
    "signatureHelp": {
        "dynamicRegistration": True,
        "signatureInformation": {
            "documentationFormat": ["markdown", "plaintext"],
            "parameterInformation": {"labelOffsetSupport": True},
            "activeParameterSupport": True,
        },
        "contextSupport": True,
    },
    "definition": _LINKED,
    "references": _DYNAMIC,
    "documentHighlight": _DYNAMIC,
    "documentSymbol": _SYMBOLS,
    "codeAction": _CODE_ACTION,
    "codeLens": _DYNAMIC,
    "formatting": _DYNAMIC,
    "rangeFormatting": {"dynamicRegistration": True, "rangesSupport": True},
    "onTypeFormatting": _DYNAMIC,
    "rename": {
        "dynamicRegistration": True,
        "prepareSupport": True,
        "prepareSupportDefaultBehavior": 1,
        "honorsChangeAnnotations": True,
    },
    "documentLink": {"dynamicRegistration": True, "tooltipSupport": True},
    "typeDefinition": _LINKED,
    "implementation": _LINKED,
    "colorProvider": _DYNAMIC,
    "foldingRange": {
        "dynamicRegistration": True,
        "rangeLimit": 5000,
        "lineFoldingOnly": True,
        "foldingRangeKind": {"valueSet": ["comment", "imports", "region"]},
        "foldingRange": {"collapsedText": False},
    },
    "declaration": _LINKED,
    "selectionRange": _DYNAMIC,
    "callHierarchy": _DYNAMIC,
    "semanticTokens": _SEMANTIC_TOKENS,
    "linkedEditingRange": _DYNAMIC,
    "typeHierarchy": _DYNAMIC,
    "inlineValue": _DYNAMIC,
    "inlayHint": {
        "dynamicRegistration": True,
        "resolveSupport": {
            "properties": ["tooltip", "textEdits", "label.tooltip", "label.location"]
        },
    },
    "diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": False},
}

_CAPABILITIES: Json = {
    "workspace": _WORKSPACE,
    "textDocument": _TEXT_DOCUMENT,
    "window": {
        "showMessage": {"messageActionItem": {"additionalPropertiesSupport": True}},
        "showDocument": {"support": True},
        "workDoneProgress": True,
    },
    "general": {
        "staleRequestSupport": {
            "cancel": True,
            "retryOnContentModified": [
                "textDocument/semanticTokens/full",
                "textDocument/semanticTokens/range",
                "textDocument/semanticTokens/full/delta",
            ],
        },
        "regularExpressions": {"engine": "ECMAScript", "version": "ES2020"},
        "markdown": {"parser": "marked", "version": "1.1.0"},
        "positionEncodings": ["utf-16"],
    },
    "notebookDocument": {
        "synchronization": {"dynamicRegistration": True, "executionSummarySupport": True}
    },
}


def initialize_params(folder: Path, options: Json | None = None, *, events: bool = False) -> Json:
    """``events`` asks for ``agent/event``, as our own extension does."""
    capabilities = dict(_CAPABILITIES)
    if events:
        capabilities["experimental"] = {"agent": {"events": True}}
    return {
        "processId": None,
        "clientInfo": {"name": "Visual Studio Code", "version": "1.96.0"},
        "locale": "en",
        "rootPath": str(folder),
        "rootUri": folder.as_uri(),
        "capabilities": capabilities,
        "initializationOptions": options or {},
        "trace": "off",
        "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name}],
    }
