"""The workbench with the product's extension, installed from the .vsix that ``make vscode`` builds,
and the ways in which a person uses it. The harness is there beside it as a door for the tests; its
own client is never started.
"""

import contextlib
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from support import warm
from support.warm_door import WarmDoor, write_program
from support.workbench import (
    INSTALLED,
    SECONDS,
    SERVER,
    Json,
    Workbench,
    WorkbenchError,
    wait_until,
)
from vscode_desk import LSP_AGENT, PLACE, SETTLE, SHOW, TEXT
from vscode_servers import servers

if TYPE_CHECKING:
    from playwright.sync_api import Frame, Locator, Page

REPOSITORY = Path(__file__).parents[3]
VSIX = REPOSITORY / "editors" / "vscode" / "lsp-agent.vsix"

VIEW = "lspAgent.chat"

#: As VS Code has read it: it looks at files a moment later.
SETTING = "return vscode.workspace.getConfiguration().inspect(argument)?.workspaceValue ?? null"
IS_FOCUSED = "(input) => document.hasFocus() && document.activeElement === input"

# Whether there are so many turns and each has ended. In one look: what a turn is at and what can
# be done now come to the chat one after the other.
PAINTED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
ENDED = """
(turns) => document.querySelectorAll('article').length >= turns
  && document.querySelector('article .working, article footer > .link, .notice.waiting') === null
  && document.querySelector('.composer .stop').hidden
"""


#: The file in front, its cursor's line, from 0, and version.
FRONT = """
const editor = vscode.window.activeTextEditor;
const { uri, version } = editor?.document ?? {};
return editor && [uri.fsPath, editor.selection.active.line, version];
"""
#: What has the focus, and the words of the notifications and of the status bar.
SAYS = """
() => [
  document.activeElement.className,
  ...[...document.querySelectorAll('.notification-toast, .statusbar')].map((all) => all.innerText),
].join('\\n')
"""


