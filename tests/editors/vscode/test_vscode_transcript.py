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


TWICE = """
const bash = { toolCallId: 'd', tool: 'bash', kind: 'command', paths: [] };
const call = (command) => tell({ type: 'toolCall', ...bash, args: { command } });
const result = (text) => tell(
  { type: 'toolResult', toolCallId: 'd', isError: false, content: [{ type: 'text', text }] });
const begin = () => tell({ type: 'toolCallStarted', toolCallId: 'd', tool: 'bash' });
const shown = () => chat.turns[0].parts.filter(({ id }) => id === 'd')
  .map(({ subject, output, state }) => [subject, output, state]);
begin(); call('ls'); result('a.py');
"""


def test_a_second_call_of_an_id_is_shown_for_itself() -> None:
    code = """
    begin(); call('pwd');
    tell({ type: 'toolProgress', toolCallId: 'd', text: '/w' });
    found.push(shown());
    result('/work');
    found.push(shown());
    return found;
    """
    first = ["ls", "a.py", "done"]
    found = returned(OPEN + TWICE + code, transcript="chat/transcript")
    assert found == [
        [first, ["pwd", "/w", "running"]],
        [first, ["pwd", "/work", "done"]],
    ]


def test_a_question_of_an_ids_second_call_is_not_the_firsts() -> None:
    code = """
    begin(); call('pwd');
    tell({ type: 'questionAsked', question: { questionId: 'q', toolCallId: 'd' } });
    const [turn] = chat.turns;
    return turn.parts.filter(({ kind }) => kind === 'tool')
      .map((part) => transcript.isAsked(turn, part));
    """
    found = returned(OPEN + TWICE + code, transcript="chat/transcript")
    assert found == [False, False, True]


def test_what_becomes_of_an_edit_stands_with_the_call_that_made_it() -> None:
    code = """
    const made = (editId, status) =>
      ({ ...edit(status, hunk('0', status, 'a\\n')), editId, toolCallId: 'd' });
    const edited = (type, editId, status) => tell({ type, edit: made(editId, status) });
    edited('editApplied', 'one', 'applied');
    begin(); call('pwd');
    edited('editApplied', 'two', 'applied');
    edited('editKept', 'one', 'kept');
    return chat.turns[0].parts.filter(({ id }) => id === 'd')
      .map((part) => part.files.map(({ editId, status }) => [editId, status]));
    """
    found = returned(OPEN + TWICE + code, transcript="chat/transcript")
    assert found == [[["one", "kept"]], [["two", "applied"]]]
