"""Meerkat's values in canonical form: blocks, history rows, usage, models, errors, stop reasons."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lsp_agent.protocol.events import Level, StopReason
from lsp_agent.protocol.messages import Block, ImageBlock, Message, Usage, text
from lsp_agent.protocol.session_methods import ImageInput
from lsp_agent.toolset.failures import plain, readable
from lsp_agent.toolset.loose_json import Frame, frame, integer, items, string
from lsp_agent.wires.credentials import without_secrets
from lsp_agent.wires.jsonrpc import VERSIONED
from lsp_agent.wires.meerkat.tools import is_catalogue
from lsp_agent.wires.usage import token_counts

#: ``seed`` is the wire as it was first published (0.1); ``current`` that of 0.8 and 0.9.
Generation = Literal["seed", "current"]

#: Meerkat's reasons for the end of a model call; ``tool_use`` ends a step only.
STOP_REASONS: Mapping[str, StopReason | None] = {
    "end_turn": "endTurn",
    "stop_sequence": "endTurn",
    "pause_turn": "endTurn",
    "max_tokens": "maxTokens",
    "context_window_exceeded": "maxTokens",
    "refusal": "refusal",
    "content_filter": "refusal",
    "cancelled": "aborted",
    "tool_use": None,
}

#: What ended a run, where that is no model's doing: causes and classes of errors.
TURN_LIMITS = frozenset({"turn_limit_reached", "max_turns"})


MAX_STEPS = "Meerkat has reached its limit of model calls in one turn; prompt again to go on."


_Kind = Literal["refused", "gone", "aborted", "failed"]


@dataclass(frozen=True, slots=True)
class Failure:
    """What a JSON-RPC error means for a turn: one that is ``refused``, or whose session is
    ``gone``, did not begin, the others have ended."""

    kind: _Kind
    message: str


_KEY = (
    " Check the provider's key (RKAT_<PROVIDER>_API_KEY or <PROVIDER>_API_KEY) and `provider` and"
    " `model` of this agent in the settings."
)
_GONE = " Open a new session."
_BUSY = " Wait for the turn that runs, or stop it."
_BUDGET = " Raise the budget in Meerkat's configuration, or open a new session."
#: What Meerkat puts around the words of a failure, one in the other.
_AROUND = re.compile(
    r"(?:turn abandoned: |Terminal failure: \w+ \(\w+\): |LLM failure terminal turn: "
    r"|retry exhausted: |LLM error \(\w+\): |Server error: (?=[45]\d\d\b))+"
)
_NO_KEY = re.compile(r"authentication failed|credential|\b401\b", re.IGNORECASE)
_PROVIDER_ERROR = -32010
_HOOK = " A hook of Meerkat's configuration decides this."

#: By code: what it means, and the remedy that the message ends with.
_CURRENT: Mapping[int, tuple[_Kind, str]] = {
    -32700: ("refused", ""),
    -32600: ("refused", ""),
    -32601: ("refused", " Install a newer rkat-rpc."),
    -32602: ("refused", " Check `provider` and `model` of this agent in the settings."),
    -32603: ("failed", ""),
    -32001: ("gone", _GONE),
    -32002: ("refused", _BUSY),
    -32003: ("refused", ""),
    -32004: ("refused", ""),
    -32005: ("aborted", ""),
    _PROVIDER_ERROR: ("failed", _KEY),
    -32011: ("failed", _BUDGET),
    -32012: ("failed", _HOOK),
    -32013: ("failed", ""),
    -32020: ("refused", " This rkat-rpc was built, or is configured, without it."),
}
#: The codes that the first published wire gave other meanings.
_SEED: Mapping[int, tuple[_Kind, str]] = {
    **_CURRENT,
    -32000: ("gone", _GONE),
    -32001: ("refused", _BUSY),
    -32002: ("failed", _KEY),
    -32003: ("failed", _BUDGET),
    -32004: ("failed", _HOOK),
}
#: A code that neither has.
_OTHER: tuple[_Kind, str] = ("failed", "")


def failure(error: object, generation: Generation, told: str = "") -> Failure:
    """What the JSON-RPC ``error`` of a request means; ``told`` are the words in which events have
    told of it before."""
    source = frame(error)
    code = integer(source, "code")
    table = _SEED if generation == "seed" else _CURRENT
    kind, remedy = table.get(code or 0, _OTHER)
    said = told or words(string(source, "message")) or "Meerkat gave no reason"
    if generation == "current" and kind == "failed":
        if _NO_KEY.search(said):
            remedy = _KEY
        elif code == _PROVIDER_ERROR and (known := readable(said)) != said:
            said, remedy = known, ""
    if code is not None:
        said = f"{said.rstrip('.')} ({code})."
    return Failure(kind, said + remedy)


def words(message: str) -> str:
    """What failed, without what Meerkat puts around it."""
    return plain(_AROUND.sub("", message.strip(), count=1))


# -- frames of ours


def result(rpc_id: object, content: str, *, is_error: bool) -> Frame:
    """The answer to a ``tool/execute``."""
    return VERSIONED.result(rpc_id, {"content": content, "is_error": is_error})


def usage(value: object) -> Usage:
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens")
    return token_counts(frame(value), names)


# -- prompts, blocks, transcripts


def prompt(message: str, images: Sequence[ImageInput]) -> str | list[dict[str, object]]:
    """A prompt as the agent takes it."""
    if not images:
        return message
    blocks: list[dict[str, object]] = [{"type": "text", "text": message}]
    for image in images:
        blocks.append(
            {
                "type": "image",
                "media_type": image.mime_type,
                "source": "inline",
                "data": image.data,
            }
        )
    return blocks


def blocks(value: object) -> list[Block]:
    """A text or a list of content blocks."""
    if isinstance(value, str):
        return [text(value)] if value else []
    return [_block(frame(item)) for item in items(value)]


def _block(source: Frame) -> Block:
    match string(source, "type"):
        case "text":
            return text(string(source, "text"))
        case "image":
            image: ImageBlock = {"type": "image", "mimeType": string(source, "media_type")}
            if data := string(source, "data"):
                image["data"] = data
            return image
        case other:
            return text(f"[{other or 'unknown'} block]")


def transcript(rows: Sequence[object]) -> list[Message]:
    """The messages of history rows; the system's own are left out."""
    messages = (_message(frame(row)) for row in rows)
    return [message for message in messages if message is not None]


