"""Codex's values in canonical form: items of a thread, usage, models, errors."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lsp_agent.protocol.events import StopReason, ToolKind, WindowFilled
from lsp_agent.protocol.messages import Block, ImageBlock, Message, PlanEntry, Usage, text
from lsp_agent.protocol.session_methods import ImageInput
from lsp_agent.toolset import kinds as tool_kinds
from lsp_agent.toolset.failures import readable
from lsp_agent.toolset.loose_json import Frame, frame, frames, integer, items, string
from lsp_agent.wires.codex import tools as codex_tools
from lsp_agent.wires.usage import token_counts

EFFORT = "reasoningEffort"

_UNEXPECTED = re.compile(r"unexpected status (\d{3})[^:]*: (.*?)(?:, url: \S*)?", re.DOTALL)
_CUT_OFF = "max_output_tokens"
_SIGN_IN = " Sign in with `codex login` in a terminal."
_DATA = re.compile(r"data:([\w/+.-]+);base64,(.*)", re.DOTALL)

#: What an item has beside what was called with.
_BOOKKEEPING = frozenset(
    {"type", "id", "status", "startedAtMs", "completedAtMs", "durationMs", "result", "error"}
)


# -- prompts


def prompt(message: str, images: Sequence[ImageInput]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = [{"type": "text", "text": message}]
    for image in images:
        found.append({"type": "image", "url": f"data:{image.mime_type};base64,{image.data}"})
    return found


def user_blocks(item: Frame) -> list[Block]:
    """The content of a ``userMessage``."""
    blocks: list[Block] = []
    for part in frames(item.get("content")):
        if part.get("type") == "text":
            blocks.append(text(string(part, "text")))
        elif found := _DATA.fullmatch(string(part, "url")):
            image: ImageBlock = {"type": "image", "mimeType": found[1], "data": found[2]}
            blocks.append(image)
    return blocks


# -- calls


@dataclass(frozen=True, slots=True)
class Called:
    """A call that an item is."""

    id: str
    tool: str
    kind: ToolKind
    args: object
    paths: tuple[str, ...] = ()


#: Items that are no calls.
_NO_CALLS = frozenset(
    {
        "userMessage",
        "agentMessage",
        "reasoning",
        "plan",
        "hookPrompt",
        "functionCallOutput",
        "contextCompaction",
        "enteredReviewMode",
        "exitedReviewMode",
    }
)


def called(item: Frame) -> Called | None:
    """None for an item that is no call."""
    call_id = string(item, "id")
    match string(item, "type"):
        case kind if kind in _NO_CALLS:
            return None
        case "dynamicToolCall":
            tool, args = string(item, "tool"), item.get("arguments")
            return Called(call_id, tool, tool_kinds.tool_kind(tool), args, tool_kinds.paths(args))
        case "commandExecution":
            return Called(call_id, "shell", "command", {"command": string(item, "command")})
        case "fileChange":
            changes = frames(item.get("changes"))
            paths = tuple(string(change, "path") for change in changes)
            return Called(call_id, "apply_patch", "edit", {"changes": changes}, paths)
        case "mcpToolCall":
            tool = f"{string(item, 'server')}.{string(item, 'tool')}"
            return Called(call_id, tool, "other", item.get("arguments"))
        case kind:
            args = {name: value for name, value in item.items() if name not in _BOOKKEEPING}
            return Called(call_id, kind or "tool", "other", args)


def result(item: Frame) -> tuple[bool, list[Block]]:
    """Whether a call that has ended failed, and what it said."""
    failed = string(item, "status") in ("failed", "declined")
    match string(item, "type"):
        case "dynamicToolCall":
            return failed, _content(item.get("contentItems"))
        case "commandExecution":
            code = integer(item, "exitCode")
            end = "" if not code else f"\n[exit {code}]"
            return failed or bool(code), [text(string(item, "aggregatedOutput") + end)]
        case "fileChange":
            return failed, [text(codex_tools.DECLINED if failed else "")]
        case "mcpToolCall":
            if message := string(frame(item.get("error")), "message"):
                return True, [text(message)]
            return failed, _content(frame(item.get("result")).get("content"))
        case _:
            return failed, []


def _content(value: object) -> list[Block]:
    return [text(string(part, "text")) for part in frames(value) if "text" in part]


# -- messages


def transcript(turns: Sequence[Frame]) -> list[Message]:
    """The messages of turns that were."""
    found: list[Message] = []
    for turn in turns:
        for item in frames(turn.get("items")):
            found += _messages(item)
    return found


def _messages(item: Frame) -> list[Message]:
    match string(item, "type"):
        case "userMessage":
            return [] if is_note(item) else [{"role": "user", "content": user_blocks(item)}]
        case "agentMessage":
            return [{"role": "assistant", "content": [text(string(item, "text"))]}]
        case "reasoning":
            thought = reasoning(item)
            block: Block = {"type": "thinking", "text": thought}
            return [{"role": "assistant", "content": [block]}] if thought else []
        case _:
            return _call_messages(item)


def _call_messages(item: Frame) -> list[Message]:
    call = called(item)
    if call is None:
        return []
    is_error, content = result(item)
    block: Block = {
        "type": "toolCall",
        "toolCallId": call.id,
        "tool": call.tool,
        "args": call.args,
    }
    told: Block = {
        "type": "toolResult",
        "toolCallId": call.id,
        "isError": is_error,
        "content": content,
    }
    return [{"role": "assistant", "content": [block]}, {"role": "tool", "content": [told]}]


#: Names what we say in the person's place, by the id that a message of its client's may have.
NOTE_ID = "lsp-agent-note"


def is_note(item: Frame) -> bool:
    return string(item, "clientId") == NOTE_ID


def reasoning(item: Frame) -> str:
    """A summary has parts; where there is none, the thoughts themselves may be told."""
    parts = items(item.get("summary")) or items(item.get("content"))
    return "\n\n".join(part for part in parts if isinstance(part, str))


def output_text(item: Frame) -> str:
    """What an item of the model's own says."""
    return "".join(
        string(part, "text")
        for part in frames(item.get("content"))
        if part.get("type") == "output_text"
    )


