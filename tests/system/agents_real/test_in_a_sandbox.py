"""``agents.NAME.sandbox``: real agents, each held with all that it starts."""

import json
import re
import socket
import sys
from collections.abc import Iterator

import pytest
from support.actors import (
    Actor,
    Claude,
    CodexAcp,
    CopilotCli,
    GeminiCli,
    Opencode,
    QwenCode,
    RealCodex,
    RealPi,
)
from support.holders import hold_by
from support.project import EVENTS, Project
from support.raw_client import Json, wait_until
from support.scripted_agents import do, say

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="needs Linux"),
]

SECRET = "the secret"
#: In seconds. They load a whole runtime, on a machine that may be busy with the other tests.
PATIENCE = 90.0
ALLOWED: Json = {"permissions": {"command": "allow", "other": "allow", "outside": "allow"}}
#: Each of them needs its own folders; what bubblewrap does to them, a few of them show.
KINDS = [
    pytest.param(
        (kind, way),
        marks=[getattr(pytest.mark, mark), getattr(pytest.mark, way)],
        id=f"{kind.name}-{way}",
    )
    for way in ("landlock", "bubblewrap")
    for kind, mark in [
        (Claude, "claude"),
        (Opencode, "opencode"),
        (QwenCode, "qwen"),
        (GeminiCli, "gemini"),
        (CodexAcp, "codex_acp"),
        (CopilotCli, "copilot"),
        (RealPi, "pi"),
        (RealCodex, "codex"),
    ]
    if way == "landlock" or kind in (Claude, Opencode, RealCodex)
]


@pytest.fixture(params=KINDS)
def actor(request: pytest.FixtureRequest, project: Project) -> Iterator[Actor]:
    kind, way = request.param
    hold_by(way, project)
    with kind(project) as made:
        yield made


def test_an_agent_in_a_sandbox_edits_and_neither_writes_outside_nor_sees_a_secret(
    project: Project, actor: Actor
) -> None:
    path = project.file("sub/a.txt", "one\n")
    key, escaped = project.home / ".ssh" / "key", project.home / "escaped"
    key.parent.mkdir()
    key.write_text(SECRET)
    editor = project.editor(
        agent=actor.settings(
            do(actor.read(str(path))),
            do(actor.edit(str(path), "one\n", "two\n")),
            do(actor.command(f"echo begun; cat {key}; echo x > {escaped}; echo y > sub/b.txt")),
            say("Done."),
        )
        | {"sandbox": True},
        client=EVENTS | {"ask": True},
        options=ALLOWED,
    )
    editor.timeout = PATIENCE
    editor.ask_agent("Go.")
    told = "\n".join(actor.told(editor))
    assert path.read_text() == "two\n", told
    assert "begun" in told
    assert SECRET not in told
    assert not escaped.exists()
    assert (project.folder / "sub" / "b.txt").exists()


#: Of each runtime one.
LED = [
    pytest.param(
        (kind, "bubblewrap"),
        marks=[getattr(pytest.mark, mark), pytest.mark.bubblewrap],
        id=kind.name,
    )
    for kind, mark in [
        (Claude, "claude"),
        (GeminiCli, "gemini"),
        (QwenCode, "qwen"),
        (CopilotCli, "copilot"),
    ]
]
REACH = (
    f'{sys.executable} -c \'import socket; socket.create_connection(("127.0.0.1", {{port}}), 5);'
    ' print("reached" + "!")\'; echo tried\'.\''
)


@pytest.mark.parametrize("actor", LED, indirect=True)
def test_an_agent_that_is_led_to_its_models_host_reaches_that_alone(
    project: Project, actor: Actor
) -> None:
    path = project.file("sub/a.txt", "one\n")
    with socket.create_server(("127.0.0.1", 0)) as other:
        reach = REACH.format(port=other.getsockname()[1])
        settings = actor.settings(
            do(actor.read(str(path))),
            do(actor.edit(str(path), "one\n", "two\n")),
            do(actor.command(reach)),
            say("Done."),
        )
        hosts = sorted({*re.findall(r"127\.0\.0\.1:\d+", json.dumps(settings))})
        editor = project.editor(
            agent=settings | {"sandbox": True, "network": hosts}, client=EVENTS, options=ALLOWED
        )
        editor.timeout = PATIENCE
        ended = editor.ask_agent("Go.")
        told = "\n".join(actor.told(editor))
        assert path.read_text() == "two\n", (ended, told)
        assert "tried." in told
        assert "reached!" not in told


@pytest.mark.parametrize("actor", LED[:1], indirect=True)
def test_a_host_that_an_agent_is_not_led_to_is_named(project: Project, actor: Actor) -> None:
    settings = actor.settings(say("Done."))
    settings["env"]["ANTHROPIC_BASE_URL"] = "http://elsewhere.example"
    editor = project.editor(
        agent=settings | {"sandbox": True, "network": ["model.example"]}, client=EVENTS
    )
    editor.timeout = PATIENCE
    turn = editor.prompt("Go.")
    words = "wanted to reach elsewhere.example, which "
    assert wait_until(
        lambda: any(words in notice["message"] for notice in editor.events("notice")), PATIENCE
    )
    editor.call("agent/abort")
    editor.result(turn)


@pytest.mark.parametrize(
    "actor", [pytest.param((RealCodex, ""), marks=pytest.mark.codex)], indirect=True
)
def test_without_its_sandbox_the_same_commands_do(project: Project, actor: Actor) -> None:
    escaped = project.home / "escaped"
    steps = do(actor.command(f"echo x > {escaped}")), say("Done.")
    editor = project.editor(agent=actor.settings(*steps), client=EVENTS, options=ALLOWED)
    editor.timeout = PATIENCE
    editor.ask_agent("Go.")
    assert escaped.exists()
