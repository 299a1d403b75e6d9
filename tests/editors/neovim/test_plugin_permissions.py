"""What the person has allowed for good, by ``:Agent permissions``."""

import pytest
from plugin_desk import PluginDesk
from support.neovim import wait_until
from support.neovim_desk import DENY, bash, done, step

pytestmark = pytest.mark.neovim

COMMAND = "echo ran >> runs && ls"
TURN = [step(bash(COMMAND)), done()]


def ask(desk: PluginDesk) -> None:
    desk.agent("ask Run it.")


def answer(desk: PluginDesk, option: str) -> None:
    desk.wait_for_chat(f"  {option}")
    desk.nvim.rest()
    desk.agent(f"answer {option[0]}")


def times_run(desk: PluginDesk) -> int:
    runs = desk.folder / "runs"
    return runs.read_text().count("ran") if runs.exists() else 0


def wait_for_message(desk: PluginDesk, text: str) -> None:
    wait_until(lambda: text in desk.nvim.command_output("messages"), 60)


def test_what_is_allowed_in_a_project_outlives_the_server_until_it_is_taken_back(
    desk: PluginDesk,
) -> None:
    desk.open("a.txt", "one\n")
    desk.start(*TURN, *TURN)
    ask(desk)
    answer(desk, "5. Allow this command always in this project")
    wait_until(lambda: times_run(desk) == 1, 60)
    desk.wait_for_chat("Done.")
    desk.agent("restart")
    ask(desk)
    wait_until(lambda: times_run(desk) == 2, 60)
    desk.agent("permissions")
    assert desk.picker()["items"] == [f"{COMMAND} · in {desk.folder.resolve()}"]
    desk.choose(COMMAND)
    wait_for_message(desk, "asked about again")
    ask(desk)
    wait_until(lambda: any(line.startswith(f"  {DENY}. Deny") for line in desk.chat()), 60)
    assert times_run(desk) == 2
    desk.agent("permissions")
    wait_for_message(desk, "no command is")


def test_a_command_of_several_lines_is_listed_in_one(desk: PluginDesk) -> None:
    desk.open("a.txt", "one\n")
    desk.start(step(bash("echo ran >> runs\n\tls")), done())
    ask(desk)
    answer(desk, "6. Allow this command always")
    wait_until(lambda: times_run(desk) == 1, 60)
    desk.agent("permissions")
    assert desk.picker()["items"] == ["echo ran >> runs ↵ ^Ils · everywhere"]
