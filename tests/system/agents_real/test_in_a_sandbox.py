"""``agents.NAME.sandbox``: real agents, each held with all that it starts."""

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
from support.raw_client import Json
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
