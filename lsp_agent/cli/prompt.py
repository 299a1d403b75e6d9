"""``lsp-agent prompt``: one turn without an editor, on the same core.

Its text is streamed on stdout, what the agent does and what it changed is told on stderr; with
``--json`` stdout has the events, one a line. Questions are asked on the terminal; where there is
none they are refused. Ctrl-C stops the turn, a second one the program.

Exit codes: 0 for a turn that ended by itself, 1 for any other, 130 for one that was stopped.
"""

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

import anyio
from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax

from lsp_agent.cli.editor_client import EditorClient, RequestError, call_title
from lsp_agent.protocol.errors import LspAgentError, UsageError
from lsp_agent.protocol.messages import PlanEntry
from lsp_agent.protocol.plan import headline
from lsp_agent.text.lines import Text
from lsp_agent.text.plain import escaped_line, escaped_lines, printable_line
from lsp_agent.text.unified import unified_diff
from lsp_agent.workspace.disk.paths import uri_to_path

Json = dict[str, Any]

_INTERRUPTED = 130
_IN: tuple[str, ...] = ("applied", "kept", "superseded")
_YES, _NO = ("y", "yes"), ("n", "no")
_STEP_MARKS = {
    "pending": ("[ ]", "dim"),
    "in_progress": ("[>]", "bold"),
    "completed": ("[x]", "dim"),
}
_ENDINGS = {
    "maxTokens": "the answer was cut off at the model's limit of tokens",
    "maxSteps": "it was ended at the limit of steps",
    "refusal": "the model refused",
    "aborted": "it was stopped",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="what to ask the agent")
    parser.add_argument("--agent", metavar="A", help="an agent of your settings")
    parser.add_argument(
        "--cwd", type=Path, default=Path(), metavar="DIR", help="the folder to work in"
    )
    parser.add_argument(
        "--review",
        choices=("off", "after", "before"),
        help="before: changes are proposals, which you are asked about at the end",
    )
    parser.add_argument("--json", action="store_true", help="print the events, one a line")


def run(args: argparse.Namespace) -> int:
    if not args.text.strip():
        raise UsageError("the prompt is empty; say what the agent is to do")
    if not args.cwd.is_dir():
        raise UsageError(f"--cwd {args.cwd} is no folder; name the one to work in")
    options: Json = {} if args.review is None else {"edits": {"review": args.review}}
    prompt = _Prompt(args.cwd.resolve(), as_json=args.json)
    return anyio.run(prompt.run, args.text, args.agent, options)


