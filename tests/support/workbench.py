"""VS Code's workbench as a person uses it: Code's own server, shown in a headless Chromium that is
driven by mouse and keyboard, with a plain language client in it
(``tests/editors/vscode/README.md``).

Installed by ``.ci/vscode`` into the virtual environment of these tests.
"""

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import psutil

from support.living import outliving
from support.pauses import pauses

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

Json = dict[str, Any]
T = TypeVar("T")

INSTALLED = Path(sys.prefix) / "vscode"
HARNESS = Path(__file__).parents[1] / "editors" / "vscode" / "harness"
SERVER = Path("node_modules", "code-server", "lib", "vscode", "out", "server-main.js")

KEYS_A_SECOND = 15
#: Generous: the machine may be busy with other tests, or have little of its own.
SECONDS = 120.0

#: The desktop's default for saving; nothing that types or offers by itself while a test types.
SETTINGS: Json = {
    "files.autoSave": "off",
    "editor.quickSuggestions": {"other": "off", "comments": "off", "strings": "off"},
    "editor.suggestOnTriggerCharacters": False,
    "editor.wordBasedSuggestions": "off",
    "editor.autoClosingBrackets": "never",
    "editor.autoIndent": "none",
    "editor.accessibilitySupport": "off",
    "editor.minimap.enabled": False,
    "editor.codeLens": True,
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.tips.enabled": False,
    "chat.disableAIFeatures": True,
    "security.workspace.trust.enabled": False,
    "telemetry.telemetryLevel": "off",
    "extensions.autoCheckUpdates": False,
    "extensions.ignoreRecommendations": True,
    "remote.autoForwardPorts": False,
}

#: What turns while something is at work is drawn sixty times a second, by half a processor for a
#: spinner and a bar. VS Code's own do not care for reduced motion.
STILL = """
const sheet = new CSSStyleSheet();
sheet.replaceSync(".codicon-modifier-spin, .progress-bit { animation: none !important; }");
document.adoptedStyleSheets.push(sheet);
"""

#: A folder is not trusted, and nobody asks at the start.
TRUST: Json = {
    "security.workspace.trust.enabled": True,
    "security.workspace.trust.startupPrompt": "never",
}

CHROMIUM = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

LENSES = """
(title) => [...document.querySelectorAll(".codelens-decoration a")]
  .filter((lens) => lens.textContent.trim() === title)
  .map((lens) => lens.getBoundingClientRect())
  .map(({ x, y, width, height }) => [x + width / 2, y + height / 2])
"""


class WorkbenchError(Exception):
    """Code that failed in the extension host, or a workbench that does not come up."""


def wait_until(
    condition: Callable[[], T | None], timeout: float = SECONDS, pause: float = 0.05
) -> T:
    """What ``condition`` returns once that is true. ``pause``: seconds after the first look; a look
    at the window costs 20 ms of processor."""
    deadline = time.monotonic() + timeout
    between = pauses(pause, max(pause, 0.25))
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not so within {timeout} s"
        time.sleep(next(between))
    return found


