"""What the extension's own modules make of keys and of agents that do not answer."""

import json
from typing import Any

import pytest
from support.vscode_modules import returned

pytestmark = [pytest.mark.vscode, pytest.mark.slow, pytest.mark.timeout(300)]

Json = dict[str, Any]

WITH_KEYS = """
const secrets = { get: async (name) => argument.kept[name] };
return keys.withKeys(argument.options, secrets);
"""
USED = """
const { place, key, had } = argument;
const kept = {};
const secrets = {
  store: async (name, value) => void (kept[name] = value),
  delete: async () => undefined,
};
let written;
vscode.workspace.getConfiguration = () => ({
  inspect: () => ({ globalValue: { builtin: had, other: { wire: 'acp', command: ['x'] } } }),
  update: async (_name, value) => void (written = value),
});
await keys.usePlace(place, key, secrets);
return { kept, written };
"""
OWN_SERVER = "http://127.0.0.1:8080/v1"


def environment(kept: dict[str, str], builtin: Json) -> dict[str, str]:
    """Of the embedded agent."""
    argument = {"kept": kept, "options": {"agents": {"builtin": builtin}}}
    options = returned(WITH_KEYS, argument, keys="connect/keys")["options"]
    return options["agents"]["builtin"].get("env", {})


def used(place: Json, key: str, **had: Any) -> tuple[dict[str, str], Json]:
    """The secrets that are kept, and the settings that are written."""
    argument = {"place": place, "key": key, "had": had}
    said = returned(USED, argument, keys="connect/keys")
    assert said["written"]["other"] == {"wire": "acp", "command": ["x"]}
    return said["kept"], said["written"]["builtin"]


def test_a_key_goes_only_to_the_place_that_it_is_kept_for() -> None:
    kept = {"key:openai": "sk-makers", f"key:openai@{OWN_SERVER}": "sk-own"}
    assert environment(kept, {"provider": "openai"}) == {"OPENAI_API_KEY": "sk-makers"}
    own = {"OPENAI_BASE_URL": OWN_SERVER}
    assert environment(kept, {"provider": "openai", "env": own})["OPENAI_API_KEY"] == "sk-own"
    elsewhere = {"OPENAI_BASE_URL": "http://elsewhere.invalid"}
    assert environment(kept, {"provider": "openai", "env": elsewhere}) == elsewhere
    assert environment(kept, {"provider": "anthropic"}) == {}


def test_no_key_is_written_into_settings() -> None:
    kept, builtin = used({"provider": "anthropic"}, "sk-1", model="gone", command=["mine"])
    assert kept == {"key:anthropic": "sk-1"}
    assert builtin == {"provider": "anthropic", "command": ["mine"]}
    place = {"provider": "openai", "address": OWN_SERVER, "model": "m"}
    kept, builtin = used(place, "sk-2", env={"OPENAI_API_KEY": "sk-old", "MINE": "1"})
    assert kept == {f"key:openai@{OWN_SERVER}": "sk-2"}
    assert builtin["env"] == {"MINE": "1", "OPENAI_BASE_URL": OWN_SERVER}


def test_a_server_that_wants_no_key_is_sent_none_of_the_persons() -> None:
    place = {"provider": "openai", "address": OWN_SERVER, "model": "m"}
    kept, builtin = used(place, "")
    assert kept == {}
    assert (builtin["model"], builtin["env"]["OPENAI_API_KEY"]) == ("m", "none")


def test_a_trace_of_what_is_said_to_the_server_has_no_key() -> None:
    said = json.dumps({"env": {"OPENAI_API_KEY": 'sk-"1'}, "model": "m"}, indent=4)
    code = "return keys.withoutKeys(...argument)"
    assert "sk-" not in returned(code, [said, ['sk-"1']], keys="connect/keys")


CLAUDE: Json = {
    "name": "claude",
    "title": "Claude Code",
    "path": "/bin/claude-agent-acp",
    "signIn": "claude /login",
    "signInCommand": "claude /login",
    "installCommand": "npm install -g it",
}
SIGN_IN = "Authentication required. Sign in first: run `claude /login` in a terminal"


@pytest.mark.parametrize(
    ("info", "error", "said", "title"),
    [
        (CLAUDE, SIGN_IN, False, "Sign In to Claude Code"),
        (CLAUDE | {"signInCommand": None}, SIGN_IN, True, None),
        (CLAUDE, "The agent ended with exit code 1.", False, "Update Claude Code"),
        (CLAUDE, "http 500", True, None),
        (CLAUDE | {"path": None}, "there is no such program", False, "Install Claude Code"),
        (CLAUDE | {"path": None, "installCommand": None}, "there is none", False, None),
        ({"name": "builtin", "title": "own"}, "http 401; the key was refused", True, "Connect…"),
        ({"name": "builtin", "title": "own"}, "http 500", True, None),
    ],
)
def test_what_mends_an_agent_is_one_button(
    info: Json, error: str, said: bool, title: str | None
) -> None:
    given = {name: value for name, value in info.items() if value is not None}
    code = "return mend.mendOf(...argument)?.title ?? null"
    assert returned(code, [given, error, said], mend="connect/mend") == title