def plan(params: Frame) -> tuple[PlanEntry, ...]:
    entries: list[PlanEntry] = []
    for step in frames(params.get("plan")):
        content = " ".join(string(step, "step").split())
        match string(step, "status"):
            case "completed":
                status = "completed"
            case "inProgress":
                status = "in_progress"
            case _:
                status = "pending"
        if content:
            entries.append({"content": content, "status": status})
    return tuple(entries)


# -- usage, models, errors


def usage(value: object) -> Usage:
    """Codex counts cached tokens as input too."""
    names = ("inputTokens", "outputTokens", "cachedInputTokens", "cacheWriteInputTokens")
    counts = token_counts(frame(value), names)
    if "input" in counts:
        counts["input"] = max(counts["input"] - counts.get("cacheRead", 0), 0)
    return counts


def window(told: Frame) -> WindowFilled:
    used = integer(frame(told.get("last")), "totalTokens")
    return WindowFilled(used or 0, integer(told, "modelContextWindow"))


def models(result: Frame, provider: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for model in frames(result.get("data")):
        efforts = frames(model.get("supportedReasoningEfforts"))
        found.append(
            {"id": string(model, "model"), "provider": provider, "reasoning": bool(efforts)}
        )
    return found


def effort_option(result: Frame, model: str, effort: str) -> list[dict[str, object]]:
    """The reasoning effort as an option; none where the model is not in Codex's list."""
    known = next(
        (each for each in frames(result.get("data")) if string(each, "model") == model), None
    )
    if known is None:
        return []
    values: list[Mapping[str, object]] = []
    for each in frames(known.get("supportedReasoningEfforts")):
        value = string(each, "reasoningEffort")
        values.append({"value": value, "name": value, "description": string(each, "description")})
    return [
        {
            "id": EFFORT,
            "name": "Reasoning effort",
            "value": effort or string(known, "defaultReasoningEffort"),
            "values": values,
        }
    ]


def sessions(result: Frame) -> list[dict[str, object]]:
    return [
        {
            "ref": string(thread, "id"),
            "cwd": string(thread, "cwd"),
            "title": string(thread, "name") or string(thread, "preview") or None,
            "updated": integer(thread, "updatedAt"),
        }
        for thread in frames(result.get("data"))
    ]


def failed(error: object) -> tuple[StopReason, str]:
    """Why a turn ended by itself, and the words for it."""
    told = string(frame(error), "message") or "Codex gave no reason"
    if _CUT_OFF in told:
        return "maxTokens", told
    message = told
    if found := _UNEXPECTED.fullmatch(told):
        message = f"{found[1]}: {found[2]}"
    signed_out = frame(error).get("codexErrorInfo") == "unauthorized"
    return "error", readable(message) + (_SIGN_IN if signed_out else "")
