"""ACP's values in canonical form: blocks, paths, tools, usage, options, errors."""

import shlex
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import cast

from lsp_agent.protocol.catalogue import AcpHabits
from lsp_agent.protocol.events import StopReason, ToolKind, WindowFilled
from lsp_agent.protocol.messages import Block, Message, PlanEntry, Usage, plain_text, text
from lsp_agent.protocol.session_methods import ImageInput
from lsp_agent.toolset.kinds import tool_kind as hosted_kind
from lsp_agent.toolset.loose_json import Frame, frame, frames, integer, number, string
from lsp_agent.wires.acp.options import choices
from lsp_agent.wires.jsonrpc import INTERNAL_ERROR, VERSIONED
from lsp_agent.wires.usage import token_counts

AUTH_REQUIRED = -32000
RESOURCE_NOT_FOUND = -32002

STOP_REASONS: Mapping[str, StopReason] = {
    "end_turn": "endTurn",
    "max_tokens": "maxTokens",
    "max_turn_requests": "maxSteps",
    "refusal": "refusal",
    "cancelled": "aborted",
}

#: A file that is deleted or moved is none that was edited: such a call is asked about, and
#: whatever it changed is looked for.
_TOOL_KINDS: Mapping[str, ToolKind] = {"read": "read", "edit": "edit", "execute": "command"}

#: Where agents put the folder of a command: codex-acp, opencode, qwen-code, Gemini CLI.
_FOLDER_KEYS = ("cwd", "workdir", "working_directory", "workingDirectory", "directory", "dir_path")
#: Where they put a call's path, besides its locations.
_PATH_KEYS = ("path", "file_path", "filePath", "filepath", "absolute_path")

#: Of a title that may stand for a tool, in characters: more is a text.
_LONGEST_TITLE = 100


def error(request_id: object, code: int, message: str) -> Frame:
    """Agents show ``message`` or what ``data`` has as details; some both."""
    return VERSIONED.error(request_id, code, message, {"details": message})


def chunk_text(update: Frame) -> str:
    """The text of a message's piece; "" for a picture or a resource."""
    return string(frame(update.get("content")), "text")


def tells_failure(update: Frame) -> bool:
    """Codex says so before the error itself, which comes as words of a turn that ends well."""
    codex = frame(frame(update.get("_meta")).get("codex"))
    return string(frame(codex.get("threadStatus")), "type") == "systemError"


def user_message(prompt: str, images: Iterable[ImageInput]) -> Message:
    shown: list[Block] = [text(prompt)] if prompt else []
    for image in images:
        shown.append({"type": "image", "mimeType": image.mime_type, "data": image.data})
    return {"role": "user", "content": shown}


def sessions(result: Frame) -> list[dict[str, object]]:
    """Of ``session/list``: its first page."""
    return [_session(each) for each in frames(result.get("sessions")) if string(each, "sessionId")]


def _session(source: Frame) -> dict[str, object]:
    told: dict[str, object] = {"ref": string(source, "sessionId"), "cwd": string(source, "cwd")}
    if title := string(source, "title"):
        told["title"] = title
    with suppress(ValueError):
        told["updated"] = datetime.fromisoformat(string(source, "updatedAt")).timestamp()
    return told


# Tool calls


def whole_call(update: Frame, habits: AcpHabits) -> Frame:
    """With the command that an agent tells in its call's title alone."""
    command = string(update, "title")
    if not habits.command_in_title or string(update, "kind") != "execute" or not command:
        return update
    return {"rawInput": {"command": command}, **update}


def tool_name(update: Frame) -> str:
    return string(frame(update.get("_meta")), "toolName") or string(update, "kind")


def tool_kind(name: str) -> ToolKind:
    return _TOOL_KINDS.get(name, "other")


def command_of(args: object) -> str:
    """The command line of a call that runs one."""
    command = frame(args).get("command")
    if isinstance(command, list):
        return shlex.join(str(word) for word in cast(list[object], command))
    return command if isinstance(command, str) else ""


def command_folder(args: object) -> str:
    """Where a command is to run, as a call says; empty where it does not."""
    given = frame(args)
    return next((folder for key in _FOLDER_KEYS if (folder := string(given, key))), "")


