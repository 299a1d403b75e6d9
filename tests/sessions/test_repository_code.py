"""Code that a repository brings for an agent that cannot be kept from running it."""

import os
from pathlib import Path

import pytest

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.sessions.repository_code import CONSENT, require_none

OPENCODE = ["/usr/bin/opencode", "acp"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path


def plugin(folder: Path, kind: str = "plugin") -> Path:
    place = folder / ".opencode" / kind
    place.mkdir(parents=True)
    (place / "evil.js").write_text("")
    return place


@pytest.mark.parametrize("kind", ["plugin", "plugins", "tool", "tools"])
def test_opencode_is_not_started_over_it(repository: Path, kind: str) -> None:
    place = plugin(repository, kind)
    with pytest.raises(RequestFailed, match=str(place)) as refused:
        require_none("oc", OPENCODE, {}, str(repository))
    assert refused.value.kind == "notConfigured"
    assert f"agents.oc.env.{CONSENT}" in str(refused.value)


def test_what_lies_above_up_to_the_root_counts(repository: Path) -> None:
    plugin(repository)
    (repository / "a" / "b").mkdir(parents=True)
    with pytest.raises(RequestFailed):
        require_none("oc", ["npx", "opencode-ai", "acp"], {}, str(repository / "a" / "b"))


@pytest.mark.parametrize("name", ["opencode.json", ".opencode/opencode.jsonc"])
@pytest.mark.parametrize(
    "text",
    [
        '{"plugin": ["./evil.js"]}',
        '{"\\u0070lugin": ["./evil.js"]}',
        '{"{file:name.txt}": ["./evil.js"]}',
        '{"{env:NAME}": ["./evil.js"]}',
        "/*" + " " * (1 << 20) + "*/",
    ],
)
def test_a_configuration_that_may_name_plugins_counts(
    repository: Path, name: str, text: str
) -> None:
    (repository / ".opencode").mkdir()
    (repository / name).write_text(text)
    with pytest.raises(RequestFailed, match=name):
        require_none("oc", OPENCODE, {}, str(repository))


def test_a_configuration_that_cannot_be_looked_through_counts(repository: Path) -> None:
    os.mkfifo(repository / "opencode.json")
    with pytest.raises(RequestFailed, match=r"opencode\.json"):
        require_none("oc", OPENCODE, {}, str(repository))


def test_a_configuration_that_names_no_plugin_is_fine(repository: Path) -> None:
    (repository / "opencode.json").write_text('{"model": "a/b", "mcp": {}}')
    (repository / ".opencode").write_text("")
    require_none("oc", OPENCODE, {}, str(repository))


def test_a_link_is_not_followed_to_find_out(repository: Path) -> None:
    (repository / ".opencode").mkdir()
    (repository / ".opencode" / "plugin").symlink_to("elsewhere")
    with pytest.raises(RequestFailed):
        require_none("oc", OPENCODE, {}, str(repository))


def test_other_agents_know_nothing_of_it_and_the_person_may_consent(repository: Path) -> None:
    plugin(repository)
    require_none("qwen", ["qwen", "--acp"], {}, str(repository))
    require_none("oc", OPENCODE, {CONSENT: "1"}, str(repository))


def test_a_repository_without_any_is_fine(repository: Path) -> None:
    (repository / ".opencode" / "plugin").mkdir(parents=True)
    (repository / ".opencode" / "command").mkdir()
    plugin(repository.parent)
    require_none("oc", OPENCODE, {}, str(repository))


def test_pi_is_not_started_where_the_repository_chooses_the_folder_of_its_transcripts(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PI_CODING_AGENT_SESSION_DIR", raising=False)
    (repository / ".pi").mkdir()
    settings = repository / ".pi" / "settings.json"
    settings.write_text('\ufeff{"session\\u0044ir": "/elsewhere"}', encoding="utf-8")
    with pytest.raises(RequestFailed, match=str(settings)):
        require_none("pi", ["/usr/bin/pi"], {}, str(repository))
    require_none("pi", ["pi", "--session-dir", "/mine"], {}, str(repository))
    require_none("pi", ["pi"], {"PI_CODING_AGENT_SESSION_DIR": "/mine"}, str(repository))
    settings.write_text('{"theme": "dark"}')
    require_none("pi", ["pi"], {}, str(repository))
