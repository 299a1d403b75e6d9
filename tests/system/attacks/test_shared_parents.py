"""A workspace below a folder that others may write to, such as ``/tmp``: what another user puts
there is not the repository's."""

import json
import os
from collections.abc import Callable, Iterator

import pytest
from ground import CLIENT, Ground, Json
from support.loopback_service import ModelServer, text
from support.project import LSP_AGENT

pytestmark = pytest.mark.other_user

Report = Callable[[str, str, str, str], None]

STRANGER = 65534
PLANTED = "PLANTED-WORDS"


@pytest.fixture
def model() -> Iterator[ModelServer]:
    server = ModelServer()
    yield server
    server.close()


def plant(ground: Ground, what: str) -> None:
    """In the folder that the workspace lies in: a repository, with words for its agents."""
    git, words = ground.base / ".git", ground.base / "AGENTS.md"
    if what == "a link to the person's own repository":
        own = ground.home / "project" / ".git"
        own.mkdir(parents=True)
        git.symlink_to(own)
    else:
        git.mkdir()
    words.write_text(f"{PLANTED}\n", encoding="utf-8")
    theirs = [words] if what == "instructions in the person's repository" else [git, words]
    if what == "a repository around the person's file":
        theirs = [git]
    for path in theirs:
        os.chown(path, STRANGER, STRANGER, follow_symlinks=False)


@pytest.mark.parametrize(
    "what",
    [
        "a repository",
        "a link to the person's own repository",
        "instructions in the person's repository",
        "a repository around the person's file",
    ],
)
def test_no_model_is_told_what_another_user_put_above(
    ground: Ground, model: ModelServer, what: str, report: Report
) -> None:
    plant(ground, what)
    ground.file("AGENTS.md", "MY-OWN-WORDS\n")
    assert told(ground, model, PLANTED) == (False, True)
    report(f"above the workspace: {what}", "hosted", "untold", "")


def test_the_model_is_told_the_instructions_of_the_persons_own_repository(
    ground: Ground, model: ModelServer
) -> None:
    """Else the test above would show nothing."""
    (ground.base / ".git").mkdir()
    (ground.base / "AGENTS.md").write_text(f"{PLANTED}\n", encoding="utf-8")
    ground.file("AGENTS.md", "MY-OWN-WORDS\n")
    assert told(ground, model, PLANTED) == (True, True)


def told(ground: Ground, model: ModelServer, words: str) -> tuple[bool, bool]:
    """Whether the model was told ``words``, and the workspace's own."""
    model.answers.append(text("Done."))
    flags = ["--provider", "openai", "--base-url", model.url, "--api-key", "sk-x", "--model", "m"]
    agent: Json = {"wire": "zot", "command": [*LSP_AGENT, "rpc", *flags], "provider": "openai"}
    editor = ground.editor(agent=agent, client=CLIENT)
    editor.ask_agent("Go.")
    said = json.dumps(model.requests)
    assert "coding agent" in said
    return words in said, "MY-OWN-WORDS" in said
