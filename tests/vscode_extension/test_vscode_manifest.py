"""The extension's package.json says the same as the server."""

import json
from pathlib import Path
from typing import Any

from lsp_agent import __version__
from lsp_agent.protocol.settings import Settings

MANIFEST: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "editors" / "vscode" / "package.json").read_text()
)
DECLARED: dict[str, dict[str, Any]] = MANIFEST["contributes"]["configuration"]["properties"]
#: Those that are read by the extension alone.
OWN = {"lspAgent.server.path"}
#: The extension marks changes itself, so it asks for no hints unless the person does.
OTHERWISE = {"lspAgent.edits.hints"}


def test_the_extension_has_the_servers_version() -> None:
    assert MANIFEST["version"] == __version__


def test_each_setting_is_one_of_the_servers_with_its_default() -> None:
    defaults = Settings().model_dump(mode="json")
    for name, declared in DECLARED.items():
        if name in OWN:
            continue
        value: Any = defaults
        for part in name.split(".")[1:]:
            assert part in value, name
            value = value[part]
        if name not in OTHERWISE and name != "lspAgent.agents":
            assert declared["default"] == value, name


def test_what_starts_processes_or_allows_is_out_of_a_workspaces_reach() -> None:
    machine = {name for name, declared in DECLARED.items() if declared["scope"] == "machine"}
    assert machine == OWN | {"lspAgent.agents", "lspAgent.permissions.allow"}
    trust = MANIFEST["capabilities"]["untrustedWorkspaces"]
    assert trust["supported"] == "limited"
    assert set(trust["restrictedConfigurations"]) == DECLARED.keys() - machine
