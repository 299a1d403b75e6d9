"""What a text has beside an agent's change."""

import pytest

from lsp_agent.text.lines import Text
from lsp_agent.workspace.ledger.change import Change, Texts
from lsp_agent.workspace.ledger.change_hunks import written_by_others

BEFORE = Text("one\ntwo\nthree\nfour\nfive\n")
CHANGE = Change(
    id="1",
    session_id="s",
    turn_id="t",
    tool_call_id="c",
    path="/a.txt",
    status="applied",
    time=0.0,
    texts=Texts(BEFORE, Text("ONE\ntwo\nthree\nfour\nFIVE\n")),
)


@pytest.mark.parametrize(
    ("now", "others"),
    [
        pytest.param("ONE\ntwo\nthree\nfour\nFIVE\n", BEFORE.content, id="nothing"),
        pytest.param(
            "ONE\ntwo\nTHREE\nfour\nFIVE\n", "one\ntwo\nTHREE\nfour\nfive\n", id="a line between"
        ),
        pytest.param("one\nTWO\nthree\nFOUR\nfive\n", BEFORE.content, id="as many changes as its"),
    ],
)
def test_a_text_has_beside_a_change_what_is_not_of_it(now: str, others: str) -> None:
    found = written_by_others(CHANGE, BEFORE, Text(now))
    assert found is not None
    assert found.content == others


def test_what_cannot_be_told_from_a_change_is_nothing() -> None:
    assert written_by_others(CHANGE, BEFORE, Text("one\ntwo\nTHREE\nfour\nfive\n")) is None
