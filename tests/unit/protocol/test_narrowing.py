"""Whatever a workspace says, no value is looser than without it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.protocol.settings.settings import Settings
from lsp_agent.protocol.settings.sources import SettingsFile, load

HOSTS = st.lists(st.sampled_from(["a.org", "*.b.org", "10.0.0.1", "no host"]), max_size=2)
WORDS = ["allow", "ask", "deny", "off", "after", "before", "always", "clean", "never", "file"]
NUMBERS = st.one_of(st.integers(-5, 10**9), st.floats(allow_nan=True, allow_infinity=True))
SCALARS = st.one_of(st.sampled_from(WORDS), NUMBERS, st.booleans(), st.none(), st.text(max_size=5))
ODD = st.one_of(SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(st.text(), SCALARS))
VALUES = st.one_of(SCALARS, ODD, HOSTS)


def tables(*keys: str) -> st.SearchStrategy[dict[str, object]]:
    return st.dictionaries(st.sampled_from([*keys, "other key"]), VALUES, max_size=len(keys))


AGENT = tables("wire", "command", "env", "provider", "model", "hosting", "config")
AGENTS = st.dictionaries(st.sampled_from(["builtin", "mine", "new"]), st.one_of(AGENT, ODD))
WORKSPACE = st.fixed_dictionaries(
    {},
    optional={
        "agent": st.one_of(st.sampled_from(["builtin", "mine", "new"]), ODD),
        "agents": st.one_of(AGENTS, ODD),
        "edits": st.one_of(tables("review", "save", "hints", "hold_shrink"), ODD),
        "permissions": st.one_of(
            tables(
                *("read", "edit", "command", "reading", "network", "hidden", "outside", "other"),
                *("allow", "secrets"),
            ),
            ODD,
        ),
        "limits": st.one_of(tables("idle_seconds", "line_bytes"), ODD),
        "surprise": ODD,
    },
)
POLICY = st.sampled_from(["allow", "ask", "deny"])
USER = st.fixed_dictionaries(
    {
        "agents": st.just({"mine": {"wire": "zot", "command": ["mine"], "env": {"A": "1"}}}),
        "edits": st.fixed_dictionaries(
            {
                "review": st.sampled_from(["off", "after", "before"]),
                "save": st.sampled_from(["always", "clean", "never"]),
                "hold_shrink": st.floats(0, 1),
            }
        ),
        "permissions": st.fixed_dictionaries(
            {
                "read": POLICY,
                "edit": st.sampled_from(["allow", "deny"]),
                "command": st.sampled_from(["allow", "sandbox", "ask", "deny"]),
                "reading": st.sampled_from(["allow", "ask"]),
                "network": st.one_of(st.sampled_from(["allow", "deny"]), HOSTS),
                "secrets": st.sampled_from(["show", "cover"]),
                "outside": POLICY,
                "other": POLICY,
                "allow": st.lists(st.just("command: git status*"), max_size=1),
            }
        ),
        "limits": st.fixed_dictionaries(
            {"idle_seconds": st.floats(0.1, 1e6), "line_bytes": st.integers(1024, 10**8)}
        ),
    }
)


def freedom(settings: Settings) -> dict[str, float]:
    """How loose each value is: more is looser. Spelled out here, not taken from the code."""
    policy = {"deny": 0, "ask": 1, "sandbox": 1.5, "allow": 2}
    permissions = settings.permissions
    return {
        "read": policy[permissions.read],
        "edit": policy[permissions.edit],
        "command": policy[permissions.command],
        "outside": policy[permissions.outside],
        "reading": policy[permissions.reading],
        "network": 1 if isinstance(permissions.network, list) else policy[permissions.network],
        "other": policy[permissions.other],
        "secrets": {"cover": 0, "show": 1}[permissions.secrets],
        "review": {"before": 0, "after": 1, "off": 2}[settings.edits.review],
        "save": {"never": 0, "clean": 1, "always": 2}[settings.edits.save],
        "hold_shrink": settings.edits.hold_shrink,
        "idle_seconds": settings.limits.idle_seconds,
        "line_bytes": settings.limits.line_bytes,
    }


@given(user=USER, configuration=st.one_of(WORKSPACE, ODD), workspace=WORKSPACE)
def test_a_workspace_never_loosens_anything(user, configuration, workspace):
    user_file = SettingsFile("config.toml", user)
    before = load(user_file=user_file).settings
    after = load(
        user_file=user_file,
        configuration=configuration,
        workspace_file=SettingsFile(".lsp-agent.toml", workspace),
    ).settings
    looser = {key for key, value in freedom(after).items() if value > freedom(before)[key]}
    assert not looser
    assert after.agents == before.agents
    assert after.permissions.hidden == before.permissions.hidden
    assert after.permissions.network in ("deny", before.permissions.network)
    assert after.permissions.allow == before.permissions.allow
    assert after.agent in before.agents


@given(user=USER, workspace=WORKSPACE)
def test_a_value_that_took_effect_names_its_source(user, workspace):
    user_file = SettingsFile("config.toml", user)
    before = freedom(load(user_file=user_file).settings)
    loaded = load(user_file=user_file, workspace_file=SettingsFile("theirs", workspace))
    changed = {key for key, value in freedom(loaded.settings).items() if value != before[key]}
    named = {key.split(".")[-1] for key, source in loaded.origins.items() if source == "theirs"}
    assert changed == named - {"hints", "agent"}


@given(st.one_of(WORKSPACE, ODD))
def test_no_source_makes_loading_fail(anything):
    load(initialization_options=anything, configuration=anything)


@pytest.mark.parametrize("users", ["allow", "deny", ["a.org"]])
def test_a_workspace_names_no_host(users: object) -> None:
    user_file = SettingsFile("config.toml", {"permissions": {"network": users}})
    theirs = SettingsFile("theirs", {"permissions": {"network": ["b.org"]}})
    loaded = load(user_file=user_file, workspace_file=theirs)
    assert loaded.settings.permissions.network == users
    (problem,) = loaded.problems
    assert 'a workspace can only set "deny"' in problem.message
