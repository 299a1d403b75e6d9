"""The import rule (docs/architecture.md): imports only go down, and state has an owner."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "lsp_agent"
ROOT = PACKAGE.parent

#: What a layer may import beside itself.
BELOW = {
    "protocol": set[str](),
    "user_data": {"protocol"},
    "text": {"protocol"},
    "toolset": {"protocol", "text"},
    "processes": {"protocol"},
    "sandbox": {"protocol"},
    "wires": {"protocol", "toolset"},
    "workspace": {"protocol", "user_data", "text"},
    "agents": {"protocol", "text", "toolset", "processes", "sandbox"},
    "runtime": {"protocol", "user_data", "text", "toolset", "processes"},
}
BELOW["sessions"] = {*BELOW} - {"runtime"}
BELOW["server"] = {*BELOW} - {"runtime", "toolset", "wires"}
BELOW["cli"] = {*BELOW}
#: The rooms of a layer, by floors from the lowest: a room imports from those below it. Rooms of one
#: floor do not import each other.
ROOMS: dict[str, list[set[str]]] = {
    "agents": [{"guard"}],
    "cli": [{"editors"}],
    "protocol": [{"settings"}],
    "runtime": [{"providers"}, {"tools"}],
    "sandbox": [{"starter", "network"}],
    "wires": [{"acp", "codex", "meerkat", "pi", "zot"}],
    "workspace": [
        {"disk"},
        {"documents"},
        {"placing", "ledger"},
        {"changing"},
        {"mirror", "review"},
    ],
    "sessions": [{"shared", "stored"}, {"permissions"}, {"files"}, {"agent"}],
    "server": [{"rpc"}, {"client"}, {"review", "turns"}, {"questions"}, {"chat"}, {"methods"}],
}
LSP = {"pygls", "lsprotocol"}
MODULES = sorted(PACKAGE.rglob("*.py"))
CHANGES = {"add", "append", "clear", "extend", "insert", "pop", "popitem", "remove", "setdefault"}
CHANGES |= {"update", "discard", "appendleft"}


def each_module(*below: str) -> pytest.MarkDecorator:
    chosen = [path for path in MODULES if path.relative_to(PACKAGE).parts[: len(below)] == below]
    assert chosen
    return pytest.mark.parametrize("module", chosen, ids=lambda path: str(path.relative_to(ROOT)))


def imports(module: Path) -> Iterator[str]:
    """The dotted names that a module imports, wherever in it; relative ones made whole."""
    package = module.relative_to(ROOT).parts[:-1]
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join((*above, *([node.module] if node.module else [])))
            yield base
            yield from (f"{base}.{name.name}" for name in node.names)


def layer(module: Path) -> str | None:
    parts = module.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else None


def test_every_folder_is_a_layer():
    assert {layer(module) for module in MODULES} - {None} == set(BELOW)


@each_module()
def test_imports_only_go_down(module):
    here = layer(module)
    if here is None:
        return  # __init__ and __main__ stand above all
    ours = {name.split(".")[1] for name in imports(module) if name.startswith("lsp_agent.")}
    layers = ours & set(BELOW)
    assert layers <= BELOW[here] | {here}


def test_every_room_is_on_a_floor():
    rooms = {
        (folder.parent.name, folder.name)
        for folder in PACKAGE.glob("*/*/")
        if folder.name[0] != "_"
    }
    assert rooms == {
        (layer, room) for layer, floors in ROOMS.items() for floor in floors for room in floor
    }


@each_module()
def test_rooms_import_only_from_the_floors_below(module):
    layer, room, *_ = *module.relative_to(PACKAGE).parts, ""
    floors = ROOMS.get(layer, [])
    mine = next((number for number, rooms in enumerate(floors) if room in rooms), len(floors))
    closed = set[str]().union(*floors[mine:]) - {room}
    taken = {name.removeprefix(f"lsp_agent.{layer}.").split(".")[0] for name in imports(module)}
    assert not taken & closed


@each_module()
def test_only_the_server_knows_pygls(module):
    if layer(module) != "server":
        assert not {name.split(".")[0] for name in imports(module)} & LSP


@each_module("agents", "guard")
def test_the_guard_needs_nothing_but_the_standard_library(module):
    others = {name.split(".")[0] for name in imports(module)} - sys.stdlib_module_names
    assert not others - {""}


@each_module("sandbox", "starter")
def test_what_starts_a_held_command_needs_only_itself_and_the_standard_library(module):
    others = {name for name in imports(module) if name.split(".")[0] not in sys.stdlib_module_names}
    assert all(name.startswith("lsp_agent.sandbox.starter") for name in others - {""})


@each_module()
def test_no_function_changes_what_a_module_holds(module):
    tree = ast.parse(module.read_text(encoding="utf-8"))
    held = {
        target.id
        for node in tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node for node in ast.walk(tree) if isinstance(node, functions)]
    changed = {name for body in bodies for name in changes(body)} & held
    assert not changed, f"module-level state: {sorted(changed)}"


def changes(body: ast.AST) -> Iterator[str]:
    """The names that ``body`` changes in place, or declares global."""
    for node in ast.walk(body):
        match node:
            case ast.Global(names=names):
                yield from names
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                yield name
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if (
                attr in CHANGES
            ):
                yield name
            case _:
                pass
