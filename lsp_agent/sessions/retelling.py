"""A stored session in words: for a new agent that goes on with it, and for a person to keep."""

import json
from collections.abc import Sequence

from lsp_agent.protocol.messages import Block, Message, ToolCallBlock, plain_text
from lsp_agent.sessions.excerpts import fenced
from lsp_agent.sessions.store import About
from lsp_agent.sessions.transcript import Transcript, shortened

#: Of the summary and of one message in it, in characters.
RECAP_LIMIT = 12_000
_MESSAGE_LIMIT = 1_500
_SUBJECT_LIMIT = 120

_BEFORE = (
    "[Note from the editor: this goes on with an earlier conversation, which you do not remember."
    " What was said and done in it, shortened; files may have changed since:]\n\n"
)
_AFTER = "\n\n[End of the note. The person now says:]\n\n"


def recap(transcript: Transcript) -> str:
    """What stands before the first prompt of an agent that has no memory of the session; the
    newest is kept where not all fits. "" where nothing was said."""
    told: list[str] = []
    length = 0
    for message in reversed(transcript.messages):
        words = _in_short(message)
        if length + len(words) > RECAP_LIMIT:
            told.append("…")
            break
        if words:
            told.append(words)
            length += len(words)
    return _BEFORE + "\n".join(reversed(told)) + _AFTER if told else ""


def _in_short(message: Message) -> str:
    speaker = {"user": "Person", "assistant": "You", "tool": ""}[message["role"]]
    said = shortened(plain_text(message["content"]).strip(), _MESSAGE_LIMIT)
    lines = [f"{speaker}: {said}"] if said else []
    for block in message["content"]:
        if block["type"] == "toolCall":
            lines.append(f"You used {_title(block)}")
        elif block["type"] == "toolResult" and block["isError"]:
            lines.append(f"That failed: {_result(block['content'])[:_SUBJECT_LIMIT]}")
    return "\n".join(lines)


def markdown(about: About, transcript: Transcript) -> str:
    """The whole conversation, to be read."""
    parts = [f"# {about.title or 'A session'}", f"Agent: {about.agent}. Folder: `{about.folder}`."]
    if transcript.cut:
        parts.append("*The beginning is not kept.*")
    speaker = ""
    for message in transcript.messages:
        if message["role"] != "tool" and message["role"] != speaker:
            speaker = message["role"]
            parts.append("## You" if speaker == "user" else "## Agent")
        parts += _paragraphs(message["content"])
    return "\n\n".join(parts) + "\n"


def _paragraphs(content: Sequence[Block]) -> list[str]:
    paragraphs: list[str] = []
    for block in content:
        match block["type"]:
            case "text" if block["text"].strip():
                paragraphs.append(block["text"].strip())
            case "image":
                paragraphs.append(f"*(an image, {block['mimeType']})*")
            case "toolCall":
                paragraphs.append(f"**{_title(block)}**")
            case "toolResult":
                words = _result(block["content"])
                failed = "Failed:\n\n" if block["isError"] else ""
                paragraphs += [failed + fenced(words)] if words else []
            case _:
                pass
    return paragraphs


def _title(call: ToolCallBlock) -> str:
    match call["args"]:
        case {"command": str(subject)} | {"path": str(subject)}:
            pass
        case args:
            subject = json.dumps(args, ensure_ascii=False) if args else ""
    first = " ".join(subject.split())
    shown = first if len(first) <= _SUBJECT_LIMIT else f"{first[:_SUBJECT_LIMIT]}…"
    return f"{call['tool']}: {shown}" if shown else call["tool"]


def _result(content: list[Block]) -> str:
    return plain_text(content).strip()
