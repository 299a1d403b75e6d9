"""What editors do that no capability tells: one table, by the name in ``clientInfo``.

Each line was seen in the real editor. Of a client that is not here nothing is known, so what could
do harm in it is not done.
"""

from dataclasses import dataclass, replace
from typing import Literal

#: Names of the request that a Neovim makes when it is told to ask anew (see ``barrier.py``).
RefreshKind = Literal["semanticTokens", "diagnostic"]


@dataclass(frozen=True, slots=True)
class Quirks:
    """``checks_versions``: it refuses an edit of a version that it no longer shows; ``"synced"``:
    only where it syncs, since its version is behind its buffer otherwise."""

    checks_versions: bool | Literal["synced"] = False
    #: Version 0 is not checked by it.
    begins_versions_at: int = 0
    #: Whether the last line has an end is the file's property, which no edit adds or removes.
    keeps_last_line_end: bool = False
    #: It sends nothing while the person types without a pause, unless it syncs.
    holds_back: bool = False
    #: Of a buffer that is not shown it tells nothing, until it is given an edit of it.
    tells_at_edits: bool = False
    #: A range that ends behind a line's last sign takes out the line end, too.
    selects_line_ends: bool = False
    #: It may tell nothing of a document's changes and apply edits to it all the same. Our plugin,
    #: which syncs, keeps its buffers heard while no server runs.
    may_be_deaf: bool = False
    #: Each change comes from a task of its own, so those of fast typing overtake each other.
    mixes_changes_up: bool = False
    #: A message request stands beside the text, where no key that is typed reaches it.
    shows_requests_beside: bool = False
    #: The label of an edit is printed: many or long ones end at a prompt that takes the next key.
    prints_labels: bool = False
    #: It waits for a key, and takes it, where a message is longer than its command line; Neovim up
    #: to 0.11 does so at any that is no error.
    waits_for_a_key: bool = False
    #: The error of a command goes into its log, and nobody sees it.
    hides_command_errors: bool = False
    #: Of progress it shows that there is some, and none of its words.
    hides_progress: bool = False
    #: Its commands take no words, so what is asked is written into the text.
    asks_in_text: bool = False
    #: ``window/showDocument`` works, and it does not say so.
    shows_documents: bool = False
    #: The one completion of a buffer becomes the server's, in the place of the file type's own
    #: (`omnifunc`), also where the server has nothing to say.
    completes_by_one: bool = False
    #: Seconds without any change of a text after which it keeps what is not saved of it for its
    #: next start; 0: it keeps such text without that, or not at all.
    keeps_after: float = 0
    #: What makes it ask anew at once, and send before that what it holds back.
    refresh: RefreshKind | None = None


_VS_CODE = Quirks(checks_versions=True, shows_requests_beside=True, keeps_after=1)
_NEOVIM = Quirks(
    checks_versions=True,
    begins_versions_at=1,
    keeps_last_line_end=True,
    may_be_deaf=True,
    prints_labels=True,
    waits_for_a_key=True,
    completes_by_one=True,
)
#: By how the name begins.
_TABLE = {
    "Visual Studio Code": _VS_CODE,
    "VSCodium": _VS_CODE,
    "code-server": _VS_CODE,
    "Code - OSS": Quirks(shows_requests_beside=True),
    "helix": Quirks(
        checks_versions=True,
        mixes_changes_up=True,
        hides_command_errors=True,
        shows_documents=True,
        asks_in_text=True,
    ),
    "Eglot": Quirks(checks_versions="synced", holds_back=True),
    "kakoune-lsp": Quirks(
        holds_back=True,
        tells_at_edits=True,
        selects_line_ends=True,
        hides_progress=True,
        asks_in_text=True,
    ),
}


def quirks_of(name: str, version: tuple[int, ...]) -> Quirks:
    """``version`` is (major, minor), or () where it is not known."""
    if name == "Neovim":
        return replace(_NEOVIM, refresh=_refresh(version))
    return next((quirks for start, quirks in _TABLE.items() if name.startswith(start)), Quirks())


def _refresh(version: tuple[int, ...]) -> RefreshKind | None:
    if len(version) < 2 or version < (0, 10):
        return None
    return "semanticTokens" if version < (0, 12) else "diagnostic"
