"""Where a prompt goes that was written while others before it waited."""

from typing import Any

import pytest
from support.vscode_modules import returned

pytestmark = [pytest.mark.vscode]

# The server answers when it is told to go on. It has the session "gone" no more.
BEGIN = """
let goOn;
const held = new Promise((resolve) => (goOn = resolve));
const sent = [];
let opened = 0;
const unknown = () => Object.assign(new Error('no session'), { data: { kind: 'unknownSession' } });
const client = {
  request: async (method, { sessionId } = {}) => {
    if (method === 'resumeSession' && sessionId === 'gone') throw unknown();
    if (method === 'newSession') return { sessionId: `new ${++opened}` };
    return { messages: [] };
  },
  command: async (_, { sessionId = `new ${++opened}`, text, whenBusy }) => {
    if (sessionId === 'deleted') throw unknown();
    if (text === 'switch') made.switchTo('other');
    sent.push(whenBusy === 'steer' ? [sessionId, text, whenBusy] : [sessionId, text]);
    return { sessionId, turnId: `turn ${sent.length}` };
  },
};
const made = new agent.Agent({}, {}, { commands: {} });
made.connection = { running: client, ensure: () => held.then(() => client) };
const chat = (id, earlier, ...turns) => {
  made.chats.set(id, { ...transcript.newChat(id), earlier, turns });
  made.current = id;
};
const say = (text, steers) => made.prompting.send({ text, attachments: [], images: [] }, steers);
"""


def sending(code: str) -> Any:
    """What the server is sent, and what is shown at the end."""
    end = "goOn(); await Promise.allSettled(said); return [sent, made.current];"
    return returned(BEGIN + code + end, agent="agent", transcript="chat/transcript")


@pytest.mark.parametrize("earlier", ["false", "true"])
def test_a_prompt_goes_to_the_conversation_that_was_shown_when_it_was_sent(earlier: str) -> None:
    code = f"chat('other', false); chat('one', {earlier}); const said = [say('1'), say('2')];"
    sent, shown = sending(code + "made.switchTo('other'); said.push(say('3'));")
    assert sent == [["one", "1"], ["one", "2"], ["other", "3"]]
    assert shown == "other"


@pytest.mark.parametrize("first", ["", "chat('gone', true);"])
def test_prompts_without_a_session_go_on_in_the_one_that_the_first_of_them_opens(
    first: str,
) -> None:
    sent, _ = sending(f"{first} const said = [say('switch'), say('2'), say('3')];")
    assert sent == [["new 1", "switch"], ["new 1", "2"], ["new 1", "3"]]


def test_prompts_go_on_in_the_session_that_a_command_before_them_opened() -> None:
    code = "const said = [made.prompting.byCommand({ text: '0' }), say('1'), say('2')];"
    assert sending(code)[0] == [["new 1", "0"], ["new 1", "1"], ["new 1", "2"]]


def test_a_prompt_is_for_the_turn_that_ran_where_it_was_sent() -> None:
    code = """
    const runs = { capabilities: { steer: true } };
    const turn = () => ({ id: 't', context: [], state: 'running', parts: [] });
    chat('other', false, turn()); chat('one', false); made.states.set('other', runs);
    const said = [say('1', true)];
    made.switchTo('other');
    said.push(say('2', true));
    """
    assert sending(code)[0] == [["one", "1"], ["other", "2", "steer"]]


def test_a_prompt_for_a_conversation_that_was_deleted_meanwhile_is_refused() -> None:
    code = "chat('other', false); chat('deleted', false); const said = [say('1')];"
    code += "made.chats.delete('deleted'); made.switchTo('other'); said.push(say('2'));"
    sent, shown = sending(code)
    assert sent == [["other", "2"]]
    assert shown == "other"
