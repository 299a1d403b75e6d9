"""``lsp-agent demo``: the main job from end to end, offline, on real processes."""

import argparse
import contextlib
import difflib
import json
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax

from lsp_agent.cli import demo_project as project
from lsp_agent.cli.editor_client import Document, EditorClient, RequestError, call_title
from lsp_agent.cli.scratch import scratch_workspace, scripted_options
from lsp_agent.protocol.errors import LspAgentError, UsageError

Json = dict[str, Any]

_LIMIT_SECONDS = 90


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dir", type=Path, metavar="DIR", help="work in this new or empty folder, and keep it"
    )


def run(args: argparse.Namespace) -> int:
    with _folder(args.dir) as folder, tempfile.TemporaryDirectory(prefix="lsp-agent-") as private:
        project.lay_out(folder)
        script = Path(private, "script.json")
        script.write_text(json.dumps(project.script()), encoding="utf-8")
        console = Console(highlight=False, soft_wrap=True)
        return anyio.run(_run_within, _Demo(console, folder, script))


async def _run_within(demo: "_Demo") -> int:
    try:
        with anyio.fail_after(_LIMIT_SECONDS):
            return await demo.run()
    except TimeoutError:
        raise LspAgentError(
            f"the demo did not end within {_LIMIT_SECONDS} s; is the machine very busy?"
        ) from None


@contextlib.contextmanager
def _folder(chosen: Path | None) -> Generator[Path]:
    if chosen is None:
        with scratch_workspace("lsp-agent-demo-") as made:
            yield made
        return
    try:
        chosen.mkdir(parents=True, exist_ok=True)
        if any(chosen.iterdir()):
            raise UsageError(f"{chosen} is not empty; name a new or empty folder")
    except OSError as error:
        raise UsageError(f"cannot use {chosen}: {error.strerror}") from error
    yield chosen.resolve()


