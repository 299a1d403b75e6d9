"""A person who is elsewhere is told: never of what they see."""

from typing import Any

import pytest
from support.vscode_modules import returned

pytestmark = [pytest.mark.vscode]

BEGIN = """
const event = () => new vscode.EventEmitter();
const [touches, switches, visibility, windows, asks] = [1, 2, 3, 4, 5].map(event);
const agent = { current: 's', chats: new Map([['s', {}], ['other', {}]]),
  onTouch: touches.event, onSwitch: switches.event };
let open = [];
const questions = { list: () => open, onChange: asks.event };
const chat = { isVisible: true, onVisibility: visibility.event, showBadge: (b) => { badge = b; } };
let badge, wanted = true, stored = [];
const told = [];
const kept = { get: () => stored, update: (_, value) => { stored = value; } };
vscode.window = { state: { focused: true }, onDidChangeWindowState: windows.event };
vscode.workspace = { getConfiguration: () => ({ get: () => wanted }) };
const tell = (...said) => told.push(said);
const began = () => new attention.Attention(agent, questions, chat, kept, tell);
let made = began();
let number = 0;
const turn = (sessionId, stopReason) => {
  const turn = { id: String(number++), prompt: 'Go', state: 'running' };
  touches.fire({ chat: { sessionId }, touched: { turn } });
  Object.assign(turn, { state: 'ended', stopReason });
  for (let n = 0; n < 2; n++) touches.fire({ chat: { sessionId }, touched: { turn } });
};
const ask = (...asked) => {
  open = asked.map(([questionId, sessionId]) => ({ questionId, sessionId, title: questionId }));
  asks.fire();
};
const hide = (isHidden) => { chat.isVisible = !isHidden; visibility.fire(!isHidden); };
const leave = (isAway) => { vscode.window.state.focused = !isAway; windows.fire(); };
const seen = () => [badge?.value ?? 0, badge?.tooltip ?? '', made.isUnread('s'), told];
"""


def after(code: str) -> Any:
    return returned(BEGIN + code + "\nreturn seen();", attention="attention")


def test_what_is_seen_is_told_by_nothing() -> None:
    assert after("turn('s', 'endTurn'); ask(['q', 's']);") == [0, "", False, []]


def test_what_ends_or_asks_behind_another_view_is_counted_until_it_is_seen() -> None:
    code = "hide(true); turn('s', 'endTurn'); turn('s', 'error'); ask(['q', 's']);"
    assert after(code) == [3, "1 question waits, 2 turns ended", True, []]
    assert after(code + "hide(false);") == [0, "", False, []]


def test_another_session_is_unread_until_it_is_shown() -> None:
    other = "turn('other', 'endTurn'); const was = badge.value; agent.current = 'other';"
    assert after(other + "switches.fire(); told.push(was);") == [0, "", False, [1]]


def test_what_the_person_stopped_is_not_unread() -> None:
    assert after("hide(true); leave(true); turn('s', 'aborted');") == [0, "", False, []]


def test_in_another_window_a_notification_of_the_system_tells() -> None:
    code = "leave(true); ask(['q', 's']); ask(['q', 's'], ['r', 's']); turn('s', 'error');"
    code += "turn('other', 'endTurn');"
    told = [
        ["The agent asks", "q"],
        ["The agent asks", "r"],
        ["The agent failed", "Go"],
        ["The agent is done", "Go"],
    ]
    assert after(code) == [4, "2 questions wait, 2 turns ended", True, told]
    assert after("wanted = false;" + code)[3] == []
    assert after(code + "leave(false);")[:3] == [1, "1 turn ended", False]


def test_what_is_unread_still_is_in_the_next_window() -> None:
    code = "hide(true); turn('s', 'endTurn'); made = began();"
    assert after(code) == [1, "1 turn ended", True, []]


def test_words_are_no_part_of_a_systems_script() -> None:
    code = """
    const text = '"a"\\n<b>' + 'x'.repeat(200);
    return argument.map((name) => system.command(name, 'Done', text));
    """
    linux, mac, other = returned(code, ["linux", "darwin", "win32"], system="system_notification")
    text = '"a" <b>' + "x" * 113
    assert linux[-3:] == ["--", "Done", text.replace("<", "&lt;")]
    assert mac[-2:] == ["Done", text]
    assert not any("Done" in part for part in mac[:-2])
    assert other is None