class _Prompt:
    def __init__(self, folder: Path, *, as_json: bool) -> None:
        self._folder = folder
        self._as_json = as_json
        self._has_person = _is_terminal(sys.stdin) and _is_terminal(sys.stderr)
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._on_terminal = _is_terminal(sys.stdout)
        self._in_text = False
        self._calls: dict[str, str] = {}
        self._steps: list[str] = []
        self._edits: set[str] = set()
        self._asking = anyio.Lock()
        self._running = self._interrupted = False
        self._editor = EditorClient(
            folder,
            on_event=self._print_event if as_json else self._show,
            on_progress=lambda _progress: None,
            answer=self._answer,
            on_warning=self._warn,
            name="lsp-agent prompt",
        )

    async def run(self, prompt: str, agent: str | None, options: Json) -> int:
        code = _INTERRUPTED
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._stop_when_interrupted, tasks.cancel_scope)
            try:
                await self._editor.connect(tasks, options)
                session = await self._editor.request("agent/newSession", {"agent": agent})
                self._running = True
                result = await self._editor.request("agent/prompt", {"text": prompt, **session})
                self._running = False
                self._end_text()
                ended = self._end(result)
                await self._show_changes(result["edits"])
                code = ended
                await self._editor.close()
            except RequestError as error:
                self._end_text()
                if not self._interrupted:
                    raise LspAgentError(_with_remedy(error)) from None
            finally:
                await self._editor.kill()
                tasks.cancel_scope.cancel()
        return code

    async def _stop_when_interrupted(self, all_of_it: anyio.CancelScope) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _ in signals:
                if self._console.is_terminal:
                    self._console.print()  # after "^C"
                if self._interrupted or not self._running:
                    all_of_it.cancel()
                    return
                self._interrupted = True
                self._note("[yellow]stopping…[/]")
                with suppress(RequestError):
                    abort = {"command": "lspAgent.abort"}  # without a session: whatever runs
                    await self._editor.request("workspace/executeCommand", abort)

    # -- while it runs

    def _print_event(self, event: Json) -> None:
        print(json.dumps(event, ensure_ascii=False), flush=True)

    def _show(self, event: Json) -> None:
        match event["type"]:
            case "textDelta":
                self._say(event["text"])
            case "assistantMessage":
                self._end_text()
            case "toolCall":
                title = self._calls[event["toolCallId"]] = self._near(call_title(event))
                self._note(f"[blue]●[/] {escape(title)}")
            case "toolProgress" if self._console.is_terminal:
                for line in event["text"].splitlines():
                    if shown := printable_line(line):
                        self._note(f"  [dim]{escape(shown)}[/]")
            case "toolResult":
                title = self._calls.pop(event["toolCallId"], "")
                if event["isError"]:
                    why = "".join(block.get("text", "") for block in event["content"])
                    self._note(f"[red]✗[/] {escape(title)} [dim]{escape(_why(why))}[/]")
            case "plan":
                self._show_plan(event["entries"])
            case "editApplied" | "editProposed" if event["edit"]["editId"] not in self._edits:
                self._edits.add(event["edit"]["editId"])
                done = "changed" if event["type"] == "editApplied" else "to be changed"
                self._note(f"[green]✓[/] [dim]{escape(self._name(event['edit']))} {done}[/]")
            case "agentStatus" | "notice" | "error":
                self._tell(event)
            case _:
                pass

    def _show_plan(self, entries: Sequence[PlanEntry]) -> None:
        """All of it where its steps are others; else how far it is."""
        steps = [entry["content"] for entry in entries]
        if steps != self._steps:
            self._steps = steps
            if entries:
                self._note("[blue]●[/] Plan")
            for entry in entries:
                mark, style = _STEP_MARKS[entry["status"]]
                self._note(f"  {escape(mark)} [{style}]{escape(escaped_line(entry['content']))}[/]")
        else:
            self._note(f"[blue]●[/] {escape(escaped_line(headline(entries)))}")

    def _warn(self, message: str) -> None:
        self._note(f"[yellow]![/] {escape(escaped_lines(message))}")

    def _tell(self, event: Json) -> None:
        """What is not of the turn itself."""
        match event:
            case {"type": "agentStatus", "status": "starting"} if self._console.is_terminal:
                self._note("[dim]· the agent is starting[/]")  # some take many seconds
            case {"type": "error"}:
                self._note(f"[red]✗[/] {escape(escaped_lines(event['message']))}")
            case {"type": "notice", "level": "info"}:
                self._note(f"[dim]· {escape(escaped_lines(event['message']))}[/]")
            case {"type": "notice", "level": "warning" | "error"}:
                self._note(f"[yellow]![/] {escape(escaped_lines(event['message']))}")
            case _:
                pass

    def _say(self, text: str) -> None:
        """Of the agent's, on stdout; on a terminal nothing in it is obeyed."""
        print(escaped_lines(text) if self._on_terminal else text, end="", flush=True)
        self._in_text = not text.endswith("\n")

    def _end_text(self) -> None:
        if self._in_text:
            print(flush=True)
            self._in_text = False

    def _note(self, markup: str) -> None:
        self._end_text()
        self._console.print(markup)

    async def _answer(self, question: Json) -> str | None:
        """What the person says; None, which refuses, where there is none."""
        if not self._has_person:
            self._note(
                f"[yellow]![/] Refused, as there is no terminal to ask on:"
                f" {escape(escaped_line(question['title']))}"
                " [dim](allow it in your settings: permissions.allow)[/]"
            )
            return None
        options: list[Json] = question["options"]
        async with self._asking:
            self._note(f"[yellow]?[/] [bold]{escape(escaped_line(question['title']))}[/]")
            detail = question.get("detail")
            if detail and detail not in question["title"]:
                self._console.print(escape(escaped_lines(detail)), style="dim")
            for number, option in enumerate(options, 1):
                self._console.print(f"  [cyan]{number}[/] {escape(escaped_line(option['name']))}")
            answers = {str(number): one["optionId"] for number, one in enumerate(options, 1)}
            denials = (one["optionId"] for one in options if one["kind"] == "deny")
            answers |= dict.fromkeys(_NO, next(denials, None))
            _forget_typed()
            while said := await self._read(f"1-{len(options)}, or Enter to refuse: "):
                if said.lower() in answers:
                    return answers[said.lower()]
        return None

    async def _read(self, what: str) -> str:
        self._console.print(f"[dim]{escape(what)}[/]", end="")
        await anyio.wait_readable(sys.stdin)  # not in a thread: it would hold up the end
        return os.read(sys.stdin.fileno(), 4096).decode(errors="replace").strip()

    # -- the end

    def _end(self, result: Json) -> int:
        reason = result["stopReason"]
        if reason == "endTurn":
            return 0
        if reason != "error":  # that one was told as an event
            self._note(f"[yellow]![/] The turn did not end by itself: {_ENDINGS[reason]}.")
        return _INTERRUPTED if self._interrupted else 1

    async def _show_changes(self, edits: Sequence[Json]) -> None:
        if self._as_json:
            return
        texts: dict[str, list[Text]] = {}
        for edit in edits:
            if edit["status"] in _IN:
                both = await self._texts(edit)
                texts[self._name(edit)] = [texts.get(self._name(edit), both)[0], both[1]]
        for name, (before, after) in texts.items():
            self._print_diff(unified_diff(before, after, name))
        proposed = [edit for edit in edits if edit["status"] == "proposed"]
        for edit in proposed:
            before, after = await self._texts(edit)
            self._print_diff(unified_diff(before, after, self._name(edit)))
            await self._offer(edit)

    async def _offer(self, edit: Json) -> None:
        name = self._name(edit)
        if not self._has_person:
            self._note(f"[yellow]![/] {escape(name)} waits as a proposal for your editor")
        elif await self._agrees(f"Apply this to {name}? [y/N] "):
            result = await self._editor.request("agent/applyEdit", {"editId": edit["editId"]})
            if not result["applied"]:
                self._note(f"[red]✗[/] {escape(escaped_lines(result['failureReason']))}")
        else:
            await self._editor.request("agent/rejectEdit", {"editId": edit["editId"]})

    async def _agrees(self, what: str) -> bool:
        """Asks until it is yes or no; no words are a no."""
        _forget_typed()
        while said := (await self._read(what)).lower():
            if said in (*_YES, *_NO):
                return said in _YES
        return False

    async def _texts(self, edit: Json) -> list[Text]:
        texts = await self._editor.request("agent/editText", {"editId": edit["editId"]})
        return [Text.of(texts["before"]), Text.of(texts["after"])]

    def _print_diff(self, diff: str) -> None:
        if diff:
            colours = Syntax(
                escaped_lines(diff), "diff", theme="ansi_light", background_color="default"
            )
            self._console.print(colours if self._console.is_terminal else escape(diff), end="")

    def _near(self, title: str) -> str:
        """With paths below the folder as the person would write them."""
        return title.replace(f" {self._folder}/", " ", 1)

    def _name(self, edit: Json) -> str:
        path = uri_to_path(edit["uri"]) or edit["uri"]
        return escaped_line(path.removeprefix(f"{self._folder}/"))


def _with_remedy(error: RequestError) -> str:
    if error.kind in ("notConfigured", "agentNotFound"):
        return f"{error} `lsp-agent setup` asks which, and tries it."
    return str(error)


def _is_terminal(stream: TextIO | None) -> bool:
    """None is one that was closed before we began."""
    return stream is not None and stream.isatty()


def _forget_typed() -> None:
    """What was typed before a question was there is no answer to it."""
    import termios  # noqa: PLC0415 - not everywhere, unlike the commands that ask nothing

    termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _why(text: str) -> str:
    """The last line of a failed call's result; before how a command ended what it said last."""
    lines = [line for line in text.splitlines() if line.strip()]
    told = lines[-2:] if lines and lines[-1].startswith(("[exit ", "[not run]")) else lines[-1:]
    return printable_line("  ".join(line for line in told if not line.startswith("$ ")))[:200]
