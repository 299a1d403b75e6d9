"""Channels, frames and JSON, without a process."""

import asyncio
import json
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.protocol.errors import UsageError
from lsp_agent.server.rpc.frames import BadFrame, Frames, TooLarge, frame
from lsp_agent.server.rpc.json_codec import decode, encode, request_id
from lsp_agent.server.rpc.tcp import parse_address, tcp
from lsp_agent.server.rpc.transport import HIGH_WATER, Writer, chunks


@given(st.lists(st.binary(max_size=40)), st.integers(1, 30))
def test_bodies_come_out_as_they_went_in_however_the_stream_is_cut(
    bodies: list[bytes], size: int
) -> None:
    stream = b"".join(map(frame, bodies))
    frames = Frames()
    cut = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert [body for chunk in cut for body in frames.feed(chunk)] == bodies


@given(st.lists(st.binary(max_size=40), max_size=8), st.integers(1, 30))
def test_only_bodies_over_the_limit_are_skipped(bodies: list[bytes], size: int) -> None:
    stream = b"".join(map(frame, bodies))
    frames = Frames(limit=20)
    cut = [stream[start : start + size] for start in range(0, len(stream), size)]
    wanted = [body if len(body) <= 20 else TooLarge(len(body), 20) for body in bodies]
    assert [body for chunk in cut for body in frames.feed(chunk)] == wanted


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Type: x\r\n\r\n",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 1e3\r\n\r\n",
        b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"x" * 70_000,
    ],
)
def test_headers_without_one_length_are_an_error(headers: bytes) -> None:
    with pytest.raises(BadFrame):
        list(Frames().feed(headers))


json_values: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)


@given(json_values)
def test_json_of_any_text_and_number_comes_back(value: object) -> None:
    assert decode(encode(value)) == value


@given(st.integers())
def test_a_number_of_any_size_is_written(value: int) -> None:
    assert json.loads(encode({"value": value})) == {"value": value}


@given(st.text(st.characters(), max_size=8))
def test_json_of_javascript_is_read(text: str) -> None:
    assert decode(json.dumps(text).encode()) == text


def test_a_value_that_is_nested_too_deeply_is_said_to_be() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ValueError, match="nested too deeply"):
        encode(value)


@pytest.mark.parametrize(
    ("body", "msg_id"),
    [
        (b'{"jsonrpc": "2.0", "id": 7, "params": [', 7),
        (b'{"method":"a","jsonrpc":"2.0","id":"x"', None),
        (b'{"method":"a","jsonrpc":"2.0","id":"x","params":', "x"),
        (b'{"params": {"id": 7, ', None),
        (b'{"id": [7], "params": [', None),
    ],
)
def test_the_id_of_a_body_that_is_no_json(body: bytes, msg_id: str | int | None) -> None:
    assert request_id(body) == msg_id


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:7000", ("127.0.0.1", 7000)),
        ("[::1]:0", ("::1", 0)),
        ("localhost:1", ("localhost", 1)),
    ],
)
def test_addresses(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["7000", ":7000", "127.0.0.1:", "127.0.0.1:x", "h:70000", ""])
def test_what_is_no_address_is_wrong_use(text: str) -> None:
    with pytest.raises(UsageError):
        parse_address(text)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "no such host"])
def test_only_loopback_is_listened_on(host: str) -> None:
    with pytest.raises(UsageError):
        tcp(host, 0, lambda _host, _port: "")


@pytest.mark.asyncio
async def test_chunks_end_with_the_input_and_with_its_failure() -> None:
    pieces = [b"a", b"b", b""]
    assert [chunk async for chunk in chunks(lambda _n: pieces.pop(0))] == [b"a", b"b"]

    def fail(_n: int) -> bytes:
        raise OSError("gone")

    assert [chunk async for chunk in chunks(fail)] == []


@pytest.mark.asyncio
async def test_the_reader_does_not_run_far_ahead() -> None:
    read = 0

    def recv(_n: int) -> bytes:
        nonlocal read
        read += 1
        return b"x"

    stream = chunks(recv)
    await anext(stream)
    await asyncio.sleep(0.1)
    assert read < 20
    await stream.aclose()


@pytest.mark.asyncio
async def test_the_writer_sends_all_in_order_and_drain_waits_for_room() -> None:
    gate = threading.Event()
    sent = bytearray()

    def send(view: memoryview) -> int:
        gate.wait(5)
        sent.extend(view[:1000])
        return min(len(view), 1000)

    writer = Writer(send, lambda: None)
    data = bytes(range(256)) * 8192  # 2 MiB
    writer.write(data)
    draining = asyncio.create_task(writer.drain())
    await asyncio.sleep(0.05)
    assert not draining.done()
    assert writer.behind
    gate.set()
    await asyncio.wait_for(draining, 5)
    assert writer.pending <= HIGH_WATER
    writer.write(b"end")
    await asyncio.to_thread(writer.close)
    assert sent == data + b"end"


@pytest.mark.asyncio
async def test_a_broken_wire_is_told_once_and_frees_who_waits() -> None:
    broken: list[int] = []

    def send(_view: memoryview) -> int:
        raise BrokenPipeError("gone")

    writer = Writer(send, lambda: broken.append(1))
    writer.write(b"x" * (HIGH_WATER + 1))
    await asyncio.wait_for(writer.drain(), 5)
    writer.write(b"y")
    await asyncio.sleep(0.05)
    assert broken == [1]
    assert writer.pending == 0
