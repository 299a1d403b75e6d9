"""Which turns of a conversation the chat makes at once, and which of them later."""

from typing import Any

import pytest
from support.vscode_modules import returned

pytestmark = [pytest.mark.vscode]

HELP = """
const turn = (number, state = 'ended') => ({ id: `t${number}`, state, parts: [] });
const turns = (count) => Array.from({ length: count }, (_, number) => turn(number));
const ids = (some) => some.map(({ id }) => id);
const rest = (made) => {
  const found = [];
  for (let turn; (turn = made.next()); ) found.push(turn);
  return found;
};
"""


def told(code: str) -> Any:
    return returned(HELP + code, later="webview/later")


def test_the_last_turns_are_made_at_once_and_the_others_from_the_newest_to_the_oldest() -> None:
    at_once, others = told("""
      const made = new later.Later(turns(15));
      return [ids(made.atOnce), ids(rest(made))];
    """)
    assert at_once == [f"t{number}" for number in range(3, 15)]
    assert others == ["t2", "t1", "t0"]


def test_a_short_conversation_is_made_at_once() -> None:
    code = "const made = new later.Later(turns(12)); return [made.atOnce.length, rest(made)];"
    assert told(code) == [12, []]


def test_a_turn_that_runs_is_made_at_once_however_many_wait_behind_it() -> None:
    at_once = told("""
      const waiting = Array.from({ length: 20 }, (_, number) => turn(5 + number, 'queued'));
      return ids(new later.Later([...turns(4), turn(4, 'running'), ...waiting]).atOnce);
    """)
    assert at_once == [f"t{number}" for number in range(4, 25)]


def test_what_becomes_of_a_turn_meanwhile_is_in_it_when_it_is_made() -> None:
    taken, others = told("""
      const made = new later.Later(turns(15));
      const text = { kind: 'text', text: 'One' };
      const taken = [
        { type: 'turn', turn: { ...turn(1), prompt: 'Anew' } },
        { type: 'part', turnId: 't0', index: 0, part: text },
        { type: 'grown', turnId: 't0', index: 0, text: ' and two' },
      ].map((message) => made.take(message));
      return [taken, rest(made)];
    """)
    assert taken == [True, True, True]
    assert others[1]["prompt"] == "Anew"
    assert others[2]["parts"] == [{"kind": "text", "text": "One and two"}]


def test_what_is_told_of_a_turn_that_is_there_is_left_to_it() -> None:
    taken = told("""
      const made = new later.Later(turns(15));
      made.next();
      const part = { kind: 'text', text: 'One' };
      return ['t14', 't2'].flatMap((turnId) => [
        made.has(turnId),
        made.take({ type: 'part', turnId, index: 0, part }),
        made.take({ type: 'grown', turnId, index: 0, text: 'more' }),
      ]);
    """)
    assert taken == [False] * 6
