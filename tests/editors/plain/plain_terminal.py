"""A terminal without a window: tmux runs a program in it, keys go in, the screen is read."""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from support.pauses import pauses

FETCHED = Path(sys.prefix) / "editors"

#: Generous: the machine may be busy with other tests.
SECONDS = 90.0

#: In seconds: the first pause, and the longest. A look at the screen is a process.
BETWEEN_LOOKS = 0.05, 0.2

#: What is chosen sooner after a question has come up is no answer to it.
UNREAD = 0.35

#: In seconds: for a key that tmux has written to come to where the program reads it.
_TO_PROGRAM = 0.05


class Terminal:
    """Runs ``command``; ``close`` ends it and all that it started. Keys are named as tmux does
    (``Enter``, ``Escape``, ``C-c``)."""

    def __init__(self, command: Sequence[str | Path], cwd: Path, env: Mapping[str, str]) -> None:
        # Sockets' addresses are short: pytest's own folders are too deep for them.
        self._folder = Path(tempfile.mkdtemp(prefix="la-"))
        self._env = {**env, "LANG": "C.UTF-8", "LSP_AGENT_TEST_MARK": self._folder.name}
        self._env.pop("TMUX", None)
        size = ("-x", "160", "-y", "32")
        self._tmux("new-session", "-d", "-c", str(cwd), *size, *map(str, command))

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    @property
    def coloured(self) -> str:
        """The screen with the escape sequences of its colours."""
        return self._tmux("capture-pane", "-p", "-e")

    @property
    def below_cursor(self) -> str:
        """The screen from the cursor's row on."""
        row = int(self._tmux("display-message", "-p", "#{cursor_y}"))
        return "\n".join(self.screen.splitlines()[row:])

    def keys(self, *keys: str) -> None:
        """Returns behind a last ``Escape`` when the program has read it: read together with the
        next key, it would be Alt and that key."""
        self._tmux("send-keys", *keys)
        if keys[-1] == "Escape":
            self._wait_until_read()

    def _wait_until_read(self) -> None:
        name = self._tmux("display-message", "-p", "#{pane_tty}").strip()
        time.sleep(_TO_PROGRAM)
        terminal = os.open(name, os.O_RDONLY | os.O_NOCTTY)
        try:
            assert until(lambda: not _unread(terminal)), f"it reads no key\n{self.screen}"
        finally:
            os.close(terminal)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def wait_for(self, shown: str | Callable[[str], object], seconds: float = SECONDS) -> str:
        """The screen, as soon as it shows the text or fits."""
        deadline = time.monotonic() + seconds
        between = pauses(*BETWEEN_LOOKS)
        while True:
            screen = self.screen
            if shown in screen if isinstance(shown, str) else shown(screen):
                return screen
            if time.monotonic() > deadline:
                raise AssertionError(f"not in time on the screen: {shown}\n{screen}")
            time.sleep(next(between))

    @property
    def runs(self) -> bool:
        """The program, or something that it started."""
        return bool(processes(self._folder.name))

    def wait_for_end(self) -> None:
        """Of the program and all that it started, by itself."""
        assert until(lambda: not self.runs), f"{processes(self._folder.name)}\n{self.screen}"

    def kill(self) -> None:
        """The program and all that it started. The terminal dies last: at its end Kakoune would
        begin to write a file, from which it then restores the half."""
        terminal = int(self._tmux("display-message", "-p", "#{pid}"))
        for pid in sorted(processes(self._folder.name), key=terminal.__eq__):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        """Returns when nothing of it runs any more; what had to be killed is an error."""
        with contextlib.suppress(subprocess.CalledProcessError):  # it has ended by itself
            self._tmux("kill-server")
        left = until(lambda: not processes(self._folder.name), 30)
        stubborn = {} if left else {pid: command_of(pid) for pid in processes(self._folder.name)}
        for pid in stubborn:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
        shutil.rmtree(self._folder, ignore_errors=True)
        assert not stubborn, f"still ran: {stubborn}"

    def _tmux(self, *arguments: str) -> str:
        tmux = shutil.which("tmux") or FETCHED / "tmux" / "bin" / "tmux"
        command = [tmux, "-S", self._folder / "s", "-f", os.devnull, *arguments]
        return subprocess.run(
            command, env=self._env, capture_output=True, text=True, check=True, timeout=30
        ).stdout


def _unread(terminal: int) -> int:
    """In bytes."""
    return int.from_bytes(fcntl.ioctl(terminal, termios.FIONREAD, bytes(4)), sys.byteorder)


def processes(mark: str) -> list[int]:
    """Those with the mark in their environment, zombies left out (Linux)."""
    wanted = f"LSP_AGENT_TEST_MARK={mark}".encode()
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


def command_of(pid: int) -> str:
    with contextlib.suppress(OSError):
        return (
            Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        )
    return ""


def until(true: Callable[[], object], seconds: float = SECONDS) -> bool:
    """Whether ``true()`` came true in time."""
    deadline = time.monotonic() + seconds
    between = pauses(*BETWEEN_LOOKS)
    while not (done := bool(true())) and time.monotonic() < deadline:
        time.sleep(next(between))
    return done
