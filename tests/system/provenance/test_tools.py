"""What the storms are made of: an oracle of its own, and runs that are shrunk and printed."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from provenance.hub import Json
from provenance.many import fewest
from provenance.storm import Outcome, Step, made

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", ["oracle", "agent", "person"])
def test_what_judges_a_run_imports_nothing_of_ours(name: str) -> None:
    code = f"import sys; sys.path.insert(0, {str(HERE.parent)!r}); import provenance.{name};"
    code += "print(*sorted({each.split('.')[0] for each in sys.modules}))"
    shown = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    assert "provenance" in shown.stdout.split()
    assert "lsp_agent" not in shown.stdout.split()


def test_a_run_that_goes_wrong_is_shrunk_and_printed_as_a_case_that_can_be_pasted() -> None:
    """Wrong as soon as a line is cut and a turn is reverted behind it."""

    def run(setup: Json, steps: list[Step]) -> Outcome:
        assert setup["files"]
        cuts = [at for at, step in enumerate(steps) if step[0] == "write" and ["cut", 1] in step[4]]
        reverts = [at for at, step in enumerate(steps) if step[0] == "revert"]
        is_wrong = bool(cuts and reverts) and cuts[0] < reverts[-1]
        return Outcome([("lost", "a word")] if is_wrong else [])

    setup, all_steps = made(11)
    some = [step for step in all_steps if step[0] != "revert"]
    steps = [
        *some,
        ["write", "a1", 0, 0, [["line", 3], ["cut", 1], ["add", 2]]],
        *some,
        ["revert", 6, 1],
        *some,
    ]
    first = run(setup, steps)
    told = fewest(11, first, (setup, steps), run)
    assert told.startswith("seed 11: lost: a word\n")
    case = told.partition("\n")[2].partition("    ),\n")[0] + "    ),\n"
    (found,) = ast.literal_eval(f"{{{case}}}").items()
    name, (fewest_setup, fewest_steps) = found
    assert name == "seed 11"
    assert fewest_setup == {"files": 1, "lines": 3, "mirror": [], "editor": "plain"} | {
        key: setup[key] for key in setup.keys() - {"files", "lines", "mirror", "editor"}
    }
    assert fewest_steps == [["write", "a1", 0, 0, [["cut", 1]]], ["revert", 6, 1]]
