"""How large an image is, by its header."""

#: Markers of JPEG that begin a frame, whose header has the size; of the same range C4, C8 and CC
#: are something else.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
#: Markers that stand alone, without a length.
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})


def size(kind: str, data: bytes) -> tuple[int, int] | None:
    """Width and height of an image of the MIME type ``kind``; None where its header has none."""
    match kind:
        case "image/png" if data[12:16] == b"IHDR":
            found = _big(data[16:20]), _big(data[20:24])
        case "image/gif":
            found = _little(data[6:8]), _little(data[8:10])
        case "image/jpeg":
            found = _jpeg(data)
        case "image/webp":
            found = _webp(data)
        case _:
            return None
    return found if all(found) else None


def _jpeg(data: bytes) -> tuple[int, int]:
    """Steps from segment to segment; a marker may have any number of FF before it."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
        elif marker in _FRAMES:
            return _big(data[at + 7 : at + 9]), _big(data[at + 5 : at + 7])
        else:
            at += 2 + (0 if marker in _BARE else _big(data[at + 2 : at + 4]))
    return 0, 0


def _webp(data: bytes) -> tuple[int, int]:
    """By the first chunk, which has its size less one but for the lossy form."""
    head = data[20:30]
    match data[12:16]:
        case b"VP8 " if head[3:6] == b"\x9d\x01\x2a":
            return _little(head[6:8]) & 0x3FFF, _little(head[8:10]) & 0x3FFF
        case b"VP8L" if head[:1] == b"\x2f":
            bits = _little(head[1:5])
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X" if len(head) == 10:
            return _little(head[4:7]) + 1, _little(head[7:10]) + 1
        case _:
            return 0, 0


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")
