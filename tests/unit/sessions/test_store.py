"""The store of sessions: what is in its files, what a crash leaves, how it stays small."""

import errno
import json
import os
import threading
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import orjson
import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.messages import Message, PlanEntry
from lsp_agent.protocol.plan import plan_message
from lsp_agent.sessions.stored import place as places
from lsp_agent.sessions.stored import store as stores
from lsp_agent.sessions.stored.place import About
from lsp_agent.sessions.stored.store import Entry, SessionStore
from lsp_agent.sessions.stored.transcript import message_line, replayed


def about(number: int, **more: object) -> About:
    fields = {"id": f"s-{number:012x}", "folder": "/p", "agent": "a", "created": 1, "updated": 1}
    return About.model_validate(fields | more)


def said(role: str, words: str) -> Message:
    return {"role": role, "content": [{"type": "text", "text": words}]}  # type: ignore[typeddict-item]


def add(entry: Entry, *messages: Message) -> None:
    for message in messages:
        entry.append(message_line(message, 0))


def words(messages: list[Message]) -> list[str]:
    return ["".join(str(block.get("text", "")) for block in m["content"]) for m in messages]


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[SessionStore]:
    made = SessionStore(str(tmp_path / "sessions"), str)
    yield made
    await made.close()


@pytest_asyncio.fixture
async def other(tmp_path: Path) -> AsyncIterator[SessionStore]:
    """Of another server of the workspace; locks of two openings exclude each other as those of
    two processes do."""
    made = SessionStore(str(tmp_path / "sessions"), str)
    yield made
    await made.close()


@pytest.mark.asyncio
async def test_nothing_is_written_before_something_was_said(
    store: SessionStore, tmp_path: Path
) -> None:
    entry = store.new(about(1))
    entry.change(title="T")
    assert await store.listed() == []
    assert not (tmp_path / "sessions").exists()
    add(entry, said("user", "Hi."))
    (listed,) = await store.listed()
    assert listed.about.title == "T"


@pytest.mark.asyncio
async def test_what_one_has_open_the_others_see_and_cannot_take_until_it_is_released(
    store: SessionStore, other: SessionStore
) -> None:
    entry = store.new(about(1))
    add(entry, said("user", "Hi."))
    assert [one.elsewhere for one in await store.listed()] == [True]
    for attempt in (other.take_up(entry.about.id), other.delete(entry.about.id)):
        with pytest.raises(RequestFailed) as refused:
            await attempt
        assert refused.value.kind == "conflict"
    assert words((await other.transcript(entry.about.id))[1].messages) == ["Hi."]
    entry.release()
    await store.listed()
    taken = await other.take_up(entry.about.id)
    add(taken, said("assistant", "Hello."))
    await other.listed()  # it is written by then
    assert words((await store.transcript(entry.about.id))[1].messages) == ["Hi.", "Hello."]


@pytest.mark.asyncio
async def test_a_plan_that_is_told_again_takes_the_place_of_its_turns_earlier_one(
    store: SessionStore, tmp_path: Path
) -> None:
    entry = store.new(about(1))
    states: list[Literal["pending", "completed"]] = ["pending", "completed"]
    for _ in range(2):
        add(entry, said("user", "Go."))
        for status in states:
            add(entry, plan_message([{"content": "Look", "status": status}]))
            add(entry, said("assistant", "."))
    entry.release()
    await store.listed()
    with (tmp_path / "sessions" / entry.about.id / "messages.jsonl").open("a") as file:
        odd = {"type": "plan", "entries": [{"content": "Look", "status": "lost"}]}
        file.write(json.dumps({"message": {"role": "assistant", "content": [odd]}}) + "\n")
    messages = (await store.transcript(entry.about.id))[1].messages
    kinds = [[block["type"] for block in message["content"]] for message in messages]
    assert kinds == [["text"], ["plan"], ["text"], ["text"]] * 2 + [[]]
    assert messages[1]["content"] == messages[5]["content"]
    assert messages[1] == plan_message([{"content": "Look", "status": "completed"}])


