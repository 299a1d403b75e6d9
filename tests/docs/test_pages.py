"""The pages say what the types say."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from lsp_agent.protocol.events import EditChanged, Event, event_type
from lsp_agent.protocol.methods import ANSWER_COMMAND, METHODS
from lsp_agent.protocol.script import parse_script
from lsp_agent.protocol.settings.sources import SettingsFile, load

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_the_generated_parts_are_what_the_types_say_now():
    command = [sys.executable, "tools/generate_docs.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_method_command_and_event_is_on_its_page():
    protocol = (DOCS / "protocol.md").read_text(encoding="utf-8")
    commands = (DOCS / "commands.md").read_text(encoding="utf-8")
    for method in METHODS:
        assert f"<!-- generated: {method.method} -->" in protocol
        assert f"`{method.command}`" in commands
    assert f"`{ANSWER_COMMAND}`" in commands
    for kind in Event.__args__:
        if kind is not EditChanged:
            assert f'type: "{event_type(object.__new__(kind))}"' in protocol


def test_every_type_that_is_mentioned_is_defined():
    types = "\n".join(blocks("docs/protocol.md", "ts"))
    code = re.sub(r'"[^"]*"|//.*|/\*.*?\*/', "", types)
    defined = set(re.findall(r"^(?:interface|type) (\w+)", code, re.MULTILINE))
    used = set(re.findall(r"\b[A-Z]\w+", code)) - {"Record"}
    assert used == defined


def test_no_type_is_defined_twice():
    types = "\n".join(blocks("docs/protocol.md", "ts"))
    defined = re.findall(r"^(?:interface|type) (\w+)", types, re.MULTILINE)
    assert sorted(defined) == sorted(set(defined))


def test_each_type_of_the_methods_is_defined_with_its_own_fields():
    """An option of the agent's is not an option of a question, though both are ``options``."""
    types = "\n".join(blocks("docs/protocol.md", "ts"))
    for method in METHODS:
        for model in filter(None, (method.params, method.result, method.command_result)):
            for field in model.model_fields.values():
                assert_shown(field.annotation, types)


def assert_shown(annotation: Any, types: str) -> None:
    for inner in get_args(annotation):
        assert_shown(inner, types)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        body = re.search(rf"^interface {annotation.__name__} {{(.*?)^}}$", types, re.M | re.S)
        assert body is not None, annotation
        shown = re.findall(r"^  (\w+)\??:", body[1], re.MULTILINE)
        assert shown == [info.alias or name for name, info in annotation.model_fields.items()]
        for field in annotation.model_fields.values():
            assert_shown(field.annotation, types)


@pytest.mark.parametrize("page", ["docs/settings.md", "README.md"])
def test_the_examples_of_settings_load_without_a_problem(page):
    """Helix' own file aside."""
    mine = [text for text in blocks(page, "toml") if "language-server" not in text]
    assert mine
    for text in mine:
        assert load(user_file=SettingsFile("example", tomllib.loads(text))).problems == ()


def test_the_examples_of_scripts_are_scripts():
    scripts = [text for text in blocks("docs/script.md", "json") if '"steps"' in text]
    assert scripts
    for text in [*scripts, (DOCS / "try" / "script.json").read_text(encoding="utf-8")]:
        assert parse_script(json.loads(text)).steps


def test_links_between_the_pages_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} -> {target}"