class _Demo:
    def __init__(self, console: Console, folder: Path, script: Path) -> None:
        self._console = console
        self._folder = folder
        self._script = script
        self._running: dict[str, str] = {}
        self._in_text = False
        self._command_runs = anyio.Event()
        self._reports = 0
        self._failures: list[str] = []

    async def run(self) -> int:
        started = time.monotonic()
        before = _files(self._folder)
        self._say("[bold]lsp-agent demo[/]: an editor, a language server and an agent, for real.")
        async with anyio.create_task_group() as tasks:
            editor = EditorClient(
                self._folder,
                on_event=self._event,
                on_progress=self._progress,
                answer=self._answer,
            )
            await editor.connect(tasks, scripted_options("demo", self._script))
            document = await editor.open(self._folder / "prices.py")
            await editor.type(document, 2, 0, project.UNSAVED)
            self._say(f"[dim]prices.py is open, with unsaved text:[/] {project.UNSAVED.strip()}")
            await self._main_job(editor)
            await self._cancelled_job(editor)
            self._check(await editor.close() == 0, "the server ended with exit code 0")
            self._show_changes(before)
            self._check_files(document)
            tasks.cancel_scope.cancel()
        self._say(f"[dim]{time.monotonic() - started:.1f} s[/]")
        return 1 if self._failures else 0

    async def _main_job(self, editor: EditorClient) -> None:
        self._say(f"\n[bold cyan]>[/] {project.PROMPT}")
        result = await editor.request("agent/prompt", {"text": project.PROMPT})
        self._end_text()
        self._check(result["stopReason"] == "endTurn", "the turn ended by itself")
        statuses = [edit["status"] for edit in result["edits"]]
        self._check(statuses == ["applied", "applied"], "both of its edits are applied")
        self._check(self._reports > 0, "the command's output came as progress")

    async def _cancelled_job(self, editor: EditorClient) -> None:
        self._say(f"\n[bold cyan]>[/] {project.LONG_PROMPT}")
        self._command_runs = anyio.Event()
        msg_id = editor.next_id()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._cancel, editor, msg_id)
            try:
                await editor.request("agent/prompt", {"text": project.LONG_PROMPT}, msg_id=msg_id)
            except RequestError as error:
                took = time.monotonic() - self._cancelled_at
                self._end_text()
                self._say(f"[yellow]stopped[/] [dim]after {took * 1000:.0f} ms[/]")
                self._check(error.code == -32800, "the cancelled prompt was answered as cancelled")
                self._check(took < 1, "it was answered within a second")
                self._check(not _survivors(), "no process of the command is left")
            else:
                self._check(False, "the cancelled prompt was answered as cancelled")

    async def _cancel(self, editor: EditorClient, msg_id: int) -> None:
        await self._command_runs.wait()
        await anyio.sleep(0.5)
        self._end_text()
        self._say("[dim]the person cancels[/]")
        self._cancelled_at = time.monotonic()
        await editor.notify("$/cancelRequest", {"id": msg_id})

    # -- what the server tells

    def _event(self, event: Json) -> None:
        match event["type"]:
            case "textDelta":
                self._console.print(escape(event["text"]), end="")
                self._in_text = True
            case "toolCall":
                self._end_text()
                title = _short(call_title(event))
                self._running[event["toolCallId"]] = title
                self._say(f"  [blue]●[/] {escape(title)}")
            case "toolProgress":
                self._show_output(event["text"])
            case "toolResult":
                title = self._running.pop(event["toolCallId"], "")
                if event["isError"]:
                    self._say(f"  [red]✗[/] [dim]{escape(title)}[/]")
            case "editApplied":
                name = event["edit"]["uri"].rsplit("/", 1)[-1]
                self._say(f"  [green]✓[/] [dim]{escape(name)} changed in your workspace[/]")
            case _:
                pass

    def _show_output(self, text: str) -> None:
        for line in text.splitlines():
            if line.strip():
                self._say(f"    [dim]{escape(line)}[/]")
        if "measuring" in text:
            self._command_runs.set()

    def _progress(self, params: Json) -> None:
        if params["value"]["kind"] == "report" and "message" in params["value"]:
            self._reports += 1

    async def _answer(self, question: Json) -> str | None:
        """The person of this demo allows what is asked, saving first where that is offered."""
        options: list[Json] = question["options"]
        chosen = next(option for option in options if option["kind"] == "allowOnce")
        title = escape(_short(question["title"]))
        self._say(f"  [yellow]?[/] {title} [dim]->[/] {escape(chosen['name'])}")
        return chosen["optionId"]

    # -- the end

    def _show_changes(self, before: dict[str, str]) -> None:
        self._say("\n[bold]What changed on disk[/]")
        after = _files(self._folder)
        for name in sorted(after.keys() | before.keys()):
            old, new = before.get(name, ""), after.get(name, "")
            rows = difflib.unified_diff(
                old.splitlines(keepends=True), new.splitlines(keepends=True), name, name
            )
            diff = "".join(rows)
            if diff:
                self._console.print(
                    Syntax(diff, "diff", theme="ansi_light", background_color="default")
                )

    def _check_files(self, document: Document) -> None:
        self._say("[bold]Checked[/]")
        files, wanted = _files(self._folder), project.expected()
        for name, text in wanted.items():
            self._check(files.get(name) == text, f"{name} is as it must be")
        self._check(files.keys() == wanted.keys(), "no other file is there")
        self._check(
            document.text.content == wanted["prices.py"], "the editor shows what is on disk"
        )
        if self._failures:
            self._say("\n[bold red]Failed:[/] " + escape("; ".join(self._failures)))

    def _check(self, holds: bool, what: str) -> None:
        self._say(f"  [green]✓[/] {what}" if holds else f"  [red]✗ not so:[/] {what}")
        if not holds:
            self._failures.append(what)

    def _say(self, markup: str) -> None:
        self._console.print(markup)

    def _end_text(self) -> None:
        if self._in_text:
            self._console.print()
            self._in_text = False


def _short(command: str) -> str:
    return command.replace(sys.executable, "python")


def _files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


def _survivors() -> list[int]:
    """Processes of the stubborn command; told by its words, so only where /proc is."""
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if project.NAP in command:
            found.append(int(entry.name))
    return found
