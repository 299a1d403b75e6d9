"""Which images a model is shown: none that its service would refuse, since that would refuse every
later prompt as well."""

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.runtime.providers.image_size import size
from lsp_agent.runtime.providers.images import Images
from lsp_agent.runtime.transcript import Block, image_block, message

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
#: A JPEG's beginning: a segment that is not the frame, with what looks like one inside of it.
JPEG = b"\xff\xd8\xff\xe0\x00\x0a\xff\xc0\x00\x11\x08\x00\x01\x00"


def png(width: int, height: int) -> Block:
    data = PNG + struct.pack(">II", width, height)
    return image_block("image/png", base64.b64encode(data).decode())


def shown(*blocks: Block) -> list[str]:
    """Of each image its kind, or the words in its place."""
    images = Images([message("user", [block]) for block in blocks], takes_images=True)
    results = [images.shown(block) for block in blocks]
    return [one if isinstance(one, str) else one[0] for one in results]


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("image/png", PNG + struct.pack(">II", 9000, 77)),
        ("image/gif", b"GIF89a" + struct.pack("<HH", 9000, 77)),
        ("image/jpeg", JPEG + b"\xff\xff\xc2\x00\x11\x08" + struct.pack(">HH", 77, 9000)),
        ("image/webp", b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a" + b"\x28\x63\x4d\0"),
        ("image/webp", b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", 8999 | 76 << 14)),
        ("image/webp", b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0" + b"\x27\x23\0\x4c\0\0"),
    ],
)
def test_the_size_is_read_from_the_header(kind: str, data: bytes):
    assert size(kind, data) == (9000, 77)


@given(
    st.sampled_from(["image/png", "image/gif", "image/jpeg", "image/webp"]),
    st.sampled_from([PNG, b"GIF89a", JPEG, b"RIFF\0\0\0\0WEBPVP8 ", b"RIFF\0\0\0\0WEBPVP8L"]),
    st.binary(max_size=40),
)
def test_of_any_bytes_the_size_is_one_or_none(kind: str, start: bytes, rest: bytes):
    found = size(kind, start + rest)
    assert found is None or min(found) > 0


def test_an_image_that_is_longer_than_a_model_takes_goes_as_words():
    tall = "[an image of 1280 x 8001 pixels, which is more than a model takes]"
    assert shown(png(1280, 8000), png(1280, 8001)) == ["image/png", tall]


def test_an_image_without_a_size_goes_as_words():
    half = image_block("image/png", base64.b64encode(PNG[:12]).decode())
    assert shown(half, png(0, 5)) == ["[an image that is cut or damaged]"] * 2


def test_twenty_large_images_are_shown():
    assert shown(*[png(2001, 10)] * 20) == ["image/png"] * 20


def test_of_more_images_the_ten_oldest_large_ones_go_as_words():
    large = [png(2001, 10) for _ in range(11)]
    small = [png(2000, 2000) for _ in range(10)]
    found = shown(*large, *small)
    assert all("older image" in one for one in found[:10])
    assert set(found[10:]) == {"image/png"}


def test_the_next_image_lets_no_other_one_go():
    many = [png(2001, 10) for _ in range(30)]
    assert shown(*many[:21])[:10] == shown(*many)[:10]
    assert set(shown(*many)[10:]) == {"image/png"}
