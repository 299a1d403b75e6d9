"""``lsp-agent setup``: an agent for the person, and lsp-agent into an editor's own files.

What would be changed is shown as a diff and asked for; what was there is kept, and ``--undo`` takes
the change back. With ``--yes`` nothing is asked.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO, cast

from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax

from lsp_agent.cli.editors import changes
from lsp_agent.cli.editors.changes import CannotChange, Change
from lsp_agent.cli.editors.recipes import RECIPES, Recipe, recipe
from lsp_agent.protocol.errors import UsageError
from lsp_agent.text.plain import escaped_lines

if TYPE_CHECKING:
    from lsp_agent.cli.setup_agent import Choice

#: A longer new file is only named.
_MOST_NEW_LINES = 120
_AGENT = "agent"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("editor", nargs="?", metavar="EDITOR", help=", ".join(RECIPES))
    parser.add_argument("--agent", metavar="A", help="use this one, as `lsp-agent agents` names it")
    parser.add_argument(
        "--key", action="store_true", help="read its key on stdin, for the system's keyring"
    )
    parser.add_argument("--yes", action="store_true", help="ask nothing")
    parser.add_argument("--undo", action="store_true", help="take back what was set up")


def run(args: argparse.Namespace) -> int:
    setup = _Setup(Console(highlight=False, soft_wrap=True), asks=not args.yes)
    editor = recipe(args.editor) if args.editor else None
    if args.key and not args.agent:
        raise UsageError("--key needs --agent anthropic or --agent openai")
    stdin = _stdin()
    if not args.yes and (stdin is None or not stdin.isatty()):
        which = "" if args.undo or editor or args.agent else ", and which --agent"
        raise UsageError(f"there is no terminal to ask on; say --yes{which}")
    if args.undo:
        return setup.undo(editor.name if editor else _AGENT)
    if editor is not None and not setup.editor(editor):
        return 1
    if editor is None or args.agent:
        key = _key_on_stdin() if args.key else None
        if not setup.agent(args.agent, key):
            return 1
    setup.say_next(editor)
    return 0


def _key_on_stdin() -> str:
    stdin = _stdin()
    key = stdin.readline().strip() if stdin else ""
    if not key:
        raise UsageError("--key: no key came on stdin; send it there, in a line")
    return key


def _stdin() -> TextIO | None:
    """None if it was closed before we began."""
    return cast(TextIO | None, sys.stdin)


class _Setup:
    """``asks`` is whether there is a person to ask."""

    def __init__(self, console: Console, *, asks: bool) -> None:
        self._console = console
        self._asks = asks

    def editor(self, editor: Recipe) -> bool:
        """Whether its files are as they are to be."""
        self._console.print(f"[bold]{editor.title}[/]")
        try:
            wanted = editor.changes()
        except CannotChange as error:
            if error.by_hand:
                self._say(_plain(error.by_hand))
            raise
        return self._made(editor.name, wanted)

    def agent(self, name: str | None, key: str | None) -> bool:
        """Chooses it and tries it; whether it answers."""
        from lsp_agent.cli import setup_agent  # noqa: PLC0415  an editor's file needs none of it

        offered = setup_agent.choices()
        choice = setup_agent.choice_named(offered, name) if name else self._chosen(offered)
        if key is None and self._asks and setup_agent.lacks_key(choice):
            key = self._ask(f"Your key for {choice.title} (not shown): ", hidden=True)
            if key is None:
                raise UsageError("no key was given")
        if key:
            setup_agent.keep_key(choice, key)
            self._say(f"[green]✓[/] the key is in the system's keyring, as lsp-agent {choice.name}")
        if not self._made(_AGENT, [choice.change()]):
            return False
        self._say(f"[dim]Trying {choice.title}: a scripted turn, and one of its own[/]")
        well = True
        for finding in setup_agent.tried():
            mark = "[green]✓[/]" if finding.status == "ok" else "[red]✗[/]"
            self._say(f"{mark} {_plain(finding.message)}")
            if finding.remedy:
                self._say(f"  [dim]→[/] {_plain(finding.remedy)}")
            well = well and finding.status == "ok"
        if not well and choice.hint:
            self._say(f"  [dim]→[/] {_plain(choice.hint)}")
        return well

    def say_next(self, editor: Recipe | None) -> None:
        if editor is not None:
            self._say(f"\nNow {_plain(editor.then)}.")
            return
        here = [each for each in RECIPES.values() if each.is_here]
        if here:
            self._say("\nFor your editor:")
        for each in here:
            self._say(f"  lsp-agent setup {each.name:<10} then {_plain(each.then)}")
        self._say("\nIn a terminal: lsp-agent prompt 'what does this project do?'")

    def undo(self, subject: str) -> int:
        made = changes.made(subject)
        if not made:
            raise UsageError(f"nothing was set up for {subject}, so there is nothing to take back")
        back = [changes.take_back(change) for change in made]
        if not self._agreed(back):
            return 1
        changes.undo(subject, back)
        self._say("[green]✓[/] taken back")
        return 0

    def _made(self, subject: str, wanted: Sequence[Change]) -> bool:
        for change in wanted:
            if change.left_to_do:
                self._say(f"[blue]·[/] {_plain(change.left_to_do)}")
        new = [change for change in wanted if change.is_one]
        if not new:
            self._say(f"[green]✓[/] {wanted[0].path} has it already")
            return True
        if not self._agreed(new):
            return False
        kept = changes.make(subject, new)
        for change in new:
            self._say(f"[green]✓[/] {_plain(str(change.path))} is written")
        self._say(
            f"  [dim]what was there is in {_plain(str(kept))};"
            f" lsp-agent setup{'' if subject == _AGENT else f' {subject}'} --undo takes it back[/]"
        )
        return True

    def _agreed(self, shown: Sequence[Change]) -> bool:
        for change in shown:
            if change.is_one:
                self._show(change)
        return not self._asks or self._yes("Write this? [y/N] ")

    def _show(self, change: Change) -> None:
        lines = (change.after or "").count("\n")
        if change.before is None and lines > _MOST_NEW_LINES:
            self._say(f"\n{_plain(str(change.path))} [dim]is new, {lines} lines[/]")
            return
        self._say(f"\n{_plain(str(change.path))}")
        diff = escaped_lines(change.diff())
        coloured = Syntax(diff, "diff", theme="ansi_light", background_color="default")
        self._console.print(coloured if self._console.is_terminal else escape(diff), end="")

    def _chosen(self, offered: Sequence["Choice"]) -> "Choice":
        if not self._asks:
            raise UsageError("say which agent: --agent NAME; `lsp-agent agents` lists them")
        self._say("[bold]Which agent?[/]")
        for number, each in enumerate(offered, 1):
            mark = "[green]✓[/]" if each.found else "[blue]·[/]"
            hint = f" [dim]({_plain(each.hint)})[/]" if each.hint and not each.found else ""
            self._say(f"  [cyan]{number:>2}[/] {mark} {_plain(each.title)}{hint}")
        while True:
            said = self._ask(f"[dim]1-{len(offered)}: [/]")
            if said is None:
                raise UsageError("nothing was chosen")
            if said.isdecimal() and 0 < int(said) <= len(offered):
                return offered[int(said) - 1]

    def _yes(self, what: str) -> bool:
        return (self._ask(escape(what)) or "").lower() in ("y", "yes")

    def _ask(self, markup: str, *, hidden: bool = False) -> str | None:
        """None at the end of what is typed (Ctrl-D)."""
        try:
            return self._console.input(markup, password=hidden).strip()
        except EOFError:
            self._say("")  # the line of the question has not ended
            return None

    def _say(self, markup: str) -> None:
        self._console.print(markup)


def _plain(text: str) -> str:
    """As markup; what a path or a title has in it does not steer the terminal."""
    return escape(escaped_lines(text))