def call_paths(update: Frame) -> tuple[str, ...]:
    """The absolute paths that a call, or an update of it, names. Those of a diff count only where
    they are absolute: in a result they may be mere names."""
    args = frame(update.get("rawInput"))
    named = [string(location, "path") for location in frames(update.get("locations"))]
    named += [
        path
        for item in frames(update.get("content"))
        if string(item, "type") == "diff" and PurePath(path := string(item, "path")).is_absolute()
    ]
    named += [string(args, key) for key in _PATH_KEYS] if not any(named) else []
    return tuple(dict.fromkeys(path for path in named if path))


def searches_files(name: str, args: object) -> bool:
    """Rather than the web: such a call reads where it looks."""
    return name == "search" and "pattern" in frame(args)


def judged_as(
    kind: ToolKind, args: object, paths: tuple[str, ...]
) -> tuple[str, dict[str, object]] | None:
    """The tool and arguments by which leave is given, in the embedded agent's form. A file call
    without a path, or a command without its line, cannot be judged as one, so it is a call of some
    other tool."""
    if kind == "command" and (command := command_of(args)):
        return "bash", {"command": command}
    if kind in ("read", "edit") and paths:
        return kind, {"path": paths[0]}
    return None


def named_tool(kind: ToolKind, *told: Frame) -> str | None:
    """The tool of a call that is none of ours, by what was told of it; None where that names more
    than one tool."""
    if kind != "other" and not any(map(_is_mcp, told)):
        return None
    if known := _first(map(_known_as, told)):
        return not_ours(known)
    title = " ".join(_first(string(each, "title") for each in told).split())
    if not title or len(title) > _LONGEST_TITLE:
        return None
    # A model may have a say in it, so it must not pass for a name.
    return f"{_first(string(each, 'kind') for each in told) or 'tool'}: {title}"


def _first(said: Iterable[str]) -> str:
    return next(filter(None, said), "")


def _known_as(update: Frame) -> str:
    """By qwen-code; Claude, twice; Codex, whose other titles may be a command's line."""
    meta = frame(update.get("_meta"))
    return (
        string(meta, "toolName")
        or string(frame(meta.get("claudeCode")), "toolName")
        or string(update, "name")
        or (string(update, "title") if _is_mcp(update) else "")
    )


def _is_mcp(update: Frame) -> bool:
    """Whether Codex says that a call, of which it tells as of a command, is of an MCP tool."""
    return frame(update.get("_meta")).get("is_mcp_tool_call") is True


def naming(update: Frame) -> Frame:
    """What of an update is told of its call alone, and names it."""
    return {key: update[key] for key in ("_meta", "name", "title", "kind") if update.get(key)}


def not_ours(name: str) -> str:
    """So that it does not pass for that of a tool whose path or command line is known."""
    return name if hosted_kind(name) == "other" else f"{name} of unknown aim"


def shown_args(update: Frame) -> dict[str, object]:
    """What a person can judge a call by that is told without its arguments."""
    told = {"title": string(update, "title"), "content": content_text(update.get("content"))}
    return {name: words for name, words in told.items() if words}


def content_text(content: object) -> str:
    """What a tool has printed so far."""
    return "".join(
        string(frame(item.get("content")), "text")
        for item in frames(content)
        if string(item, "type") == "content"
    )


def has_diff(content: object) -> bool:
    return any(string(item, "type") == "diff" for item in frames(content))


def result_blocks(content: object, raw_output: object) -> list[Block]:
    """A call's result. Its diffs are only named: they may be of a part of the file."""
    blocks: list[Block] = []
    for item in frames(content):
        match string(item, "type"):
            case "content":
                blocks += _block(frame(item.get("content")))
            case "diff":
                blocks.append(text(f"[changed {string(item, 'path')}]"))
            case _:
                pass
    if not blocks and isinstance(raw_output, str) and raw_output:
        blocks.append(text(raw_output))
    return blocks


#: What an agent in JavaScript makes of an error that it does not know as one.
_NO_WORDS = "[object Object]"


def with_reason(blocks: list[Block], reason: str) -> list[Block]:
    """A call's result, which also says ``reason``: in the place of no words, else after its own."""
    told = [
        text(block["text"].replace(_NO_WORDS, reason)) if block["type"] == "text" else block
        for block in blocks
    ]
    return told if reason in plain_text(told) else [*told, text(reason)]


def _block(source: Frame) -> list[Block]:
    match string(source, "type"):
        case "text":
            return [text(string(source, "text"))]
        case "image":
            data = string(source, "data")
            return [{"type": "image", "mimeType": string(source, "mimeType"), "data": data}]
        case "resource":
            return [text(string(frame(source.get("resource")), "text"))]
        case "resource_link":
            return [text(f"[{string(source, 'uri')}]")]
        case other:
            return [text(f"[{other or 'unknown'} block]")]


