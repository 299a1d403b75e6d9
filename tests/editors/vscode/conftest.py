"""VS Code's workbench with the extension from its .vsix."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from vscode_product import Product, build, product

#: The workbench that tests share, and what ends it.
_SHARED = pytest.StashKey[tuple[Product, contextlib.ExitStack]]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_shares)


@pytest.fixture(scope="module")
def one(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Product:
    """The workbench of all tests that need none of their own; they follow one another."""
    stash = request.config.stash
    if _SHARED not in stash:
        with contextlib.ExitStack() as stack:
            started = stack.enter_context(product(tmp_path_factory.mktemp("product"), build()))
            stash[_SHARED] = started, stack.pop_all()
        request.config.add_cleanup(stash[_SHARED][1].close)  # where the run is broken off
    return stash[_SHARED][0]


@pytest.hookimpl(trylast=True)  # after the ends of what uses it
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Ends the shared workbench with the last that uses it: beside it no other can be, nor
    asyncio."""
    stash = item.config.stash
    if _SHARED in stash and (nextitem is None or not _shares(nextitem)):
        _, stack = stash[_SHARED]
        del stash[_SHARED]
        stack.close()


def _shares(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and "one" in item.fixturenames


@pytest.fixture
def person(one: Product, tmp_path: Path) -> Iterator[Product]:
    try:
        yield one
    finally:
        one.tell(tmp_path)
        one.end()
