"""Each promise of docs/security.md has a test that holds it."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_HEAD = "| promise | held by | test |"
#: `tests/system/attacks/test_x.py::test_y`
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
_MODULE = re.compile(r"`((?:[a-z_]+/)+(?:[a-z_]+\.\w+)?)`")


def page() -> str:
    return (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def rows() -> list[list[str]]:
    _, head, table = page().partition(f"{_HEAD}\n")
    assert head, "the table is gone"
    lines = [line for line in table.partition("\n\n")[0].splitlines() if line.startswith("|")][1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def functions_of(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")
    }


def test_each_promise_names_a_test_that_there_is():
    assert len(rows()) >= 45
    for promise, _, tests in rows():
        named = _TEST.findall(tests)
        assert named, f"{promise}: no test is named"
        for file, name in named:
            assert (ROOT / file).is_file(), f"{promise}: there is no {file}"
            assert name in functions_of(ROOT / file), f"{promise}: {file} has no {name}"


def test_each_row_that_names_a_test_stands_in_the_table_of_promises():
    naming = [line for line in page().splitlines() if line.startswith("|") and _TEST.search(line)]
    assert len(naming) == len(rows())


def test_what_holds_a_promise_is_a_module_that_there_is():
    for promise, modules, _ in rows():
        named = _MODULE.findall(modules)
        assert named, f"{promise}: no module is named"
        for module in named:
            base = ROOT if module.startswith("editors/") else ROOT / "lsp_agent"
            assert (base / module).exists(), f"{promise}: there is no {module}"
