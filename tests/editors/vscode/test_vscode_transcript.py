"""The conversation that the chat makes of events."""

from typing import Any

import pytest
from support.vscode_modules import returned

Json = dict[str, Any]

pytestmark = [pytest.mark.vscode]

OPEN = """
const chat = transcript.newChat('s');
const of = { sessionId: 's', turnId: 't', seq: 0, time: 0 };
const tell = (event) => transcript.take(chat, { ...of, ...event });
const range = { start: { line: 0, character: 0 }, end: { line: 1, character: 0 } };
const hunk = (hunkId, status, newText) => ({ hunkId, status, range, oldText: 'old\\n', newText });
const edit = (status, ...hunks) => ({ editId: 'e', sessionId: 's', turnId: 't', toolCallId: 'c',
  uri: 'file:///a', status, hunks });
tell({ type: 'turnStarted', prompt: 'Go' });
tell({ type: 'toolCall', toolCallId: 'c', tool: 'edit', kind: 'edit', args: {}, paths: ['a'] });
const found = [];
const look = (type, made) => {
  tell({ type, edit: made });
  const [file] = files.changedFiles(chat.turns[0]).get('file:///a');
  found.push([file.added, file.removed, file.open.added, file.open.removed]);
};
"""


def test_the_lines_to_review_follow_each_decision() -> None:
    code = """
    const both = (one, other) => [hunk('0', one, 'a\\nb\\n'), hunk('1', other, 'c\\n')];
    look('editApplied', edit('applied', ...both('applied', 'applied')));
    look('editApplied', edit('applied', ...both('kept', 'applied')));
    look('editKept', edit('kept', ...both('kept', 'kept')));
    return found;
    """
    found = returned(OPEN + code, transcript="chat/transcript", files="chat/changed_files")
    assert found == [[3, 2, 3, 2], [3, 2, 1, 1], [3, 2, 0, 0]]


def test_an_edit_that_is_told_of_before_its_call_is_among_the_files_to_review() -> None:
    code = """
    look('editApplied', { ...edit('applied', hunk('0', 'applied', 'a\\n')), toolCallId: 'd' });
    tell({ type: 'toolCall', toolCallId: 'd', tool: 'edit', kind: 'edit', args: {}, paths: ['a'] });
    found.push(chat.turns[0].parts.map(({ id, tool, files }) => [id, tool, files.length]));
    return found;
    """
    found = returned(OPEN + code, transcript="chat/transcript", files="chat/changed_files")
    assert found == [[1, 1, 1, 1], [["c", "edit", 0], ["d", "edit", 1]]]


def test_how_full_the_models_window_is_stands_until_a_compaction() -> None:
    code = """
    const shown = () => head.windowText(chat.window);
    found.push(shown());
    tell({ type: 'window', used: 12345, size: 200000 });
    found.push(shown());
    tell({ type: 'window', used: 900 });
    found.push(shown());
    tell({ type: 'compacted', summary: 'All of it.' });
    found.push(shown());
    return found;
    """
    found = returned(OPEN + code, transcript="chat/transcript", head="chat/head")
    assert found == ["", "Window 6 % of 200k", "Window 900", ""]
