"""Pictures of what is looked at, beside those that are kept (``pictures/``, README.md)."""

import os
import struct
import zlib
from base64 import b64decode, b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

KEPT = Path(__file__).parent / "pictures"
CODE = Path(__file__).with_suffix(".js")
#: Whether what is seen now is kept in place of what was.
RENEWS = os.environ.get("LSP_AGENT_PICTURES") == "renew"

COLOURS = 64
#: How far off a pixel may be, and how unlike in a channel, of 255.
NEAR, THRESHOLD = 2, 40
#: Of the pixels: the check of a call that is done has 30.
MOST = 15


@dataclass(frozen=True)
class Pictures:
    """``page`` is where they are decoded; what differs is left in ``folder``."""

    page: "Page"
    folder: Path

    def hold(self, name: str, shown: bytes) -> None:
        """Asserts that the PNG looks as the one that is kept of that name."""
        new = self._with_few_colours(shown)
        kept = KEPT / f"{name}.png"
        if RENEWS:
            kept.write_bytes(new)
        found, difference = self.folder / f"{name}.png", self.folder / f"{name}-difference.png"
        found.write_bytes(new)
        compared = self._run("compared", kept.read_bytes(), new)
        if "difference" in compared:
            difference.write_bytes(b64decode(compared["difference"]))
        assert compared["count"] <= MOST, (
            f"{compared['count']} pixels do not look as in {kept}: see {found}, and in red what"
            f" differs in {difference}. LSP_AGENT_PICTURES=renew keeps the new one."
        )

    def _with_few_colours(self, png: bytes) -> bytes:
        told = self._run("taken", png)
        width, height = told["width"], told["height"]
        indices = b64decode(told["indices"])
        return _png(width, height, bytes(told["palette"]), indices)

    def _run(self, action: str, *pictures: bytes) -> Any:
        told = {
            "action": action,
            "pictures": [b64encode(each).decode() for each in pictures],
            "colours": COLOURS,
            "near": NEAR,
            "threshold": THRESHOLD,
        }
        return self.page.evaluate(CODE.read_text(), told)


def _png(width: int, height: int, palette: bytes, indices: bytes) -> bytes:
    """With a palette, so that many are small."""
    rows = b"".join(b"\0" + indices[at : at + width] for at in range(0, height * width, width))
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = [
        (b"IHDR", head),
        (b"PLTE", palette),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*each) for each in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
