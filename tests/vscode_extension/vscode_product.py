"""The workbench with the product's extension, installed from the .vsix that ``make vscode`` builds,
and the ways in which a person uses it. The harness is there beside it as a door for the tests; its
own client is never started.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from vscode_desk import LSP_AGENT, PLACE, SETTLE, SHOW, TEXT
from workbench import INSTALLED, SERVER, Json, Workbench, WorkbenchError, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Frame, Locator

REPOSITORY = Path(__file__).parents[2]
VSIX = REPOSITORY / "editors" / "vscode" / "lsp-agent.vsix"

VIEW = "lspAgent.chat"


def build() -> Path:
    """The .vsix of this work tree; built anew only where something of it changed."""
    node = (INSTALLED / "node").resolve().parent
    env = os.environ | {"PATH": f"{node}{os.pathsep}{os.environ['PATH']}"}
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

    def _start_server(self, stack: contextlib.ExitStack) -> int:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", self._path)
            return super()._start_server(stack)

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

    def reload(self) -> None:
        """Reloads the window, as the person's command does."""
        self._door.unlink()
        self.page.reload()
        wait_until(self._door.exists, 60)


class Product:
    """A workbench on one folder, with an agent that follows the script of each test."""

    def __init__(self, workbench: ProductWorkbench, script: Path) -> None:
        self.workbench = workbench
        self.page = workbench.page
        self.folder = workbench.folder
        self._script = script

    # Preparing

    def begin(self, *steps: Json, **settings: Any) -> None:
        """A server with an agent that follows these steps, in a new session, the chat open.
        ``settings`` are the workspace's."""
        self._script.write_text(json.dumps({"steps": steps}), encoding="utf-8")
        self.settings(settings)
        self.command("lspAgent.server.restart")
        self.command("lspAgent.chat.new")
        wait_until(lambda: self.chat.locator(".welcome").count() == 1)
        self.input.fill("")

    def settings(self, values: Json) -> None:
        path = self.folder / ".vscode" / "settings.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")

    def open(self, name: str, text: str) -> None:
        """A file with this text, shown and focused."""
        (self.folder / name).write_bytes(text.encode())
        self.workbench.run(SHOW, str(self.folder / name))

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

    def command(self, name: str, *arguments: object) -> Any:
        return self.workbench.run(
            "return await vscode.commands.executeCommand(...argument)", [name, *arguments]
        )

    # The chat

    @property
    def chat(self) -> "Frame":
        """The chat's web view."""

        def find() -> "Frame | None":
            for frame in self.page.frames:
                with contextlib.suppress(Exception):
                    if frame.locator("form.composer").count():
                        return frame
            return None

        return wait_until(find)

    @property
    def input(self) -> "Locator":
        return self.chat.get_by_role("combobox", name="Message to the agent")

    def say(self, text: str) -> None:
        """Types a message and sends it, by keyboard."""
        self.input.focus()
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    @property
    def turn(self) -> "Locator":
        """The last turn in the chat."""
        return self.chat.locator("article").last

    def wait_for_end(self, timeout: float = 30) -> None:
        """Until nothing runs or waits."""
        stop = self.chat.get_by_role("button", name="Stop the agent")
        wait_until(lambda: self.chat.locator("article").count() and not stop.is_visible(), timeout)

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

    def theme(self, name: str) -> None:
        self.workbench.run(
            "await vscode.workspace.getConfiguration().update('workbench.colorTheme', argument, 1)",
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
    settings = scripted(script) if machine is None else machine
    programs = os.environ["PATH"] if path is None else path
    if path is not None:  # VS Code takes the PATH of the person's login shell
        (base / ".profile").write_text(f"PATH='{path}'\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(base))
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        try:
            workbench = ProductWorkbench(
                base, folder, vsix, settings, programs, trusts_all=trusts_all
            )
            with workbench:
                yield Product(workbench, script)
        finally:
            shutil.rmtree(runtime, ignore_errors=True)


def scripted(script: Path) -> Json:
    """A person's settings with an agent that follows ``script``, and another that does too."""
    agent = {
        "wire": "zot",
        "command": [*LSP_AGENT, "rpc", "--script", str(script)],
        "provider": "script",
    }
    return {
        "lspAgent.server.path": str(Path(sys.executable).parent / "lsp-agent"),
        "lspAgent.agents": {"scripted": agent, "other": agent},
        "lspAgent.agent": "scripted",
    }
