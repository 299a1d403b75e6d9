"""Settings of a running server: every source, narrowing, and what is wrong said once."""

import time
from pathlib import Path
from typing import Any

from support.project import ALLOWED, CAPABILITIES, EVENTS, Editor, Project, bash, edit, step
from support.raw_client import Json, wait_until

PULL: Json = {"workspace": {"applyEdit": True, "configuration": True}}


def agent_in_toml(project: Project, *steps: Json) -> str:
    """The TOML of an agent called ``mine``."""
    agent = project.agent(*steps)
    command = ", ".join(f"'{word}'" for word in agent["command"])
    return f"[agents.mine]\nwire = 'zot'\ncommand = [{command}]\nprovider = 'script'\n"


def user_file(project: Project, text: str) -> Path:
    path = project.config / "config.toml"
    path.write_text(text)
    return path


def problems(editor: Editor) -> list[str]:
    return [params["message"] for params in editor.received("window/showMessage")]


def configure(editor: Editor, values: object) -> None:
    """The client's settings change, and the server has read them."""
    before = len(editor.received("workspace/configuration"))
    editor.handlers["workspace/configuration"] = lambda params: [values for _ in params["items"]]
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    assert wait_until(lambda: len(editor.received("workspace/configuration")) > before)
    editor.call("agent/sessions")  # the answer was sent before this request


def runs_a_command(project: Project, **more: Any) -> Editor:
    """With an agent that runs a command at its first prompt, which the person allows."""
    steps = step("", bash("touch ran.txt")), step("Done.")
    return project.editor(*steps, options=ALLOWED, client=EVENTS, **more)


def ran(editor: Editor) -> bool:
    return not editor.events("toolResult")[-1]["isError"]


def test_the_persons_own_file_is_enough(project: Project) -> None:
    user_file(
        project,
        "agent = 'mine'\n"
        + agent_in_toml(project, step("", bash("echo x")), step("Mine."))
        + "[permissions]\ncommand = 'allow'\n",
    )
    editor = project.start()
    editor.initialize(folders=[project.folder], agent=EVENTS)
    assert editor.ask_agent("Go.")["text"] == "Mine."
    assert ran(editor)
    assert editor.call("agent/state")["agent"] == "mine"
    assert problems(editor) == []


def test_initialization_options_win_over_the_persons_file(project: Project) -> None:
    user_file(project, "agent = 'mine'\n" + agent_in_toml(project, step("From the file.")))
    editor = project.editor(step("From the editor."))
    assert editor.ask_agent("Go.")["text"] == "From the editor."
    assert editor.call("agent/state")["agents"] == ["builtin", "mine", "scripted"]
    chosen = editor.call("agent/newSession", {"agent": "mine"})["sessionId"]
    assert editor.ask_agent("Go.", sessionId=chosen)["text"] == "From the file."


def test_without_any_settings_the_builtin_agent_says_what_it_needs(project: Project) -> None:
    editor = project.start()
    editor.initialize(folders=[project.folder])
    error = editor.failure("agent/prompt", {"text": "Go."})
    assert (error.code, error.data["kind"]) == (-32803, "notConfigured")
    assert "provider" in error.message


def test_the_clients_configuration_narrows_while_the_server_runs(project: Project) -> None:
    turn = [step("", bash("echo x")), step("Done.")]
    editor = project.editor(
        *turn * 3,
        capabilities=PULL,
        client=EVENTS,
        options={"permissions": {"command": "allow"}},
    )
    editor.handlers["workspace/configuration"] = lambda _params: [None]
    editor.ask_agent("Go.")
    assert ran(editor)
    configure(editor, {"permissions": {"command": "deny"}})
    editor.ask_agent("Again.")
    assert not ran(editor)
    assert 'permissions.command is "deny"' in editor.tool_texts()[-1]
    configure(editor, {})
    editor.ask_agent("Again.")
    assert ran(editor)
    items = editor.received("workspace/configuration")[0]["items"]
    assert [item["section"] for item in items] == ["lspAgent"]


