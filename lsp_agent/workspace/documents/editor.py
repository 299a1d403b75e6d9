"""The editor as the workspace needs it; over LSP it is ``server/client/editor_port.py``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lsp_agent.text.edits import TextEdit


@dataclass(frozen=True, slots=True)
class EditorTraits:
    """What is known of the client (``traits_of`` in server/client/editor_port.py).

    ``min_version``: the version sent for an edit is at least this (1 for Neovim, which does not
    check version 0). ``can_sync``: ``sync`` makes it send the changes that it holds back.
    ``checks_versions``: it refuses an edit on a text that it no longer shows.
    ``keeps_last_line_end``: whether the last line has an end is the file's property in it, which
    no edit adds or removes. ``holds_back``: it sends nothing while the person types without a
    pause and cannot be made to, so an edit could take what it has not sent. ``tells_at_edits``: any
    edit, also one that changes nothing, makes it tell of what was typed before.
    ``selects_line_ends``: a range that ends behind a line's last sign takes out the line end, too.
    ``may_be_deaf``: it may tell nothing of a document's changes and apply edits to it all the same
    (``placing/deaf_client.py``).
    """

    min_version: int = 0
    can_sync: bool = False
    can_save: bool = False
    can_reload: bool = False
    checks_versions: bool = True
    keeps_last_line_end: bool = False
    holds_back: bool = False
    tells_at_edits: bool = False
    selects_line_ends: bool = False
    may_be_deaf: bool = False


@dataclass(frozen=True, slots=True)
class Applied:
    """The client's answer to an edit; never proof. ``applied`` is None when none came."""

    applied: bool | None
    reason: str | None = None


class Editor(Protocol):
    """All URIs are as the client sent them in didOpen."""

    @property
    def traits(self) -> EditorTraits: ...

    async def apply(
        self, uri: str, version: int | None, edits: Sequence[TextEdit], label: str
    ) -> Applied:
        """Sends one versioned edit of one document. ``edits`` are relative to the document's
        text at the moment of the call, in code points; they are converted before anything is
        awaited. Bounded; an error answer counts as ``applied=False``."""
        ...

    async def sync(self, uri: str) -> None:
        """The barrier: returns when the client has sent what it held back, or after 0.3 s."""
        ...

    async def save(self, uri: str, version: int | None = None, *, removes: bool = False) -> bool:
        """Asks the client to save, if the document is still at that version; False where it
        cannot or did not. ``removes``: it may delete the file of an empty document instead."""
        ...

    async def reload(self, uri: str) -> bool:
        """Asks the client to take the text on disk; False where it cannot or did not."""
        ...
