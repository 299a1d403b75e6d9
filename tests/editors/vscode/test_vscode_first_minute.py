"""The first minute of someone who has VS Code, the extension, and nothing else yet: up to an answer
and an edit of a model on the loopback."""

import json
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.acp_agents import ClaudeCode
from support.first_minute import Film, Record
from support.model_server import Call
from support.workbench import wait_until
from vscode_newcomer import KEY, Newcomer, newcomer

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.xdist_group("vscode"),
]

DOUBLE = Path(__file__).parents[2] / "support" / "doubles" / "acp_agent.py"


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Newcomer]:
    with newcomer(tmp_path_factory.mktemp("newcomer")) as started:
        started.person.command("lspAgent.chat.open")
        yield started


@pytest.fixture
def new(begun: Newcomer, tmp_path: Path) -> Iterator[Newcomer]:
    try:
        yield begun
    finally:
        begun.person.tell(tmp_path)


def test_without_a_python_ways_to_one_are_offered(new: Newcomer) -> None:
    hindrance = new.person.chat.locator(".hindrance")
    hindrance.filter(has_text="needs Python 3.11 or newer").wait_for()
    for way in ("Install uv", "Get Python"):
        hindrance.get_by_role("button", name=way).wait_for()


def test_with_one_the_server_is_installed_and_the_person_is_asked_for_an_agent(
    new: Newcomer, record_property: Record
) -> None:
    film = Film("VS Code, installing", record_property)
    new.program("python3", f'exec {sys._base_executable} "$@"')
    new.person.chat.get_by_role("button", name="Try Again").click()
    new.card.wait_for(timeout=240_000)
    film.did("Try Again, once there is a Python")
    film.ends()
    assert len(new.servers()) == 1
    assert not new.person.chat.locator(".hindrance").count()


def test_a_key_in_the_card_leads_to_an_answer_and_an_edit(
    new: Newcomer, record_property: Record
) -> None:
    film = Film("VS Code, then a key", record_property)
    new.types()
    film.did("opens a file, and types")
    new.card.get_by_text("Anthropic", exact=True).click()
    new.card.get_by_label("API key").first.fill(KEY)
    new.card.get_by_label("API key").first.press("Enter")
    new.card.wait_for(state="hidden")
    new.person.wait_for_cursor()
    film.did("Anthropic, the key, Enter")
    edit = {"path": "shop.py", "edits": [{"oldText": "price = 1\n", "newText": "price = 100\n"}]}
    new.is_edited_by(Call("edit", edit))
    film.did("a prompt: answer and edit")
    film.ends()
    assert set(new.model.keys) == {KEY}


def test_the_key_is_in_no_file(new: Newcomer) -> None:
    kept = [path for path in new.base.rglob("*") if path.is_file() and "packages-" not in str(path)]
    assert len(kept) > 10
    assert [path for path in kept if KEY.encode() in path.read_bytes()] == []


@pytest.mark.claude
def test_claude_code_on_the_path_leads_to_an_answer_and_an_edit(
    new: Newcomer, record_property: Record
) -> None:
    variables = shlex.join(f"{name}={value}" for name, value in ClaudeCode.QUIET.items())
    path = f"PATH={shlex.quote(os.environ['PATH'])}"
    new.program("claude-agent-acp", f"export {path} {variables}; exec {ClaudeCode.PROGRAM}")
    new.person.end()
    film = Film("VS Code, then Claude Code", record_property)
    new.types()
    film.did("opens a file, and types")
    new.person.palette("Agent: Connect an Agent")
    new.press("Look Again")
    new.press("Use Claude Code")
    new.card.wait_for(state="hidden")
    new.person.wait_for_cursor()
    film.did("Connect an Agent, Look Again, Use Claude Code")
    new.is_edited_by(ClaudeCode.write(new.person.folder / "shop.py", "price = 100\n"))
    film.did("a prompt: answer and edit")
    film.ends()


def test_an_agent_that_wants_a_login_gets_it_by_one_button(new: Newcomer) -> None:
    signed_in = new.base / "signed-in"
    told = shlex.quote(json.dumps({"name": "gemini-cli", "signedIn": str(signed_in)}))
    serve = f"exec {shlex.quote(sys.executable)} {shlex.quote(str(DOUBLE))} {told}"
    new.program("gemini", f'[ "$1" = --acp ] && {serve}\n: >{shlex.quote(str(signed_in))}')
    new.person.palette("Agent: Connect an Agent")
    new.press("Look Again")
    new.press("Use Gemini CLI")
    new.card.wait_for(state="hidden")
    new.person.say("Hello")
    new.person.turn.get_by_text("Sign in first: run `gemini` in a terminal").first.wait_for()
    new.person.press("Sign In to Gemini CLI")
    wait_until(signed_in.exists)
    new.card.wait_for(state="hidden")
    new.person.say("Hello")
    new.person.turn.get_by_text("default/low").wait_for()
    new.person.wait_for_end()


def test_what_is_not_here_is_listed_with_what_brings_it(new: Newcomer) -> None:
    new.program("npm", "exit 0")
    new.person.palette("Agent: Choose Model or Agent")
    new.person.row("Claude Code").wait_for()
    new.person.row("Codex").filter(has_text="npm install -g @openai/codex").wait_for()
    new.person.key("Escape")