def terminal_output(update: Frame) -> str:
    """What a terminal of the agent's own has printed since the last update."""
    return string(frame(frame(update.get("_meta")).get("terminal_output_delta")), "data")


# Usage


def usage(value: object) -> Usage:
    names = ("inputTokens", "outputTokens", "cachedReadTokens", "cachedWriteTokens")
    return token_counts(frame(value), names)


def usage_at_end(result: Frame) -> Usage:
    """Of a prompt's answer; Gemini CLI has it beside the protocol's own."""
    if told := frame(result.get("usage")):
        return usage(told)
    counted = frame(frame(frame(result.get("_meta")).get("quota")).get("token_count"))
    return token_counts(counted, ("input_tokens", "output_tokens", "", ""))


def window(update: Frame) -> WindowFilled | None:
    """Of a ``usage_update``. Some tell one of nothing before their first model call."""
    used, size = integer(update, "used"), integer(update, "size")
    return WindowFilled(used, size or None) if used else None


def cost(update: Frame) -> float | None:
    """The session's cost so far in US dollars."""
    told = frame(update.get("cost"))
    return number(told, "amount") if string(told, "currency") == "USD" else None


# Models


@dataclass(frozen=True, slots=True)
class Models:
    """``option`` is the configuration option that chooses one; None where an older agent has a
    method of its own for that."""

    option: str | None
    current: str
    ids: tuple[str, ...]
    windows: Mapping[str, int]

    def named(self, model: str, provider: str) -> str:
        """The id of a model that the settings may name without its provider."""
        whole = f"{provider}/{model}"
        return whole if provider and model and whole in self.ids else model


def models(source: Frame, before: Models | None) -> Models | None:
    """From the answer that opens a session or sets an option, or an update; ``before`` where it
    says nothing of them."""
    older = frame(source.get("models"))
    listed = frames(older.get("availableModels"))
    windows = dict(before.windows) if before else {}
    for model in listed:
        size = integer(frame(model.get("_meta")), "contextLimit")
        if size is not None:
            windows[string(model, "modelId")] = size
    for option in frames(source.get("configOptions")):
        if string(option, "category") == "model" and string(option, "type") == "select":
            ids = tuple(string(choice, "value") for choice in choices(option))
            current = string(option, "currentValue")
            return Models(string(option, "id"), current, ids, windows)
    if listed:
        ids = tuple(string(model, "modelId") for model in listed)
        return Models(None, string(older, "currentModelId"), ids, windows)
    return before


# Errors


def error_text(error: object, login: Iterable[Frame], sign_in: str = "") -> str:
    """An error's message and what it says beyond; of a missing login, how to mend it: by
    ``sign_in``, a line for a terminal, else by one of the agent's ways, which are in ``login``."""
    source = frame(error)
    message, data = string(source, "message"), source.get("data")
    if integer(source, "code") == INTERNAL_ERROR:  # JSON-RPC's words say nothing to a person
        message = message.removeprefix("Internal error").lstrip(": ")
    detail = data if isinstance(data, str) else _detail(frame(data))
    if detail and detail not in message:
        message = f"{message}: {detail}" if message else detail
    message = message or "refused without a reason"
    if integer(source, "code") == AUTH_REQUIRED and sign_in:
        message += f". Sign in first: run `{sign_in}` in a terminal, then prompt again"
    elif integer(source, "code") == AUTH_REQUIRED:
        ways = [string(way, "description") or string(way, "name") for way in login]
        message += ". It wants a login first, which is done outside the editor"
        message += f" ({'; '.join(way for way in ways if way)})" if any(ways) else ""
    return message


def _detail(data: Frame) -> str:
    return next((found for key in ("details", "message") if (found := string(data, key))), "")


# Plans


def plan(update: Frame) -> tuple[PlanEntry, ...]:
    """Each step in one line. One without words is left out, one whose status is not known is
    pending, and a priority that is not known was not told."""
    told = (_step(entry) for entry in frames(update.get("entries")))
    return tuple(step for step in told if step["content"])


def _step(source: Frame) -> PlanEntry:
    status, priority = source.get("status"), source.get("priority")
    step: PlanEntry = {
        "content": " ".join(string(source, "content").split()),
        "status": status if status in ("in_progress", "completed") else "pending",
    }
    if priority in ("high", "medium", "low"):
        step["priority"] = priority
    return step
