"""A person who opens their whole home: our data, the settings and the sockets lie in the
workspace then, and agents are kept from them all the same."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from ground import MODES, Ground
from support.project import call, edit, step, write

SETTINGS = "belongs to the user's own settings"
DATA = "belongs to lsp-agent's own data"
LOG = "belongs to lsp-agent's own logs"
RUNNING = "belongs to the running lsp-agent"
LOOSER = '[permissions]\ncommand = "allow"\noutside = "allow"\n'

#: By what is attacked: its path below the home (or the runtime folder), and the rule.
TARGETS: Mapping[str, tuple[str, str]] = {
    "the user's settings": ("config/lsp-agent/config.toml", SETTINGS),
    "a new file beside them": ("config/lsp-agent/other.toml", SETTINGS),
    "the user's settings, dots": ("config/./x/../lsp-agent/config.toml", SETTINGS),
    "the user's settings by a symlink": ("handy.toml", SETTINGS),
    "where the user's settings really are": ("dotfiles/agent.toml", SETTINGS),
    "our data": ("data/lsp-agent/workspaces/x/journal.jsonl", DATA),
    "our data's folder": ("data/lsp-agent", DATA),
    "the gate of a running agent": ("RUNTIME/lsp-agent-bridge-x/gate", RUNNING),
    "the folder's own limits": (".lsp-agent.toml", "only the user changes it"),
}


@pytest.mark.parametrize("mode", MODES)
def test_our_own_files_are_out_of_reach_in_the_workspace(
    ground: Ground, mode: str, report: Callable[[str, str, str, str], None]
) -> None:
    home = ground.home
    real = home / "dotfiles" / "agent.toml"
    real.parent.mkdir()
    (ground.config / "config.toml").rename(real)
    (ground.config / "config.toml").symlink_to(real)
    (home / "handy.toml").symlink_to(ground.config / "config.toml")
    (home / ".lsp-agent.toml").write_text('[permissions]\ncommand = "deny"\n')

    def calls(path: str) -> list[dict[str, Any]]:
        path = path.replace("RUNTIME", str(ground.runtime))
        writing = [write(path, LOOSER), edit(path, "[permissions]", LOOSER)]
        return writing if path == ".lsp-agent.toml" else [*writing, call("read", path=path)]

    attacks = {name: calls(path) for name, (path, _) in TARGETS.items()}
    steps = [step("", *one) for one in attacks.values()]
    editor = ground.attacked(mode, *steps, step("Done."), folders=[home, ground.runtime])
    editor.ask_agent("Go.")
    editor.call("agent/messages")
    ground.check(editor)
    results = editor.events("toolResult")
    assert all(event["isError"] for event in results)
    texts = iter(editor.tool_texts())
    for name, made in attacks.items():
        shown = [next(texts) for _ in made]
        assert all(TARGETS[name][1] in text for text in shown), shown
        report(name, mode, "refused", ground.shown(shown[0]))
    assert (home / ".lsp-agent.toml").read_text() == '[permissions]\ncommand = "deny"\n'
    assert "allow" not in real.read_text()


@pytest.mark.parametrize("mode", MODES)
def test_even_a_person_who_allows_all_paths_does_not_allow_these(
    ground: Ground, mode: str, report: Callable[[str, str, str, str], None]
) -> None:
    settings = str(ground.config / "config.toml")
    attacks = {
        "allowed outside: the user's settings": (write(settings, LOOSER), SETTINGS),
        "allowed outside: their keys": (call("read", path=settings), SETTINGS),
        "allowed outside: the environment": (call("read", path="/proc/self/environ"), "/proc"),
        "allowed outside: another .git": (write("../decoy/.git/config", "x"), "lies outside"),
        "allowed outside: a device": (write("/dev/null", "x"), "not a regular file"),
        "allowed outside: two slashes to /proc": (call("read", path="//proc/1/environ"), "/proc"),
    }
    steps = [step("", one) for one, _ in attacks.values()]
    options = {"permissions": {"outside": "allow"}}
    editor = ground.attacked(mode, *steps, step("Done."), options=options)
    editor.ask_agent("Go.")
    editor.call("agent/messages")
    ground.check(editor)
    assert all(event["isError"] for event in editor.events("toolResult"))
    for (name, (_, rule)), text in zip(attacks.items(), editor.tool_texts(), strict=True):
        assert rule in text
        report(name, mode, "refused", ground.shown(text))


@pytest.mark.parametrize("mode", MODES)
def test_logs_are_out_of_reach_for_whoever_may_go_outside(
    ground: Ground, mode: str, report: Callable[[str, str, str, str], None]
) -> None:
    """They tell what others said, and are told what nobody should be able to take back."""
    folder = ground.home / "state" / "lsp-agent" / "log"
    folder.mkdir(parents=True)
    (folder / "ext-x.log").write_text(f"{ground.secret}\n")
    targets = [str(folder / "ext-x.log"), str(folder / "new.log"), str(ground.log)]
    steps = [step("", call("read", path=path), write(path, "x")) for path in targets]
    options = {"permissions": {"outside": "allow"}}
    editor = ground.attacked(mode, *steps, step("Done."), options=options)
    editor.ask_agent("Go.")
    ground.check(editor)
    texts = editor.tool_texts()
    assert len(texts) == 2 * len(targets)
    assert all(LOG in text for text in texts), texts
    report("allowed outside: the logs", mode, "refused", ground.shown(texts[0]))
