"""What came to the disk, how long an editor is waited for, and what became of it."""

import math
from dataclasses import dataclass
from typing import Literal

from lsp_agent.workspace.disk.look import Content
from lsp_agent.workspace.ledger.change import Change

What = Literal["recorded", "merged", "proposed", "gone", "unreadable", "failed", "nothing"]


@dataclass(frozen=True, slots=True)
class Waits:
    """In seconds."""

    #: How long an editor may take to reload a file by itself.
    reload: float = 0.5
    #: How long after a file was written its didSave may come.
    save: float = 0.1
    #: How long if the document shows just that: it may have been read from the disk.
    saved: float = 0.5
    #: How long if it showed that when the file was written, and a busy disk keeps the editor
    #: waiting. A sign, no proof: whoever touches a file that an editor has read makes it as well.
    busy: float = 3.0
    #: How long after it said that it had reloaded an editor may take to show it.
    reloaded: float = 0.5


@dataclass(frozen=True, slots=True)
class DiskChange:
    """A file that is not what it was. ``renamed_to`` is where it is now. ``over_a_save``: it came
    so soon after a save of the editor's that the document took it for what was saved, which was
    ``before``. ``since`` is the mirror's count when it was ``before``, ``found`` that when it was
    looked at; ``written`` and ``arrived`` are as of ``Seen``."""

    path: str
    before: Content
    now: Content
    renamed_to: str | None = None
    over_a_save: bool = False
    since: int = 0
    found: int = 0
    written: float = -math.inf
    arrived: float = -math.inf


@dataclass(frozen=True, slots=True)
class Brought:
    """What became of a change on disk.

    ``recorded``: of a file that is not open; ``merged``: it is in the open document, or
    (``unknown``) may still come; ``proposed``: part or all of it is a proposal, because both
    changed the same lines or for the ``reason``, and ``change`` is what went in, if any did;
    ``gone``: an open file was deleted, its document is as it was; ``unreadable`` and ``failed``:
    ``reason`` says why nothing could be done; ``nothing``: nothing was to be done.
    """

    disk: DiskChange
    what: What
    open: bool = False
    change: Change | None = None
    proposal: Change | None = None
    reason: str = ""
