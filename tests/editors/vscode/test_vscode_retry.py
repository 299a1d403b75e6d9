"""A prompt whose turn failed, sent once more when its server is not there any more."""

from pathlib import Path
from typing import Any

import pytest
from vscode_stub import returned

Json = dict[str, Any]

pytestmark = [pytest.mark.vscode]

# The storage is kept from window to window; the server has all sessions.
BEGIN = """
const sent = [], back = [], pages = { '/a': 'one\\ntwo\\nthree\\nfour\\n' };
Object.assign(vscode.workspace, {
  getWorkspaceFolder: () => undefined,
  asRelativePath: ({ path }) => path.slice(1),
  openTextDocument: async ({ path }) => ({
    getText: (range) => range === undefined ? pages[path] :
      pages[path].split('\\n').slice(range.start.line, range.end.line).join('\\n'),
  }),
});
const client = {
  request: async (method) => method === 'newSession' ? { sessionId: 's' } : { messages: [] },
  command: async (name, { sessionId = 's', ...asked }) => {
    if (name === 'retry' && isForgotten) {
      throw Object.assign(new Error('It did not fail'), { data: { kind: 'conflict' } });
    }
    sent.push(name === 'retry' ? 'retry' : asked);
    return { sessionId, turnId: `t${sent.length}` };
  },
};
let made, isForgotten = false;
const open = () => {
  made?.dispose();
  made = new agent.Agent({ storageUri: { fsPath: argument.folder } }, {}, { commands: {} });
  made.connection = { running: client, ensure: async () => client };
};
open();
const end = (stopReason = 'error') => {
  const { id } = made.chat.turns.at(-1);
  made.take({ type: 'turnEnded', sessionId: 's', turnId: id, seq: 2, time: 2, stopReason });
};
const again = () => made.prompting.retry((draft, why) => back.push([draft, why]));
const lines = { start: { line: 1, character: 0 }, end: { line: 2, character: 0 } };
const confined = {
  text: argument.text, range: 'confined', context: [{ uri: 'file:///a', range: lines }],
};
const pasted = { label: 'image 1', mimeType: 'image/png', data: 'AAAA' };
const typed = {
  text: 'Look', attachments: [{ uri: 'file:///a', label: 'a' }], images: [pasted],
};
const say = async (draft) => { await made.newSession(); await made.prompting.send(draft); };
"""
TEXT = "1. first\n2. second\n3. third\n4. DO NOT touch the tests\n5. fifth"


def retried(folder: Path, code: str) -> Any:
    """What the server is sent, what is put back into the composer, and what is shown at the end."""
    end = "return [sent, back, made.chat.turns.map(({ prompt, context }) => [prompt, context])];"
    argument = {"folder": str(folder), "text": TEXT}
    return returned(BEGIN + code + end, argument, agent="agent")


WAYS = {"reload": "open();", "twice": "open(); await again(); end(); open();"}


@pytest.mark.parametrize("way", WAYS)
def test_a_confined_prompt_goes_out_again_as_it_was_after_the_window_is_reloaded(
    tmp_path: Path, way: str
) -> None:
    code = f"await made.prompting.byCommand(confined); end(); {WAYS[way]} await again();"
    sent, back, shown = retried(tmp_path, code)
    assert sent[0]["range"] == "confined"
    assert sent[0]["text"] == TEXT
    for again in sent[1:]:
        assert {key: again[key] for key in sent[0]} == sent[0]
    assert back == []
    assert shown[-1] == shown[0] == ["1. first\n2. second\n3. third …", ["a:2"]]


def test_what_was_typed_goes_out_again_with_its_files_and_images(tmp_path: Path) -> None:
    sent, back, shown = retried(tmp_path, "await say(typed); end(); open(); await again();")
    first, again = sent
    assert first["context"] == [{"uri": "file:///a"}]
    assert first["images"] == [{"mimeType": "image/png", "data": "AAAA"}]
    assert {key: again.get(key) for key in ("text", "context", "images")} == {
        key: first[key] for key in ("text", "context", "images")
    }
    assert back == []
    assert shown == [["Look", ["image 1", "a"]]] * 2


def test_the_server_sends_it_again_itself_while_it_has_it_and_it_is_kept_for_later(
    tmp_path: Path,
) -> None:
    code = "await say(typed); end(); await again(); end(); open(); await again();"
    sent, _, _ = retried(tmp_path, code)
    assert sent[1] == "retry"
    assert sent[2]["images"] == [{"mimeType": "image/png", "data": "AAAA"}]


def test_it_goes_out_again_as_it_was_where_the_server_has_taken_up_the_session_without_its_turn(
    tmp_path: Path,
) -> None:
    code = """
    await say(typed); end(); open();
    await made.resume('s'); isForgotten = true;
    await Promise.all([again(), again()]);
    """
    sent, back, _ = retried(tmp_path, code)
    assert [each["images"] for each in sent] == [[{"mimeType": "image/png", "data": "AAAA"}]] * 2
    assert back == []


def test_a_prompt_of_which_not_all_was_kept_is_put_back_to_be_looked_over(tmp_path: Path) -> None:
    code = """
    await say(typed); end();
    made.chat.requests = undefined; // as an earlier version has left it
    open(); await again();
    """
    sent, back, _ = retried(tmp_path, code)
    assert len(sent) == 1
    assert back == [
        [
            {"text": "Look", "attachments": [], "images": []},
            "Not sent again: only this was kept of the prompt. It went with image 1, a.",
        ]
    ]


def test_a_prompt_about_lines_that_have_changed_since_is_put_back_whole(tmp_path: Path) -> None:
    code = """
    await made.prompting.byCommand(confined); end(); open();
    pages['/a'] = `new\\n${pages['/a']}`;
    await again();
    """
    sent, back, _ = retried(tmp_path, code)
    assert len(sent) == 1
    assert back == [
        [
            {"text": TEXT, "attachments": [], "images": []},
            "Not sent again: the lines that it went with have changed: a:2. "
            "Only they were to be changed.",
        ]
    ]


def test_what_did_not_fail_is_not_sent_again(tmp_path: Path) -> None:
    code = """
    await say(typed); end('endTurn'); open();
    await again().catch((error) => back.push(error.message));
    """
    sent, back, _ = retried(tmp_path, code)
    assert len(sent) == 1
    assert back == ["No turn has failed."]


def test_only_what_can_still_be_sent_again_is_kept(tmp_path: Path) -> None:
    code = """
    const kept = () => back.push(Object.keys(made.chat.requests ?? {}));
    await say(typed); kept(); end(); kept();
    await made.prompting.send(typed); kept(); end('endTurn'); kept();
    """
    assert retried(tmp_path, code)[1] == [["t1"], ["t1"], ["t2"], []]