@pytest.mark.asyncio
async def test_a_torn_line_is_skipped_and_spoils_no_later_one(
    store: SessionStore, tmp_path: Path
) -> None:
    entry = store.new(about(1))
    add(entry, said("user", "One."))
    entry.release()
    await store.listed()
    file = tmp_path / "sessions" / entry.about.id / "messages.jsonl"
    with file.open("ab") as opened:
        opened.write('{"message": {"role": "user", "con€'.encode()[:-1])
    taken = await store.take_up(entry.about.id)
    add(taken, said("user", "Two."))
    assert words((await taken.transcript()).messages) == ["One.", "Two."]


@pytest.mark.asyncio
async def test_a_long_session_loses_its_beginning_and_says_so(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "MAX_BYTES", 4000)
    entry = store.new(about(1))
    for number in range(100):
        add(entry, said("user", f"question {number}"), said("assistant", f"answer {number}"))
    transcript = await entry.transcript()
    kept = words(transcript.messages)
    assert transcript.cut
    assert kept[-1] == "answer 99"
    assert kept[0].startswith("question")
    assert 10 < len(kept) < 60
    assert (tmp_path / "sessions" / entry.about.id / "messages.jsonl").stat().st_size <= 4000


@pytest.mark.asyncio
async def test_what_a_slow_disk_keeps_waiting_does_not_pile_up(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = store.new(about(1))
    add(entry, said("user", "First."))
    await store.listed()
    monkeypatch.setattr(stores, "MAX_BYTES", 4000)
    stuck = threading.Event()
    store.later(lambda: stuck.wait(30) and None)
    tracemalloc.start()
    for number in range(1000):
        add(entry, said("assistant", f"answer {number}" * 100))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    stuck.set()
    transcript = await entry.transcript()
    assert transcript.cut
    assert words(transcript.messages)[-1].startswith("answer 999")
    assert held < 100_000


@pytest.mark.asyncio
async def test_the_oldest_go_when_there_are_many_and_open_ones_stay(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "MAX_SESSIONS", 3)
    held = store.new(about(0))
    for number in range(6):
        entry = store.new(about(number)) if number else held
        add(entry, said("user", "Hi."))
        if number:
            entry.release()
        await store.listed()  # it is written by then
        os.utime(tmp_path / "sessions" / entry.about.id / "about.json", (number, number))
    found = {one.about.id for one in await store.listed()}
    assert held.about.id in found
    assert about(5).id in found
    assert len(found) == 3


@pytest.mark.asyncio
async def test_a_folder_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "sessions").write_text("a file in the way")
    store = SessionStore(str(tmp_path / "sessions"), str)
    add(store.new(about(1)), said("user", "Hi."))
    assert await store.listed() == []
    await store.close()


@pytest.mark.asyncio
async def test_what_is_no_session_is_not_listed(store: SessionStore, tmp_path: Path) -> None:
    for name, content in [
        ("s-000000000001", '{"format": 2}'),
        ("s-000000000002", "no JSON"),
        ("s-000000000003", about(4).model_dump_json()),
    ]:
        folder = tmp_path / "sessions" / name
        folder.mkdir(parents=True)
        (folder / "about.json").write_text(content)
    (tmp_path / "sessions" / "a file").touch()
    assert await store.listed() == []


def test_streamed_text_stands_until_its_message_is_whole() -> None:
    lines = [
        {"delta": "Hel"},
        {"delta": "lo."},
        message_line(said("assistant", "Hello!"), 0),
        {"delta": "Half"},
        message_line(said("user", "Stop."), 0),
        {"delta": "And"},
    ]
    kept = replayed(json.dumps(line).encode() for line in lines)
    assert words(kept.messages) == ["Hello!", "Half", "Stop.", "And"]


def test_long_results_are_shortened_and_images_lose_their_data() -> None:
    message: Message = {
        "role": "tool",
        "content": [
            {
                "type": "toolResult",
                "toolCallId": "c",
                "isError": False,
                "content": [
                    {"type": "text", "text": "a" * 50_000 + "the end"},
                    {"type": "image", "mimeType": "image/png", "data": "A" * 4000},
                ],
            }
        ],
    }
    line = json.dumps(message_line(message, 0))
    assert len(line) < 5000
    assert "the end" in line
    assert '"size": 3000' in line


