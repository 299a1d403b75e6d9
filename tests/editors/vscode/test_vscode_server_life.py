"""What becomes of prompts, turns and questions where the server is slow, hangs or dies."""

import contextlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from support.workbench import Json, wait_until
from vscode_desk import done, step
from vscode_product import Product, agents, build, product
from vscode_servers import servers

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("vscode"),
]

#: A server that does as the file ``mode`` beside it says when it is started.
GATE = """\
#!{python}
import os, pathlib, sys, time
path = pathlib.Path(__file__).with_name("mode")
while (mode := path.read_text()) == "wait":
    time.sleep(0.02)
if mode == "mute":
    time.sleep(1000)
if mode != "run":
    sys.exit("broken")
os.execv({server!r}, [{server!r}, *sys.argv[1:]])
"""
#: Keeps what the extension does once a start has taken too long, to be done at once.
HEAR = """
const { setTimeout } = globalThis;
globalThis.setTimeout = (work, after, ...passed) => {
  if (after === 30_000) globalThis.runOut = work;
  return setTimeout(work, after, ...passed);
};
globalThis.itsOwnTimeout = setTimeout;
"""
HEAR_NO_MORE = "globalThis.setTimeout = itsOwnTimeout"
ASKS: Json = {"name": "bash", "args": {"command": "touch asked.txt"}}


class Held:
    """A person whose server is held at its start."""

    def __init__(self, person: Product, base: Path) -> None:
        self.person = person
        self.base = base

    def mode(self, mode: str) -> None:
        """For the servers that wait, and those to come."""
        new = self.base / "mode.new"
        new.write_text(mode)
        new.replace(self.base / "mode")  # who waits would read a file that is being written

    def script(self, *steps: Json) -> None:
        self.person.settings({})
        (self.base / "script.json").write_text(f'{{"steps": {list(steps)}}}'.replace("'", '"'))

    def restart(self, mode: str) -> None:
        """Until the new one runs or is held."""
        self.mode(mode)
        code = "void vscode.commands.executeCommand('lspAgent.server.restart')"
        before = self.servers
        self.person.workbench.run(code)
        wait_until(lambda: any(process not in before for process in self.servers), 30)
        if mode == "run":
            started(self.person)
        else:
            self.person.chat.get_by_text("Starting the agent's server").wait_for()

    def killed(self) -> psutil.Process:
        """The process that comes in its place, which is held."""
        self.mode("wait")
        (died,) = self.servers
        died.kill()
        (again,) = wait_until(lambda: [each for each in self.servers if each != died])
        return again

    def prompts(self) -> list[list[str]]:
        """Of each conversation that is kept."""
        kept = [json.loads(path.read_text()) for path in (self.base / "user").rglob("chat-*.json")]
        return [[turn["prompt"] for turn in chat["turns"]] for chat in kept]

    @property
    def servers(self) -> list[psutil.Process]:
        """The processes of this window's server, held or running."""
        return servers(self.base)


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Held]:
    base = tmp_path_factory.mktemp("life")
    gate = base / "gate"
    server = str(Path(sys.executable).parent / "lsp-agent")
    gate.write_text(GATE.format(python=sys.executable, server=server))
    gate.chmod(0o755)
    (base / "mode").write_text("wait")
    with product(base, build(), agents(base / "script.json", base / "shop", gate)) as person:
        person.command("lspAgent.chat.open")
        yield Held(person, base)


@pytest.fixture
def held(window: Held, tmp_path: Path) -> Iterator[Held]:
    window.person.command("notifications.clearAll")  # of how the tests before it ended
    try:
        yield window
    finally:
        window.person.tell(tmp_path)


def started(person: Product) -> None:
    person.page.get_by_role("button", name="Agent: Ready").wait_for()


@contextlib.contextmanager
def thirty_seconds(person: Product) -> Iterator[None]:
    """For a start that is begun meanwhile, however little it has been."""
    person.workbench.run(HEAR)
    try:
        yield
        person.workbench.run("runOut()")
    finally:
        person.workbench.run(HEAR_NO_MORE)


def test_prompts_sent_while_the_server_starts_go_one_after_the_other_into_one_session(
    held: Held,
) -> None:
    person = held.person
    held.script({"text": "First."}, {"text": "Second."})
    person.say("One")
    person.say("Two")
    person.chat.locator(".notice.waiting", has_text="Two").wait_for()
    held.mode("run")
    person.chat.locator("article", has_text="Second.").wait_for()
    prompts = person.chat.locator("article > .prompt")
    assert [each.strip() for each in prompts.all_inner_texts()] == ["One", "Two"]
    assert len(person.command("lspAgent.sessions")["sessions"]) == 1