def without_catalogue(messages: Iterable[Message]) -> list[Message]:
    """The messages without the calls by which a model looks for its tools, as they are not shown
    when they are made either, and without what is empty then."""
    shown: list[Message] = []
    hidden: set[str] = set()
    for message in messages:
        if message["role"] == "assistant":
            # A provider may count its ids anew in each step.
            hidden = {
                block["toolCallId"]
                for block in message["content"]
                if block["type"] == "toolCall" and is_catalogue(block["tool"])
            }
        content = [
            block for block in message["content"] if block.get("toolCallId", "") not in hidden
        ]
        if content or not message["content"]:
            shown.append({**message, "content": content})
    return shown


def summary_in(rows: Sequence[object]) -> str | None:
    """The newest summary that a compaction has put into the transcript."""
    for row in reversed(rows):
        source = frame(row)
        if string(source, "transcript_role") == "compaction_summary":
            said = blocks(source.get("content"))
            return "".join(block["text"] for block in said if block["type"] == "text")
    return None


def _message(source: Frame) -> Message | None:
    message: Message
    match string(source, "role"):
        case "user":
            message = {"role": "user", "content": blocks(source.get("content"))}
        case "block_assistant":
            told = (_assistant_block(frame(item)) for item in items(source.get("blocks")))
            content = [block for block in told if block is not None]
            message = {"role": "assistant", "content": content}
        case "tool_results":
            results = [_result(frame(item)) for item in items(source.get("results"))]
            message = {"role": "tool", "content": results}
        case _:
            return None
    if time := string(source, "created_at"):
        message["time"] = time
    return message


def _assistant_block(source: Frame) -> Block | None:
    data = frame(source.get("data"))
    match string(source, "block_type"):
        case "text":
            return text(string(data, "text"))
        case "reasoning":
            return {"type": "thinking", "text": string(data, "text")}
        case "tool_use":
            return {
                "type": "toolCall",
                "toolCallId": string(data, "id"),
                "tool": string(data, "name"),
                "args": data.get("args"),
            }
        case "image":
            return {"type": "image", "mimeType": string(data, "media_type")}
        case _:
            return None


def _result(source: Frame) -> Block:
    return {
        "type": "toolResult",
        "toolCallId": string(source, "tool_use_id"),
        "isError": source.get("is_error") is True,
        "content": blocks(source.get("content")),
    }


# -- state and models


def state(source: Frame) -> dict[str, object]:
    """Of a ``session/read``."""
    result: dict[str, object] = {
        key: value for key in ("provider", "model") if (value := string(source, key))
    }
    if (count := integer(source, "message_count")) is not None:
        result["messageCount"] = count
    return result


def configured(answer: Frame) -> dict[str, object]:
    """The configuration, without its secrets, and the model in it: of the first wire it is the
    whole answer, later one field."""
    config = frame(answer.get("config")) or answer
    agent = frame(config.get("agent"))
    model = {key: value for key in ("provider", "model") if (value := string(agent, key))}
    return {**model, "config": without_secrets(config)}


def models(answer: object) -> list[dict[str, object]]:
    """Of a ``models/catalog``."""
    result: list[dict[str, object]] = []
    for item in items(frame(answer).get("providers")):
        group = frame(item)
        for entry in items(group.get("models")):
            source = frame(entry)
            model: dict[str, object] = {
                "id": string(source, "id"),
                "provider": string(group, "provider"),
            }
            for key, name in (
                ("context_window", "contextWindow"),
                ("max_output_tokens", "maxOutput"),
            ):
                if (count := integer(source, key)) is not None:
                    model[name] = count
            result.append(model)
    return result


# -- what is only told

_NOTICES: Mapping[str, Level] = {
    "budget_warning": "warning",
    "hook_denied": "warning",
    "hook_failed": "warning",
    "stream_truncated": "warning",
    "model_fallback_staged": "info",
    "model_fallback_committed": "warning",
    "model_fallback_target_failed": "warning",
    "compaction_started": "info",
    "compaction_failed": "warning",
    "background_job_completed": "info",
}


def notice(kind: str, payload: Frame) -> tuple[Level, str]:
    """Level and message of an event that changes nothing of a turn."""
    level = _NOTICES.get(kind, "debug")
    said = kind.replace("_", " ")[:80]
    if kind == "budget_warning":
        said = f"{string(payload, 'budget_type') or 'budget'} budget: "
        said += f"{payload.get('used')} of {payload.get('limit')} used"
    for key in ("reason", "message", "detail"):
        value = payload.get(key)
        inner = frame(value)
        words = (
            value if isinstance(value, str) else string(inner, "message") or string(inner, "kind")
        )
        if words:
            return level, f"{said}: {words[:2000]}"
    return level, said
