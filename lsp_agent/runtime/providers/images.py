"""Images as models take them. What a service refuses would be refused again with every later
prompt, so what is no such image goes as words."""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence

from lsp_agent.runtime.providers.image_size import size
from lsp_agent.runtime.transcript import Block, Message, images_in, results_of

_MOST_BYTES = 15 << 18  # 5 MiB as base64
#: Pixels that a side may have.
_LONGEST_SIDE = 8000
#: The same in a request of more than so many images.
_FEW = 20
_LONGEST_SIDE_OF_MANY = 2000
#: So many go at a time.
_LET_GO = 10
_OLDER = "[an older image of {} pixels a side; beside so many only smaller ones are shown]"
_BEGINNINGS: Mapping[bytes, str] = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


class Images:
    """Those of a request's messages, each as it is shown beside the others."""

    def __init__(self, messages: Sequence[Message], *, takes_images: bool) -> None:
        self._shown: dict[int, tuple[str, str] | str] = {}
        large: dict[int, str] = {}
        for block in _images(messages):
            self._shown[id(block)], side = _alone(block, takes_images=takes_images)
            if side > _LONGEST_SIDE_OF_MANY:
                large[id(block)] = _OLDER.format(side)
        over = sum(not isinstance(one, str) for one in self._shown.values()) - _FEW
        # Some at a time: what changes of a conversation, and all behind it, is not in a cache.
        steps = -(-max(0, over) // _LET_GO)
        self._shown |= dict([*large.items()][: steps * _LET_GO])

    def shown(self, block: Block) -> tuple[str, str] | str:
        """MIME type and base64 data of an image block; or what to say in its place."""
        return self._shown[id(block)]


def _images(messages: Sequence[Message]) -> Iterator[Block]:
    for source in messages:
        if source["role"] == "tool":
            for _, content in results_of(source):
                yield from images_in(content)
        else:
            yield from images_in(source["content"])


def _alone(block: Block, *, takes_images: bool) -> tuple[tuple[str, str] | str, int]:
    """As it is shown without regard to others, and its longer side, 0 if it is not shown."""
    data = str(block.get("data") or "")
    if not takes_images:
        return "[an image, which this model cannot be shown]", 0
    if int(str(block["bytes"])) > _MOST_BYTES:
        return f"[an image of {block['bytes']} bytes, which is more than a model takes]", 0
    try:
        content = base64.b64decode(data)
    except binascii.Error:
        content = b""
    kind = _kind(content)
    if kind is None:
        return "[an image that is no PNG, JPEG, GIF or WebP]", 0
    measured = size(kind, content)
    if measured is None:
        return "[an image that is cut or damaged]", 0
    if max(measured) > _LONGEST_SIDE:
        width, height = measured
        return f"[an image of {width} x {height} pixels, which is more than a model takes]", 0
    return (kind, data), max(measured)


def _kind(content: bytes) -> str | None:
    """By what it begins with: names and declared types may be wrong."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _BEGINNINGS.items() if content.startswith(start)), None)
