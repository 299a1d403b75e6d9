"""The demo's small project, what its agent does there, and how it must end."""

import os
import shlex
import sys
from pathlib import Path
from typing import Any

PRICES = '''"""Prices of a small shop."""


def total(prices):
    result = 0
    for price in prices:
        result += price
    return result
'''

#: Typed by the "person" and not saved when the agent starts.
UNSAVED = "# All prices are in cents.\n"

DISCOUNT = '''

def discounted(prices, percent):
    """The total, less a discount, in whole cents."""
    return round(total(prices) * (100 - percent) / 100)
'''

TESTS = """import time
import unittest

from prices import discounted, total


class PricesTest(unittest.TestCase):
    def setUp(self):
        time.sleep(0.3)

    def test_total_adds_all_prices(self):
        self.assertEqual(total([100, 250]), 350)

    def test_no_prices_cost_nothing(self):
        self.assertEqual(total([]), 0)

    def test_a_discount_is_taken_off(self):
        self.assertEqual(discounted([100, 250], 10), 315)
"""

#: A command that only a stop ends: it ignores SIGTERM and has a child in a session of its own.
NAP = f"sleep 600.{os.getpid()}"  # a number of its own, to be found by afterwards
STUBBORN = f"trap '' TERM; echo measuring; setsid {NAP} & {NAP}"

PROMPT = "Add a discount to prices.py, test it, and run the tests."
LONG_PROMPT = "Now measure it for ten minutes."


def lay_out(folder: Path) -> None:
    (folder / "prices.py").write_text(PRICES, encoding="utf-8")


def expected() -> dict[str, str]:
    """Every file of the folder at the end, by name."""
    title, blank, rest = PRICES.partition("\n\n")
    before_return = rest.removesuffix("    return result\n")
    return {
        "prices.py": f"{title}{blank}{UNSAVED}{before_return}    return result\n{DISCOUNT}",
        "test_prices.py": TESTS,
    }


def script() -> dict[str, Any]:
    """The script provider's steps, one for each call of the model."""
    python = shlex.quote(sys.executable)
    edit = {"oldText": "    return result\n", "newText": "    return result\n" + DISCOUNT}
    return {
        "steps": [
            {
                "match": "discount",
                "text": "I will look at prices.py first.",
                "calls": [{"name": "read", "args": {"path": "prices.py"}}],
            },
            {
                "text": "I see your unsaved comment about cents, and build on it.",
                "calls": [
                    {"name": "edit", "args": {"path": "prices.py", "edits": [edit]}},
                    {"name": "write", "args": {"path": "test_prices.py", "content": TESTS}},
                    {"name": "bash", "args": {"command": f"{python} -B -m unittest -v"}},
                ],
            },
            {"text": "The discount is in, and its tests pass."},
            {
                "match": "measure",
                "text": "This will take a while.",
                "calls": [{"name": "bash", "args": {"command": STUBBORN}}],
            },
            {"text": "Nobody ever reads this."},
        ]
    }
