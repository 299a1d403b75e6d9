"""The parts of ``lsp-agent doctor`` that run things: a real server, a turn, the chosen agent."""

import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from lsp_agent.cli.doctor_checks import Finding
from lsp_agent.cli.editor_client import EditorClient, RequestError
from lsp_agent.cli.scratch import scratch_workspace, scripted_options

_SECONDS = 30.0
#: Of a model; some agents take many seconds to start.
_ANSWER_SECONDS = 120.0
_HELLO = "Answer with one word, without using a tool: ready."
_TEXT = "written by lsp-agent doctor\n"
_STEPS = [
    {"calls": [{"name": "write", "args": {"path": "a.txt", "content": _TEXT}}]},
    {"text": "Done."},
]


def scripted_turn() -> Finding:
    """Starts the server, opens a file, and has the embedded agent change it through the editor."""
    started = time.monotonic()
    with scratch_workspace("lsp-agent-doctor-") as folder:
        script = folder.with_name(f"{folder.name}.json")
        script.write_text(json.dumps({"steps": _STEPS}), encoding="utf-8")
        try:
            (folder / "a.txt").write_text("", encoding="utf-8")
            problem = _outcome(_play, folder, script)
        finally:
            script.unlink()
    if problem is None:
        took = time.monotonic() - started
        return Finding("selfTest", "ok", f"the server ran a scripted turn in {took:.1f} s")
    return Finding(
        "selfTest",
        "failure",
        f"the server failed at a scripted turn: {problem}",
        "see what `lsp-agent serve --log-file lsp-agent.log --log-level info` writes",
    )


async def _play(folder: Path, script: Path) -> str | None:
    async with _server(folder, scripted_options("doctor", script)) as editor:
        document = await editor.open(folder / "a.txt")
        result = await editor.request("agent/prompt", {"text": "write"})
        if result["stopReason"] != "endTurn":
            return str(result.get("error") or result["stopReason"])
        if document.text.content != _TEXT:
            return "its edit did not reach the open document"
    return None


def chosen_agent_starts(name: str) -> Finding:
    """Starts the chosen agent as a session would, by the person's own settings; asks it nothing
    but what models it has."""
    with scratch_workspace("lsp-agent-doctor-") as folder:
        problem = _outcome(_start, folder, name)
    if problem is None:
        return Finding("start", "ok", f"{name} starts, and answers")
    return Finding(
        "start",
        "failure",
        f"{name} does not start: {problem}",
        f"see whether {name} works in a terminal, without an editor",
    )


def chosen_agent_answers(name: str) -> Finding:
    """One turn of the chosen agent's model, by the person's own settings."""
    started = time.monotonic()
    with scratch_workspace("lsp-agent-setup-") as folder:
        problem = _outcome(_ask, folder, name, seconds=_ANSWER_SECONDS)
    if problem is None:
        took = time.monotonic() - started
        return Finding("answer", "ok", f"{name} answered in {took:.1f} s")
    return Finding("answer", "failure", f"{name} does not answer: {problem}")


async def _ask(folder: Path, name: str) -> str | None:
    async with _server(folder, {"agent": name}) as editor:
        result = await editor.request("agent/prompt", {"text": _HELLO})
    if result["stopReason"] == "endTurn":
        return None
    return str(result.get("error") or result["stopReason"])


async def _start(folder: Path, name: str) -> str | None:
    async with _server(folder, {"agent": name}) as editor:
        try:
            await editor.request("agent/models", {})
        except RequestError as error:
            if error.kind != "unsupported":  # it runs, but has no models to choose from
                raise
    return None


def _outcome(
    trial: Callable[..., Awaitable[str | None]], *args: object, seconds: float = _SECONDS
) -> str | None:
    """What went wrong in ``trial``, None for nothing."""

    async def bounded() -> str | None:
        with anyio.fail_after(seconds):
            return await trial(*args)

    try:
        return anyio.run(bounded)
    except TimeoutError:
        return f"no answer within {seconds:g} s"
    except ExceptionGroup as group:
        refused = group.subgroup(RequestError)
        if refused is None:
            raise
        return str(refused.exceptions[0])


@asynccontextmanager
async def _server(folder: Path, options: dict[str, Any]) -> AsyncGenerator[EditorClient]:
    """A server for ``folder``, gone at the end; the person's own settings hold in it, and before
    them ``options``."""
    editor = EditorClient(
        folder, on_event=lambda _event: None, on_progress=lambda _progress: None, answer=_deny
    )
    async with anyio.create_task_group() as tasks:
        try:
            await editor.connect(tasks, options)
            yield editor
            await editor.close()
        finally:
            await editor.kill()
            tasks.cancel_scope.cancel()


async def _deny(_question: dict[str, Any]) -> str | None:
    return None
