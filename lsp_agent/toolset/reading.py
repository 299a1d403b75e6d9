"""``read``: what is shown of a file, how much of it, and what there is none of.

A model that was told of zot's tools reads the same texts whether zot, the embedded agent or the
editor behind the bridge did the work. Pure: whoever does the work brings bytes and texts.

Better than zot's own on purpose: a read gets to every line of a long file, and says where to go on.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lsp_agent.toolset.arguments import ToolFailure

#: The caps on what a read or a command's output shows of itself.
MAX_LINES = 2000
MAX_BYTES = 51200

#: For answers through an extension, where zot would turn an empty text into
#: "(extension returned no content)".
EMPTY_FILE = "(the file is empty)"
NO_SUCH_LINES = "(the file ends before these lines)"

_IMAGES: Mapping[str, str] = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
}
_BINARY_PROBE = 8192


def missing_stat(path: str) -> str:
    """For ``read``; ``path`` is absolute, as in all of these."""
    return f"stat {path}: no such file or directory"


def is_directory(path: str) -> str:
    """For ``read``."""
    return f"{path} is a directory"


def image_type(path: str) -> str | None:
    """The MIME type that ``read`` answers with for an image, told by the name; else None."""
    name = path.rsplit("/", 1)[-1]
    return _IMAGES.get(name.rpartition(".")[2].lower()) if "." in name else None


@dataclass(frozen=True, slots=True)
class ShownLines:
    """``text`` is what a ``read`` answers; ``start`` to ``end`` (0-based, half-open, by ``\\n``)
    are the file's lines that are whole in it."""

    text: str
    start: int
    end: int


def read_lines(path: str, data: bytes, offset: int = 0, limit: int = 0) -> ShownLines:
    """What ``read`` shows of a file's ``data``; ``path`` as the model gave it.

    At most MAX_LINES and MAX_BYTES, in whole lines unless the first alone is longer. Raises
    ToolFailure for a binary file.
    """
    if b"\0" in data[:_BINARY_PROBE]:
        raise ToolFailure(f"{path} looks binary; refusing to read as text")
    before = max(offset - 1, 0)
    rest = data.split(b"\n", before)[before:]
    head = rest[0][: MAX_BYTES + 1] if rest else b""
    lines = head.split(b"\n")
    too_large = len(head) > MAX_BYTES
    is_cut = too_large and len(lines) == 1
    if too_large:
        lines = lines[:-1] or [lines[0][:MAX_BYTES]]
    elif not lines[-1]:
        lines.pop()
    selected = lines[:limit] if limit > 0 else lines
    shown = selected[:MAX_LINES]
    text = decode(b"".join(line + b"\n" for line in shown))
    end = before + (0 if is_cut else len(shown))
    if len(selected) > MAX_LINES:
        most = f"{MAX_LINES} lines"
    elif too_large and not 0 < limit <= len(lines):
        most = f"{MAX_BYTES} bytes"
    else:
        return ShownLines(text, before, end)
    notice = f"... [truncated at {most}; go on with offset {before + len(shown) + 1}]\n"
    return ShownLines(text + notice, before, end)


def decode(data: bytes) -> str:
    """UTF-8 with one U+FFFD for each byte that is none, as zot's JSON has it."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return re.sub("[\udc80-\udcff]", "\ufffd", data.decode(errors="surrogateescape"))
