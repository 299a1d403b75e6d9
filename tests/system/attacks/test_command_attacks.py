"""Commands that try to pass the allowed patterns or to read keys: by a real agent, hosted and in
mirror. What a command may do once a person has allowed it is another matter: docs/security.md."""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from ground import MODES, Ground, new_ground
from support.project import Editor, bash, call, step

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: /proc")

PATTERN = "command: git status*"
DENIED = "the user declined this command"
TOUCH = "touch pwned"

#: What must be asked about, although the settings allow ``PATTERN``.
SMUGGLED: Mapping[str, Any] = {
    "after a semicolon": bash(f"git status; {TOUCH}"),
    "after and": bash(f"git status && {TOUCH}"),
    "after or": bash(f"git status || {TOUCH}"),
    "in the background": bash(f"git status & {TOUCH}"),
    "on the next line": bash(f"git status\n{TOUCH}"),
    "after a return": bash(f"git status\r{TOUCH}"),
    "after a form feed and a line": bash(f"git status\f\n{TOUCH}"),
    "behind a comment": bash(f"git status #\n{TOUCH}"),
    "behind a backslash": bash(f"git status \\\n;{TOUCH}"),
    "substituted": bash(f"git status $({TOUCH})"),
    "substituted by backquotes": bash(f"git status `{TOUCH}`"),
    "in a parameter": bash(f"git status ${{X:-$({TOUCH})}}"),
    "in a pipe": bash(f"git status | {TOUCH}"),
    "in a process": bash(f"git status <({TOUCH})"),
    "written over a file": bash("git status > pwned"),
    "written over a file outside": bash("git status >> ../decoy/secret.txt"),
    "in a here-document": bash(f"git status <<X\n$({TOUCH})\nX"),
    "before it": bash(f"{TOUCH}; git status"),
    "another spelling": bash(f"GIT STATUS; {TOUCH}"),
    "with a variable before": bash(f"GIT_PAGER='{TOUCH}' git status"),
    "key in capitals": call("bash", COMMAND=TOUCH),
    "with a word too long for a file": bash(f"{TOUCH} {'n' * 300}/x"),
    "with a path too long for the system": bash(f"{TOUCH} {'d/' * 3000}x"),
    "behind a gate's own line": bash(f"/tmp/lsp-agent-bridge-x/gate 1 || exit\n{TOUCH}"),
}
#: What is refused without a question.
REFUSED: Mapping[str, tuple[Any, str]] = {
    "two commands": (call("bash", command="git status", Command=TOUCH), "more than one command"),
    "a list as a command": (call("bash", command=["git status"]), "without a command"),
    "no command": (call("bash", cmd=TOUCH), "without a command"),
    "a NUL": (bash(f"git status\0; {TOUCH}"), "NUL"),
    "another tool's name": (call("Bash", command=TOUCH), "unknown tool"),
    "the shell by name": (call("sh", command=TOUCH), "unknown tool"),
}
#: Allowed as they stand; none shows a key.
PRYING: Mapping[str, str] = {
    "the environment": "env",
    "the variables by name": "printenv CANARY_API_KEY OPENAI_API_KEY",
    "a variable": 'echo "<$CANARY_API_KEY$OPENAI_API_KEY>"',
    "all that the shell knows": "set; export -p",
    "the environment of a child": "sh -c 'env; set'",
    "the shell's environment as the kernel has it": "tr '\\0' '\\n' </proc/$$/environ",
    "a child's environment as the kernel has it": "tr '\\0' '\\n' </proc/self/environ",
}


class Battery:
    def __init__(self, ground: Ground, mode: str) -> None:
        self.ground = ground
        self.mode = mode
        (ground.folder / ".git").mkdir()
        calls = {
            **SMUGGLED,
            **{name: one for name, (one, _) in REFUSED.items()},
            **{name: bash(command) for name, command in PRYING.items()},
        }
        steps = [
            one
            for name, made in calls.items()
            for one in (step("", made, match=re.escape(f"<{name}>")), step("Done."))
        ]
        allow = [PATTERN, *(f"command: {command}" for command in PRYING.values())]
        permissions = {"command": "ask", "other": "allow", "allow": allow}
        self.editor: Editor = ground.attacked(mode, *steps, options={"permissions": permissions})

    def carry_out(self, name: str) -> tuple[bool, str, int]:
        """Whether the call failed, what it said, and how often the person was asked."""
        asked = len(self.editor.received("agent/ask"))
        results = len(self.editor.events("toolResult"))
        self.editor.ask_agent(f"<{name}>")
        self.editor.call("agent/messages")
        (result,) = self.editor.events("toolResult")[results:]
        text = "".join(block.get("text", "") for block in result["content"])
        assert not (self.ground.folder / "pwned").exists()
        self.ground.check(self.editor)
        return result["isError"], text, len(self.editor.received("agent/ask")) - asked


@pytest.fixture(scope="module", params=MODES)
def battery(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Battery]:
    with new_ground(tmp_path_factory.mktemp(request.param)) as ground:
        yield Battery(ground, request.param)


Report = Callable[[str, str, str, str], None]


@pytest.mark.parametrize("name", SMUGGLED)
def test_what_is_smuggled_past_a_pattern_is_asked_about(
    battery: Battery, name: str, report: Report
) -> None:
    failed, text, asked = battery.carry_out(name)
    assert failed
    assert asked == 1
    assert DENIED in text
    report(f"command {name}", battery.mode, "asked", battery.ground.shown(text))


@pytest.mark.parametrize("name", REFUSED)
def test_a_call_that_is_no_one_command_is_refused(
    battery: Battery, name: str, report: Report
) -> None:
    failed, text, asked = battery.carry_out(name)
    assert failed
    assert asked == 0
    assert REFUSED[name][1] in text
    report(f"command: {name}", battery.mode, "refused", battery.ground.shown(text))


@pytest.mark.parametrize("name", PRYING)
def test_no_command_finds_a_key_in_its_environment(
    battery: Battery, name: str, report: Report
) -> None:
    """``carry_out`` looks for the keys in all that was said, and in the log."""
    _, text, asked = battery.carry_out(name)
    assert asked == 0
    assert text.startswith("$ ")
    report(f"command: {name}", battery.mode, "unseen", battery.ground.shown(text))
