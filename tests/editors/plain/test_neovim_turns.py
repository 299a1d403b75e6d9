"""A turn as a person at a real Neovim sees and steers it, with its plain LSP client."""

import time
import uuid

import psutil
import pytest
from plain_project import SAID
from support.neovim import Json, wait_until
from support.neovim_desk import Desk, bash, done, edit, step

pytestmark = pytest.mark.neovim

# As plugins for it do: the person answers later, and may type meanwhile. So wide that a message
# fits, or Neovim would wait for a key.
SELECT = """
vim.o.columns = 80
vim.ui.select = function(items, options, choose)
  local titles = vim.tbl_map(options.format_item or tostring, items)
  table.insert(_G.questions, { kind = options.kind, items = titles })
  _G.choose = function(number) choose(items[number], number) end
end
"""
SYMBOLS = """
vim.lsp.buf.document_symbol({
  on_list = function(found)
    _G.listed = vim.tbl_map(function(item) return item.text end, found.items)
  end,
})
"""
#: An answer within 0.3 s of a question's coming up is not taken for one.
READ_SECONDS = 0.4


@pytest.fixture
def asked(desk: Desk) -> Desk:
    """A desk whose person chooses a code action in a picker of their own."""
    desk.nvim.lua(SELECT)
    desk.open("a.txt", "one\n")
    return desk


def answer(desk: Desk, wanted: str) -> list[str]:
    """Chooses the first code action that ends so; the titles of all."""
    wait_until(lambda: "Answer the agent by code action" in desk.messages())
    desk.nvim.lua("vim.lsp.buf.code_action()")
    titles = wait_until(lambda: desk.nvim.lua("return (_G.questions[#_G.questions] or {}).items"))
    time.sleep(READ_SECONDS)
    place = next(at for at, title in enumerate(titles, 1) if title.endswith(wanted))
    desk.nvim.lua("_G.choose(...)", place)
    return titles


def test_a_command_runs_once_it_is_allowed_by_code_action(asked: Desk) -> None:
    asked.start(step(bash("echo $((6 * 7))")), done())
    turn = asked.prompt("Go.")
    wait_until(asked.messages)
    asked.nvim.keys("Gotwo<Esc>")  # nothing is held up, and no key is taken
    wait_until(lambda: asked.nvim.lines() == ["one", "two"])
    titles = answer(asked, "Allow")
    assert "echo $((6 * 7))" in titles[0]
    asked.wait(turn)
    assert "\n42\n" in asked.outcomes()[0].text


def test_a_command_that_is_denied_does_not_run(asked: Desk) -> None:
    asked.start(step(bash("touch ran")), done())
    turn = asked.prompt("Go.")
    answer(asked, "Deny")
    asked.wait(turn)
    assert "declined" in asked.outcomes()[0].text
    assert not (asked.folder / "ran").exists()


def test_a_short_answer_ends_the_progress_and_a_long_one_is_shown_by_code_action(
    asked: Desk,
) -> None:
    long = "Three letters.\n\nTheir names are Greek."
    asked.start(step(text="It is loud now."), step(text=long))
    asked.run("Shout.")
    wait_until(lambda: last_words(asked) == "It is loud now.")
    asked.run("Explain.")
    wait_until(lambda: "Read the answer by code action" in asked.messages())
    asked.nvim.keys("Gotwo<Esc>")  # no key is taken
    wait_until(lambda: asked.nvim.lines() == ["one", "two"])
    asked.nvim.lua("vim.lsp.buf.code_action()")
    titles = wait_until(lambda: asked.nvim.lua("return (_G.questions[#_G.questions] or {}).items"))
    asked.nvim.lua("_G.choose(...)", titles.index("Show the agent's answer: Explain.") + 1)
    wait_until(lambda: asked.nvim.lines()[2:] == long.split("\n"))
    assert asked.nvim.lua("return vim.bo.readonly")


def last_words(desk: Desk) -> str:
    """With which the last progress has ended."""
    ended = [r["value"] for r in desk.nvim.lua("return _G.progress") if r["value"]["kind"] == "end"]
    return ended[-1].get("message", "") if ended else ""


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


def test_what_a_file_type_completes_by_stays_its_own(desk: Desk) -> None:
    desk.nvim.command("filetype plugin on")
    desk.open("a.c", "int one;\n")
    desk.start(done())
    desk.run("Hello.")
    assert desk.nvim.lua("return vim.bo.omnifunc") == "ccomplete#Complete"


def test_a_conversations_turns_are_listed_and_what_it_names_is_gone_to(desk: Desk) -> None:
    desk.file("shop.py", "one\ntwo\n")
    desk.open("x.chat.md", SAID)
    desk.start(done())
    desk.nvim.lua(SYMBOLS)
    listed = wait_until(lambda: desk.nvim.lua("return _G.listed"))
    assert [text.partition("] ")[2] for text in listed] == ["Why so?", "bash: make"]
    desk.nvim.keys("gg/shop<CR>")
    desk.nvim.lua("vim.lsp.buf.definition()")
    wait_until(lambda: desk.nvim.lua("return vim.fn.expand('%:t')") == "shop.py")
    assert desk.nvim.lua("return vim.fn.line('.')") == 2


def test_a_conversation_is_read_while_it_comes_and_written_in(desk: Desk) -> None:
    desk.open("x.chat.md", "## You\n\nCount.\n")
    words = " ".join(f"n{number}" for number in range(60))
    desk.start(step(text=words, pace_ms=60))
    desk.execute("lspAgent.sendChat", uri=desk.uri())
    seen = wait_until(lambda: [line for line in desk.nvim.lines() if "n5 " in line])
    assert "n59" not in seen[0]
    desk.nvim.keys("Go")  # the next prompt, while it comes
    for word in ("then", "say", "hello"):
        desk.nvim.keys(f"{word} ")
        time.sleep(0.3)
    desk.nvim.keys("<Esc>")
    wait_until(lambda: not any("at work" in line for line in desk.nvim.lines()), 30)
    lines = [line for line in desk.nvim.lines() if line]
    assert lines == ["## You", "Count.", "## Agent", words, "## You", "then say hello "]
    assert desk.edits() == []