@pytest.mark.parametrize(
    "block",
    [
        3,
        {"type": "video", "url": "x"},
        {"type": "text"},
        {"type": "toolCall", "toolCallId": "c"},
        {"type": "toolResult", "toolCallId": "c", "isError": False, "content": [None]},
    ],
)
def test_a_block_that_we_do_not_know_is_left_out_of_its_message(block: object) -> None:
    content = [block, {"type": "text", "text": "Known."}]
    line = {"message": {"role": "user", "content": content, "time": 12, "mood": "new"}}
    kept = replayed([json.dumps(line).encode()])
    assert kept.messages == [said("user", "Known.")]


def test_a_line_that_is_nested_too_deep_is_skipped() -> None:
    assert replayed([b"[" * 100_000]).messages == []


@pytest.mark.asyncio
async def test_what_cannot_be_read_is_told_and_not_held(
    store: SessionStore, other: SessionStore, tmp_path: Path
) -> None:
    entry = store.new(about(1))
    add(entry, said("user", "Hi."))
    entry.release()
    await store.listed()
    messages = tmp_path / "sessions" / entry.about.id / "messages.jsonl"
    messages.unlink()
    messages.mkdir()
    for attempt in (store.take_up(entry.about.id), store.transcript(entry.about.id)):
        with pytest.raises(RequestFailed, match=r"cannot be taken up from disk: .*messages\.jsonl"):
            await attempt
    assert [one.elsewhere for one in await other.listed()] == [False]


@pytest.mark.asyncio
async def test_on_a_full_disk_a_session_is_stored_once_there_is_room(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    entry = store.new(about(1))
    with monkeypatch.context() as disk:
        disk.setattr(places.os, "open", full)
        add(entry, said("user", "Lost."))
        await store.ask(lambda: None)
        disk.undo()
        disk.setattr(places.os, "write", full)
        add(entry, said("user", "Lost as well."))
        await store.ask(lambda: None)
    add(entry, said("user", "Kept."))
    assert words((await entry.transcript()).messages) == ["Kept."]


@given(st.lists(st.binary(max_size=60), max_size=20))
def test_any_bytes_can_be_read_as_lines(lines: list[bytes]) -> None:
    assert replayed(lines).messages == []


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=50))))
def test_what_was_kept_is_read_again(spoken: list[tuple[str, str]]) -> None:
    lines = [
        json.dumps(message_line(said(*each), 0), ensure_ascii=False).encode("utf-8", "replace")
        for each in spoken
    ]
    read = [(m["role"], words([m])[0]) for m in replayed(lines).messages]
    assert read == [(role, text.encode("utf-8", "replace").decode()) for role, text in spoken]


def test_a_long_step_of_a_plan_is_kept_shortened_and_in_one_line() -> None:
    steps: list[PlanEntry] = [{"content": "x" * 10_000, "status": "pending"}] * 200
    line = json.dumps(message_line(plan_message(steps), 0)).encode()
    kept: list[PlanEntry] = [{"content": "x" * 4096, "status": "pending"}] * 100
    assert replayed([line]).messages == [plan_message(kept)]


@pytest.mark.asyncio
async def test_what_no_utf_8_holds_is_stored_all_the_same(store: SessionStore) -> None:
    """A folder's name may be any bytes; an editor may send half a surrogate pair."""
    entry = store.new(about(1, folder="/p\udcff"))
    add(entry, said("user", "Half \ud83d and whole \ud83d\ude00."))
    (listed,) = await store.listed()
    assert listed.about.folder == "/p\udcff"
    assert words((await entry.transcript()).messages) == ["Half \ufffd and whole 😀."]


@pytest.mark.asyncio
@pytest.mark.parametrize("opening", ['{"a":', "["])
async def test_arguments_nested_without_end_are_kept_as_deep_as_one_can_see(
    store: SessionStore, opening: str
) -> None:
    closing = "}" if opening[0] == "{" else "]"
    args: object = orjson.loads(opening * 1020 + "1" + closing * 1020)
    block = {"type": "toolCall", "toolCallId": "c", "tool": "t", "args": {"path": "a", "x": args}}
    entry = store.new(about(1))
    add(entry, {"role": "assistant", "content": [block]}, said("assistant", "Done."))  # type: ignore[list-item]
    call, done = (await entry.transcript()).messages
    assert words([done]) == ["Done."]
    (kept,) = call["content"]
    assert kept["type"] == "toolCall"
    assert "\N{HORIZONTAL ELLIPSIS}" in str(kept["args"])
