"""VS Code's workbench with the extension from its .vsix, or with a plain language client."""

import contextlib
import shutil
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from support.workbench import Workbench
from vscode_desk import Desk
from vscode_product import Product, build, product

#: Of a test: whether it failed, so that who looks why wants a picture.
_FAILED = pytest.StashKey[bool]()
#: The workbench that tests share, and what ends it.
_SHARED = pytest.StashKey[tuple[Product, contextlib.ExitStack]]()


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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "call":
        item.stash[_FAILED] = report.failed
    return report


def _shares(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and "one" in item.fixturenames


@pytest.fixture
def person(one: Product, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Product]:
    try:
        yield one
    finally:
        if request.node.stash.get(_FAILED, True):
            one.tell(tmp_path)
        one.end()


@pytest.fixture(scope="module")
def workbench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """With a plain language client."""
    base = tmp_path_factory.mktemp("workbench")
    folder = base / "shop"
    (folder / ".git").mkdir(parents=True)
    with Workbench(base, folder) as started:
        yield started


@pytest.fixture
def desk(workbench: Workbench, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Desk]:
    """The parameter is the file's name."""
    # Sockets' addresses are short: pytest's own folders are too deep for them.
    runtime = Path(tempfile.mkdtemp(prefix="la-"))
    desk = Desk(workbench, tmp_path, runtime, getattr(request, "param", "shop.txt"))
    try:
        yield desk
    finally:
        if request.node.stash.get(_FAILED, True):
            workbench.picture(tmp_path / "end.png")
            log = desk.log.read_text() if desk.log.exists() else ""
            print(f"{tmp_path / 'end.png'}\n{log}")
        desk.close()
        shutil.rmtree(runtime, ignore_errors=True)