def build() -> Path:
    """The .vsix of this work tree; built anew only where something of it changed."""
    node = (INSTALLED / "node").resolve().parent
    env = os.environ | {"PATH": f"{node}{os.pathsep}{os.environ['PATH']}"}
    with Path(sys.prefix, "vsix.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two at once would write into one archive
        made = subprocess.run(
            ["make", "--no-print-directory", "vscode", f"VENV={sys.prefix}"],
            cwd=REPOSITORY,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=280,
        )
    assert made.returncode == 0, made.stdout + made.stderr
    return VSIX


class ProductWorkbench(Workbench):
    """``machine`` are the settings that only a person can set, as the server's path; ``path`` is
    the PATH in which the extension looks for programs."""

    def __init__(
        self, base: Path, folder: Path, vsix: Path, machine: Json, path: str, *, trusts_all: bool
    ) -> None:
        super().__init__(base, folder)
        self.trusts_all = trusts_all
        self._vsix = vsix
        self._machine = machine
        self._path = path

    def _start_server(self, stack: contextlib.ExitStack) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", self._path)
            super()._start_server(stack)

    def _lay_out_harness(self) -> None:
        super()._lay_out_harness()
        settings = self._base / "user" / "Machine" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps(self._machine), encoding="utf-8")
        installed = subprocess.run(
            [
                *(str(INSTALLED / "node"), str(INSTALLED / SERVER)),
                *("--accept-server-license-terms", "--install-extension", str(self._vsix)),
                *("--server-data-dir", str(self._base / "server")),
                *("--user-data-dir", str(self._base / "user")),
                *("--extensions-dir", str(self._base / "extensions")),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        if "successfully installed" not in installed.stdout:
            raise WorkbenchError(installed.stdout + installed.stderr)

    def reload(self, by: Callable[[], object] | None = None) -> None:
        """Reloads the window, as the person's command does; or does what reloads it."""
        self._door.unlink()
        (by or self.page.reload)()
        wait_until(self._door.exists)


class Product:
    """A workbench on one folder, with an agent that follows the script of each test."""

    def __init__(
        self, workbench: ProductWorkbench, script: Path, door: WarmDoor | None = None
    ) -> None:
        self.workbench = workbench
        self.folder = workbench.folder
        self._script = script
        self._door = door
        self._turns = 1

    @property
    def page(self) -> "Page":
        """The window."""
        return self.workbench.page

    # Preparing

    def begin(self, *steps: Json, **settings: Any) -> None:
        """A server with an agent that follows these steps, in a new session, the chat open.
        ``settings`` are the workspace's."""
        self._script.write_text(json.dumps({"steps": steps}), encoding="utf-8")
        self.settings(settings)
        for name, value in settings.items():
            wait_until(lambda name=name, value=value: self.workbench.run(SETTING, name) == value)
        self.command("lspAgent.server.restart")
        self.command("lspAgent.chat.new")
        self.chat.locator(".welcome").wait_for()
        self._turns = 1
        self.wait_for_cursor()
        self.input.fill("")
        while (along := self.chat.get_by_role("button", name=re.compile("^Do not send"))).count():
            along.first.click()

    def new_session(self) -> None:
        """As begun, and shown."""
        self.command("lspAgent.chat.new")
        self.chat.locator(".welcome").wait_for()
        self.wait_for_cursor()

    def servers(self) -> list[psutil.Process]:
        """Those that run."""
        if self._door is None:
            return servers(self.folder.parent)
        return [process for process in self._door.processes if process.is_running()]

    def settings(self, values: Json) -> None:
        path = self.folder / ".vscode" / "settings.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")

    def open(self, name: str, text: str) -> None:
        """A file with this text, shown and focused."""
        (self.folder / name).write_bytes(text.encode())
        self.workbench.run(SHOW, str(self.folder / name))
        wait_until(lambda: self.text(name) == text)

    def tell(self, folder: Path) -> None:
        """A screenshot, and the chat's words on stdout, for who looks why a test failed."""
        self.workbench.picture(folder / "end.png")
        print(f"{folder / 'end.png'}\n{self.chat.locator('body').inner_text()}")

    def tell_window(self, folder: Path) -> None:
        """As `tell`, where the chat is not shown: what has the focus, and what the window says."""
        self.workbench.picture(folder / "end.png")
        print(folder / "end.png", self.workbench.run(FRONT), self.page.evaluate(SAYS), sep="\n")

    def end(self) -> None:
        """Nothing runs, waits for review, or is open; no text is unsaved."""
        self.command("lspAgent.chat.stop")
        self.command("lspAgent.review.keepAll")
        self.command("notifications.clearAll")
        self.workbench.run(
            """
            for (const document of vscode.workspace.textDocuments) {
              if (!document.isDirty) continue;
              await vscode.window.showTextDocument(document);
              await vscode.commands.executeCommand('workbench.action.files.revert');
            }
            await vscode.commands.executeCommand('workbench.action.closeAllEditors');
            """
        )

    def command(self, name: str, *arguments: object, timeout: float = SECONDS) -> Any:
        """``timeout``: seconds until it has ended."""
        return self.workbench.run(
            "return await vscode.commands.executeCommand(...argument)", [name, *arguments], timeout
        )

    # Lists

    def palette(self, title: str) -> None:
        """Runs a command as a person does who knows its title."""
        wait_until(lambda: self._palette(title))

    def _palette(self, title: str) -> bool:
        """What takes the focus just now closes it again."""
        from playwright.sync_api import TimeoutError as NotInTime  # noqa: PLC0415  # optional

        self.key("F1")
        try:
            self.asked.fill(f">{title}", timeout=5000)
            self.row(title).click(timeout=5000)
        except NotInTime:
            return False
        return True

    @property
    def asked(self) -> "Locator":
        """The field at the top of the window: for what is searched, or asked for."""
        return self.page.locator(".quick-input-widget .quick-input-box input")

    def row(self, text: str) -> "Locator":
        """The first row that begins so in the list that is open. A list that follows on another
        has rows of its own, so a text within a row may still be found in the one before."""
        begins = re.compile(rf"^\s*{re.escape(text)}")  # a space stands behind an icon
        rows = self.page.locator(".quick-input-list .monaco-list-row:visible", has_text=begins)
        return rows.first

    def use(self, agent: str) -> None:
        """A new session with that agent."""
        self.palette("Agent: Choose Model or Agent")
        self.page.get_by_role("option", name=re.compile(f"^{agent}")).click()
        named = re.compile(f"^Model and agent: {agent}( ·|$)")
        self.chat.get_by_role("button", name=named).wait_for()
        self.wait_for_cursor()

    # The chat

    def model(self, text: str) -> "Locator":
        """The button under the prompt, if it names that agent and model."""
        return self.chat.get_by_role("button", name=f"Model and agent: {text}", exact=True)

    @property
    def chat(self) -> "Frame":
        """The chat's web view."""
        return wait_until(self._chat)

    def _chat(self) -> "Frame | None":
        for frame in self.page.frames:
            with contextlib.suppress(Exception):
                if frame.locator("form.composer").count():
                    return frame
        return None

    @property
    def input(self) -> "Locator":
        return self.chat.get_by_role("combobox", name="Message to the agent")

    @property
    def stop(self) -> "Locator":
        """The button; there is one while something runs or waits."""
        return self.chat.get_by_role("button", name="Stop the agent")

    def hide(self) -> None:
        """Another view is in the chat's place."""
        self.command("workbench.view.explorer")
        wait_until(lambda: self._chat() is None)

    def wait_for_cursor(self, timeout: float = SECONDS) -> None:
        """Until what is typed goes into the message, and still does a moment later: a list that
        closes and a view that opens hand the focus on one after the other, and a list that opens
        meanwhile loses it to them."""
        wait_until(self._keeps_cursor, timeout)

    def _keeps_cursor(self) -> bool:
        had = self.input.evaluate(IS_FOCUSED)
        self.page.wait_for_timeout(200)
        return had and self.input.evaluate(IS_FOCUSED)

    def say(self, text: str) -> None:
        """Types a message and sends it, by keyboard."""
        self._turns = self.chat.locator("article").count() + 1
        self.input.focus()
        self.page.keyboard.type(text)
        wait_until(lambda: self.input.input_value().endswith(text))
        self.page.keyboard.press("Enter")

    @property
    def turn(self) -> "Locator":
        """The last turn in the chat."""
        return self.chat.locator("article").last

    def wait_for_end(self, timeout: float = SECONDS) -> None:
        """Until what was said last has an end, and nothing runs or waits."""
        wait_until(lambda: self.chat.evaluate(ENDED, self._turns), timeout)

    def read(self) -> None:
        """Until what has come up, and can be seen, has stood long enough to be answered."""
        self.page.evaluate(PAINTED)
        self.page.wait_for_timeout(400)

    def press(self, name: str) -> None:
        """A button in the last turn, by mouse."""
        self.turn.get_by_role("button", name=name, exact=True).click()

    # The editor

    def text(self, name: str) -> str:
        return self.workbench.run(TEXT, str(self.folder / name))["text"]

    def is_dirty(self, name: str) -> bool:
        return self.workbench.run(TEXT, str(self.folder / name))["dirty"]

    def is_open(self, name: str) -> bool:
        return self.workbench.run(TEXT, str(self.folder / name)) is not None

    def on_disk(self, name: str) -> str:
        return (self.folder / name).read_bytes().decode()

    def go_to(self, name: str, mark: str, offset: int = 0) -> None:
        """Puts the cursor at the start of the line that is ``offset`` below the mark's."""
        path = str(self.folder / name)
        self.workbench.run(SHOW, path)
        where = {"path": path, "mark": mark, "offset": offset, "atMark": False}
        self.workbench.run(PLACE, where)
        self.command("workbench.action.focusActiveEditorGroup")

    def settle(self) -> None:
        self.workbench.run(SETTLE, 0)

    def key(self, key: str) -> None:
        self.workbench.key(key)

    def theme(self, name: str | None) -> None:
        """None: the one that VS Code comes with."""
        self.workbench.run(
            """
            const theme = argument ?? undefined;
            await vscode.workspace.getConfiguration().update('workbench.colorTheme', theme, 1);
            """,
            name,
        )


@contextlib.contextmanager
def product(
    base: Path,
    vsix: Path,
    machine: Json | None = None,
    path: str | None = None,
    *,
    trusts_all: bool = True,
) -> Iterator[Product]:
    """A workbench of its own. ``machine`` are a person's settings in place of the scripted
    agent's, ``path`` the PATH that it is started with; without ``trusts_all`` the person has not
    trusted the folder."""
    folder = base / "shop"
    (folder / ".git").mkdir(parents=True)
    script = base / "script.json"
    script.write_text('{"steps": []}', encoding="utf-8")
    # Sockets' addresses are short: pytest's own folders are too deep for them.
    runtime = Path(tempfile.mkdtemp(prefix="la-"))
    programs = os.environ["PATH"] if path is None else path
    if path is not None:  # VS Code takes the PATH of the person's login shell
        (base / ".profile").write_text(f"PATH='{path}'\n", encoding="utf-8")
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, runtime, ignore_errors=True)
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("HOME", str(base))
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        door = None
        if machine is None:
            if warm.can_fork("serve", os.environ):
                door = stack.enter_context(contextlib.closing(WarmDoor(runtime)))
            write_program(base / "lsp-agent", door)
            machine = agents(script, folder, base / "lsp-agent")
        workbench = ProductWorkbench(base, folder, vsix, machine, programs, trusts_all=trusts_all)
        yield Product(stack.enter_context(workbench), script, door)


