"""Runs ``lsp-agent`` with clocks that a test puts forward: ``time_machine.py CLOCK ARGUMENTS…``.

The file CLOCK holds the seconds by which this process is ahead; it is looked at whenever the
event loop or the program asks what time it is. Every timer of theirs that lies within those
seconds is then due, as if they had passed.
"""

import asyncio.base_events
import sys
import time
from pathlib import Path

_real = time.monotonic
_clock = Path(sys.argv[1])


def monotonic(_loop: object = None) -> float:
    return _real() + float(_clock.read_text())


time.monotonic = monotonic
asyncio.base_events.BaseEventLoop.time = monotonic
sys.argv[:2] = ["lsp-agent"]

from lsp_agent.cli.main import main  # noqa: E402 - it must see these clocks

if __name__ == "__main__":
    sys.exit(main())