def test_prompts_that_wait_for_the_server_go_where_they_were_sent(held: Held) -> None:
    person = held.person
    held.script({"text": "Said."}, {"text": "Said."}, {"text": "Said."})
    held.restart("run")
    person.new_session()
    person.say("Zero")
    person.wait_for_end()
    held.restart("wait")
    person.say("One")
    person.say("Two")
    person.chat.locator(".notice.waiting", has_text="Two").wait_for()
    person.workbench.run("void vscode.commands.executeCommand('lspAgent.chat.new')")
    held.mode("run")
    wait_until(lambda: ["Zero", "One", "Two"] in held.prompts())
    person.chat.locator(".welcome").wait_for()  # the new one, which is shown still


def test_prompts_that_wait_for_the_server_outlive_a_reload_of_the_window(held: Held) -> None:
    person = held.person
    held.restart("wait")
    person.say("Kept one")
    person.say("Kept two")
    path = wait_until(lambda: next((held.base / "user").rglob("chats.json"), None))
    wait_until(lambda: "Kept one" in path.read_text() and "Kept two" in path.read_text())
    person.workbench.reload()
    wait_until(lambda: person.input.input_value() == "Kept one\n\nKept two")
    person.input.fill("")
    held.mode("run")
    started(person)
    wait_until(lambda: len(held.servers) == 1)  # the other's window is gone


def test_prompts_that_are_refused_are_in_the_composer_again(held: Held) -> None:
    person = held.person
    held.restart("wait")
    person.say("One")
    person.say("Two")
    person.input.fill("and this")
    held.mode("fail")
    wait_until(lambda: person.input.input_value() == "One\n\nTwo\n\nand this")
    assert not person.chat.locator("article .working").count()
    held.restart("run")
    wait_until(person.input.is_enabled)
    person.input.fill("")


def test_the_turn_and_the_question_of_a_server_that_died_are_closed(held: Held) -> None:
    person = held.person
    held.script(step(ASKS), done())
    held.restart("run")
    person.new_session()
    person.say("Ask me")
    person.turn.locator(".question.open").wait_for()
    asks = person.page.get_by_role("button", name=re.compile("^Agent asks"))
    asks.wait_for()
    held.mode("wait")
    for process in held.servers:
        process.kill()
    asks.wait_for(state="detached")
    wait_until(lambda: not person.chat.locator(".question.open, article .working").count())
    assert not person.stop.is_visible()
    assert not (person.folder / "asked.txt").exists()
    held.mode("run")
    started(person)


def test_a_server_that_starts_again_by_itself_is_waited_for_or_ended_never_doubled(
    held: Held,
) -> None:
    person = held.person
    held.script({"text": "Still one."})
    held.restart("run")
    person.new_session()
    again = held.killed()
    person.say("Are you one?")
    person.chat.get_by_text("Starting the agent's server").wait_for()
    held.mode("run")
    person.turn.get_by_text("Still one.").wait_for()
    assert held.servers == [again]
    assert not person.page.locator(".notification-toast", has_text="server").count()
    again = held.killed()
    held.restart("wait")
    wait_until(lambda: len(held.servers) == 1)
    assert held.servers != [again]
    held.mode("run")
    started(person)


def test_a_server_that_hangs_is_killed_and_started_again(held: Held) -> None:
    person = held.person
    (hung,) = held.servers
    hung.suspend()
    held.script({"text": "Here again."})
    held.restart("run")
    person.new_session()
    person.say("Are you there?")
    person.turn.get_by_text("Here again.").wait_for()
    wait_until(lambda: not hung.is_running())


def test_a_server_that_never_answers_does_not_hold_up_another_start(held: Held) -> None:
    person = held.person
    held.restart("mute")
    wait_until(lambda: len(held.servers) == 1)  # the one before it is gone
    (mute,) = held.servers
    held.restart("run")
    wait_until(lambda: not mute.is_running())
    with thirty_seconds(person):
        held.restart("mute")
    hindrance = person.chat.locator(".hindrance", has_text="did not answer within 30 seconds")
    hindrance.wait_for()
    wait_until(lambda: not held.servers)
    held.mode("run")
    hindrance.get_by_role("button", name="Try Again").click()
    started(person)
