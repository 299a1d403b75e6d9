"""``/reload-ext``: extensions are read and started anew while the agent goes on."""

import json
from pathlib import Path
from typing import Any

from extension_kit import heard, make_extension
from support.raw_client import wait_until
from support.rpc_process import RpcProcess, call, result_texts

from lsp_agent.agents.private_folder import PrivateFolder
from lsp_agent.user_data.extension_folders import own_folder


def offering(folder: Path, name: str, **manifest: object) -> str:
    """An extension that offers the slash command and the tool ``name``."""
    greeting = f'say(type="register_command", name="{name}", description="d")'
    greeting += f'\nsay(type="register_tool", name="{name}", description="d", schema={{}})'
    answer = 'if kind == "tool_call":\n    say(type="tool_result", id=number, content=[])'
    return make_extension(folder, greeting, answer, name=folder.name, **manifest)


def commands(agent: RpcProcess) -> list[str]:
    return [each["name"] for each in agent.ask("get_commands")["data"]["commands"]]


def reload(agent: RpcProcess) -> Any:
    answer = agent.ask("run_command", name="/reload-ext", args="")
    return answer["data"]["text"] if answer["success"] else answer["error"]


def test_what_was_changed_on_disk_holds_after_it(cwd: Path):
    folder = cwd / "ext"
    steps = [{"calls": [call("old"), call("new")]}, {}]
    with RpcProcess(cwd, steps, "--ext", offering(folder, "old")) as agent:
        assert commands(agent) == ["old", "reload-ext"]
        source = (folder / "helper.py").read_text()
        (folder / "helper.py").write_text(source.replace('"old"', '"new"'))
        assert reload(agent) == "Started anew: ext."
        assert commands(agent) == ["new", "reload-ext"]
        texts = result_texts(agent.prompt())
    assert texts == ['unknown tool "old"', "(extension returned no content)"]


def test_what_was_installed_since_runs_and_what_was_removed_does_not(cwd: Path):
    own_folder().mkdir(parents=True)
    gone = offering(own_folder() / "gone", "gone")
    with RpcProcess(cwd, []) as agent:
        assert commands(agent) == ["gone", "reload-ext"]
        (Path(gone) / "extension.json").unlink()
        offering(own_folder() / "come", "come")
        assert reload(agent) == "Started anew: come."
        assert commands(agent) == ["come", "reload-ext"]


def test_the_old_ones_are_ended_in_order_and_nobody_is_told_of_a_crash(cwd: Path):
    folder = cwd / "ext"
    with RpcProcess(cwd, [], "--ext", offering(folder, "one")) as agent:
        assert reload(agent) == "Started anew: ext."
        ended_and_begun = ["hello_ack", "shutdown", "hello_ack"]
        assert wait_until(lambda: [frame["type"] for frame in heard(folder)] == ended_and_begun)
        assert not [frame for frame in agent.frames if frame["type"] == "ext_notify"]


def test_one_whose_manifest_says_so_goes_on_as_it_is(cwd: Path):
    """The bridge of lsp-agent: the agent would be lost with it."""
    kept = offering(cwd / "kept", "kept", reload=False)
    with RpcProcess(cwd, [], "--ext", kept, "--ext", offering(cwd / "ext", "one")) as agent:
        assert reload(agent) == "Started anew: ext."
        assert commands(agent) == ["kept", "one", "reload-ext"]
        assert [frame["type"] for frame in heard(cwd / "kept")] == ["hello_ack"]


def test_one_that_cannot_be_started_again_is_told_of(cwd: Path):
    folder = cwd / "ext"
    with RpcProcess(cwd, [], "--ext", offering(folder, "one")) as agent:
        (folder / "extension.json").write_text("{")
        assert reload(agent) == "No extension runs."
        notice = next(frame for frame in agent.frames if frame["type"] == "ext_notify")
        assert "extension.json is not JSON" in notice["message"]


def test_it_waits_for_no_turn_but_refuses_beside_one(cwd: Path):
    """Calls would run that an extension is there to refuse."""
    folder = offering(cwd / "ext", "one")
    with RpcProcess(cwd, [{"text": "x", "delay_ms": 60_000}], "--ext", folder) as agent:
        agent.send("prompt", id="1", message="go")
        assert reload(agent) == "busy: stop the turn, or wait for its end, before reloading"
        assert commands(agent) == ["one", "reload-ext"]


def test_a_prompt_that_comes_meanwhile_waits_for_all_that_may_refuse_its_calls(cwd: Path):
    watch = 'time.sleep(0.5)\nsay(type="subscribe", intercept=["tool_call"])'
    block = 'if kind == "event_intercept":\n'
    block += '    say(type="event_intercept_response", id=number, block=True, reason="no")'
    steps = [{"calls": [call("bash", command="touch done")]}, {}]
    folder = make_extension(cwd / "ext", watch, block, hello='capabilities=["ready"]')
    with RpcProcess(cwd, steps, "--ext", folder) as agent:
        agent.ask("ping")
        agent.send("run_command", id="r", name="reload-ext", args="")
        agent.send("prompt", id="p", message="go")
        agent.send("abort", id="a")  # of what runs, which no abort cuts short
        frames = agent.until("done")
    order = [frame["id"] for frame in frames if frame["type"] == "response"]
    assert order == ["a", "r", "p"]
    assert result_texts(frames) == ["no"]
    assert not (cwd / "done").exists()


def test_a_new_one_hears_that_the_session_has_started(cwd: Path):
    folder = make_extension(cwd / "ext", 'say(type="subscribe", events=["session_start"])')
    with RpcProcess(cwd, [], "--ext", folder) as agent:
        reload(agent)
        started = {"type": "event", "event": "session_start"}
        assert wait_until(lambda: heard(cwd / "ext").count(started) == 2)


def test_an_extensions_command_of_that_name_is_not_run(cwd: Path):
    folder = offering(cwd / "ext", "reload-ext")
    with RpcProcess(cwd, [], "--ext", folder) as agent:
        listed = agent.ask("get_commands")["data"]["commands"]
        described = "start the extensions anew, as they are on disk now"
        assert listed == [{"name": "reload-ext", "description": described}]
        assert reload(agent) == "Started anew: ext."


def test_it_is_not_offered_where_no_extension_may_run(cwd: Path):
    with RpcProcess(cwd, [], "--no-ext") as agent:
        assert commands(agent) == []
        assert reload(agent) == "unknown command /reload-ext"


def test_the_bridges_manifest_says_so():
    folder = PrivateFolder(4.0)
    try:
        manifest = json.loads((folder.extension / "extension.json").read_text())
        assert manifest["reload"] is False
    finally:
        folder.remove()
