"""How the sources are joined (docs/settings.md), one rule a test."""

import math

import pytest

from lsp_agent.protocol.settings.sources import (
    CONFIGURATION,
    DEFAULTS,
    INITIALIZATION_OPTIONS,
    Loaded,
    SettingsFile,
    load,
)

USER_FILE = "~/.config/lsp-agent/config.toml"
WORKSPACE_FILE = "project/.lsp-agent.toml"
ZOT = {"wire": "zot", "command": ["zot", "rpc"]}


def user(**values: object) -> SettingsFile:
    return SettingsFile(USER_FILE, values)


def workspace(**values: object) -> SettingsFile:
    return SettingsFile(WORKSPACE_FILE, values)


def only_message(loaded: Loaded) -> str:
    assert len(loaded.problems) == 1, loaded.problems
    return str(loaded.problems[0])


class TestWithoutSources:
    def test_the_embedded_agent_is_there_and_chosen(self):
        settings = load().settings
        assert settings.agent == "builtin"
        assert settings.agents["builtin"].wire == "zot"
        assert settings.agents["builtin"].command[-3:] == ["-m", "lsp_agent", "rpc"]

    def test_every_value_comes_from_the_defaults_and_nothing_is_wrong(self):
        loaded = load()
        assert set(loaded.origins.values()) == {DEFAULTS}
        assert loaded.problems == ()

    def test_null_says_nothing(self):
        assert load(initialization_options={"edits": None, "agent": None}) == load()


class TestOrder:
    def test_initialization_options_win_over_the_users_file(self):
        loaded = load(
            user_file=user(edits={"review": "before", "save": "never"}),
            initialization_options={"edits": {"review": "off"}},
        )
        assert loaded.settings.edits.review == "off"
        assert loaded.settings.edits.save == "never"
        assert loaded.origins["edits.review"] == INITIALIZATION_OPTIONS
        assert loaded.origins["edits.save"] == USER_FILE
        assert loaded.origins["edits.hints"] == DEFAULTS

    def test_an_agent_is_overridden_key_by_key(self):
        builtin = {"provider": "script", "model": "demo"}
        settings = load(user_file=user(agents={"builtin": builtin})).settings
        assert settings.agents["builtin"].provider == "script"
        assert settings.agents["builtin"].command == load().settings.agents["builtin"].command

    def test_an_agent_may_be_spread_over_two_sources(self):
        loaded = load(
            user_file=user(agents={"zot": {"wire": "zot"}}),
            initialization_options={"agents": {"zot": {"command": ["zot", "rpc"]}}},
        )
        assert loaded.settings.agents["zot"].command == ["zot", "rpc"]
        assert loaded.problems == ()

    def test_an_agent_may_be_chosen_before_it_is_defined(self):
        loaded = load(user_file=user(agent="zot"), initialization_options={"agents": {"zot": ZOT}})
        assert loaded.settings.agent == "zot"

    def test_the_workspaces_file_is_joined_after_the_configuration(self):
        loaded = load(
            configuration={"permissions": {"command": "deny"}},
            workspace_file=workspace(permissions={"command": "ask", "read": "ask"}),
        )
        assert loaded.settings.permissions.command == "deny"
        assert loaded.origins["permissions.command"] == CONFIGURATION
        assert loaded.origins["permissions.read"] == WORKSPACE_FILE


