"""Of which files the extension asks what waits for a decision: the server looks at each of them."""

from typing import Any

import pytest
from support.vscode_modules import returned

pytestmark = pytest.mark.vscode

#: A server with one open hunk in each of forty files; ``asked`` is what it was asked for.
SERVER = """
const files = Array.from({ length: 40 }, (_, number) => `file:///w/${number}.py`);
const asked = [];
let fails = false;
const hunk = { status: "applied" };
const list = async ({ uri }) => {
  asked.push(uri ?? "all");
  if (fails) throw new Error("gone");
  const found = files.filter((file) => uri === undefined || file === uri);
  return found.map((file) => ({ uri: file, hunks: [hunk] }));
};
const open = new hunks.OpenHunks((uri) => uri.toLowerCase());
await open.refresh(list);
"""


def told(code: str) -> Any:
    return returned(f"{SERVER} {code}", hunks="open_hunks")


def test_at_first_it_asks_for_all() -> None:
    assert told("return [asked, open.count]") == [["all"], 40]


def test_after_typing_it_asks_for_that_file_alone() -> None:
    code = "open.change(files[3]); files.splice(3, 1); asked.length = 0; await open.refresh(list);"
    assert told(f'{code} return [asked, open.count, open.in("FILE:///w/3.py")]') == [
        ["file:///w/3.py"],
        39,
        [],
    ]


def test_where_nothing_changed_it_asks_for_nothing() -> None:
    assert told("asked.length = 0; await open.refresh(list); return [asked, open.count]") == [
        [],
        40,
    ]


def test_where_many_files_changed_it_asks_for_all_at_once() -> None:
    code = "open.change(...files.splice(0, 9)); asked.length = 0; await open.refresh(list);"
    assert told(f"{code} return [asked, open.count]") == [["all"], 31]


def test_after_a_failure_nothing_is_shown_and_all_is_asked_for() -> None:
    code = """
    fails = true;
    open.change(files[3]);
    await open.refresh(list).catch(() => 0);
    const meanwhile = open.count;
    fails = false;
    asked.length = 0;
    await open.refresh(list);
    return [meanwhile, asked, open.count];
    """
    assert told(code) == [0, ["all"], 40]


def test_what_changes_while_it_asks_is_asked_for_the_next_time() -> None:
    code = """
    open.change(files[1]);
    const first = open.refresh(list);
    open.change(files[2]);
    await first;
    asked.length = 0;
    await open.refresh(list);
    return asked;
    """
    assert told(code) == ["file:///w/2.py"]
