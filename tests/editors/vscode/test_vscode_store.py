"""The conversations that the extension keeps on disk."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.vscode_modules import returned

Json = dict[str, Any]

pytestmark = [pytest.mark.vscode]

# With a clock that stands until it is told to go on.
BEGIN = """
const { mock } = require('node:test');
const { readFileSync, readdirSync, writeFileSync } = require('node:fs');
mock.timers.enable({ apis: ['setTimeout', 'Date'] });
const all = { current: 'one', draft: undefined, chats: [] };
const chat = (id, state) => ({ ...transcript.newChat(id), turns: [
  { id: 't', prompt: id, context: [], state, parts: [] }] });
const kept = new store.ChatStore(argument, () => all);
const written = (id) => {
  try { return JSON.parse(readFileSync(`${argument}/chat-${id}.json`, 'utf8')).title; }
  catch { return null; }
};
"""


def kept(folder: Path, code: str) -> Any:
    modules = {"store": "chat/store", "transcript": "chat/transcript"}
    return returned(BEGIN + code, str(folder), **modules)


def test_only_what_changed_is_written(tmp_path: Path) -> None:
    code = """
    all.chats.push(chat('one', 'ended'), chat('two', 'ended'));
    for (const each of all.chats) kept.changed(each);
    mock.timers.tick(1000);
    writeFileSync(`${argument}/chat-two.json`, '{"title": "as it was"}');
    all.chats[0].title = 'new';
    kept.changed(all.chats[0]);
    mock.timers.tick(1000);
    return [written('one'), written('two')];
    """
    assert kept(tmp_path, code) == ["new", "as it was"]


def test_a_running_turn_is_written_now_and_then_and_when_it_has_ended(tmp_path: Path) -> None:
    code = """
    all.chats.push(chat('one', 'running'));
    const found = [];
    for (let second = 1; second <= 20; second++) {
      all.chats[0].title = `after ${second}`;
      kept.changed(all.chats[0]);
      mock.timers.tick(1000);
      if (found.at(-1) !== written('one')) found.push(written('one'));
    }
    all.chats[0].turns[0].state = 'ended';
    all.chats[0].title = 'at the end';
    kept.changed(all.chats[0]);
    mock.timers.tick(1000);
    return [...found, written('one')];
    """
    assert kept(tmp_path, code) == [None, "after 15", "at the end"]


def test_what_is_kept_is_there_again_and_what_is_not_is_removed(tmp_path: Path) -> None:
    code = """
    all.chats.push(chat('../one', 'running'), chat('two', 'ended'));
    all.draft = { text: 'half a thought', attachments: [], images: [] };
    for (const each of all.chats) kept.changed(each);
    kept.save();
    const names = readdirSync(argument).sort();
    all.chats.pop();
    kept.save();
    const { draft, chats } = new store.ChatStore(argument, () => all).load();
    return [names, readdirSync(argument).sort(), draft.text,
      chats.map(({ sessionId, earlier, turns }) => [sessionId, earlier, turns[0].state])];
    """
    names, left, draft, chats = kept(tmp_path / "made", code)
    assert names == ["chat-..%2Fone.json", "chat-two.json", "chats.json"]
    assert left == ["chat-..%2Fone.json", "chats.json"]
    assert draft == "half a thought"
    assert chats == [["../one", True, "ended"]]


def test_the_conversation_that_is_shown_is_kept_however_old_it_is(tmp_path: Path) -> None:
    code = """
    for (let n = 0; n <= 30; n++) all.chats.push(chat(`s${n}`, 'ended'));
    all.current = 's3';
    kept.save();
    const { chats } = new store.ChatStore(argument, () => all).load();
    return [chats.length, chats[0].sessionId];
    """
    assert kept(tmp_path, code) == [21, "s3"]


def test_a_conversation_that_is_among_the_newest_again_is_written_again(tmp_path: Path) -> None:
    code = """
    for (let n = 0; n <= 20; n++) all.chats.push(chat(`s${n}`, 'ended'));
    for (const each of all.chats) kept.changed(each);
    kept.save();
    const dropped = written('s0');
    all.chats.pop();
    kept.changed();
    kept.save();
    const { chats } = new store.ChatStore(argument, () => all).load();
    return [dropped, chats.length, chats[0].sessionId];
    """
    assert kept(tmp_path, code) == [None, 20, "s0"]


@pytest.mark.parametrize("text", ["", "{", '{"format": 2, "chats": [{}]}'])
def test_what_cannot_be_read_is_begun_anew(tmp_path: Path, text: str) -> None:
    (tmp_path / "chats.json").write_text(text)
    assert kept(tmp_path, "return kept.load()") == {"chats": []}


def test_a_conversation_that_is_gone_leaves_the_others(tmp_path: Path) -> None:
    index = {"format": 3, "chats": ["gone", "one"]}
    (tmp_path / "chats.json").write_text(json.dumps(index))
    told = {"sessionId": "one", "title": "", "turns": [], "usage": {}, "status": "ready"}
    (tmp_path / "chat-one.json").write_text(json.dumps(told))
    (chat,) = kept(tmp_path, "return kept.load().chats")
    assert chat["sessionId"] == "one"
