"""A folder that the person has not trusted: nothing of the agent's runs in it until it is."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.workbench import wait_until
from vscode_product import Product, build, product
from vscode_servers import servers

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("vscode"),
]

REVIEW = "return vscode.workspace.getConfiguration('lspAgent').get('edits.review')"


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Product]:
    with product(tmp_path, build(), trusts_all=False) as started:
        yield started


def test_in_a_folder_that_is_not_trusted_nothing_starts_until_it_is(person: Product) -> None:
    person.settings({"lspAgent.edits.review": "off"})
    assert person.workbench.run("return vscode.workspace.isTrusted") is False
    person.command("lspAgent.chat.open")
    hindrance = person.chat.locator(".hindrance")
    hindrance.filter(has_text="You have not trusted this folder").wait_for()
    assert person.input.is_disabled()
    assert servers(person.folder.parent) == []
    # What the folder's own settings say does not count.
    wait_until(lambda: person.workbench.run(REVIEW) == "after")

    hindrance.get_by_role("button", name="Manage Trust").click()
    person.page.get_by_role("button", name="Trust", exact=True).first.click()
    hindrance.wait_for(state="detached")
    wait_until(person.servers)
    wait_until(lambda: person.workbench.run(REVIEW) == "off")
    person.say("Go")
    person.turn.locator(".prompt").wait_for()
