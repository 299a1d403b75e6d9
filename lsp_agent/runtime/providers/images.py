"""Images as models take them. What a service refuses would be refused again with every later
prompt, so what is no such image goes as words."""

import base64
import binascii
from collections.abc import Mapping

from lsp_agent.runtime.transcript import Block

_MOST_BYTES = 15 << 18  # 5 MiB as base64
_BEGINNINGS: Mapping[bytes, str] = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def shown(block: Block, *, takes_images: bool) -> tuple[str, str] | str:
    """MIME type and base64 data of an image block; or what to say in its place."""
    data = str(block.get("data") or "")
    if not takes_images:
        return "[an image, which this model cannot be shown]"
    if int(str(block["bytes"])) > _MOST_BYTES:
        return f"[an image of {block['bytes']} bytes, which is more than a model takes]"
    kind = _kind(data)
    return (kind, data) if kind else "[an image that is no PNG, JPEG, GIF or WebP]"


def _kind(data: str) -> str | None:
    """By what it begins with: names and declared types may be wrong."""
    try:
        head = base64.b64decode(data[:16])
    except binascii.Error:
        return None
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _BEGINNINGS.items() if head.startswith(start)), None)
