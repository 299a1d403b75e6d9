"""``lsp-agent agents`` and ``agent/agents``: what can be chosen here, and what brings the rest."""

import json
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from support.project import Project

from lsp_agent.cli.main import main
from lsp_agent.protocol.catalogue import CATALOGUE, LocalServer
from lsp_agent.protocol.settings.settings import Settings
from lsp_agent.protocol.settings.sources import SettingsFile, load
from lsp_agent.sessions.agents_here import AgentHere, agents_here, model_servers_here


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def install(folder: Path, name: str) -> None:
    path = folder / name
    path.write_text("#!/bin/sh\necho 1.2.3\n")
    path.chmod(0o755)


def found(**settings: Any) -> dict[str, AgentHere]:
    loaded = load(user_file=SettingsFile("config.toml", settings))
    return {each.name: each for each in agents_here(loaded.settings)}


def test_every_known_agent_is_listed_once_and_the_own_one_first(programs: Path) -> None:
    names = [each.name for each in agents_here(load().settings)]
    assert names[0] == "builtin"
    assert sorted(names[1:]) == sorted(each.name for each in CATALOGUE)


def test_those_that_are_here_come_before_the_others(programs: Path) -> None:
    install(programs, "qwen")
    install(programs, "claude")
    first, second, *_rest = [name for name in found() if name != "builtin"]
    assert (first, second) == ("qwen", "claude")
    assert found()["qwen"].path == str(programs / "qwen")


def test_an_agent_whose_adapter_is_missing_is_told_apart(programs: Path) -> None:
    install(programs, "claude")
    claude = found()["claude"]
    assert (claude.path, claude.own_path) == (None, str(programs / "claude"))
    assert claude.install == "npm install -g @agentclientprotocol/claude-agent-acp"


def test_only_lines_whose_program_is_here_are_commands_for_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("claude", "pi", "rkat-rpc"):
        install(tmp_path, name)
    claude, pi, meerkat = (found()[name] for name in ("claude", "pi", "meerkat"))
    assert claude.install_command is None
    assert claude.sign_in_command == "claude /login"
    assert (pi.sign_in, pi.sign_in_command) == ("pi, then /login", "pi")
    assert meerkat.sign_in_command is None
    install(tmp_path, "npm")
    assert claude.install_command == claude.install


def test_the_embedded_agent_is_usable_once_it_has_a_model(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert not found()["builtin"].usable
    assert found(agents={"builtin": {"env": {"OPENAI_API_KEY": "x"}}})["builtin"].usable
    install(programs, "qwen")
    assert found()["qwen"].usable
    assert not found()["gemini"].usable


def test_its_line_chooses_it(programs: Path) -> None:
    line = found()["copilot"].setting
    loaded = load(user_file=SettingsFile("config.toml", tomllib.loads(line)))
    assert loaded.problems == ()
    assert loaded.settings.agent == "copilot"


def test_one_that_the_settings_name_another_way_is_not_listed_twice(programs: Path) -> None:
    mine = {"wire": "acp", "command": ["gemini", "--acp"]}
    listed = found(agents={"mine": mine})
    assert "gemini" not in listed
    assert (listed["mine"].title, listed["mine"].hosting) == ("Gemini CLI", "hosted")


def test_the_command_line_tells_of_each_in_json(
    programs: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    install(programs, "opencode")
    assert main(["agents", "--json"]) == 0
    listed = {each["name"]: each for each in json.loads(capsys.readouterr().out)["agents"]}
    assert listed["opencode"]["path"] == str(programs / "opencode")
    assert listed["opencode"]["install"] is None
    assert listed["codex"]["install"] == "npm install -g @openai/codex"
    assert listed["builtin"]["chosen"]


def test_the_command_line_says_what_to_do(
    programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["agents"]) == 0
    shown = capsys.readouterr().out
    assert "npm install -g @google/gemini-cli" in shown
    assert 'agent = "gemini"' in shown


def test_a_client_is_told_the_same(project: Project) -> None:
    listed = project.editor().call("agent/agents")["agents"]
    assert {each.name for each in CATALOGUE} <= {each["name"] for each in listed}
    assert [each["name"] for each in listed if each["chosen"]] == ["scripted"]


def test_a_session_is_opened_with_a_known_agent_that_no_settings_name(project: Project) -> None:
    editor = project.editor()
    opened = editor.call("agent/newSession", {"agent": "gemini"})["sessionId"]
    sessions = editor.call("agent/sessions")["sessions"]
    assert {each["sessionId"]: each["agent"] for each in sessions}[opened] == "gemini"


class _Models(BaseHTTPRequestHandler):
    body = json.dumps({"object": "list", "data": [{"id": "qwen3:8b"}, {"id": "llama"}]})

    def do_GET(self) -> None:
        found = self.path == "/v1/models"
        self.send_response(200 if found else 404)
        self.end_headers()
        self.wfile.write(self.body.encode() if found else b"<html>")

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


class _Page(_Models):
    body = "<html>a page of somebody's</html>"


@pytest.fixture(params=[_Models])
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), request.param)
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_server_of_models_is_found_with_settings_that_use_it(port: int) -> None:
    (server,) = model_servers_here((LocalServer("Ollama", port),))
    assert server.models == ("qwen3:8b", "llama")
    written = tomllib.loads(server.settings_for("llama"))
    loaded = load(user_file=SettingsFile("config.toml", written))
    assert loaded.problems == ()
    builtin = loaded.settings.agents["builtin"]
    assert (builtin.provider, builtin.model) == ("openai", "llama")
    assert builtin.env["OPENAI_BASE_URL"] == f"http://127.0.0.1:{port}/v1"


@pytest.mark.parametrize("port", [_Page], indirect=True)
def test_what_answers_with_something_else_is_no_server_of_models(port: int) -> None:
    assert model_servers_here((LocalServer("Ollama", port),)) == []


def test_where_nothing_answers_there_is_none() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Models)
    port = server.server_port
    server.server_close()
    assert model_servers_here((LocalServer("Ollama", port),)) == []


def test_settings_that_nobody_wrote_have_only_the_own_agent() -> None:
    assert isinstance(load().settings, Settings)
    assert list(load().settings.agents) == ["builtin"]
