"""A stored session in words: for a new agent that goes on with it, and for a person to keep."""

import json
import re
from collections.abc import Sequence

from lsp_agent.protocol.messages import Block, Message, ToolCallBlock, plain_text
from lsp_agent.protocol.plan import checklist
from lsp_agent.sessions.stored.excerpts import fenced
from lsp_agent.sessions.stored.place import About
from lsp_agent.sessions.stored.store import Entry
from lsp_agent.sessions.stored.transcript import Transcript, shortened
from lsp_agent.toolset.commands import exit_code

#: Of the summary and of one message in it, in characters.
RECAP_LIMIT = 12_000
_MESSAGE_LIMIT = 1_500
_SUBJECT_LIMIT = 120

_BACKTICKS = re.compile(r"`+")
_FENCE = re.compile(r"(?P<indent> *)(?P<mark>`{3,}|~{3,})(?P<info>.*)")

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


async def recap_of(entry: Entry) -> str:
    """As ``recap``, of what is kept of a session by now."""
    try:
        return recap(await entry.transcript())
    except OSError:  # what cannot be read is not told
        return ""


def _in_short(message: Message) -> str:
    speaker = {"user": "Person", "assistant": "You", "tool": ""}[message["role"]]
    said = shortened(plain_text(message["content"]).strip(), _MESSAGE_LIMIT)
    lines = [f"{speaker}: {said}"] if said else []
    for block in message["content"]:
        if block["type"] == "toolCall":
            lines.append(f"You used {_title(block)}")
        elif block["type"] == "toolResult" and block["isError"]:
            lines.append(f"That failed: {_result(block['content'])[:_SUBJECT_LIMIT]}")
        elif block["type"] == "plan" and block["entries"]:
            lines.append(shortened(f"Your plan:\n{checklist(block['entries'])}", _MESSAGE_LIMIT))
    return "\n".join(lines)


def markdown(about: About, transcript: Transcript) -> str:
    """The whole conversation, to be read."""
    title = " ".join((about.title or "A session").split())
    parts = [f"# {title}", f"Agent: {about.agent}. Folder: {code(about.folder)}."]
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
                paragraphs.append(closed(block["text"].strip("\n")))
            case "image":
                paragraphs.append(f"*(an image, {block['mimeType']})*")
            case "toolCall":
                subject = _subject(block)
                told = f"**{block['tool']}**"
                paragraphs.append(f"{told} {code(subject)}" if subject else told)
            case "toolResult":
                words = _result(block["content"])
                failed = "Failed:\n\n" if block["isError"] else ""
                paragraphs += [failed + fenced(words)] if words else []
            case "plan" if block["entries"]:
                paragraphs.append(checklist(block["entries"]))
            case _:
                pass
    return paragraphs


def closed(text: str) -> str:
    """Markdown, its last block of code ended: an answer may have been stopped in it."""
    fence = indent = ""
    for line in text.splitlines():
        found = _FENCE.match(line)
        if found is None:
            continue
        mark, info = found["mark"], found["info"].strip()
        if not fence:
            if mark[0] != "`" or "`" not in info:
                fence, indent = mark, found["indent"]
        elif mark.startswith(fence) and not info:
            fence = ""
    return f"{text}\n{indent}{fence}" if fence else text


def code(text: str) -> str:
    """In a line of Markdown, as it is."""
    longest = max(map(len, _BACKTICKS.findall(text)), default=0)
    mark = "`" * (longest + 1)
    return f"{mark} {text} {mark}" if text[:1] == "`" or text[-1:] == "`" else mark + text + mark


def _title(call: ToolCallBlock) -> str:
    subject = _subject(call)
    return f"{call['tool']}: {subject}" if subject else call["tool"]


def _subject(call: ToolCallBlock) -> str:
    match call["args"]:
        case {"command": str(subject)} | {"path": str(subject)}:
            pass
        case args:
            subject = json.dumps(args, ensure_ascii=False) if args else ""
    first = " ".join(subject.split())
    return first if len(first) <= _SUBJECT_LIMIT else f"{first[:_SUBJECT_LIMIT]}…"


def _result(content: list[Block]) -> str:
    return plain_text(content).strip()


def printed(result: str) -> str:
    """What the command of a result of ``bash`` has printed; all of what is no such result."""
    if exit_code(result) is None or not result.startswith("$ "):
        return result
    return result.rpartition("\n[exit ")[0].partition("\n\n")[2]
