"""What becomes of comments that are written while others are being sent, or are with the agent."""

from typing import Any

import pytest
from vscode_stub import returned

pytestmark = [pytest.mark.vscode]

# The server answers a prompt when the test has it do so.
BEGIN = """
const commands = {}, prompts = [], answers = [], told = [];
const none = () => ({ dispose() {} });
Object.assign(vscode.commands, {
  registerCommand: (name, run) => { commands[name] = run; return none(); },
  executeCommand: (name, { text }) => name !== 'lspAgent.prompt' ? undefined :
    new Promise((resolve, reject) => {
      prompts.push(text.split('\\n\\n').slice(2).filter((each) => !/^\\d\\. /.test(each)));
      const turnId = `t${prompts.length}`;
      answers.push({ take: () => resolve({ sessionId: 's', turnId }), refuse: reject });
    }),
});
Object.assign(vscode.window, {
  showErrorMessage: (text) => told.push(text),
  showInformationMessage: (text) => told.push(text),
});
Object.assign(vscode.workspace, {
  onDidChangeTextDocument: none,
  openTextDocument: async (uri) =>
    ({ uri, lineAt: () => ({ text: 'abc' }), validateRange: (range) => range }),
  asRelativePath: ({ path }) => path,
});
let touch;
const onTouch = (listener) => { touch = listener; return none(); };
const review = { hunkIn: async () => undefined };
new in_place.InPlace({ onTouch, chats: new Map() }, review);
const opened = (line) => ({
  uri: vscode.Uri.file('/a'), range: new vscode.Range(line, 0, line, 3), comments: [],
  dispose() { this.isGone = true; },
});
const thread = opened(1), other = opened(5);
const add = (text, at = thread) => commands['lspAgent.comments.add']({ thread: at, text });
/** Until it is with the server. */
const send = async () => {
  const sent = commands['lspAgent.comments.send']();
  await new Promise((resolve) => setTimeout(resolve, 20));
  return sent && { sent };
};
const end = (id, stopReason = 'endTurn') =>
  touch({ touched: { turn: { id, state: 'ended', stopReason, parts: [] } } });
"""


def commenting(code: str) -> Any:
    """The comments of each prompt, and at the end what the thread shows."""
    end = "return [prompts, thread.isGone ? 'gone' : thread.label, told];"
    return returned(BEGIN + code + end, in_place="in_place/in_place")


def test_a_comment_that_is_added_while_others_are_sent_stays_and_is_sent_next() -> None:
    code = """
    await add('first');
    const { sent } = await send();
    await add('second');
    answers[0].take(); await sent;
    end('t1');
    const label = thread.label;
    const next = await send(); answers[1].take(); await next.sent;
    told.push(label);
    end('t2');
    """
    assert commenting(code) == [[["first"], ["second"]], "gone", ["Comment"]]


def test_what_is_sent_again_meanwhile_is_only_what_is_new() -> None:
    code = """
    await add('first');
    const one = await send();
    const nothing = await send();
    await add('second'); await add('elsewhere', other);
    const two = await send();
    answers[0].take(); answers[1].take();
    await Promise.all([one.sent, nothing.sent, two.sent]);
    """
    prompts, label, told = commenting(code)
    assert prompts == [["first"], ["second", "elsewhere"]]
    assert label == "Comment (sent)"
    assert told == ["There are no comments to send."]


def test_comments_that_could_not_be_sent_or_whose_turn_failed_wait_with_those_since() -> None:
    code = """
    await add('first');
    const one = await send();
    await add('second');
    answers[0].refuse(new Error('No server')); await one.sent;
    const two = await send(); answers[1].take(); await two.sent;
    await add('third');
    end('t2', 'error');
    const three = await send(); answers[2].take(); await three.sent;
    """
    prompts, label, told = commenting(code)
    assert prompts == [["first"], ["first\nsecond"], ["first\nsecond\nthird"]]
    assert label == "Comment (sent)"
    assert told == ["No server"]


def test_comments_that_are_written_at_once_in_one_thread_are_both_there() -> None:
    code = """
    await Promise.all([add('first'), add('second')]);
    const one = await send(); answers[0].take(); await one.sent;
    """
    assert commenting(code)[0] == [["first\nsecond"]]


def test_a_thread_that_was_closed_while_its_comment_was_sent_stays_closed() -> None:
    code = """
    await add('first');
    const { sent } = await send();
    await commands['lspAgent.inline.close'](thread);
    answers[0].take(); await sent;
    const { sent: nothing } = await send(); await nothing;
    """
    told = ["There are no comments to send."]
    assert commenting(code) == [[["first"]], "gone", told]
