"""Tool calls in the chat of the real workbench: what is seen of them as they run and after."""

import pytest
from support.workbench import Json, wait_until
from vscode_desk import done, read, step
from vscode_product import Product

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("vscode"),
]

#: Ends as soon as the file is there, and fails.
LONG = """\
touch begun; for n in $(seq 300); do echo "line $n"; done
until [ -e go ]; do sleep 0.05; done
printf 'a.py:1: \\033[31mwrong\\033[0m\\n'; exit 3"""
SCROLLED = "(pre) => [pre.scrollTop > 0, pre.scrollHeight - pre.scrollTop - pre.clientHeight < 4]"


def command(line: str) -> Json:
    return {"name": "bash", "args": {"command": line}}


def test_reads_in_a_row_are_one_that_opens_to_all(person: Product) -> None:
    for name in "abc":
        (person.folder / f"{name}.txt").write_text(f"{name}\n")
    person.begin(step(read("a.txt"), read("b.txt")), step(read("c.txt"), read("none.txt")), done())
    person.say("Go")
    person.wait_for_end()
    box = person.turn.locator(".reads")
    assert box.count() == 1
    assert box.inner_text().split("\n")[0] == "Read 4 files, 1 failed"
    assert person.turn.locator(".call").count() == 0
    box.locator("summary").click()
    subjects = box.locator(".call .subject")  # drawn a moment after it was opened
    wait_until(lambda: subjects.all_inner_texts() == ["a.txt", "b.txt", "c.txt", "none.txt"])


def test_output_follows_its_end_and_a_failure_is_seen_before_it_is_opened(person: Product) -> None:
    (person.folder / "go").unlink(missing_ok=True)
    person.begin(step(command(LONG)), done())
    person.say("Go")
    waits = person.turn.locator(".waits")
    waits.wait_for()
    call = person.turn.locator(".call")
    assert call.locator("summary [aria-label='waits for you']").count() == 1
    person.read()
    person.press("Allow")
    call.locator(".newest", has_text="line 300").wait_for()
    assert waits.count() == 0
    call.locator("summary").click()
    output = call.locator("pre.output")
    wait_until(lambda: output.evaluate(SCROLLED) == [True, True])
    output.evaluate("(pre) => { pre.scrollTop = 40 }")
    (person.folder / "go").touch()
    person.wait_for_end()
    assert output.evaluate("(pre) => pre.scrollTop") == 40
    assert output.locator(".ansi-red").inner_text() == "wrong"
    assert output.locator("a").last.inner_text() == "a.py:1"
    call.locator("summary").click()
    assert call.locator(".newest").count() == 0
    call.locator("summary").click()
    wait_until(lambda: output.evaluate(SCROLLED) == [True, True])


def test_what_was_thought_has_a_line_and_the_turn_its_time(person: Product) -> None:
    thinking = "First this.\n\n" + "Then that. " * 10
    person.begin(step(thinking=thinking, text="So.", delay_ms=1200, pace_ms=60), done())
    person.say("Go")
    thought = person.turn.locator(".thinking summary")
    thought.filter(has_text="Thinking").filter(has_text="Then that. Then").wait_for()
    person.wait_for_end()
    assert thought.locator(".subject").inner_text() == "First this."
    assert thought.locator(".name").inner_text().startswith("Thought")
    assert person.turn.locator("footer .took").inner_text().startswith("Took ")
    assert person.turn.locator(".prompt").get_attribute("title") != ""
