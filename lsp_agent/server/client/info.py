"""What the client is and what it can do, as it said in ``initialize``."""

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from lsp_agent.protocol.errors import BadParams
from lsp_agent.server.client.parent import can_watch
from lsp_agent.server.client.quirks import Quirks, RefreshKind, quirks_of
from lsp_agent.text.positions import Encoding

log = logging.getLogger(__name__)


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
    inlay_hint_refresh: bool = False
    #: The names of its ``textDocument`` capabilities that can be registered while it runs.
    registers: frozenset[str] = frozenset()

    @property
    def quirks(self) -> Quirks:
        return quirks_of(self.name, self.version)

    @property
    def refresh(self) -> RefreshKind | None:
        """What makes it send what it holds back, where it cannot be asked to (``sync``): nothing
        else is worth a provider that it asks after each change."""
        return None if self.sync else self.quirks.refresh

    @classmethod
    def of(cls, params: Mapping[str, Any], encoding: Encoding) -> "ClientInfo":
        """From the params of ``initialize``; what is missing or odd counts as not there."""
        client = _object(params, "clientInfo")
        agent = _object(params, "capabilities", "experimental", "agent")
        workspace = _object(params, "capabilities", "workspace")
        window = _object(params, "capabilities", "window")
        document = _object(params, "capabilities", "textDocument")
        process_id = params.get("processId")
        name, version = str(client.get("name", "")), _version(str(client.get("version", "")))
        quirks = quirks_of(name, version)
        return cls(
            name=name,
            version=version,
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
            and quirks.shows_requests_beside,
            work_done_progress=window.get("workDoneProgress") is True,
            configuration=workspace.get("configuration") is True,
            show_document=_object(window, "showDocument").get("support") is True
            or quirks.shows_documents,
            publish_diagnostics=isinstance(document.get("publishDiagnostics"), dict),
            code_lens_refresh=_object(workspace, "codeLens").get("refreshSupport") is True,
            inlay_hint_refresh=_object(workspace, "inlayHint").get("refreshSupport") is True,
            registers=frozenset(
                name
                for name in document
                if _object(document, name).get("dynamicRegistration") is True
            ),
        )


@dataclass(frozen=True, slots=True)
class Introduction:
    """What the params of ``initialize`` say. ``folders``: a name for each URI. ``watched``: the
    client's process could be seen while it waited for the answer, so its end can be."""

    client: ClientInfo
    folders: dict[str, str]
    watched: bool

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> "Introduction":
        """Raises ``BadParams`` where it cannot be known what the client has or where it is."""
        if not isinstance(params.get("capabilities"), dict):
            raise BadParams("capabilities", "must be an object")
        client = ClientInfo.of(params, _encoding(params))
        watched = client.process_id is not None and can_watch(client.process_id)
        return cls(client, _folders(params), watched)


def with_change(folders: Mapping[str, str], event: Mapping[str, Any]) -> dict[str, str]:
    """``folders`` after the event of a ``didChangeWorkspaceFolders``. What is odd in it is logged
    and passed over: no client hears of a refusal, and what it removes must be out of reach."""
    removed = dict(_changed(event, "removed", _removed))
    left = {uri: name for uri, name in folders.items() if uri not in removed}
    return left | dict(_changed(event, "added", _folder))


def _changed(
    event: Mapping[str, Any], which: str, read: Callable[[object], tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    listed: object = event.get(which) or []
    for each in cast(list[object], listed) if isinstance(listed, list) else [listed]:
        try:
            yield read(each)
        except BadParams as exc:
            log.warning("%s folder %.200r is passed over: %s", which, each, exc)


def _encoding(params: Mapping[str, Any]) -> Encoding:
    """The client's first that we know, which is the one it holds its texts in."""
    offered = _object(params, "capabilities", "general").get("positionEncodings")
    for each in cast(list[object], offered) if isinstance(offered, list) else []:
        if each in ("utf-8", "utf-16", "utf-32"):
            return each
    return "utf-16"


def _folders(params: Mapping[str, Any]) -> dict[str, str]:
    """``workspaceFolders``; from clients older than these, the root."""
    if folders := params.get("workspaceFolders"):
        if not isinstance(folders, list):
            raise BadParams("workspaceFolders", "must be a list")
        return dict(map(_folder, cast(list[object], folders)))
    if root := params.get("rootUri"):
        if not isinstance(root, str):
            raise BadParams("rootUri", "must be a string")
        return {root: root.rstrip("/").rpartition("/")[2]}
    if path := params.get("rootPath"):  # all that Helix says where no marker is above the file
        if not isinstance(path, str) or not Path(path).is_absolute():
            raise BadParams("rootPath", "must be an absolute path")
        return {Path(path).as_uri(): Path(path).name}
    return {}


def _folder(folder: object) -> tuple[str, str]:
    match folder:
        case {"uri": str(uri), "name": str(name)}:
            return uri, name
        case _:
            raise BadParams("workspaceFolders", "each must have a uri and a name")


def _removed(folder: object) -> tuple[str, str]:
    match folder:
        case {"uri": str(uri)}:
            return uri, ""
        case _:
            raise BadParams("workspaceFolders", "each must have a uri")


def _object(value: Mapping[str, Any], *path: str) -> dict[str, Any]:
    """The object at ``path``; an empty one where there is something else or nothing."""
    found: Any = value
    for key in path:
        found = cast(dict[str, Any], found).get(key) if isinstance(found, dict) else None
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}


def _version(text: str) -> tuple[int, ...]:
    match = re.match(r"v?(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else ()
