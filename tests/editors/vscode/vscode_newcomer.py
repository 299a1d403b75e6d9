"""Someone who has VS Code and the extension, and nothing else yet; a model answers on loopback."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from support.acp_agents import is_no_turns
from support.model_server import Call, ModelServer, Step
from support.workbench import wait_until
from vscode_product import Product, build, product

if TYPE_CHECKING:
    from playwright.sync_api import Locator

KEY = "sk-mine-0123456789"
SHOP = "price = 1\n"
MINE = "# not saved yet\n"
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_BASE_URL")


class Newcomer:
    """Whose PATH leads to ``programs`` alone; a model answers at ANTHROPIC_BASE_URL."""

    def __init__(self, base: Path, person: Product, model: ModelServer) -> None:
        self.base = base
        self.person = person
        self.model = model
        self.programs = base / "bin"

    @property
    def card(self) -> "Locator":
        return self.person.chat.locator("#connect")

    def press(self, name: str) -> None:
        self.card.get_by_role("button", name=name, exact=True).click()

    def types(self) -> None:
        """Opens the shop, and leaves in it what is not saved."""
        self.person.open("shop.py", SHOP)
        self.person.go_to("shop.py", "price")
        self.person.page.keyboard.type(MINE)
        wait_until(lambda: self.person.text("shop.py") == MINE + SHOP)

    def is_edited_by(self, call: Call) -> None:
        """A prompt leads to an answer, and to an edit of what the editor shows; what was not saved
        is there and still is not."""
        person = self.person
        self.model.then(Step("I look.", (call,)), Step("It is in cents."))
        person.say("Put the price in cents")
        person.turn.get_by_text("It is in cents.").wait_for()
        person.wait_for_end()
        wait_until(lambda: person.text("shop.py") == f"{MINE}price = 100\n")
        assert MINE not in person.on_disk("shop.py")

    def program(self, name: str, line: str) -> None:
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def servers(self) -> list[psutil.Process]:
        """Those of this window, which start from a folder of the person's."""
        own = str(self.base) + os.sep
        found: list[psutil.Process] = []
        for process in psutil.process_iter(["cmdline"]):
            command = process.info["cmdline"] or []
            if "serve" in command and any(part.startswith(own) for part in command):
                found.append(process)
        return found


@contextmanager
def newcomer(base: Path, **variables: str) -> Iterator[Newcomer]:
    with ExitStack() as stack:
        model = stack.enter_context(ModelServer(aside=is_no_turns))
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name in KEYS:
            patch.delenv(name, raising=False)
        patch.setenv("ANTHROPIC_BASE_URL", model.url)
        patch.setenv("PYENV_ROOT", str(base / "pyenv"))
        patch.setenv("PIP_CACHE_DIR", str(Path(sys.prefix, "pip-cache")))
        for name, value in variables.items():
            patch.setenv(name, value)
        (base / "bin").mkdir()
        started = product(base, build(), machine={}, path=str(base / "bin"))
        yield Newcomer(base, stack.enter_context(started), model)