def test_the_clients_configuration_cannot_loosen(project: Project) -> None:
    editor = project.editor(
        step("", bash("echo x")),
        step("Done."),
        capabilities=PULL,
        client=EVENTS,
        options={"permissions": {"command": "deny"}},
    )
    loose = {"permissions": {"command": "allow", "allow": ["command: *"]}}
    editor.handlers["workspace/configuration"] = lambda _params: [loose]
    configure(editor, loose)
    editor.ask_agent("Go.")
    assert not ran(editor)
    told = problems(editor)
    assert len(told) == 2
    assert all("workspace/configuration: permissions." in message for message in told)
    assert any("can only narrow" in message for message in told)


def test_the_workspaces_file_narrows_from_the_next_prompt_on(project: Project) -> None:
    path = project.file("a.txt", "one\n")
    editor = project.editor(
        step("", edit("a.txt", "one", "two")),
        step("Done."),
        step("", edit("a.txt", "two", "three")),
        step("Done."),
    )
    assert editor.ask_agent("Go.")["edits"][0]["status"] == "applied"
    project.file(".lsp-agent.toml", "[edits]\nreview = 'before'\n")
    assert editor.ask_agent("Go on.")["edits"][0]["status"] == "proposed"
    assert path.read_text() == "two\n"


def test_the_workspaces_file_sets_no_command_and_no_looser_value(project: Project) -> None:
    project.file(
        ".lsp-agent.toml",
        "agent = 'evil'\n[agents.evil]\nwire = 'zot'\ncommand = ['touch', 'evil.txt']\n"
        "[agents.scripted]\ncommand = ['touch', 'evil.txt']\n"
        "[permissions]\ncommand = 'allow'\n",
    )
    editor = project.editor(
        step("", bash("touch evil.txt")),
        step("Done."),
        client=EVENTS,
        options={"permissions": {"command": "deny"}},
    )
    assert editor.ask_agent("Go.")["text"] == "Done."
    assert not (project.folder / "evil.txt").exists()
    assert editor.call("agent/state")["agents"] == ["builtin", "scripted"]
    assert problems(editor)


def test_the_workspaces_file_chooses_among_the_persons_agents(project: Project) -> None:
    project.file(".lsp-agent.toml", "agent = 'other'\n")
    agents = {"other": project.agent(step("Other.")), "scripted": project.agent(step("First."))}
    editor = project.editor(options={"agents": agents})
    assert editor.ask_agent("Go.")["text"] == "Other."


def test_each_folder_has_its_own_file(project: Project) -> None:
    other = project.folder.with_name("bakery")
    other.mkdir()
    (other / "a.txt").write_text("one\n")
    project.file("a.txt", "one\n")
    project.file(".lsp-agent.toml", "[edits]\nreview = 'before'\n")
    agent = project.agent(step("", edit("a.txt", "one", "two")), step("Done."))
    editor = project.editor(agent=agent, folders=[project.folder, other])
    there = editor.call("agent/newSession", {"cwd": str(other)})["sessionId"]
    assert editor.ask_agent("Go.")["edits"][0]["status"] == "proposed"
    assert editor.ask_agent("Go.", sessionId=there)["edits"][0]["status"] == "applied"


def test_what_is_wrong_is_said_once_with_file_and_key(project: Project) -> None:
    user = user_file(project, "[edits]\nreveiw = 'before'\n")
    workspace = project.file(".lsp-agent.toml", "[permissions]\ncommand = 'maybe'\n")
    editor = project.editor(
        step("Hello."), step("Again."), options={"limits": {"idle_seconds": "long"}}
    )
    assert wait_until(lambda: len(problems(editor)) == 3)
    editor.ask_agent("Go.")
    editor.ask_agent("Go.")
    told = sorted(problems(editor))
    assert len(told) == 3
    (own,) = [message for message in told if message.startswith(f"{user}: edits.reveiw: ")]
    assert 'did you mean "review"?' in own
    (found,) = [m for m in told if m.startswith(f"{workspace}: permissions.command: ")]
    assert '"allow", "sandbox", "ask" or "deny"' in found
    assert any(m.startswith("initializationOptions: limits.idle_seconds: ") for m in told)
    assert {p["type"] for p in editor.received("window/showMessage")} == {2}


