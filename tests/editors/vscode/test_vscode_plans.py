"""An agent's plan in the chat of the real workbench: one checklist that gets on in place."""

import pytest
from support.workbench import wait_until
from vscode_product import Product

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("vscode"),
]

STEPS = """
(list) => [...list.querySelectorAll('li')].map((item) =>
  [item.querySelector('[role=img]').getAttribute('aria-label'), item.innerText.trim()])
"""
AT_TWO = [["Done", "Read"], ["Done", "Change"], ["In progress", "Test"]]


def steps(person: Product) -> list[list[str]]:
    return person.turn.get_by_role("list", name="Steps of the plan").evaluate(STEPS)


def test_a_plan_gets_on_in_place_and_is_there_after_a_reload(person: Product) -> None:
    person.begin()
    person.use("double")
    person.say("plan 0 1 2 wait of Read Change Test")
    head = person.turn.locator(".plan > summary")
    head.get_by_text("Plan 2/3").wait_for()
    assert head.get_by_text("Test").is_visible()
    assert steps(person) == AT_TWO
    said = person.turn.locator(".text p")
    wait_until(lambda: said.all_inner_texts() == ["0 done.", "1 done.", "2 done."])
    person.chat.get_by_role("button", name="Stop the agent").click()
    person.wait_for_end()
    person.workbench.reload()
    person.turn.locator(".plan > summary").get_by_text("Plan 2/3").wait_for()
    assert steps(person) == AT_TWO
    assert person.turn.locator(".plan").count() == 1


def test_a_long_plan_is_folded_and_stays_as_a_person_has_it(person: Product) -> None:
    person.begin()
    person.use("double")
    person.say("plan 4 wait 5 of Look Read Ask Plan Change Test Tell Clean Stop")
    plan = person.turn.locator(".plan")
    plan.get_by_text("Plan 4/9").wait_for()
    assert plan.get_by_text("Change", exact=True).is_visible()
    assert plan.get_by_role("listitem").count() == 0
    plan.locator("summary").focus()
    person.page.keyboard.press("Enter")
    wait_until(lambda: plan.get_by_role("listitem").count() == 9)
    person.page.keyboard.press("Escape")  # stops it, which lets it tell one more
    plan.get_by_text("Plan 5/9").wait_for()
    assert plan.get_by_role("listitem").count() == 9
    assert plan.locator("summary").evaluate("(head) => head === document.activeElement")
