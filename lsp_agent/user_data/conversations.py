"""Where the embedded agent keeps its conversations: for it, and for who forgets one."""

import re
from pathlib import Path

from lsp_agent.user_data.data_folder import data_folder

#: Names one in a ``sessionRef``.
CONVERSATION = re.compile(r"c-[0-9a-f]{32}")


def conversations_folder() -> Path:
    """One file a conversation; not made here."""
    return data_folder() / "conversations"


def conversation_file(conversation: str) -> Path:
    """:raises ValueError: it is no name of a conversation"""
    if not CONVERSATION.fullmatch(conversation):
        raise ValueError(f"{conversation!r} names no conversation")
    return conversations_folder() / f"{conversation}.jsonl"


def forget_conversation(ref: str | None) -> None:
    """Does nothing where ``ref`` is another agent's. Raises OSError."""
    if ref is not None and CONVERSATION.fullmatch(ref):
        conversation_file(ref).unlink(missing_ok=True)
