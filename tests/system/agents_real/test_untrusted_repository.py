"""Agents in a repository that nobody trusts: each is started there, reads, edits and runs what the
person allows, and nothing that the repository named has run or was told anything.

The rest of opencode's part is in ``test_opencode_real.py``.
"""

import json
import os
import shutil
import tempfile
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

import pytest
from hostile_to_known import HostileToKnown
from support import warm
from support.actors import (
    Actor,
    Claude,
    CodexAcp,
    CopilotCli,
    GeminiCli,
    Meerkat,
    Opencode,
    QwenCode,
    RealCodex,
    RealPi,
    WithOpenAI,
    Zot,
)
from support.hostile_repository import INSTRUCTION, HostileRepository, link_instructions
from support.model_server import Step
from support.project import EVENTS, LSP_AGENT, Editor, Project
from support.raw_client import Json

from lsp_agent.protocol.catalogue import CONSENT

#: In seconds, on a machine that may be busy with the other tests.
PATIENCE = 90.0
ASKS: Json = EVENTS | {"ask": True}


class Stranger:
    """A server that the repository names; ``heard`` is what was said to it. A context manager."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        heard = self.heard

        class Listen(StreamRequestHandler):
            def handle(self) -> None:
                heard.append(self.rfile.readline())

        self._server = ThreadingTCPServer(("127.0.0.1", 0), Listen)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "Stranger":
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Ground(Project):
    """The server runs in the repository, as editors start it; in its environment are a key and a
    PATH with relative entries, and no proxy comes between."""

    def __init__(self, base: Path, runtime: Path) -> None:
        super().__init__(base, runtime)
        self.secret = f"CANARY-{uuid.uuid4().hex}"
        self.key = f"sk-{uuid.uuid4().hex}"
        self.log = base / "server.log"
        self.outside = self.home / "secret.txt"
        self.outside.write_text(f"{self.secret}\n")

    def environment(self) -> dict[str, str]:
        given = {
            name: value
            for name, value in super().environment().items()
            if not name.lower().endswith("_proxy")
        }
        path = os.pathsep.join(["bin", "", ".", "node_modules/.bin", given["PATH"]])
        return given | {"PATH": path, "CANARY_API_KEY": self.key}

    def start(self, *arguments: str) -> Editor:
        command = [*LSP_AGENT, "serve", "--log-file", str(self.log), "--log-level", "debug"]
        editor = Editor([*command, *arguments], cwd=self.folder, env=self.environment())
        self._editors.enter_context(editor)
        return editor


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    runtime = Path(tempfile.mkdtemp(prefix="la-"))
    ground = Ground(Path(os.path.realpath(tmp_path)), runtime)
    try:
        yield ground
    finally:
        ground.close()
        shutil.rmtree(runtime, ignore_errors=True)


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    with Stranger() as made:
        yield made


@pytest.fixture
def repository(ground: Ground, stranger: Stranger) -> HostileToKnown:
    made = HostileToKnown(ground.folder, ground.home / "ran", stranger.url, ground.outside)
    made.lay_out()
    return made


def settings_of(actor: Actor, *steps: Step) -> Json:
    """As the actor has them, but with nothing that keeps a proxy from coming between."""
    settings = actor.settings(*steps)
    env = {n: v for n, v in settings.get("env", {}).items() if n.lower() != "no_proxy"}
    return settings | {"env": env}


AGENTS: list[Any] = [
    pytest.param(WithOpenAI, id="embedded"),
    pytest.param(Meerkat, id="meerkat", marks=pytest.mark.rkat),
    pytest.param(RealPi, id="pi", marks=pytest.mark.pi),
    pytest.param(RealCodex, id="codex", marks=pytest.mark.codex),
    pytest.param(QwenCode, id="qwen", marks=pytest.mark.qwen),
    pytest.param(Zot, id="zot", marks=pytest.mark.zot),
    pytest.param(Claude, id="claude", marks=pytest.mark.claude),
    pytest.param(CodexAcp, id="codex-acp", marks=pytest.mark.codex_acp),
    pytest.param(GeminiCli, id="gemini", marks=pytest.mark.gemini),
    pytest.param(CopilotCli, id="copilot", marks=pytest.mark.copilot),
]


@pytest.mark.parametrize("kind", AGENTS)
def test_nothing_that_a_repository_names_runs_or_is_told(
    kind: type[Any], ground: Ground, repository: HostileRepository, stranger: Stranger
) -> None:
    read = ground.file("read.txt", "old text\n")
    edited = ground.file("edited.ts", "let a = 1\n")
    with kind(ground) as actor:
        calls = [
            actor.read(str(read)),
            actor.read(str(edited)),
            actor.edit(str(edited), "= 1", "= 2"),
            actor.command("echo allowed > by-the-person"),
        ]
        steps = [*(Step("", (call,)) for call in calls), Step("Done.")]
        agent = settings_of(actor, *steps)
        editor = ground.editor(agent=agent, client=ASKS)
        editor.timeout = PATIENCE
        editor.handlers["agent/ask"] = lambda _question: {"optionId": "allow"}
        result = editor.ask_agent("Go.")
        assert (result["stopReason"], result["text"]) == ("endTurn", "Done."), editor.tool_texts()
        asked = [one["detail"].partition("\n")[0] for one in editor.received("agent/ask")]
        assert asked == ["echo allowed > by-the-person"]
        assert (ground.folder / "by-the-person").read_text() == "allowed\n"
        model = json.dumps(actor.model.requests)
        ground.close()
    assert repository.ran() == []
    assert stranger.heard == []
    said = {"the model": model, "the log": ground.log.read_text()}
    said |= {"the client": json.dumps(editor.messages), "stderr": editor.stderr}
    for where, text in said.items():
        assert ground.secret not in text, f"{where} was told what lies outside"
        assert ground.key not in text, f"{where} was told the key"
    if kind in (WithOpenAI, RealPi, RealCodex):
        assert INSTRUCTION in model
    if kind is Meerkat:
        assert INSTRUCTION not in model


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(WithOpenAI, id="embedded"),
        pytest.param(QwenCode, id="qwen", marks=pytest.mark.qwen),
        pytest.param(Opencode, id="opencode", marks=pytest.mark.opencode),
        pytest.param(Zot, id="zot", marks=pytest.mark.zot),
        pytest.param(Meerkat, id="meerkat", marks=pytest.mark.rkat),
        pytest.param(Claude, id="claude", marks=pytest.mark.claude),
        pytest.param(GeminiCli, id="gemini", marks=pytest.mark.gemini),
    ],
)
def test_no_model_is_told_what_instructions_lead_to_outside(
    kind: type[Any], ground: Ground
) -> None:
    """opencode looks for them once it reads beside them; the others may at their start."""
    link_instructions(ground.folder, ground.outside)
    link_instructions(ground.folder / "sub", ground.outside)
    beside = ground.file("sub/read.txt", "text\n")
    with kind(ground) as actor:
        agent = settings_of(actor, Step("", (actor.read(str(beside)),)), Step("Done."))
        editor = ground.editor(agent=agent, client=ASKS)
        editor.timeout = PATIENCE
        editor.ask_agent("Go.")
        requests: list[Json] = actor.model.requests
        assert requests
        assert ground.secret not in json.dumps(requests)
        assert [each["isError"] for each in editor.events("toolResult")] == [kind is Opencode]


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(RealPi, id="pi", marks=pytest.mark.pi),
        pytest.param(RealCodex, id="codex", marks=pytest.mark.codex),
        pytest.param(CodexAcp, id="codex-acp", marks=pytest.mark.codex_acp),
        pytest.param(CopilotCli, id="copilot", marks=pytest.mark.copilot),
    ],
)
def test_an_agent_that_follows_instructions_outside_is_not_started_where_they_lead_there(
    kind: type[Any], ground: Ground
) -> None:
    """pi and Codex have only a switch against all instructions, the person's own too; the others
    have none."""
    link_instructions(ground.folder, ground.outside)
    with kind(ground) as actor:
        editor = ground.editor(agent=settings_of(actor, Step("Hi.")), client=ASKS)
        editor.timeout = PATIENCE
        error = editor.failure("agent/prompt", {"text": "Go."})
        assert error.data["kind"] == "notConfigured"
        assert f"{ground.folder}/AGENTS" in str(error)
        assert actor.model.requests == []


def test_the_doctor_runs_nothing_that_a_repository_brings(
    ground: Ground, repository: HostileRepository, stranger: Stranger
) -> None:
    """It asks each agent on PATH for its version, and some obey what lies where they run."""
    own = ground.home / "bin"
    own.mkdir()
    beside = "[ ! -e bunfig.toml ] || : > " + str(ground.home / "ran" / "beside")
    (own / "pi").write_text(f"#!/usr/bin/env sh\n{beside}\n")
    (own / "pi").chmod(0o755)
    environment = ground.environment()
    environment["PATH"] += os.pathsep + str(own)
    done = warm.run([*LSP_AGENT, "doctor", "--json"], cwd=ground.folder, env=environment)
    (pi,) = [each for each in json.loads(done.stdout)["agents"] if each["name"] == "pi"]
    assert pi["path"] == str(own / "pi")
    assert repository.ran() == []
    assert stranger.heard == []


@pytest.mark.parametrize(
    ("kind", "brought"),
    [
        pytest.param(CodexAcp, ".codex/config.toml", id="codex-acp", marks=pytest.mark.codex_acp),
        pytest.param(CopilotCli, ".github/hooks", id="copilot", marks=pytest.mark.copilot),
    ],
)
def test_an_agent_is_not_started_over_what_it_would_run_until_the_person_has_read_it(
    kind: type[Any], brought: str, ground: Ground, stranger: Stranger
) -> None:
    """The second start shows that it does run it, so the first was rightly refused."""
    repository = HostileToKnown(ground.folder, ground.home / "ran", stranger.url, ground.outside)
    bring = repository.for_codex if kind is CodexAcp else repository.for_copilot
    bring()
    with kind(ground) as actor:
        settings = settings_of(actor, Step("Hi."), Step("Hi."))
        editor = ground.editor(agent=settings, client=ASKS)
        editor.timeout = PATIENCE
        error = editor.failure("agent/prompt", {"text": "Go."})
        assert error.data["kind"] == "notConfigured"
        assert str(ground.folder / brought) in str(error)
        assert f'env.{CONSENT} = "1"' in str(error)
        assert (repository.ran(), actor.model.requests) == ([], [])
        trusting = settings | {"env": settings["env"] | {CONSENT: "1"}}
        editor = ground.editor(agent=trusting, client=ASKS)
        editor.timeout = PATIENCE
        editor.ask_agent("Go.")
        ground.close()
    assert repository.ran()


@pytest.mark.claude
def test_claude_obeys_a_repository_once_the_person_has_read_it(
    ground: Ground, repository: HostileToKnown
) -> None:
    """So what keeps it from that otherwise is what we tell it."""
    with Claude(ground) as actor:
        settings = settings_of(actor, Step("Hi."))
        trusting = settings | {"env": settings["env"] | {CONSENT: "1"}}
        editor = ground.editor(agent=trusting, client=ASKS)
        editor.timeout = PATIENCE
        editor.ask_agent("Go.")
        ground.close()
    assert any(name.startswith("claude ") for name in repository.ran())