class Workbench:
    """One workbench on ``folder``; ``base`` is for files of its own. A context manager."""

    page: "Page"
    #: False: with workspace trust, as a desktop has it; the folder is not trusted yet.
    trusts_all = True

    def __init__(self, base: Path, folder: Path) -> None:
        self.folder = folder
        self._base = base
        self._token = secrets.token_hex(16)
        self._door = base / "door"
        self._next_key = 0.0
        self._port = free_port()
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> "Workbench":
        self._lay_out()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start(self) -> None:
        with contextlib.ExitStack() as stack:
            self._start_server(stack)
            self._open_page(stack)
            wait_until(self._door.exists)
            self._stack = stack.pop_all()

    def kill(self) -> None:
        """Its window and all that it started, at one moment, as a power cut does. ``start`` brings
        up another, which has what this one kept: by the port it knows whose that is."""
        found = self._processes()
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in found:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.send_signal(number)
        left = outliving(found, SECONDS)
        assert not left, f"still running: {left}"
        self._stack.close()
        self._door.unlink()

    def _processes(self) -> set[psutil.Process]:
        """Those that were given the token, and what they started: Chromium's write their titles
        over what they were given."""
        found: set[psutil.Process] = set()
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get("HARNESS_TOKEN") == self._token:
                    found |= {process, *process.children(recursive=True)}
        return found

    def _lay_out(self) -> None:
        for name in ("server", "user/User", "extensions"):
            (self._base / name).mkdir(parents=True)
        settings = self._base / "user" / "User" / "settings.json"
        trust = {} if self.trusts_all else TRUST
        settings.write_text(json.dumps(SETTINGS | trust), encoding="utf-8")
        self._lay_out_harness()

    def _start_server(self, stack: contextlib.ExitStack) -> None:
        env = os.environ | {"HARNESS_DOOR": str(self._door), "HARNESS_TOKEN": self._token}
        env.pop("VSCODE_IPC_HOOK_CLI", None)
        log = stack.enter_context((self._base / "code.log").open("w"))
        process = subprocess.Popen(
            [
                *(str(INSTALLED / "node"), str(INSTALLED / SERVER)),
                *("--host", "127.0.0.1", "--port", str(self._port), "--without-connection-token"),
                *("--accept-server-license-terms", "--telemetry-level", "off"),
                *("--server-data-dir", str(self._base / "server")),
                *(("--disable-workspace-trust",) if self.trusts_all else ()),
                *("--user-data-dir", str(self._base / "user")),
                *("--extensions-dir", str(self._base / "extensions")),
            ],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        stack.callback(end, process)
        wait_until(lambda: process.poll() is not None or answers(self._port))
        if process.poll() is not None:
            raise WorkbenchError((self._base / "code.log").read_text())

    def _lay_out_harness(self) -> None:
        """The extension of the work tree, with the installed packages that it needs."""
        folder = self._base / "extensions" / "lsp-agent-tests.workbench-harness-0.0.1"
        folder.mkdir()
        for name in ("package.json", "extension.js"):
            shutil.copy(HARNESS / name, folder / name)
        (folder / "node_modules").symlink_to(INSTALLED / "harness" / "node_modules")

    def _open_page(self, stack: contextlib.ExitStack) -> None:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415  # optional

        playwright = stack.enter_context(sync_playwright())
        program = shutil.which("chromium")
        env: dict[str, str | float | bool] = {**os.environ, "HARNESS_TOKEN": self._token}
        browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM, env=env)
        stack.callback(browser.close)
        size: ViewportSize = {"width": 1280, "height": 800}
        self.page = browser.new_page(viewport=size, reduced_motion="reduce")
        self.page.set_default_timeout(SECONDS * 1000)
        self.page.add_init_script(STILL)
        self.page.goto(f"http://127.0.0.1:{self._port}/?folder={self.folder}")

    # Beside the client, in the extension host

    def run(self, code: str, argument: object = None, timeout: float = SECONDS) -> Any:
        """Runs the body of an async function there: ``vscode``, what ``extension.js`` gives it
        and ``argument`` are in scope. Its ``return``."""
        body = json.dumps({"token": self._token, "code": code, "argument": argument})
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._door.read_text()}", body.encode(), method="POST"
        )
        with urllib.request.urlopen(request, timeout=timeout) as response:
            reply = json.load(response)
        if "error" in reply:
            raise WorkbenchError(reply["error"])
        return reply["result"]

    def command(self, name: str) -> None:
        """Runs one of the workbench's own commands."""
        self.run("await vscode.commands.executeCommand(argument)", name)

    # At the keyboard

    def key(self, key: str) -> None:
        """One key, in playwright's notation, no faster than a fast typist."""
        now = time.monotonic()
        self._next_key = max(self._next_key + 1 / KEYS_A_SECOND, now)
        time.sleep(self._next_key - now)
        self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        """Letter by letter; a line end is the Enter key."""
        for letter in text:
            self.key({"\n": "Enter", " ": "Space"}.get(letter, letter))

    def pick(self, title: str) -> list[str]:
        """Opens the menu of code actions by keyboard and takes the first one that begins so; all
        of its titles."""
        self.command("workbench.action.focusActiveEditorGroup")
        rows = self.page.locator(".action-widget .monaco-list-row.action")
        for tried in range(100 * round(SECONDS)):
            if rows.count():
                break
            if tried % 500 == 0:
                self.key("Control+.")  # given up where the text changes as it is asked for
            self.page.wait_for_timeout(10)
        rows.first.wait_for(timeout=1000)
        titles = [text.strip() for text in rows.all_inner_texts()]
        assert any(found.startswith(title) for found in titles), titles
        focused = self.page.locator(".action-widget .monaco-list-row.focused")
        for _ in titles:
            if focused.inner_text().strip().startswith(title):
                break
            self.key("ArrowDown")
        self.key("Enter")
        rows.first.wait_for(state="detached", timeout=1000 * SECONDS)
        return titles

    def lenses(self, title: str) -> list[tuple[float, float]]:
        """Where the code lenses of this title are on the screen, from top to bottom."""
        places = self.page.evaluate(LENSES, title)
        return sorted(((x, y) for x, y in places), key=lambda place: place[1])

    def press_lens(self, title: str, number: int = 0, *, of: int) -> None:
        """Clicks one of the ``of`` code lenses of this title, from top to bottom, 0-based; once
        there are so many and they stand still."""

        def found() -> tuple[float, float] | None:
            places = self.lenses(title)
            time.sleep(0.2)
            still = len(places) == of and places == self.lenses(title)
            return places[number] if still else None

        self.page.mouse.click(*wait_until(found))

    def picture(self, path: Path) -> None:
        """A screenshot."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=path)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/version", timeout=2):
            return True
    except (urllib.error.URLError, OSError):
        return False


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends it and what it started, the extension host and its server too. Raises AssertionError
    if any of it outlives that by more than ``SECONDS``."""
    started: list[psutil.Process] = []
    with contextlib.suppress(psutil.NoSuchProcess):
        started = psutil.Process(process.pid).children(recursive=True)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    process.wait(SECONDS)
    left = outliving(started, SECONDS)
    for survivor in left:
        with contextlib.suppress(psutil.NoSuchProcess):
            survivor.kill()
    assert not left, f"still running: {left}"