def test_a_secret_in_a_wrong_setting_is_not_repeated(project: Project) -> None:
    user_file(project, "[agents.mine]\nwire = 'zot'\ncommand = ['x']\nenv = 'KEY=tops3cret'\n")
    editor = project.editor(step("Hello."))
    editor.ask_agent("Go.")
    assert wait_until(lambda: problems(editor))
    assert "tops3cret" not in str(editor.messages)


def test_a_silent_agent_is_reported_then_ended_at_the_limit(project: Project) -> None:
    editor = project.editor(
        step("Slow.", delay_ms=20_000),
        step("Well again.", match="next"),
        client=EVENTS,
        options={"limits": {"idle_seconds": 0.6}},
    )
    error = editor.failure("agent/prompt", {"text": "Go."})
    assert (error.code, error.data["kind"]) == (-32803, "agentTimeout")
    assert error.data["turn"]["stopReason"] == "error"
    assert any("said nothing" in notice["message"] for notice in editor.events("notice"))
    assert editor.ask_agent("The next one.")["text"] == "Well again."


def test_a_session_in_a_subfolder_has_its_workspace_folders_settings(project: Project) -> None:
    project.file(".lsp-agent.toml", "[permissions]\ncommand = 'deny'\n")
    inner = project.file("sub/a.txt", "one\n").parent
    editor = runs_a_command(project)
    session = editor.call("agent/newSession", {"cwd": str(inner)})["sessionId"]
    editor.ask_agent("Go.", sessionId=session)
    assert not ran(editor)
    assert not (inner / "ran.txt").exists()


def test_the_clients_configuration_holds_in_subfolders(project: Project) -> None:
    inner = project.file("sub/a.txt", "one\n").parent
    editor = runs_a_command(project, capabilities=PULL)
    configure(editor, {"permissions": {"command": "deny"}})
    session = editor.call("agent/newSession", {"cwd": str(inner)})["sessionId"]
    editor.ask_agent("Go.", sessionId=session)
    assert not ran(editor)


def test_a_removed_folders_session_stays_as_narrow_as_it_was(project: Project) -> None:
    project.file(".lsp-agent.toml", "[permissions]\ncommand = 'deny'\n")
    other = project.folder.with_name("bakery")
    other.mkdir()
    editor = runs_a_command(project, folders=[project.folder, other])
    session = editor.call("agent/newSession")["sessionId"]
    folder = {"uri": project.folder.as_uri(), "name": "shop"}
    change = {"event": {"added": [], "removed": [folder]}}
    editor.notify("workspace/didChangeWorkspaceFolders", change)
    editor.ask_agent("Go.", sessionId=session)
    assert not ran(editor)


def test_a_folder_that_is_added_is_asked_for_its_configuration(project: Project) -> None:
    other = project.folder.with_name("bakery")
    other.mkdir()
    editor = runs_a_command(project, capabilities=PULL)
    configure(editor, None)
    deny = {"permissions": {"command": "deny"}}
    editor.handlers["workspace/configuration"] = lambda params: [
        deny if item["scopeUri"] == other.as_uri() else None for item in params["items"]
    ]
    added = {"event": {"added": [{"uri": other.as_uri(), "name": "bakery"}], "removed": []}}
    editor.notify("workspace/didChangeWorkspaceFolders", added)
    assert wait_until(lambda: len(editor.received("workspace/configuration")[-1]["items"]) == 2)
    session = editor.call("agent/newSession", {"cwd": str(other)})["sessionId"]
    editor.ask_agent("Go.", sessionId=session)
    assert not ran(editor)


def test_a_prompt_right_after_initialized_waits_for_the_clients_settings(project: Project) -> None:
    def slowly(params: Json) -> list[Json]:
        time.sleep(0.7)
        return [{"permissions": {"command": "deny"}} for _ in params["items"]]

    editor = project.start()
    editor.handlers["workspace/configuration"] = slowly
    agent = project.agent(step("", bash("touch ran.txt")), step("Done."))
    editor.initialize(
        CAPABILITIES | PULL,
        folders=[project.folder],
        agent=EVENTS,
        initializationOptions={"agent": "scripted", "agents": {"scripted": agent}} | ALLOWED,
    )
    assert editor.ask_agent("Go.")["text"] == "Done."
    assert not ran(editor)
    assert not (project.folder / "ran.txt").exists()