def agents(script: Path, folder: Path, program: Path) -> Json:
    """A person's settings, with ``program`` for the server: the agents "scripted", "glossary" and
    "late" follow ``script``, the last two with an extension, of which "late"'s is slow to tell its
    command; "double" has models, options and sessions of its own in ``folder``; "absent" does not
    start, "mute" says nothing."""
    scripted = [*LSP_AGENT, "rpc", "--script", str(script)]
    glossary = REPOSITORY / "examples" / "extensions" / "glossary"
    late = REPOSITORY / "tests" / "support" / "doubles" / "late_extension"
    kept = {"sessionId": "kept", "cwd": str(folder), "title": "Begun in its own client"}
    double = [sys.executable, str(REPOSITORY / "tests" / "support" / "doubles" / "acp_agent.py")]
    told = json.dumps({"sessions": [kept], "models": ["small", "large"]})
    return {
        "lspAgent.server.path": str(program),
        "lspAgent.agents": {
            "scripted": {"wire": "zot", "command": scripted, "provider": "script"},
            "glossary": {
                "wire": "zot",
                "command": [*scripted, "--ext", str(glossary)],
                "provider": "script",
            },
            "late": {
                "wire": "zot",
                "command": [*scripted, "--ext", str(late)],
                "provider": "script",
            },
            "double": {"wire": "acp", "command": [*double, told]},
            "absent": {"wire": "pi", "command": ["no-such-program"]},
            "mute": {"wire": "acp", "command": [sys.executable, "-c", "input()"]},
        },
        "lspAgent.agent": "scripted",
    }
