"""The extension's package.json says the same as the server."""

import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lsp_agent import __version__
from lsp_agent.protocol.settings.settings import BUILTIN_AGENT, Settings

Json = dict[str, Any]

MANIFEST: Json = json.loads(
    (Path(__file__).parents[3] / "editors" / "vscode" / "package.json").read_text()
)
DECLARED: dict[str, Json] = MANIFEST["contributes"]["configuration"]["properties"]
SCHEMA: Json = Settings.model_json_schema()
CONSTRAINTS = {
    *("type", "enum", "items", "minItems", "additionalProperties"),
    *("minimum", "exclusiveMinimum", "maximum"),
}
#: Those that are read by the extension alone.
OWN = {"lspAgent.server.path", "lspAgent.chat.notify"}
#: In words of their own: VS Code makes a setting's title of its name.
NAMES = {
    "lspAgent.edits.hold_shrink": "lspAgent.edits.holdLargeDeletions",
    "lspAgent.limits.idle_seconds": "lspAgent.limits.endSilentAgentAfterSeconds",
    "lspAgent.limits.line_bytes": "lspAgent.limits.longestLineInBytes",
}
#: The extension marks changes itself, so it asks for no hints unless the person does.
OTHERWISE = {"lspAgent.edits.hints"}


def test_the_extension_has_the_servers_version() -> None:
    assert MANIFEST["version"] == __version__


def test_each_setting_is_the_servers_with_its_default_and_what_it_takes() -> None:
    known = dict(settings("lspAgent", SCHEMA))
    assert DECLARED.keys() - OWN == known.keys()
    for name, schema in known.items():
        if name == "lspAgent.agents":
            continue
        assert constraints(DECLARED[name]) == constraints(schema), name
        if name not in OTHERWISE:
            assert DECLARED[name]["default"] == schema["default"], name


def test_an_agents_keys_are_the_servers_and_the_builtin_ones_can_be_set_one_by_one() -> None:
    agent = SCHEMA["$defs"]["AgentSettings"]
    declared = DECLARED["lspAgent.agents"]["patternProperties"]
    any_agent = declared["."]
    assert {k: constraints(v) for k, v in any_agent["properties"].items()} == {
        k: constraints(v) for k, v in agent["properties"].items()
    }
    assert any_agent["additionalProperties"] is False
    ((names, others),) = (each for each in declared.items() if each[0] != ".")
    assert others == {"required": agent["required"]}
    assert re.search(names, "zot")
    assert not re.search(names, BUILTIN_AGENT)


def test_no_setting_has_a_title_with_an_underscore() -> None:
    assert [name for name in DECLARED if "_" in name] == []


def test_a_gallery_can_show_it() -> None:
    folder = Path(__file__).parents[3] / "editors" / "vscode"
    picture = (folder / MANIFEST["icon"]).read_bytes()
    width, height = struct.unpack(">II", picture[16:24])
    assert (width, height) == (256, 256)
    assert MANIFEST["repository"]["url"].endswith(".git")
    (walkthrough,) = MANIFEST["contributes"]["walkthroughs"]
    commands = {each["command"] for each in MANIFEST["contributes"]["commands"]}
    assert [step["id"] for step in walkthrough["steps"]] == ["connect", "ask", "review"]
    for step in walkthrough["steps"]:
        assert (folder / step["media"]["markdown"]).is_file()
        assert set(re.findall(r"\(command:([\w.]+)\)", step["description"])) <= commands


def test_the_views_titles_of_others_have_nothing_of_the_agents() -> None:
    entries = MANIFEST["contributes"]["menus"]["view/title"]
    assert {entry.get("when") for entry in entries} == {"view == lspAgent.chat"}


def settings(name: str, schema: Json) -> Iterator[tuple[str, Json]]:
    """The server's settings with their schemas, by dotted names."""
    for key, value in schema["properties"].items():
        if "$ref" in value:
            yield from settings(f"{name}.{key}", SCHEMA["$defs"][value["$ref"].split("/")[-1]])
        else:
            yield NAMES.get(f"{name}.{key}", f"{name}.{key}"), value


def constraints(schema: Json) -> Json:
    """What a schema says of values."""
    said = {k: v for k, v in schema.items() if k in CONSTRAINTS}
    if said.get("additionalProperties") == {"$ref": "#/$defs/JsonValue"}:
        del said["additionalProperties"]
    return said


def test_what_starts_processes_or_allows_is_out_of_a_workspaces_reach() -> None:
    machine = {name for name, declared in DECLARED.items() if declared["scope"] == "machine"}
    assert machine == OWN | {
        "lspAgent.agents",
        "lspAgent.permissions.allow",
        "lspAgent.permissions.hidden",
    }
    trust = MANIFEST["capabilities"]["untrustedWorkspaces"]
    assert trust["supported"] == "limited"
    assert set(trust["restrictedConfigurations"]) == DECLARED.keys() - machine
