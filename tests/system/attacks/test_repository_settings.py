"""What a repository sets, in its ``.lsp-agent.toml`` or in the editor's settings that it brings
(VS Code's ``.vscode/settings.json`` reaches us as ``workspace/configuration``): never looser.

Each is a folder of one workspace, with an agent that then tries what the settings ask for: a
command, a file outside, a write that drops most of a file.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from ground import MODES, Ground, new_ground
from support.project import bash, call, step, write
from support.raw_client import wait_until

from lsp_agent.server.client.settings_pull import SECTION

pytestmark = pytest.mark.sampled

NARROW = "a workspace can only narrow"
OWN = "it belongs in your own settings"
LONG = "".join(f"line {n}\n" for n in range(20))

#: By name: the table (TOML's or JSON's), and words of what the person is told.
TABLES: Mapping[str, tuple[dict[str, Any], str]] = {
    "command allowed": ({"permissions": {"command": "allow"}}, NARROW),
    "outside allowed": ({"permissions": {"outside": "allow"}}, NARROW),
    "outside asked": ({"permissions": {"outside": "ask"}}, NARROW),
    "other tools allowed": ({"permissions": {"other": "allow"}}, NARROW),
    "patterns": ({"permissions": {"allow": ["command: *"]}}, OWN),
    "review off": ({"edits": {"review": "off"}}, NARROW),
    "saved always": ({"edits": {"save": "always"}}, NARROW),
    "writes not held": ({"edits": {"hold_shrink": 1}}, NARROW),
    "an agent's command": ({"agents": {"scripted": {"command": ["touch", "pwned"]}}}, OWN),
    "an agent's environment": ({"agents": {"scripted": {"env": {"PATH": "."}}}}, OWN),
    "an agent's provider": ({"agents": {"scripted": {"provider": "evil"}}}, OWN),
    "an agent's model": ({"agents": {"scripted": {"model": "evil"}}}, OWN),
    "an agent's hosting": ({"agents": {"scripted": {"hosting": "auto"}}}, OWN),
    "a new agent": (
        {"agent": "evil", "agents": {"evil": {"wire": "zot", "command": ["touch", "pwned"]}}},
        "there is no such agent",
    ),
    "an unknown agent": ({"agent": "sh"}, "there is no such agent"),
    "more patience": ({"limits": {"idle_seconds": 1e9}}, NARROW),
    "longer lines": ({"limits": {"line_bytes": 1 << 40}}, NARROW),
    "an unknown key": ({"permissions": {"commands": "allow"}}, "unknown key, ignored"),
    "a key in capitals": ({"Permissions": {"command": "allow"}}, "unknown key, ignored"),
    "a key with a dot": ({"permissions.command": "allow"}, "unknown key, ignored"),
    "a wrong type": ({"permissions": {"command": True}}, "must be"),
    "a list for a table": ({"permissions": ["allow"]}, "must be a table"),
    "an escape sequence": ({"\x1b[2J\n": "allow", "agent": "\x1b[31mno"}, "unknown key"),
}


def _toml(table: Mapping[str, Any]) -> str:
    """``table``, as TOML: sections as inline tables, which JSON's values nearly are."""

    def value(given: Any) -> str:
        if isinstance(given, dict):
            return "{" + ", ".join(f"{json.dumps(k)} = {value(v)}" for k, v in given.items()) + "}"
        return json.dumps(given)

    return "".join(f"{json.dumps(key)} = {value(one)}\n" for key, one in table.items())


def _fifo(path: Path, _ground: Ground) -> None:
    os.mkfifo(path)


def _link(path: Path, ground: Ground) -> None:
    path.symlink_to(ground.config / "config.toml")


def _endless(path: Path, _ground: Ground) -> None:
    path.symlink_to("/dev/zero")


def _content(content: bytes) -> Callable[[Path, Ground], None]:
    return lambda path, _ground: path.write_bytes(content) and None


#: In the place of ``.lsp-agent.toml``.
FILES: Mapping[str, tuple[Callable[[Path, Ground], None], str]] = {
    "a pipe": (_fifo, "not a regular file"),
    "a folder": (lambda path, _ground: path.mkdir(), "Is a directory"),
    "a symlink to the user's file": (_link, "it is a symbolic link"),
    "a symlink to a device": (_endless, "it is a symbolic link"),
    "a huge file": (_content(b"#" * (1 << 20)), "larger than 256 KiB"),
    "no UTF-8": (_content(b"agent = '\xff'"), "not UTF-8"),
    "no TOML": (_content(b"[permissions\ncommand = "), "not TOML"),
    "two tables": (_content(b"[permissions]\n[permissions]\n"), "not TOML"),
    "deep nesting": (_content(b"a = " + b"[" * 100_000), "not TOML"),
    "a long number": (_content(b"a = " + b"9" * 100_000), "not TOML"),
    "many keys": (
        _content(b"".join(b"k%d = 1\n" % n for n in range(500))),
        "480 more problems like these",
    ),
}


