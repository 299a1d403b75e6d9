"""Comments on changes: written one by one where these are, sent together."""

from typing import Any

import pytest
from plugin_desk import FLOATS, PluginDesk
from support.neovim import Json, wait_until
from support.neovim_desk import done, edit, step

pytestmark = pytest.mark.neovim

LINES = "one\ntwo\nthree\nfour\n"


def comments(desk: PluginDesk) -> list[list[Any]]:
    return desk.beside("comments")


def change(desk: PluginDesk, *then: Json) -> None:
    """Of two files, the first of which is shown; ``then`` is what follows."""
    desk.file("b.txt", "five\nsix\n")
    desk.open("a.txt", LINES)
    edits = edit("a.txt", "two\nthree", "TWO"), edit("b.txt", "six", "SIX")
    desk.start(step(*edits), done(), *then)
    desk.agent("ask Go.")
    desk.wait_for_chat("Done.")
    desk.wait_for_marks([2, 2, False])


def comment_on_both(desk: PluginDesk) -> None:
    desk.write("2G\\ac", "Say it softly.<C-j>Please.<CR>")
    wait_until(lambda: comments(desk) == [[2, 2, "● Say it softly. …"]])
    desk.nvim.command(f"edit {desk.folder / 'b.txt'}")
    desk.wait_for_marks([2, 2, False])
    desk.nvim.keys("2G")
    desk.agent("comment Not this one.")
    wait_until(lambda: comments(desk) == [[2, 2, "● Not this one."]])


ROUND = """\
2 comments from my review. Do what each asks.

1. a.txt, line 2, your change:

```diff
-two
-three
+TWO
```

Say it softly.
Please.

2. b.txt, line 2, your change:

```diff
-six
+SIX
```

Not this one."""


def test_comments_of_several_files_are_sent_as_one_prompt(desk: PluginDesk) -> None:
    change(desk, {"text": "Both are done."})
    comment_on_both(desk)
    desk.agent("comment send")
    desk.wait_for_chat("Both are done.")
    wait_until(lambda: comments(desk) == [])
    assert ROUND in "\n".join(desk.chat())
    assert "with a.txt, lines 2-2" in desk.chat()
    desk.nvim.command("silent edit #")
    assert comments(desk) == []


def test_comments_move_with_the_text_and_are_there_when_the_file_is_opened_again(
    desk: PluginDesk,
) -> None:
    change(desk)
    desk.nvim.keys("2G")
    desk.agent("comment Why?")
    desk.nvim.keys("ggOtyped<Esc>:w<CR>")
    wait_until(lambda: comments(desk) == [[3, 3, "● Why?"]])
    desk.nvim.command("edit!")
    wait_until(lambda: comments(desk) == [[3, 3, "● Why?"]])
    desk.nvim.command("bdelete")
    desk.nvim.command(f"silent edit {desk.folder / 'a.txt'}")
    wait_until(lambda: comments(desk) == [[3, 3, "● Why?"]])


def test_comments_that_are_not_done_with_stay(desk: PluginDesk) -> None:
    change(desk, {"text": "So far.", "error": "overloaded"})
    comment_on_both(desk)
    desk.agent("comment send")
    desk.wait_for_chat("overloaded")
    wait_until(lambda: comments(desk) == [[2, 2, "● Not this one."]])
    desk.agent("comment send")
    wait_until(lambda: "\n".join(desk.chat()).count(ROUND) == 2)


def test_comments_wait_where_their_prompt_is_dropped(desk: PluginDesk) -> None:
    change(desk, {"text": "Slow.", "delay_ms": 60000})
    desk.agent("ask Go on.")
    wait_until(lambda: "working" in desk.nvim.lua("return require('lsp_agent').statusline()"))
    desk.nvim.keys("2G")
    desk.agent("comment Why?")
    desk.agent("comment send")
    wait_until(lambda: comments(desk) == [[2, 2, "● Why? (sent)"]])
    wait_until(lambda: "## You, waiting" in desk.chat())
    desk.agent("stop")
    wait_until(lambda: comments(desk) == [[2, 2, "● Why?"]])


def test_a_comment_is_changed_listed_and_removed(desk: PluginDesk) -> None:
    change(desk)
    comment_on_both(desk)
    desk.agent("comment list")
    listed = desk.nvim.lua("return vim.tbl_map(function(i) return i.text end, vim.fn.getqflist())")
    assert listed == ["Say it softly. Please.", "Not this one."]
    desk.nvim.keys("<CR>")
    wait_until(lambda: desk.nvim.lua("return vim.fn.expand('%:t')") == "a.txt")
    desk.nvim.keys("\\ac")
    wait_until(lambda: desk.nvim.lua(FLOATS) and desk.nvim.mode() == "i")
    assert desk.nvim.lines() == ["Say it softly.", "Please."]
    desk.nvim.keys("<C-u>Now.<CR>")
    wait_until(lambda: comments(desk) == [[2, 2, "● Say it softly. …"]])
    desk.agent("comment remove")
    wait_until(lambda: comments(desk) == [])
    desk.agent("comment clear")
    desk.agent("comment list")
    assert "no comments" in desk.nvim.command_output("messages")


def test_lines_that_are_no_change_are_commented_on_too(desk: PluginDesk) -> None:
    change(desk, {"text": "I see."})
    desk.nvim.command("1,3Agent comment Sort these.")
    wait_until(lambda: comments(desk) == [[1, 3, "● Sort these."]])
    desk.agent("comment send")
    desk.wait_for_chat("I see.")
    assert "1. a.txt, lines 1-3:\n\nSort these." in "\n".join(desk.chat())
