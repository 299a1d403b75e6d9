"""Code that a repository brings for an agent that cannot be kept from running it."""

import errno
import os
from pathlib import Path

import pytest
from pydantic import JsonValue

from lsp_agent.protocol.catalogue import CONSENT
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.sessions.permissions import repository_code
from lsp_agent.sessions.permissions.repository_code import linked_instructions

OPENCODE = ["/usr/bin/opencode", "acp"]


def require_none(name: str, command: list[str], env: dict[str, str], cwd: str) -> None:
    """Of an agent whose wire is as its name says."""
    wire = name if name in {"pi", "codex"} else "acp"
    agent = AgentSettings(wire=wire, command=command, env=env)
    repository_code.require_none(name, agent, cwd)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """In a folder of its own: what stands beside or above it is no other test's."""
    folder = tmp_path / "repository"
    (folder / ".git").mkdir(parents=True)
    return folder


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


def test_a_link_to_opencode_is_opencode(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = repository.parent / "bin"
    place.mkdir()
    program = place / "opencode-1.18"
    program.write_text("")
    program.chmod(0o755)
    (place / "oc").symlink_to(program)
    monkeypatch.setenv("PATH", str(place))
    plugin(repository)
    for command in (["oc", "acp"], [str(place / "oc"), "acp"]):
        with pytest.raises(RequestFailed):
            require_none("mine", command, {}, str(repository))


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
    settings.write_text('{"sessionDir": "/elsewhere"}')
    for command in (["/usr/bin/pi"], ["node", "pi/dist/cli.js"], ["npx", "the-package-of-pi"]):
        with pytest.raises(RequestFailed, match=str(settings)):
            require_none("pi", command, {}, str(repository))
    with pytest.raises(RequestFailed):  # as pi reads it
        require_none("pi", ["pi"], {"PI_CODING_AGENT_SESSION_DIR": ""}, str(repository))
    require_none("pi", ["pi", "--session-dir", "/mine"], {}, str(repository))
    require_none("pi", ["pi"], {"PI_CODING_AGENT_SESSION_DIR": "/mine"}, str(repository))
    settings.write_text('{"theme": "dark"}')
    require_none("pi", ["pi"], {}, str(repository))


@pytest.mark.parametrize(
    "text",
    [
        '\ufeff{"session\\u0044ir": "/elsewhere"}',
        '{"__proto__": {"sessionDir": "/elsewhere"}}',
        '{"sessionDir": "/elsewhere", "n": ' + 5000 * "1" + "}",
        " " * (1 << 20) + "{}",
    ],
)
def test_settings_that_may_choose_that_folder_in_a_way_that_only_pi_reads_count(
    repository: Path, text: str
) -> None:
    (repository / ".pi").mkdir()
    (repository / ".pi" / "settings.json").write_text(text, encoding="utf-8")
    with pytest.raises(RequestFailed, match=r"settings\.json"):
        require_none("pi", ["pi"], {}, str(repository))


def test_settings_that_cannot_be_looked_through_count(repository: Path) -> None:
    (repository / ".pi").mkdir()
    os.mkfifo(repository / ".pi" / "settings.json")
    with pytest.raises(RequestFailed, match=r"settings\.json"):
        require_none("pi", ["pi"], {}, str(repository))


def test_pi_is_not_started_where_instructions_are_a_link_out_of_the_repository(
    repository: Path,
) -> None:
    (repository / "a").mkdir()
    (repository / "a" / "AGENTS.md").symlink_to("../CLAUDE.md")
    (repository / "CLAUDE.md").write_text("text")
    require_none("pi", ["pi"], {}, str(repository / "a"))
    led = repository / "AGENTS.override.md"
    led.symlink_to("a/../../elsewhere")
    with pytest.raises(RequestFailed, match=str(led)):
        require_none("pi", ["pi"], {}, str(repository / "a"))
    require_none("pi", ["pi", "-nc"], {}, str(repository / "a"))
    require_none("pi", ["pi"], {CONSENT: "1"}, str(repository / "a"))


def test_codex_is_not_started_where_its_instructions_are_a_link_out_of_the_repository(
    repository: Path,
) -> None:
    def start(**config: JsonValue) -> None:
        agent = AgentSettings(wire="codex", command=["codex"], config=config)
        repository_code.require_none("codex", agent, str(repository))

    (repository / "CLAUDE.md").symlink_to("/etc/passwd")  # which it does not read
    start()
    led = repository / "AGENTS.md"
    led.symlink_to("/etc/passwd")
    with pytest.raises(RequestFailed, match=str(led)):
        start()
    start(project_doc_max_bytes=0)


def test_above_the_repository_a_link_within_its_folder_is_the_persons_own(
    repository: Path,
) -> None:
    own = repository / "AGENTS.md"
    own.symlink_to("dotfiles/AGENTS.md")
    inner = repository / "inner"
    (inner / ".git").mkdir(parents=True)
    require_none("pi", ["pi"], {}, str(inner))
    own.unlink()
    own.symlink_to("/etc/passwd")
    with pytest.raises(RequestFailed, match=str(own)):
        require_none("pi", ["pi"], {}, str(inner))


def test_the_linked_instructions_from_a_file_up_to_the_agents_folder(repository: Path) -> None:
    folder = repository / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "CLAUDE.md").symlink_to("/etc/passwd")
    (repository / "a" / "AGENTS.md").write_text("no link")
    (repository / "CONTEXT.md").symlink_to("a/AGENTS.md")
    (repository.parent / "AGENTS.md").symlink_to("/etc/passwd")
    found = [str(folder / "CLAUDE.md"), str(repository / "CONTEXT.md")]
    for path in ("a/b/x.txt", "none/../a/b/x.txt", f"{folder}/none/../x.txt"):
        assert list(linked_instructions(path, str(repository))) == found
    assert list(linked_instructions(str(repository.parent / "x"), str(repository))) == []


