"""Kate with its LSP client, set up as docs/editors/kate.md says, on a display that nobody sees.

What it shows cannot be read, so what it tells the server and is told stands for it.
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from plain_project import PlainProject, block
from plain_terminal import FETCHED, UNREAD, processes, until

#: The two halves of the conversation go into files, as they come.
_OVERHEARD = """#!/bin/sh
[ "$1" = serve ] || exec {real} "$@"
tee {told} | {real} "$@" | tee {said}
"""
#: Seconds after a command, less what it may take to see that.
KATE_TAKES_EDITS = 1.5
_FRAME = re.compile(rb"Content-Length: (\d+)\r\n(?:[^\r\n]+\r\n)*\r\n")

Message = dict[str, Any]


class Kate:
    """Keys are named as xdotool does (``Return``, ``ctrl+s``)."""

    def __init__(self, project: PlainProject, file: str = "notes.txt") -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="la-"))
        self._told, self._said = self._folder / "told", self._folder / "said"
        self._started: list[subprocess.Popen[Any]] = []
        self._document = (project.folder / file).as_uri()
        self._env = {
            **project.environment,
            "LANG": "C.UTF-8",
            "LSP_AGENT_TEST_MARK": self._folder.name,
            "QT_QPA_PLATFORM": "xcb",
            "XDG_RUNTIME_DIR": str(self._folder),
            # Not the bus of whoever runs the tests.
            "DBUS_SESSION_BUS_ADDRESS": "disabled:",
        }
        self._env.pop("WAYLAND_DISPLAY", None)
        self._overhear(project)
        try:
            self._env["DISPLAY"] = self._display()
            self._run("kate", file, cwd=project.folder)
            assert until(lambda: self.text is not None), "Kate did not open the file"
            assert until(self._focused), "Kate has no window"
        except BaseException:
            self.close()
            raise

    @property
    def text(self) -> str | None:
        """The document, as Kate has told it last."""
        for message in reversed(self.told):
            params = message.get("params", {})
            if params.get("textDocument", {}).get("uri") != self._document:
                continue
            if message.get("method") == "textDocument/didOpen":
                return params["textDocument"]["text"]
            if message.get("method") == "textDocument/didChange":
                return params["contentChanges"][-1]["text"]
        return None

    @property
    def told(self) -> list[Message]:
        """All that Kate has sent."""
        return list(_messages(self._told))

    @property
    def said(self) -> list[Message]:
        """All that the server has sent."""
        return list(_messages(self._said))

    def is_said(self, words: str) -> bool:
        """Whether a message or progress has these words."""
        shown = ("window/showMessage", "$/progress")
        return any(words in str(each) for each in self.said if each.get("method") in shown)

    def keys(self, *keys: str) -> None:
        self._xdotool("key", "--delay", "30", *keys)

    def type(self, text: str) -> None:
        self._xdotool("type", "--delay", "30", text)

    def type_line(self, text: str) -> None:
        """Above the first line, without saving."""
        self.keys("ctrl+Home")
        self.type(text)
        self.keys("Return")
        assert until(lambda: (self.text or "").startswith(f"{text}\n")), self.text

    def choose(self, line: int, title: str) -> None:
        """The first code action whose title begins so, with the cursor in a line (from 1); asks
        again until it is there."""
        assert until(lambda: self._chooses(line, title)), f"{title!r} is not there"

    def apply(self, line: int, title: str, text: str) -> None:
        """Chooses what makes ``text`` of the document; again where more than the two seconds had
        passed in which Kate takes an edit, as on a busy machine."""
        for _ in range(3):
            refusals = self._refusals
            self.choose(line, title)
            begun = time.monotonic()
            until(lambda before=refusals: self.text == text or self._refusals > before)
            if self.text == text:
                return
            if time.monotonic() - begun < KATE_TAKES_EDITS:
                break
        pytest.fail(f"{self.text}\n{self.told[-5:]}\n{self.said[-5:]}")

    @property
    def _refusals(self) -> int:
        answers = (each.get("result") for each in self.told if "method" not in each)
        return sum(isinstance(each, dict) and each.get("applied") is False for each in answers)

    def close(self) -> None:
        """Returns when nothing of it runs any more; what had to be killed is an error."""
        _end(processes(self._folder.name), signal.SIGTERM)
        left = until(lambda: not processes(self._folder.name), 30)
        stubborn = [] if left else processes(self._folder.name)
        _end(stubborn, signal.SIGKILL)
        for started in self._started:
            started.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
        assert not stubborn, f"still ran: {stubborn}"

    def _chooses(self, line: int, title: str) -> bool:
        self.keys("ctrl+Home", *["Down"] * (line - 1))
        before = len(self.told)
        self.keys("alt+Return")
        if not until(lambda: self._offered(before) is not None, 20):
            return False
        actions = self._offered(before) or []
        at = next((n for n, each in enumerate(actions) if each["title"].startswith(title)), None)
        time.sleep(UNREAD)  # the menu is filled
        if at is None:
            self.keys("Escape")
            return False
        self.keys(*["Down"] * (at + 1), "Return")
        if not until(lambda: self._commands(before), 10):
            self.keys("Escape")
            return False
        (given,) = self._commands(before)
        wanted = actions[at]["command"]
        assert given["command"] == wanted["command"]
        assert given["arguments"] == wanted["arguments"]
        return True

    def _offered(self, before: int) -> list[Message] | None:
        """What the server answered to the first code action that was asked for since then."""
        for asked in self.told[before:]:
            if asked.get("method") == "textDocument/codeAction":
                for answer in self.said:
                    if answer.get("id") == asked["id"] and "method" not in answer:
                        return answer.get("result") or []
        return None

    def _commands(self, before: int) -> list[Message]:
        told = self.told[before:]
        return [one["params"] for one in told if one.get("method") == "workspace/executeCommand"]

    def _overhear(self, project: PlainProject) -> None:
        real = shutil.which("lsp-agent", path=self._env["PATH"])
        assert real
        script = self._folder / "bin" / "lsp-agent"
        script.parent.mkdir()
        names = {"real": real, "told": self._told, "said": self._said}
        quoted = {name: shlex.quote(str(value)) for name, value in names.items()}
        script.write_text(_OVERHEARD.format(**quoted))
        script.chmod(0o755)
        self._env["PATH"] = os.pathsep.join([str(script.parent), self._env["PATH"]])
        project.write("kate/lspclient/settings.json", block("kate.md", "json"))
        # The answer to the question that comes before a server's first start.
        project.write("katerc", f"[lspclient]\nAllowedServerCommandLines={script} serve\n")

    def _display(self) -> str:
        reading, writing = os.pipe()
        options = ["-displayfd", str(writing), "-screen", "0", "1100x750x24", "-nolisten", "tcp"]
        self._run("Xvfb", *options, pass_fds=[writing])
        os.close(writing)
        with os.fdopen(reading) as numbers:
            return f":{numbers.readline().strip()}"

    def _focused(self) -> bool:
        """Gives the keys to Kate's window, since there is no window manager to do it."""
        found = self._xdotool("search", "--onlyvisible", "--class", "kate", check=False).split()
        if found:
            self._xdotool("windowfocus", found[-1])
        return bool(found)

    def _run(self, program: str, *arguments: str, **options: Any) -> None:
        with (self._folder / f"{program}.log").open("w") as log:
            command = [FETCHED / "kate" / "bin" / program, *arguments]
            nothing = subprocess.DEVNULL
            started = subprocess.Popen(
                command, env=self._env, stdin=nothing, stdout=log, stderr=log, **options
            )
        self._started.append(started)

    def _xdotool(self, *arguments: str, check: bool = True) -> str:
        return subprocess.run(
            [FETCHED / "kate" / "bin" / "xdotool", *arguments],
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=check,
            timeout=60,
        ).stdout


def _end(pids: list[int], how: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, how)


def _messages(path: Path) -> Iterator[Message]:
    """The whole ones that were overheard so far."""
    heard = path.read_bytes() if path.exists() else b""
    at = 0
    while head := _FRAME.match(heard, at):
        at = head.end() + int(head[1])
        if at > len(heard):
            return
        yield json.loads(heard[head.end() : at])
