"""What each cell of the matrix must come to, from lists of lines alone.

Nothing of ours is imported here: a file is a list of (words, line end), a byte order mark or none.
The agent changes the second line and the seventh; a person, where one has typed, the fifth (apart)
or the second (overlapping).
"""

from dataclasses import dataclass, replace

STATES = (
    "open clean",
    "open unsaved apart",
    "open unsaved overlapping",
    "not open",
    "missing",
    "read-only",
    "symlink inside",
    "symlink outside",
    "hard link",
    "binary",
    "not UTF-8",
    "BOM",
    "CRLF",
    "mixed ends",
    "no last newline",
)
ACTIONS = ("edit", "write", "create", "delete", "rename")
WAYS = ("hosted", "mirror")
REVIEWS = ("off", "after", "before: accepted", "before: rejected", "before: partly")

WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
AGENTS = {1: "TWO", 6: "SEVEN"}
TYPED = {"open unsaved apart": {4: "five, typed"}, "open unsaved overlapping": {1: "t-typed-wo"}}
BINARY = b"two\0seven\x01\n"
LATIN = "two caf\xe9 seven\n".encode("latin-1")
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Cell:
    state: str
    action: str
    way: str
    review: str

    def __str__(self) -> str:
        return f"{self.way} {self.action}, {self.state}, {self.review}"


@dataclass(frozen=True)
class Expected:
    """``buffer`` is None where nothing is open, ``disk`` where there is no file; ``refused`` is a
    word of what the agent is told where its call fails."""

    buffer: str | None
    disk: bytes | None
    ledger: tuple[str, ...]
    refused: str | None = None


def cells() -> list[Cell]:
    return [Cell(s, a, w, r) for s in STATES for a in ACTIONS for w in WAYS for r in REVIEWS]


def impossible(cell: Cell) -> str | None:
    """Why there is no such cell, or None."""
    if cell.way == "hosted" and cell.action in ("delete", "rename"):
        return "a hosted agent's tools have no delete or rename; its commands are mirror"
    if cell.action == "create" and cell.state != "missing":
        return "what is there cannot be created: that is write"
    if cell.action != "create" and cell.state == "missing":
        return "what is missing cannot be changed, deleted or renamed: writing it is create"
    if cell.way == "mirror" and cell.review == "before: partly":
        return "what is on disk already cannot be held in parts: the call is allowed or declined"
    if cell.way == "mirror" and cell.state == "symlink outside":
        return "the mirror looks at real paths in the folders, and there is none (attacks)"
    return None


def start(state: str) -> bytes | None:
    """What is on disk at first."""
    match state:
        case "missing":
            return None
        case "binary":
            return BINARY
        case "not UTF-8":
            return LATIN
        case _:
            return (BOM if state == "BOM" else b"") + _text(state, {}).encode()


def typed(state: str) -> str | None:
    """What the editor shows before the agent comes, None where the file is not open."""
    return _text(state, TYPED.get(state, {})) if state.startswith("open") else None


def agents_text(state: str) -> str:
    """The whole text that the agent means, on what is on disk, without a byte order mark."""
    return _text(state, AGENTS)


def expected(cell: Cell) -> Expected:
    return _hosted(cell) if cell.way == "hosted" else _mirror(cell)


def expected_in(
    cell: Cell, *, proposes: bool, saves_when_asked: bool, saves_by_itself: bool
) -> Expected:
    """``expected`` of an open document in a client that gets proposals in place of edits, or
    that saves only by hand or also by itself."""
    want = expected(cell)
    shown, disk = typed(cell.state), start(cell.state)
    assert shown is not None
    if cell.way == "hosted":
        if proposes and want.ledger and not cell.review.startswith("before"):
            want = replace(want, buffer=shown, disk=disk, ledger=("proposed",))
        if not saves_when_asked:
            want = replace(want, disk=disk)
    elif proposes and want.ledger and cell.action in ("edit", "write"):
        want = replace(want, buffer=shown, ledger=("proposed",))
    if saves_by_itself and want.buffer is not None and want.buffer.encode() != disk:
        want = replace(want, disk=want.buffer.encode())
    return want


def _hosted(cell: Cell) -> Expected:
    state = cell.state
    untouched = Expected(typed(state), start(state), ())
    refused = {
        "read-only": "read-only",
        "hard link": "hard links",
        "symlink outside": "outside",
        "binary": "binary",
        "not UTF-8": "UTF-8",
        "open unsaved overlapping": "not found" if cell.action == "edit" else "changed since",
    }.get(state)
    if refused is not None:
        return Expected(untouched.buffer, untouched.disk, (), refused)
    if cell.review == "before: rejected":
        return Expected(untouched.buffer, untouched.disk, ("rejected",))
    status = "kept" if cell.review == "off" else "applied"
    changed = {1: "TWO"} if cell.review == "before: partly" else AGENTS
    if state == "missing":  # a new file is one hunk
        if cell.review == "before: partly":
            changed = AGENTS
        return Expected(None, _text(state, changed).encode(), (status,))
    mine = TYPED.get(state, {})
    text = _text(state, {**mine, **changed})
    bom = BOM if state == "BOM" else b""
    if state.startswith("open"):
        # Saved if nothing of the person's was unsaved.
        return Expected(text, start(state) if mine else text.encode(), (status,))
    return Expected(None, bom + text.encode(), (status,))


def _mirror(cell: Cell) -> Expected:
    state = cell.state
    if cell.review == "before: rejected":  # asked before the call, which is not run
        return Expected(typed(state), start(state), (), "declined")
    status = "kept" if cell.review == "off" else "applied"
    shown = typed(state)
    if cell.action in ("delete", "rename"):
        # The text of a document stays in it; the change is kept to have the file back by.
        if state in ("binary", "not UTF-8"):
            return Expected(None, None, ())
        statuses = ("kept",) if shown is not None else (status,)
        return Expected(shown, None, statuses + ((status,) if cell.action == "rename" else ()))
    if state in ("binary", "not UTF-8"):
        return Expected(None, start(state) and agents_bytes(state), ())
    disk = agents_bytes(state)
    if shown is None:
        return Expected(None, disk, (status,))
    if state == "open unsaved overlapping":
        # The person's line stays; what does not clash goes in, what does is proposed.
        return Expected(_text(state, {**AGENTS, **TYPED[state]}), disk, (status, "proposed"))
    return Expected(_text(state, {**TYPED.get(state, {}), **AGENTS}), disk, (status,))


def agents_bytes(state: str) -> bytes:
    """What an agent that writes the disk itself leaves there."""
    if state in ("binary", "not UTF-8"):
        return (start(state) or b"").replace(b"two", b"TWO")
    return (BOM if state == "BOM" else b"") + agents_text(state).encode()


def _text(state: str, changed: dict[int, str]) -> str:
    words = [changed.get(index, word) for index, word in enumerate(WORDS)]
    ends = ["\n"] * len(words)
    if state == "CRLF":
        ends = ["\r\n"] * len(words)
    elif state == "mixed ends":
        ends = ["\r\n" if index % 3 == 0 else "\n" for index in range(len(words))]
    elif state == "no last newline":
        ends[-1] = ""
    return "".join(word + end for word, end in zip(words, ends, strict=True))
