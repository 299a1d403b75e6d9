"""Each agent once for all its cells, and at the end of the run the table that they make up.

A run in which every cell passed is held against docs/agents.md: a page that says something else
fails it. With ``LSP_AGENT_WRITE_DOCS=1`` the page is written instead.
"""

import difflib
import os
from collections.abc import Callable, Iterator

import agents_page
import pytest
from desks import DESKS, Desk
from support.project import new_project

_HOW = "LSP_AGENT_WRITE_DOCS=1 make test ARGS=tests/system/capabilities"


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            kind,
            marks=[
                pytest.mark.xdist_group(f"capabilities {kind.agent}"),
                *([getattr(pytest.mark, kind.needs)] if kind.needs else []),
            ],
            id=kind.agent,
        )
        for kind in DESKS
    ],
)
def whole_desk(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    with new_project(tmp_path_factory.mktemp("desk")) as project, request.param(project) as desk:
        yield desk


@pytest.fixture
def desk(
    whole_desk: Desk, request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> Desk:
    """The agent, with nothing said or asked in this test yet."""
    name: str = request.function.__name__.removeprefix("test_")
    record_property("capability", (whole_desk.agent, name, whole_desk.verdict(name)))
    whole_desk.begin_anew()
    return whole_desk


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Gathering(), "capabilities")


class _Gathering:
    """In the process that gets every report."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, str], str] = {}
        self._said = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties if report.when == "call" else ():
            if name == "capability" and report.passed:
                agent, capability, verdict = value
                self._cells[agent, capability] = verdict

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not agents_page.is_whole(self._cells):
            return
        page = agents_page.PAGE.read_text(encoding="utf-8")
        meant = agents_page.filled(page, self._cells)
        if page == meant:
            return
        if os.environ.get("LSP_AGENT_WRITE_DOCS") == "1":
            agents_page.PAGE.write_text(meant, encoding="utf-8")
            self._said = "wrote docs/agents.md"
        else:
            differs = difflib.unified_diff(page.splitlines(), meant.splitlines(), lineterm="", n=0)
            self._said = "\n".join([*differs, f"docs/agents.md is not what was found: {_HOW}"])
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._said:
            terminalreporter.section("what the agents can")
            terminalreporter.line(self._said)