class Battery:
    """One server; each hostile repository is a workspace folder of its own."""

    def __init__(self, ground: Ground, mode: str) -> None:
        self.ground = ground
        self.mode = mode
        self.configurations: dict[str, Any] = {}
        self.folders: dict[str, Path] = {}
        for name, (table, _) in TABLES.items():
            folder = self._folder(f"file: {name}")
            (folder / ".lsp-agent.toml").write_text(_toml(table))
            self.configurations[self._folder(f"editor: {name}").as_uri()] = table
        for name, (lay_out, _) in FILES.items():
            lay_out(self._folder(f"file: {name}") / ".lsp-agent.toml", ground)
        calls = [bash("touch pwned"), call("read", path=str(ground.decoy / "secret.txt"))]
        editor = self.editor = ground.attacked(
            mode,
            step("", *calls, write("long.txt", "gone\n")),
            step("Done."),
            folders=list(self.folders.values()),
            capabilities={"workspace": {"applyEdit": True, "configuration": True,
                                        "workspaceEdit": {"documentChanges": True}}},
        )  # fmt: skip
        editor.handlers["workspace/configuration"] = self._configure
        editor.notify("workspace/didChangeConfiguration", {"settings": None})

    def _folder(self, name: str) -> Path:
        folder = self.ground.base / "repositories" / re.sub(r"\W+", "-", name)
        folder.mkdir(parents=True)
        (folder / "long.txt").write_text(LONG)
        self.folders[name] = folder
        return folder

    def _configure(self, params: dict[str, Any]) -> list[Any]:
        assert all(item["section"] == SECTION for item in params["items"])
        return [self.configurations.get(item["scopeUri"]) for item in params["items"]]

    def carry_out(self, name: str) -> list[tuple[bool, str]]:
        opened = self.editor.call("agent/newSession", {"cwd": str(self.folders[name])})
        session = opened["sessionId"]
        self.editor.ask_agent("Go.", sessionId=session)
        self.editor.call("agent/messages", {"sessionId": session})
        results = self.editor.events("toolResult", sessionId=session)
        self.editor.call("agent/closeSession", {"sessionId": session})
        return [(event["isError"], event["content"][0]["text"]) for event in results]

    def told(self, words: str, place: str) -> str | None:
        """The message that the person was shown."""
        for shown in self.editor.received("window/showMessage"):
            message: str = shown["message"]
            if words in message and place in message:
                return message
        return None


@pytest.fixture(scope="module")
def battery(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Battery]:
    with new_ground(tmp_path_factory.mktemp(request.param)) as ground:
        yield Battery(ground, request.param)


CASES = [
    *((f"file: {name}", words) for name, (_, words) in (*TABLES.items(), *FILES.items())),
    *((f"editor: {name}", words) for name, (_, words) in TABLES.items()),
]


#: An agent is started for each. Unless all tests run, only these are tried as the editor's
#: settings and in mirror.
FAST = {"command allowed", "outside allowed", "a symlink to the user's file", "patterns"}

#: Others stand for these.
ALIKE = {
    "outside asked", "other tools allowed", "an agent's provider", "an agent's model",
    "an unknown agent", "more patience", "longer lines", "a key in capitals", "a list for a table",
    "a symlink to a device", "two tables", "a long number",
}  # fmt: skip


def _cases() -> Iterator[Any]:
    for mode in MODES:
        for name, words in CASES:
            form, _, attack = name.partition(": ")
            fast = attack in FAST or ((mode, form) == ("hosted", "file") and attack not in ALIKE)
            marks = () if fast else pytest.mark.slow
            yield pytest.param(mode, name, words, marks=marks, id=f"{mode}-{name}")


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes and symlinks as files")
@pytest.mark.parametrize(("battery", "name", "words"), list(_cases()), indirect=["battery"])
def test_no_setting_of_a_repository_is_looser(
    battery: Battery, name: str, words: str, report: Callable[[str, str, str, str], None]
) -> None:
    folder = battery.folders[name]
    asked = len(battery.editor.received("agent/ask"))
    command, outside, shrinking = battery.carry_out(name)
    assert len(battery.editor.received("agent/ask")) == asked + 1
    assert command[0]
    assert "declined" in command[1]
    assert outside[0]
    assert "lies outside" in outside[1]
    assert not list(folder.glob("pwned"))
    if battery.mode == "hosted":  # in mirror the agent writes itself
        assert "Proposed" in shrinking[1]
        assert (folder / "long.txt").read_text() == LONG
    battery.ground.check(battery.editor)
    place = str(folder) if name.startswith("file") else "workspace/configuration"
    assert wait_until(lambda: battery.told(words, place) is not None)
    message = battery.told(words, place) or ""
    assert message.isprintable()
    shown = battery.ground.shown(message).replace(f"BASE/repositories/{folder.name}/", "")
    report(f"settings, {name}", battery.mode, "ignored", shown)
