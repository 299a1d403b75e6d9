"""The conversation on disk, so that a later process can go on with it.

    c-….jsonl   a line a message, {"message": {…}}, before it the pieces of its text as they come,
                {"delta": "…"}; after each turn {"usage": {…}}, of all so far

Written as it goes on: what was appended is with the operating system, so the end of this process
loses nothing, and a torn last line is left out. Who keeps it holds the lock (flock) of its file,
which is put in its place as c-….new where it is written anew.
"""

import errno
import fcntl
import os
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, cast

import orjson

from lsp_agent.runtime.transcript import Block, Message, Native, Usage, message, text_block
from lsp_agent.user_data.conversations import CONVERSATION, conversation_file, conversations_folder
from lsp_agent.user_data.private_files import make_private

#: How many conversations are kept; the oldest go.
MOST = 200

_CUT_OFF = "Not known: the agent was ended before the call's result was kept."


class Conversation:
    """One conversation's file, this process's alone. Made by ``begin`` or ``take_up``."""

    def __init__(self, name: str, file: int) -> None:
        self.name = name
        self._file = file

    @classmethod
    def begin(cls) -> "Conversation":
        """A new one, in the place of the oldest if there are many. Raises OSError."""
        folder = conversations_folder()
        make_private(folder)
        _make_room(folder)
        name = f"c-{uuid.uuid4().hex}"
        return cls(name, _locked(conversation_file(name), os.O_CREAT | os.O_EXCL))

    @classmethod
    def take_up(cls, name: str) -> "tuple[Conversation, list[Message], Usage] | None":
        """What was said in it before, and what that took. None where it cannot be had: it was
        forgotten, it is damaged, or another process goes on with it. Raises OSError."""
        if not CONVERSATION.fullmatch(name):
            return None
        try:
            kept = cls(name, _locked(conversation_file(name)))
        except (FileNotFoundError, BlockingIOError):
            return None
        try:
            messages, usage = _read(conversation_file(name).read_bytes())
            kept.replace(messages, usage)  # without what was torn or left open
        except _Damaged:
            kept.forget()
            return None
        except OSError:
            kept.forget()
            raise
        return kept, messages, usage

    def add(self, entry: Message) -> None:
        """Raises OSError."""
        _write(self._file, _line(entry))

    def say(self, delta: str) -> None:
        """A piece of an answer that is not whole yet. Raises OSError."""
        _write(self._file, orjson.dumps({"delta": delta}, option=orjson.OPT_APPEND_NEWLINE))

    def spend(self, usage: Usage) -> None:
        """What all that was said has taken. Raises OSError."""
        _write(self._file, _spent(usage))

    def replace(self, messages: Sequence[Message], usage: Usage) -> None:
        """The whole, where it is not just longer than before. Raises OSError."""
        path = conversation_file(self.name)
        fresh = path.with_suffix(".new")
        file = _locked(fresh, os.O_CREAT | os.O_TRUNC)
        try:
            _write(file, b"".join(map(_line, messages)) + _spent(usage))
            fresh.replace(path)
        except OSError:
            os.close(file)
            with suppress(OSError):
                fresh.unlink()
            raise
        os.close(self._file)
        self._file = file

    def forget(self) -> None:
        """Leaves nothing of it."""
        with suppress(OSError):
            conversation_file(self.name).unlink()
        os.close(self._file)  # until now it was nobody else's


def _make_room(folder: Path) -> None:
    known = sorted(folder.glob("c-*.jsonl"), key=_written)
    oldest = known[: max(0, len(known) + 1 - MOST)]
    for path in (*oldest, *folder.glob("c-*.new")):
        with suppress(OSError):  # one that is open stays
            file = _locked(path)
            path.unlink()
            os.close(file)


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # removed meanwhile
        return 0


def _locked(path: Path, flags: int = 0) -> int:
    """Opened to append. Raises OSError, BlockingIOError where another process has it."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | flags, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(file), path.stat()):
            raise BlockingIOError(errno.EWOULDBLOCK, "another was put in its place")
    except OSError:
        os.close(file)
        raise
    return file


def _write(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _line(entry: Message) -> bytes:
    return orjson.dumps({"message": entry}, option=orjson.OPT_APPEND_NEWLINE)


def _spent(usage: Usage) -> bytes:
    return orjson.dumps({"usage": asdict(usage)}, option=orjson.OPT_APPEND_NEWLINE)


class _Damaged(Exception):
    """What was read is not what was written."""


def _read(data: bytes) -> tuple[list[Message], Usage]:
    """Of a torn last line nothing; an answer that was cut off as far as it came; calls that have
    no result get one, since no model goes on without. Raises _Damaged."""
    messages: list[Message] = []
    usage = Usage()
    partly: list[str] = []
    *lines, _ = data.split(b"\n")
    for line in lines:
        try:
            told = cast("dict[str, Any]", orjson.loads(line))
            if "message" in told:
                messages.append(_message(told["message"]))
                partly.clear()
            elif "delta" in told:
                partly.append(_checked(str, told["delta"]))
            else:
                spent = told["usage"]
                usage = Usage(**{each.name: _checked(_NUMBER, spent[each.name]) for each in _USAGE})
        except (orjson.JSONDecodeError, KeyError, TypeError):
            raise _Damaged from None
    if partly:
        messages.append(message("assistant", [text_block("".join(partly))]))
    elif messages and messages[-1]["role"] == "assistant":
        blocks = messages[-1]["content"]
        if open_calls := [block["id"] for block in blocks if block["type"] == "tool_call"]:
            messages.append(message("tool", [_no_result(call_id) for call_id in open_calls]))
    return messages, usage


def _message(told: "dict[str, Any]") -> Message:
    """Raises KeyError, TypeError."""
    shapes = _SHAPES[told["role"]]
    for block in _checked(list, told["content"]):
        _check(block, shapes)
    time = _checked(str, told["time"])
    entry: Message = {"role": told["role"], "content": told["content"], "time": time}
    if (native := told.get("native")) is not None:
        content = [_checked(dict, each) for each in native["content"]]
        entry["native"] = Native(native["provider"], native["model"], content)
    return entry


_Shapes = Mapping[str, Mapping[str, Any]]

_USAGE = fields(Usage)
_NUMBER = (int, float)
_SHOWN: _Shapes = {"text": {"text": str}, "image": {"mime_type": str, "bytes": int}}
_CALL: _Shapes = {"tool_call": {"id": str, "name": str, "args": object}}
_RESULT: _Shapes = {"tool_result": {"call_id": str, "is_error": bool, "content": list}}
#: A role's blocks, the types of their members.
_SHAPES: Mapping[str, _Shapes] = {
    "user": _SHOWN,
    "assistant": {**_SHOWN, **_CALL},
    "tool": _RESULT,
}


def _check(block: "dict[str, Any]", shapes: _Shapes) -> None:
    """Raises KeyError, TypeError."""
    for name, kind in shapes[block["type"]].items():
        _checked(kind, block[name])
    if block["type"] == "tool_result":
        for inner in block["content"]:
            _check(inner, _SHOWN)


def _checked(kind: Any, value: Any) -> Any:
    """Raises TypeError."""
    if not isinstance(value, kind):
        raise TypeError
    return value


def _no_result(call_id: object) -> Block:
    content = [text_block(_CUT_OFF)]
    return {"type": "tool_result", "call_id": call_id, "is_error": True, "content": content}