class TestAWorkspaceNarrows:
    @pytest.mark.parametrize(
        ("section", "key", "loose", "tight"),
        [
            ("edits", "review", "off", "after"),
            ("edits", "review", "after", "before"),
            ("edits", "save", "always", "clean"),
            ("edits", "save", "clean", "never"),
            ("edits", "hold_shrink", 0.5, 0.2),
            ("permissions", "read", "allow", "ask"),
            ("permissions", "edit", "allow", "deny"),
            ("permissions", "command", "ask", "deny"),
            ("permissions", "outside", "allow", "deny"),
            ("permissions", "other", "allow", "ask"),
            ("limits", "idle_seconds", math.inf, 60),
            ("limits", "line_bytes", 1_000_000, 2048),
        ],
    )
    def test_to_the_tighter_value_and_never_to_the_looser(self, section, key, loose, tight):
        tightened = load(
            user_file=user(**{section: {key: loose}}),
            workspace_file=workspace(**{section: {key: tight}}),
        )
        assert getattr(getattr(tightened.settings, section), key) == tight
        assert tightened.problems == ()

        loosened = load(
            user_file=user(**{section: {key: tight}}),
            workspace_file=workspace(**{section: {key: loose}}),
        )
        assert getattr(getattr(loosened.settings, section), key) == tight
        assert "looser than" in only_message(loosened)
        assert USER_FILE in only_message(loosened)

    @pytest.mark.parametrize("hints", ["off", "file", "hunk"])
    def test_hints_freely(self, hints):
        loaded = load(configuration={"edits": {"hints": hints}})
        assert loaded.settings.edits.hints == hints
        assert loaded.problems == ()

    def test_to_another_agent_of_the_users(self):
        loaded = load(user_file=user(agents={"zot": ZOT}), workspace_file=workspace(agent="zot"))
        assert loaded.settings.agent == "zot"
        assert loaded.origins["agent"] == WORKSPACE_FILE

    def test_but_brings_no_agent(self):
        loaded = load(workspace_file=workspace(agent="mine", agents={"mine": ZOT}))
        assert list(loaded.settings.agents) == ["builtin"]
        assert loaded.settings.agent == "builtin"
        assert {problem.key for problem in loaded.problems} == {
            "agent",
            "agents.mine.wire",
            "agents.mine.command",
        }

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("wire", "pi"),
            ("command", ["sh", "-c", "echo"]),
            ("env", {"PATH": "bin"}),
            ("provider", "script"),
            ("model", "dear"),
            ("hosting", "mirror"),
            ("config", {"agent": {"model": "dear"}}),
        ],
    )
    def test_but_changes_nothing_of_the_users_agents(self, key, value):
        users = {"agents": {"zot": ZOT}}
        loaded = load(user_file=user(**users), configuration={"agents": {"zot": {key: value}}})
        assert loaded.settings == load(user_file=user(**users)).settings
        assert "a workspace cannot set it" in only_message(loaded)

    def test_but_adds_no_patterns_of_allowed_calls(self):
        loaded = load(workspace_file=workspace(permissions={"allow": ["command: *"]}))
        assert loaded.settings.permissions.allow == []
        assert "a workspace cannot set it" in only_message(loaded)

    def test_quietly_where_it_repeats_what_holds_anyway(self):
        everything = load().settings.model_dump()
        assert load(configuration=everything).problems == ()


