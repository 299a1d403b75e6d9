"""What ``lsp-agent demo`` looks at on the machine that it runs on."""

import subprocess
from pathlib import Path

from support.raw_client import wait_until

from lsp_agent.cli import demo


def test_a_process_with_an_odd_command_line_does_not_end_it() -> None:
    other = subprocess.Popen([b"/bin/sh", b"-c", b"read line", b"\xff\xfe"], stdin=subprocess.PIPE)
    try:
        assert wait_until(lambda: b"\xff" in Path(f"/proc/{other.pid}/cmdline").read_bytes())
        assert other.pid not in demo._survivors()  # pyright: ignore[reportPrivateUsage]
    finally:
        other.communicate(b"\n")
