"""A turn as a person at a real Neovim sees and steers it, with its plain LSP client."""

import uuid

import psutil
import pytest
from neovim import Json, wait_until
from neovim_desk import Desk, bash, done, edit, step

pytestmark = pytest.mark.neovim

# As plugins for it do: the person answers later, and may type meanwhile.
SELECT = """
vim.ui.select = function(items, options, choose)
  local titles = vim.tbl_map(options.format_item or tostring, items)
  table.insert(_G.questions, { prompt = options.prompt, kind = options.kind, items = titles })
  _G.choose = function(number) choose(items[number], number) end
end
"""


@pytest.fixture
def asked(desk: Desk) -> Desk:
    """A desk whose person answers in a picker of their own."""
    desk.nvim.lua(SELECT)
    desk.open("a.txt", "one\n")
    return desk


def question(desk: Desk) -> dict[str, object]:
    return wait_until(lambda: desk.nvim.lua("return _G.questions[#_G.questions]"))


def choose(desk: Desk, number: int | None) -> None:
    desk.nvim.lua("_G.choose(...)", number)


def test_a_command_runs_once_it_is_allowed_in_the_picker(asked: Desk) -> None:
    asked.start(step(bash("echo $((6 * 7))")), done())
    turn = asked.prompt("Go.")
    shown = question(asked)
    assert "echo $((6 * 7))" in str(shown["prompt"])
    titles = list(shown["items"])  # type: ignore[call-overload]
    assert [title.split()[0] for title in titles] == ["Allow", "Allow", "Deny"]
    asked.nvim.keys("Gotwo<Esc>")  # nothing is held up
    wait_until(lambda: asked.nvim.lines() == ["one", "two"])
    choose(asked, 1)
    asked.wait(turn)
    assert "\n42\n" in asked.outcomes()[0].text


@pytest.mark.parametrize(("answer", "words"), [("Deny", "declined"), (None, "not answered")])
def test_a_command_that_is_not_allowed_does_not_run(
    asked: Desk, answer: str | None, words: str
) -> None:
    asked.start(step(bash("touch ran")), done())
    turn = asked.prompt("Go.")
    titles = list(question(asked)["items"])  # type: ignore[call-overload]
    choose(asked, None if answer is None else titles.index(answer) + 1)
    asked.wait(turn)
    assert words in asked.outcomes()[0].text
    assert not (asked.folder / "ran").exists()


def test_a_turn_and_its_tools_are_seen_as_progress(desk: Desk) -> None:
    desk.open("a.txt", "one\n")
    desk.start(
        step(bash("echo first; sleep 0.4; echo second; sleep 0.4")),
        done(),
        permissions={"command": "allow"},
    )
    desk.run("Measure it.")
    reports = wait_until(lambda: all_ended(desk.nvim.lua("return _G.progress")))
    begun = [r["value"]["title"] for r in reports if r["value"]["kind"] == "begin"]
    assert begun[0] == "agent: Measure it."
    assert begun[1].startswith("bash: echo first")
    messages = [r["value"].get("message", "") for r in reports if r["value"]["kind"] == "report"]
    assert any("first" in message for message in messages)


def all_ended(reports: list[Json]) -> list[Json] | None:
    """The reports, once each progress among them has an end."""
    ended = [report for report in reports if report["value"]["kind"] == "end"]
    tokens = {report["token"] for report in reports}
    return reports if {report["token"] for report in ended} == tokens else None


def test_cancelling_the_progress_ends_the_turn_and_its_command(desk: Desk) -> None:
    desk.open("a.txt", "one\n")
    nap = f"sleep 600.{uuid.uuid4().int % 10**12:012d}"
    desk.start(
        step(bash(f"trap '' TERM; setsid {nap} & {nap}")),
        step(edit("a.txt", "one", "never")),
        done(),
        permissions={"command": "allow"},
    )
    turn = desk.prompt("Go.")
    wait_until(lambda: len(naps(nap)) >= 2)
    token = desk.nvim.lua("return _G.progress[1].token")
    desk.notify("window/workDoneProgress/cancel", token=token)
    assert desk.wait(turn)["stopReason"] == "aborted"
    wait_until(lambda: not naps(nap))
    assert desk.nvim.lines() == ["one"]


def naps(nap: str) -> list[int]:
    lines = ((p.pid, " ".join(p.info["cmdline"] or [])) for p in psutil.process_iter(["cmdline"]))
    return [pid for pid, line in lines if nap in line]


def test_a_prompt_by_command_answers_at_once_and_edits_later(desk: Desk) -> None:
    desk.open("a.txt", "one\n")
    waits = step(bash("until test -e go; do sleep 0.05; done"))
    edits = step(edit("a.txt", "one", "two"))
    desk.start(waits, edits, done(), permissions={"command": "allow"})
    started = desk.execute("lspAgent.prompt", text="Go.")
    assert started.keys() == {"sessionId", "turnId"}
    assert desk.nvim.lines() == ["one"]
    (desk.folder / "go").touch()
    wait_until(lambda: desk.nvim.lines() == ["two"])
