"""The commands that the agent runs in the background."""

import random
from typing import Any

import psutil
import pytest
from plugin_desk import PATIENCE, PluginDesk
from support.neovim import wait_until
from support.neovim_desk import done, step

pytestmark = pytest.mark.neovim

#: No other process has this number, not even of the same test on another Neovim.
SECONDS = random.SystemRandom().randrange(10**6, 10**7)
COMMAND = f"echo up; sleep {SECONDS}"


def begin(command: str) -> dict[str, Any]:
    return {"name": "bash", "args": {"command": command, "background": True}}


def runs() -> bool:
    return any(
        str(SECONDS) in " ".join(each.info["cmdline"] or ())
        for each in psutil.process_iter(["cmdline"])
    )


def none_is_listed(desk: PluginDesk) -> bool:
    """The agent hears of an end a moment after it."""
    desk.agent("background")
    return "no command runs" in desk.nvim.command_output("messages")


def test_one_is_listed_with_what_it_said_last_and_ended(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start(step(begin(COMMAND)), done(), permissions={"command": "allow"})
    desk.agent("ask Serve it.")
    desk.wait_for_chat("Done.")
    assert runs()
    desk.agent("background")
    assert desk.picker()["items"] == [f"b1 · {COMMAND} · up"]
    desk.choose("b1")
    wait_until(lambda: not runs(), PATIENCE)
    wait_until(lambda: none_is_listed(desk), PATIENCE)
