"""A person takes proposals in Kakoune and types on at once: it puts an edit at the lines that it
was sent with, whatever was typed above them meanwhile, and checks nothing.
"""

import random
import time
from pathlib import Path

import pytest
from plain_kakoune import Kakoune
from plain_project import PlainProject
from plain_terminal import UNREAD, until
from support.sizes import size

pytestmark = [
    pytest.mark.kakoune,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.xdist_group("at a keyboard"),
]

ROUNDS = size(12, 60)
ASK = "agent: shorten it"
#: What is typed goes above this.
HEAD = "".join(f"head {number}\n" for number in range(6))
#: Three lines each: the agent makes one line of the first two.
OLD, NEW, BETWEEN = "first {0}\nsecond {0}\n", "shortened {0}\n", "between {0}\n"


def text(taken: int) -> str:
    """Of the file, after so many rounds; from the last part on, so that no line moves but by what
    is typed."""
    parts = ((OLD if n < ROUNDS - taken else NEW) + BETWEEN for n in range(ROUNDS))
    return HEAD + "".join(map(str.format, parts, range(ROUNDS)))


@pytest.fixture
def project(tmp_path: Path) -> PlainProject:
    edits = [{"oldText": OLD.format(n), "newText": NEW.format(n)} for n in range(ROUNDS)]
    call = {"name": "edit", "args": {"path": "notes.txt", "edits": edits}}
    project = PlainProject(tmp_path, [{"match": "^shorten", "calls": [call]}, {"text": "Done."}])
    project.notes.write_text(f"{ASK}\n{text(0)}")
    return project


def test_lines_typed_while_proposals_are_put_in_stay_and_nothing_else_goes(
    kakoune: Kakoune, project: PlainProject
) -> None:
    rng = random.Random(1)
    typed: list[str] = []
    kakoune.choose(1, "Ask the agent: shorten it")
    kakoune.wait_for("-first")
    for number in reversed(range(ROUNDS)):
        kakoune.choose(7 + 3 * number + len(typed), "Apply the agent's proposal")
        time.sleep(rng.uniform(0, 1.2))
        for _ in range(3):
            kakoune.type("ggO")
            time.sleep(UNREAD)
            typed.insert(0, f"typed {len(typed)}")
            kakoune.type(typed[0])
            kakoune.keys("Escape")
        kakoune.wait_for(lambda screen: "insert" not in screen)
    wanted = "".join(f"{line}\n" for line in typed) + text(ROUNDS)

    def saves() -> bool:
        kakoune.run("write")
        return project.saved() == wanted

    assert until(saves), project.saved()
