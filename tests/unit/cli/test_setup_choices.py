"""What choosing an agent in ``lsp-agent setup`` writes into the person's settings."""

import tomllib
from pathlib import Path

import pytest

from lsp_agent.cli import setup_agent
from lsp_agent.cli.editors.changes import CannotChange
from lsp_agent.protocol.catalogue import LocalServer
from lsp_agent.sessions.agents_here import ModelServerHere

LOCAL = {"OPENAI_BASE_URL": "http://127.0.0.1:11434/v1", "OPENAI_API_KEY": "none"}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's file, on a machine with a model server."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    servers = [ModelServerHere(LocalServer("Ollama", 11434), ("qwen",))]
    monkeypatch.setattr(setup_agent, "model_servers_here", lambda: servers)
    path = tmp_path / "lsp-agent/config.toml"
    path.parent.mkdir()
    return path


def written(name: str) -> str:
    text = setup_agent.choice_named(setup_agent.choices(), name).change().after
    assert text is not None
    return text


def environment(text: str) -> dict[str, str]:
    return tomllib.loads(text)["agents"]["builtin"].get("env", {})


def test_a_model_server_here_is_asked_without_a_key(settings: Path) -> None:
    assert tomllib.loads(written("ollama")) == {
        "agent": "builtin",
        "agents": {"builtin": {"provider": "openai", "model": "qwen", "env": LOCAL}},
    }


def test_a_model_server_leaves_the_rest_of_the_agents_environment(settings: Path) -> None:
    settings.write_text('[agents.builtin]\nenv = { HTTPS_PROXY = "http://proxy:3128" }\n')
    assert environment(written("ollama")) == {"HTTPS_PROXY": "http://proxy:3128", **LOCAL}


def test_a_makers_key_is_not_sent_to_the_model_server_that_was_chosen_before(
    settings: Path,
) -> None:
    settings.write_text('[agents.builtin]\nenv = { HTTPS_PROXY = "http://proxy:3128" }\n')
    settings.write_text(written("ollama"))
    after = written("openai")
    assert environment(after) == {"HTTPS_PROXY": "http://proxy:3128"}
    assert tomllib.loads(after)["agents"]["builtin"]["model"] == ""


def test_a_model_server_that_the_person_wrote_down_is_left_with_its_key_for_the_maker(
    settings: Path,
) -> None:
    settings.write_text(
        "[agents.builtin.env]\n"
        'OPENAI_BASE_URL = "http://127.0.0.1:8000/v1"\nOPENAI_API_KEY = "ollama"\n'
    )
    assert environment(written("openai")) == {}


def test_a_gateway_of_the_persons_stays_between_them_and_the_maker(settings: Path) -> None:
    gateway = {"OPENAI_BASE_URL": "https://gateway.example/v1", "OPENAI_API_KEY": "sk-mine"}
    settings.write_text(
        "[agents.builtin.env]\n" + "".join(f'{key} = "{gateway[key]}"\n' for key in gateway)
    )
    assert environment(written("openai")) == gateway


def test_settings_that_are_not_understood_are_left_and_what_to_set_by_hand_is_said(
    settings: Path,
) -> None:
    settings.write_text(
        'agents = { builtin = { env = { OPENAI_BASE_URL = "http://localhost:1/v1" } } }\n'
    )
    with pytest.raises(CannotChange, match="in a form that is not understood") as told:
        written("openai")
    assert str(told.value).endswith(
        'set by hand: agent = "builtin"; agents.builtin.provider = "openai";'
        ' agents.builtin.model = ""; no agents.builtin.env.OPENAI_BASE_URL'
    )
