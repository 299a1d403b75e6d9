"""Who is elsewhere in the real workbench sees by the view and the list of sessions what came."""

import pytest
from support.workbench import Json, wait_until
from vscode_desk import done, step
from vscode_product import Product

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("vscode"),
]

BADGE = ".activitybar .action-item:has([aria-label^='Agent']) .badge-content"


def badge(person: Product) -> str:
    return person.page.locator(BADGE).first.inner_text()


def test_what_comes_while_another_view_is_shown_is_counted_and_marked(person: Product) -> None:
    asking: Json = {"name": "bash", "args": {"command": "touch asked.txt"}}
    person.begin(step(asking, delay_ms=500), done())
    person.say("First words")
    person.hide()
    wait_until(lambda: badge(person) == "1")
    person.palette("Agent: Switch Session")
    row = person.row("First words")
    wait_until(lambda: "waits for you" in row.inner_text())
    person.key("Escape")
    person.command("notifications.clearAll")  # which dismisses the question
    wait_until(lambda: badge(person) == "1")
    person.palette("Agent: Switch Session")
    wait_until(lambda: "unread" in person.row("First words").inner_text())
    person.key("Escape")
    person.command("lspAgent.chat.open")
    person.wait_for_end()
    wait_until(lambda: not person.page.locator(BADGE).first.is_visible())