@pytest.mark.parametrize("path", ["n" * 300 + "/x", "d/" * 3000 + "x", "a\0b/x"])
def test_where_links_cannot_be_told_instructions_count_as_such(repository: Path, path: str) -> None:
    assert any(linked_instructions(path, str(repository)))


def test_where_the_repository_cannot_be_looked_at_the_agent_is_not_started(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stale(path: Path, **_: object) -> bool:
        raise OSError(errno.ESTALE, "Stale file handle", str(path))

    monkeypatch.setattr(Path, "stat", stale)
    monkeypatch.setattr(Path, "lstat", stale)
    with pytest.raises(RequestFailed, match="Stale file handle") as refused:
        require_none("oc", OPENCODE, {}, str(repository))
    assert refused.value.kind == "notConfigured"


def test_a_nul_in_an_agents_command_is_named(repository: Path) -> None:
    with pytest.raises(RequestFailed, match="null byte"):
        require_none("oc", ["a\0b"], {}, str(repository))


CODEX, COPILOT = ["codex-acp"], ["npx", "@github/copilot", "--acp"]


@pytest.mark.other_user
@pytest.mark.parametrize("above", [False, True])
@pytest.mark.parametrize(
    ("name", "command"),
    [("pi", ["pi"]), ("codex", ["codex"]), ("mine", CODEX), ("mine", COPILOT)],
    ids=["pi", "Codex", "codex-acp", "Copilot CLI"],
)
def test_an_agent_is_not_started_where_its_instructions_are_another_users(
    repository: Path, name: str, command: list[str], above: bool
) -> None:
    planted = (repository.parent if above else repository) / "AGENTS.md"
    planted.write_text("text")
    require_none(name, command, {}, str(repository))
    os.chown(planted, 65534, 65534)
    with pytest.raises(RequestFailed, match=f"another user has put in {planted}"):
        require_none(name, command, {}, str(repository))
    require_none(name, command, {CONSENT: "1"}, str(repository))


@pytest.mark.other_user
def test_pi_is_started_there_where_it_takes_no_instructions(repository: Path) -> None:
    (repository / "AGENTS.md").write_text("text")
    os.chown(repository / "AGENTS.md", 65534, 65534)
    require_none("pi", ["pi", "-nc"], {}, str(repository))


@pytest.mark.other_user
def test_another_users_repository_makes_no_link_one_of_the_persons(repository: Path) -> None:
    (repository / "inner").mkdir()
    (repository / "inner" / "AGENTS.md").symlink_to("../CLAUDE.md")
    (repository / "CLAUDE.md").write_text("text")
    require_none("pi", ["pi"], {}, str(repository / "inner"))
    os.chown(repository / ".git", 65534, 65534)
    with pytest.raises(RequestFailed, match="a file elsewhere"):
        require_none("pi", ["pi"], {}, str(repository / "inner"))


@pytest.mark.parametrize(
    ("command", "brought"),
    [(CODEX, ".codex/config.toml"), (COPILOT, ".github/hooks/evil.json")],
)
def test_what_an_agent_obeys_with_no_switch_against_it_keeps_it_from_starting(
    repository: Path, command: list[str], brought: str
) -> None:
    (repository / "a").mkdir()
    require_none("mine", command, {}, str(repository / "a"))
    place = repository / brought
    place.parent.mkdir(parents=True)
    place.write_text("")
    with pytest.raises(RequestFailed, match=f"{repository}/.*agents.mine.env.{CONSENT}") as refused:
        require_none("mine", command, {}, str(repository / "a"))
    assert refused.value.kind == "notConfigured"
    require_none("mine", command, {CONSENT: "1"}, str(repository / "a"))
    require_none("mine", ["another"], {}, str(repository / "a"))


def test_a_folder_of_hooks_without_any_is_nothing(repository: Path) -> None:
    (repository / ".github" / "hooks").mkdir(parents=True)
    require_none("mine", COPILOT, {}, str(repository))


def test_codex_own_settings_are_the_persons(tmp_path: Path) -> None:
    """In a folder without a repository, below the home folder."""
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text("")
    (tmp_path / "notes").mkdir()
    require_none("mine", CODEX, {"HOME": str(tmp_path)}, str(tmp_path / "notes"))
    with pytest.raises(RequestFailed):
        require_none("mine", CODEX, {"CODEX_HOME": "/elsewhere"}, str(tmp_path / "notes"))
