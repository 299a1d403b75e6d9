"""What the client is and what it can do, as it said in ``initialize``."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from lsp_agent.text.positions import Encoding

#: Editors that show a message request beside the text, where no key that is typed reaches it. In
#: others (Neovim, Eglot) it has the focus at once; of the rest nobody has looked.
_SHOW_BESIDE = ("Visual Studio Code", "VSCodium", "Code - OSS", "code-server")

#: Names of the request that a Neovim makes when it is told to ask anew (see ``barrier.py``).
RefreshKind = Literal["semanticTokens", "diagnostic"]


@dataclass(frozen=True, slots=True)
class ClientInfo:
    """``version`` is (major, minor), or () where the client sent none that can be read.

    The flags from ``events`` to ``diagnostics`` are ``capabilities.experimental.agent``'s.
    """

    name: str = ""
    version: tuple[int, ...] = ()
    process_id: int | None = None
    encoding: Encoding = "utf-16"
    options: object = None  # initializationOptions as they came

    events: bool = False
    sync: bool = False
    save: bool = False
    reload: bool = False
    ask: bool = False
    diagnostics: bool = False

    apply_edit: bool = False
    #: Whether a message request may be sent to it: it has them, and they take no key.
    show_message_request: bool = False
    work_done_progress: bool = False
    configuration: bool = False
    show_document: bool = False
    publish_diagnostics: bool = False
    code_lens_refresh: bool = False

    @property
    def is_neovim(self) -> bool:
        return self.name == "Neovim"

    @property
    def is_helix(self) -> bool:
        return self.name == "helix"

    @property
    def refresh(self) -> RefreshKind | None:
        """Which refresh makes this client ask anew at once; None where none is known to."""
        if not self.is_neovim or len(self.version) < 2 or self.version < (0, 10):
            return None
        return "semanticTokens" if self.version < (0, 12) else "diagnostic"

    @classmethod
    def of(cls, params: Mapping[str, Any], encoding: Encoding) -> "ClientInfo":
        """From the params of ``initialize``; what is missing or odd counts as not there."""
        client = _object(params, "clientInfo")
        agent = _object(params, "capabilities", "experimental", "agent")
        workspace = _object(params, "capabilities", "workspace")
        window = _object(params, "capabilities", "window")
        document = _object(params, "capabilities", "textDocument")
        process_id = params.get("processId")
        return cls(
            name=str(client.get("name", "")),
            version=_version(str(client.get("version", ""))),
            process_id=process_id if isinstance(process_id, int) else None,
            encoding=encoding,
            options=params.get("initializationOptions"),
            events=agent.get("events") is True,
            sync=agent.get("sync") is True,
            save=agent.get("save") is True,
            reload=agent.get("reload") is True,
            ask=agent.get("ask") is True,
            diagnostics=agent.get("diagnostics") is True,
            apply_edit=workspace.get("applyEdit") is True,
            show_message_request=isinstance(window.get("showMessage"), dict)
            and str(client.get("name", "")).startswith(_SHOW_BESIDE),
            work_done_progress=window.get("workDoneProgress") is True,
            configuration=workspace.get("configuration") is True,
            # Helix shows documents, but does not say so.
            show_document=_object(window, "showDocument").get("support") is True
            or client.get("name") == "helix",
            publish_diagnostics=isinstance(document.get("publishDiagnostics"), dict),
            code_lens_refresh=_object(workspace, "codeLens").get("refreshSupport") is True,
        )


def _object(value: Mapping[str, Any], *path: str) -> dict[str, Any]:
    """The object at ``path``; an empty one where there is something else or nothing."""
    found: Any = value
    for key in path:
        found = cast(dict[str, Any], found).get(key) if isinstance(found, dict) else None
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}


def _version(text: str) -> tuple[int, ...]:
    match = re.match(r"v?(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else ()
