"""An agent's plan in the chat: one checklist that gets on in place."""

import sys
from pathlib import Path

from plugin_desk import PluginDesk
from support.neovim import wait_until

ACP_AGENT = Path(__file__).parents[2] / "support" / "doubles" / "acp_agent.py"


def ask(desk: PluginDesk, prompt: str) -> None:
    desk.open("a.txt", "one\n")
    agent = {"wire": "acp", "command": [sys.executable, str(ACP_AGENT)]}
    desk.setup(settings={"agent": "double", "agents": {"double": agent}})
    desk.wait_for_server()
    desk.agent(f"ask {prompt}")


def shown(desk: PluginDesk) -> list[str]:
    """The lines of the chat's window."""
    buffer = f"vim.api.nvim_win_get_buf({wait_until(lambda: desk.window('chat'))})"
    return desk.nvim.lua(f"return vim.api.nvim_buf_get_lines({buffer}, 0, -1, true)")


def after(lines: list[str], heading: str) -> list[str]:
    """The lines below the last heading of that name, but for empty ones at the end."""
    start = len(lines) - lines[::-1].index(heading) if heading in lines else 0
    return "\n".join(lines[start:]).strip().split("\n")


FOLDED = """
return vim.api.nvim_win_call(..., function()
  local heads = vim.tbl_filter(function(number)
    return vim.fn.foldclosed(number) == number
  end, vim.fn.range(1, vim.fn.line('$')))
  return vim.tbl_map(vim.fn.getline, heads)
end)
"""


def test_a_plan_gets_on_in_place_and_is_shown_again_with_its_session(desk: PluginDesk) -> None:
    ask(desk, "plan 0 1 2 of Read Change Test")
    desk.wait_for_chat("2 done.")
    plan = ["Plan 2/3 · Test", "- [x] Read", "- [x] Change", "- [ ] Test (in progress)"]
    said = ["", "0 done. ", "", "1 done. ", "", "2 done."]
    wait_until(lambda: after(shown(desk), "## Agent") == plan + said)
    desk.agent("ask plan 3 4 of Look Read Ask Plan Change Test Tell Clean Stop")
    desk.wait_for_chat("4 done.")
    assert "Plan 4/9 · Change" in desk.nvim.lua(FOLDED, desk.window("chat"))
    assert after(shown(desk), "## Agent")[4:6] == ["- [x] Plan", "- [ ] Change (in progress)"]
    desk.agent("close")
    wait_until(lambda: shown(desk) == [""])
    desk.agent("sessions")
    desk.choose(desk.picker()["items"][0])
    desk.choose("Resume")
    wait_until(lambda: "Plan 4/9 · Change" in shown(desk))
    assert shown(desk).count("## Agent") == 2
    start = shown(desk).index(plan[0])
    assert shown(desk)[start : start + 4] == plan