class TestProblems:
    def test_name_the_file_the_key_and_what_is_allowed(self):
        loaded = load(user_file=user(edits={"review": "befor"}))
        assert only_message(loaded) == (
            f'{USER_FILE}: edits.review: must be "off", "after" or "before"'
            ' (did you mean "before"?)'
        )

    def test_of_an_unknown_key_name_the_nearest_known_one(self):
        loaded = load(initialization_options={"permisions": {"read": "deny"}})
        assert 'permisions: unknown key, ignored (did you mean "permissions"?)' in (
            only_message(loaded)
        )
        assert "known are agent, agents, edits, permissions, limits" in only_message(loaded)

    def test_leave_the_rest_of_the_source_in_force(self):
        loaded = load(
            user_file=user(edits={"review": 7, "save": "never"}, limits=3, agent="builtin")
        )
        assert loaded.settings.edits.save == "never"
        assert loaded.settings.edits.review == "after"
        assert [problem.key for problem in loaded.problems] == ["edits.review", "limits"]

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"limits": {"line_bytes": 1.5}}, "a whole number of at least 1024; it is a number"),
            ({"limits": {"idle_seconds": "9"}}, "must be a number above 0; it is a string"),
            ({"limits": {"idle_seconds": math.nan}}, "must be a number above 0"),
            ({"edits": {"hold_shrink": 2}}, "of at least 0 and of at most 1"),
            ({"permissions": {"allow": "x"}}, "must be a list of strings; it is a string"),
            ({"edits": []}, "edits: must be a table; it is a list"),
            ({"agents": {"builtin": {"command": []}}}, "a list of strings that is not empty"),
            ({"agents": {"builtin": {"env": {"A": 1}}}}, "must be a table of strings"),
            ({"agents": {"builtin": {"config": 1}}}, "must be a table of values as JSON has them"),
            (3, "initializationOptions: must be a table; it is a whole number"),
        ],
    )
    def test_of_a_wrong_type_say_what_it_must_be(self, values, message):
        loaded = load(initialization_options=values)
        assert message in only_message(loaded)
        assert loaded.settings == load().settings

    @pytest.mark.parametrize(
        ("section", "key", "given", "counts"),
        [
            ("permissions", "edit", "denied", "deny"),
            ("permissions", "command", True, "deny"),
            ("permissions", "reading", "no", "ask"),
            ("permissions", "network", ["not a host!"], "deny"),
            ("permissions", "hidden", ["keys", 5], ["keys"]),
        ],
    )
    def test_of_what_denies_count_as_the_tightest(self, section, key, given, counts):
        loaded = load(user_file=user(**{section: {key: given}}))
        assert getattr(getattr(loaded.settings, section), key) == counts
        assert "it counts as" in only_message(loaded)

    def test_of_an_agents_sandbox_put_it_into_one(self):
        loaded = load(user_file=user(agents={"zot": {**ZOT, "sandbox": "yes"}}))
        assert loaded.settings.agents["zot"].sandbox is True

    def test_of_a_workspace_leave_what_the_person_has(self):
        loaded = load(workspace_file=workspace(permissions={"edit": "denied"}))
        assert loaded.settings.permissions.edit == "allow"

    def test_never_show_a_value_which_may_be_a_secret(self):
        env = {"agents": {"builtin": {"env": "TOKEN=hunter2", "provider": ["hunter2"]}}}
        loaded = load(user_file=user(**env))
        assert len(loaded.problems) == 2
        assert not any("hunter2" in str(problem) for problem in loaded.problems)

    def test_of_an_agent_without_wire_or_command_drop_it(self):
        loaded = load(user_file=user(agents={"one": {"model": "m"}, "two": {"wire": "pi"}}))
        assert list(loaded.settings.agents) == ["builtin"]
        assert [str(problem) for problem in loaded.problems] == [
            f"{USER_FILE}: agents.one: ignored, since it has no wire and no command;"
            " an agent needs both",
            f"{USER_FILE}: agents.two: ignored, since it has no command; an agent needs both",
        ]

    def test_of_a_known_agent_whose_wire_is_another_drop_it(self):
        loaded = load(user_file=user(agents={"claude": {"wire": "zot"}}))
        assert list(loaded.settings.agents) == ["builtin"]
        assert "agents.claude: ignored, since it has no command" in only_message(loaded)

    def test_of_a_configuration_for_an_agent_that_takes_none_drop_it(self):
        meerkat = {"wire": "meerkat", "command": ["rkat-rpc"], "config": {"max_tokens": 9}}
        codex = {"wire": "codex", "command": ["codex"], "config": {"web_search": "disabled"}}
        agents = {"zot": {**ZOT, "config": {"max_tokens": 9}}, "meerkat": meerkat, "codex": codex}
        loaded = load(user_file=user(agents=agents))
        assert loaded.settings.agents["zot"].config == {}
        assert loaded.settings.agents["meerkat"].config == {"max_tokens": 9}
        assert loaded.settings.agents["codex"].config == {"web_search": "disabled"}
        assert "agents.zot.config: ignored" in only_message(loaded)

    def test_of_an_agent_that_nobody_defined_list_the_known_ones(self):
        loaded = load(user_file=user(agent="zott", agents={"zot": ZOT}))
        assert loaded.settings.agent == "builtin"
        assert '(did you mean "zot"?); you have "builtin", "zot"' in only_message(loaded)

    def test_of_one_source_are_listed_up_to_a_limit(self):
        loaded = load(workspace_file=workspace(**{f"key{n}": n for n in range(5000)}))
        assert len(loaded.problems) == 21
        assert loaded.problems[-1].message == "4980 more problems like these"

    def test_have_keys_in_one_line_however_odd(self):
        loaded = load(workspace_file=workspace(**{"a\nb." + "x" * 500: 1}))
        assert loaded.problems[0].key.startswith(r'"a\nb.xxx')
        assert len(loaded.problems[0].key) < 100


class TestKnownAgents:
    def test_are_chosen_without_a_table(self):
        loaded = load(user_file=user(agent="claude"))
        assert loaded.problems == ()
        claude = loaded.settings.agents[loaded.settings.agent]
        assert (claude.wire, claude.command) == ("acp", ["claude-agent-acp"])

    def test_keep_what_a_table_does_not_say(self):
        loaded = load(user_file=user(agents={"gemini": {"env": {"GEMINI_API_KEY": "x"}}}))
        assert loaded.problems == ()
        gemini = loaded.settings.agents["gemini"]
        assert (gemini.command, gemini.env) == (["gemini", "--acp"], {"GEMINI_API_KEY": "x"})

    def test_are_not_chosen_by_a_workspace_whose_person_does_not_have_them(self):
        file = SettingsFile("workspace", {"agent": "copilot"})
        loaded = load(workspace_file=file)
        assert loaded.settings.agent == "builtin"
        assert "there is no such agent" in only_message(loaded)
