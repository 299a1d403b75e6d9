"""A long answer in the chat of the real workbench: what has been said stays as it is while more
comes, and costs nothing."""

from collections.abc import Callable

import pytest
from support.workbench import wait_until
from vscode_desk import done, step
from vscode_product import Product

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("vscode"),
]

#: Of the answer, which comes word by word.
WORDS = 100_000

WATCH = """
() => {
  const gaps = window.gaps = [];
  let last = performance.now();
  const look = (now) => {
    gaps.push(now - last);
    last = now;
    if (gaps === window.gaps) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  return performance.memory?.usedJSHeapSize ?? 0;
}
"""
SEEN = "() => [window.gaps.toSorted((a, b) => a - b), performance.memory?.usedJSHeapSize ?? 0]"


def long_answer(words: int) -> str:
    """Paragraphs, lists and code."""
    blocks: list[str] = []
    told = 0
    while told < words:
        blocks.append("word " * 60 + f"**{len(blocks)}**")
        blocks.append("\n".join(f"- item {n} of it" for n in range(5)))
        blocks.append("```python\n" + "x = call(y) + 1\n" * 8 + "```")
        told += 61 + 25 + 8 * 5
    return "\n\n".join(blocks)


HEAD = "     text |  p95 ms |  max ms | heap before |  heap after"
SHOWN = """
() => ['p', 'ul', '.code'].map((each) =>
  document.querySelectorAll(`article .text > .run > ${each}`).length)
"""


def test_all_of_a_long_answer_is_shown_and_its_frames_are_told(
    person: Product, record_property: Callable[[str, object], None]
) -> None:
    text, below = long_answer(WORDS), long_answer(200)
    person.begin(step(text=text), step(text=below, match="^And", pace_ms=20), done())
    wanted = [0, 0, 0]
    for said, comes in (("Go.", text), ("And now?", below)):
        before = person.chat.evaluate(WATCH)
        person.say(said)
        person.wait_for_end(240)
        gaps, after = person.chat.evaluate(SEEN)
        counts = comes.count("**") // 2, comes.count("- item 0"), comes.count("```python")
        wanted = [sum(both) for both in zip(wanted, counts, strict=True)]
        wait_until(lambda wanted=wanted: person.chat.evaluate(SHOWN) == wanted)
        p95, longest = gaps[int(len(gaps) * 0.95)], gaps[-1]
        row = f"{len(comes):>9} | {p95:>7.0f} | {longest:>7.0f} | {before:>11} | {after:>11}"
        record_property("table", ("Frames of the chat while an answer comes", HEAD, row))


SELECT = """
() => {
  window.first = document.querySelector('article .text > .run > p');
  getSelection().selectAllChildren(window.first);
}
"""
SELECTED = "() => [window.first.isConnected, getSelection().toString()]"


def test_what_is_selected_stays_selected_while_more_comes(person: Product) -> None:
    person.begin(step(text="First words.\n\n" + "more " * 40 + "\n\nLast.", pace_ms=30), done())
    person.say("Go.")
    person.turn.get_by_text("more more").wait_for()
    person.chat.evaluate(SELECT)
    person.turn.get_by_text("Last.").wait_for()
    assert person.chat.evaluate(SELECTED) == [True, "First words."]
    person.wait_for_end()
    assert person.chat.evaluate(SELECTED) == [True, "First words."]


def test_thoughts_that_are_open_get_on_and_are_whole_when_they_are_opened(person: Product) -> None:
    thinking = "one " * 30 + "two " * 30
    person.begin(step(text="Done.", thinking=thinking, pace_ms=30), done())
    person.say("Go.")
    summary = person.turn.locator(".thinking > summary")
    summary.click()
    inside = person.turn.locator(".thinking .inside")
    inside.get_by_text("one one").wait_for()
    inside.get_by_text("one two").wait_for()
    person.wait_for_end()
    summary.click()
    summary.click()
    wait_until(lambda: inside.inner_text().split() == thinking.split())
