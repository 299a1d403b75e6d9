"""Helix' ``languages.toml``: each language gets the agent, and keeps the servers that it has."""

import tomllib
from pathlib import Path

import pytest

from lsp_agent.cli.editors import helix
from lsp_agent.cli.editors.changes import CannotChange
from lsp_agent.cli.editors.recipes import RECIPES

DEFAULTS = {"python": ["ruff"], "c": ["clangd"]}


def changed(text: str) -> str:
    return helix.with_agent(text, "lsp-agent", DEFAULTS)


def listed(text: str) -> dict[str, object]:
    languages = tomllib.loads(text)["language"]
    return {each["name"]: each.get("language-servers") for each in languages}


def test_the_agent_is_a_language_server_by_its_program():
    after = helix.with_agent("theme = 1", "/opt/lsp-agent", DEFAULTS)
    assert after.startswith(
        "theme = 1\n\n"
        '[language-server.lsp-agent]\ncommand = "/opt/lsp-agent"\nargs = ["serve"]\n\n[[language]]'
    )


def test_an_agent_that_the_person_has_set_up_stays_as_it_is():
    after = changed('[language-server.lsp-agent]\ncommand = "mine"\n')
    assert tomllib.loads(after)["language-server"] == {"lsp-agent": {"command": "mine"}}


def test_a_language_gets_the_agent_behind_those_that_the_person_has_listed():
    before = (
        '[[language]]\nname = "python"\nlanguage-servers = [\n  "pylsp",\n]\n'
        '[[language]]\nname = "go"\nindent = { tab-width = 2, unit = "x" }\n'
    )
    after = changed(before)
    assert listed(after) == {
        "python": ["pylsp", "lsp-agent"],
        "go": None,
        "c": ["clangd", "lsp-agent"],
    }
    assert changed(after) == after


def test_a_language_without_a_list_gets_the_agent_behind_the_servers_that_helix_has_for_it():
    before = (
        '[[language]]\nname = "python" # mine\nauto-format = true\n[language.indent]\nunit = 1\n'
    )
    after = changed(before)
    assert after.startswith(
        '[[language]]\nname = "python" # mine\nlanguage-servers = ["ruff", "lsp-agent"]\n'
        "auto-format = true\n[language.indent]\n"
    )
    assert changed(after) == after


def test_a_language_whose_name_is_the_last_line_of_the_file_gets_its_list():
    assert listed(changed('[[language]]\nname = "c"'))["c"] == ["clangd", "lsp-agent"]


def test_languages_whose_own_servers_are_not_known_are_named():
    before = '[[language]]\nname = "kotlin"\n[[language]]\nname = "c"\n[[language]]\nname = "zig"\n'
    after = changed(before)
    assert listed(after)["kotlin"] is None
    assert helix.languages_without_agent(after) == ["kotlin", "zig"]


def test_a_person_is_told_of_the_languages_that_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "helix/languages.toml"
    path.parent.mkdir()
    path.write_text('[[language]]\nname = "kotlin"\n')
    (change,) = RECIPES["helix"].changes()
    assert change.left_to_do == (
        "without the agent, as its own servers are not known here: kotlin; give each its"
        ' `language-servers` and "lsp-agent" behind them (`hx --health kotlin` shows what it has'
        " now)"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[]", '["lsp-agent"]'),
        ('["a"]', '["a", "lsp-agent"]'),
        ("['a', ]", "['a', \"lsp-agent\", ]"),
        ('[\n  "a", # the "one" [best]\n]', '[\n  "a", "lsp-agent", # the "one" [best]\n]'),
        ('[\n  "a" # one, two\n]', '[\n  "a", "lsp-agent" # one, two\n]'),
        ("[ # none\n]", '["lsp-agent" # none\n]'),
        ('["a#b]"]', '["a#b]", "lsp-agent"]'),
        ('[{ name = "a", only = ["x"] }]', '[{ name = "a", only = ["x"] }, "lsp-agent"]'),
        ('["lsp-agent", "a"]', '["lsp-agent", "a"]'),
        ('[{ name = "lsp-agent" }]', '[{ name = "lsp-agent" }]'),
    ],
)
def test_a_list_keeps_its_form_and_its_comments(before: str, after: str):
    text = '[language-server.lsp-agent]\n[[language]]\nname = "x"\nlanguage-servers = '
    assert helix.with_agent(f"{text}{before}\n", "lsp-agent", {}) == f"{text}{after}\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("language = 3", "its language is no list of tables"),
        ('[language]\nname = "c"\n', "its language is no list of tables"),
        ("language = [3]", "its language is no list of tables"),
        ("language-server = 3", "its language-server is no table"),
        ('[[language]]\nlanguage-servers = "pylsp"\n', "its language-servers is no list"),
        ('language = [{ name = "c" }]\n', "in a form that is not understood"),
        ("language = ", "not TOML"),
    ],
)
def test_languages_of_another_shape_are_left_alone(text: str, why: str):
    with pytest.raises(CannotChange, match=why):
        changed(text)
