"""VS Code's workbench with the extension from its .vsix."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "editors"))  # workbench, vscode_desk

from vscode_product import Product, build, product


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The workbench of a module's tests. Gone with them: beside it no other can be, nor asyncio."""
    with product(tmp_path_factory.mktemp("product"), build()) as started:
        yield started


@pytest.fixture
def person(one: Product, tmp_path: Path) -> Iterator[Product]:
    try:
        yield one
    finally:
        one.tell(tmp_path)
        one.end()
