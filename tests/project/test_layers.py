"""The import rule (docs/architecture.md): imports only go down, and state has an owner."""

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

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
#: The rooms of a layer or of a room, by floors from the lowest: a room imports from those below it.
#: Rooms of one floor do not import each other.
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
    "sessions": [{"shared", "stored"}, {"permissions"}, {"files"}, {"agent"}, {"reverts"}],
    "sessions/permissions": [{"shell"}, {"reading"}, {"keeping"}],
    "server": [{"rpc"}, {"client"}, {"review", "turns"}, {"questions"}, {"chat"}, {"methods"}],
}
LSP = {"pygls", "lsprotocol"}
MODULES = sorted(PACKAGE.rglob("*.py"))
CHANGES = {"add", "append", "clear", "extend", "insert", "pop", "popitem", "remove", "setdefault"}
CHANGES |= {"update", "discard", "appendleft"}


def faults(found_in: Callable[[Path], Iterable[str]], *below: str) -> dict[str, list[str]]:
    """By module. One test looks at all of them: as hundreds of tests they took far longer."""
    chosen = [path for path in MODULES if path.relative_to(PACKAGE).parts[: len(below)] == below]
    assert chosen
    found = {str(path.relative_to(ROOT)): sorted(found_in(path)) for path in chosen}
    return {module: names for module, names in found.items() if names}


@cache
def tree(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


@cache
def imports(module: Path) -> frozenset[str]:
    """The dotted names that a module imports, wherever in it; relative ones made whole."""
    package = module.relative_to(ROOT).parts[:-1]
    names = set[str]()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            names.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join((*above, *([node.module] if node.module else [])))
            names.add(base)
            names.update(f"{base}.{name.name}" for name in node.names)
    return frozenset(names)


def layer(module: Path) -> str | None:
    parts = module.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else None


def test_every_folder_is_a_layer():
    assert {layer(module) for module in MODULES} - {None} == set(BELOW)


def test_imports_only_go_down():
    def upwards(module: Path) -> set[str]:
        here = layer(module)
        if here is None:
            return set()  # __init__ and __main__ stand above all
        ours = {name.split(".")[1] for name in imports(module) if name.startswith("lsp_agent.")}
        return ours & set(BELOW) - BELOW[here] - {here}

    assert faults(upwards) == {}


def test_every_room_is_on_a_floor():
    folders = {module.relative_to(PACKAGE).parent for module in MODULES}
    rooms = {folder.as_posix() for folder in folders if len(folder.parts) > 1}
    assert rooms == {
        f"{place}/{room}" for place, floors in ROOMS.items() for floor in floors for room in floor
    }


def test_rooms_import_only_from_the_floors_below():
    def not_below(module: Path) -> set[str]:
        parts = module.relative_to(PACKAGE).parts
        return {name for depth in range(1, len(parts)) for name in within(module, *parts[:depth])}

    def within(module: Path, *place: str) -> set[str]:
        room = module.relative_to(PACKAGE).parts[len(place)]
        floors = ROOMS.get("/".join(place), [])
        mine = next((number for number, rooms in enumerate(floors) if room in rooms), len(floors))
        closed = set[str]().union(*floors[mine:]) - {room}
        inside = f"lsp_agent.{'.'.join(place)}."
        taken = {n.removeprefix(inside).split(".")[0] for n in imports(module) if inside in n}
        return taken & closed

    assert faults(not_below) == {}


def test_only_the_server_knows_pygls():
    def knows(module: Path) -> set[str]:
        return {name.split(".")[0] for name in imports(module)} & LSP

    assert {name for name in faults(knows) if not name.startswith("lsp_agent/server/")} == set()


def test_the_guard_needs_nothing_but_the_standard_library():
    def others(module: Path) -> set[str]:
        return {name.split(".")[0] for name in imports(module)} - sys.stdlib_module_names - {""}

    assert faults(others, "agents", "guard") == {}


def test_what_starts_a_held_command_needs_only_itself_and_the_standard_library():
    allowed = {*sys.stdlib_module_names, ""}

    def others(module: Path) -> set[str]:
        strangers = {name for name in imports(module) if name.split(".")[0] not in allowed}
        return {name for name in strangers if not name.startswith("lsp_agent.sandbox.starter")}

    assert faults(others, "sandbox", "starter") == {}


def test_no_function_changes_what_a_module_holds():
    def state(module: Path) -> set[str]:
        held = {
            target.id
            for node in tree(module).body
            if isinstance(node, (ast.Assign, ast.AnnAssign))
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        bodies = [node for node in ast.walk(tree(module)) if isinstance(node, functions)]
        return {name for body in bodies for name in changes(body)} & held

    assert faults(state) == {}


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
