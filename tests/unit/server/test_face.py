"""The LSP face over a real server process: messages, their order, their errors, the ends."""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.raw_client import (
    NO_ANSWER,
    RawClient,
    RpcError,
    frame,
    left_behind,
    memory,
    python,
    wait_until,
)

from lsp_agent.protocol.client_requests import EVENT_NOTIFICATION
from lsp_agent.protocol.methods import (
    ANSWER_COMMAND,
    METHODS,
    PROTOCOL_VERSION,
    SHOW_QUESTION_COMMAND,
)
from lsp_agent.server.client import capabilities

TOY = Path(__file__).with_name("toy_server.py")


@pytest.fixture
def fresh() -> Iterator[RawClient]:
    with RawClient(python(TOY)) as client:
        yield client


@pytest.fixture
def own(fresh: RawClient) -> RawClient:
    """A server of the test's own, for tests of its end."""
    fresh.initialize()
    return fresh


@pytest.fixture(scope="module")
def shared() -> Iterator[RawClient]:
    with RawClient(python(TOY)) as client:
        client.initialize()
        yield client


@pytest.fixture
def client(shared: RawClient) -> RawClient:
    """A server that other tests used before; it has forgotten them."""
    shared.notify("toy/reset")
    shared.call("toy/echo")
    shared.forget()
    return shared


def change(text: str) -> dict[str, Any]:
    return {"method": "textDocument/didChange", "params": {"text": text}}


def error(client: RawClient, method: str, params: Any = None) -> RpcError:
    with pytest.raises(RpcError) as caught:
        client.call(method, params)
    return caught.value


# initialize


def test_initialize_advertises_the_contract_through_our_writer(fresh: RawClient) -> None:
    result = fresh.initialize()
    served = result["capabilities"]
    agent = served["experimental"]["agent"]
    assert agent["version"] == 1
    assert "agent/prompt" in agent["methods"]
    assert agent["notifications"] == ["agent/event"]
    assert served["textDocumentSync"] == {
        "openClose": True,
        "change": 2,
        "willSave": True,
        "save": {"includeText": False},
    }
    assert "lspAgent.answer" in served["executeCommandProvider"]["commands"]
    assert served["workspace"]["workspaceFolders"]["supported"] is True
    assert "diagnosticProvider" not in served
    assert result["serverInfo"]["name"] == "lsp-agent"
    fresh.notification("toy/initialized")


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (None, "utf-16"),
        (["utf-16"], "utf-16"),
        (["utf-32", "utf-8", "utf-16"], "utf-32"),
        (["latin-1", "utf-8"], "utf-8"),
    ],
)
def test_the_clients_first_known_position_encoding_is_taken(
    fresh: RawClient, offered: list[str] | None, chosen: str
) -> None:
    general = {} if offered is None else {"general": {"positionEncodings": offered}}
    assert fresh.initialize(general)["capabilities"]["positionEncoding"] == chosen
    assert fresh.call("toy/client")["encoding"] == chosen


@pytest.mark.parametrize(
    ("version", "provider"),
    [
        ("0.10.4", "semanticTokensProvider"),
        ("0.11.4+v0.11.4", "semanticTokensProvider"),
        ("0.12.4", "diagnosticProvider"),
        ("odd", None),
    ],
)
def test_with_a_chat_of_its_own_a_neovim_gets_the_provider_that_its_barrier_needs(
    fresh: RawClient, version: str, provider: str | None
) -> None:
    able = {"experimental": {"agent": {"events": True}}}
    result = fresh.initialize(able, clientInfo={"name": "Neovim", "version": version})
    offered = {"semanticTokensProvider", "diagnosticProvider"} & result["capabilities"].keys()
    assert offered == ({provider} if provider else set())


def test_who_can_be_asked_for_what_it_holds_back_gets_no_provider_for_that(
    fresh: RawClient,
) -> None:
    able = {"experimental": {"agent": {"events": True, "sync": True}}}
    result = fresh.initialize(able, clientInfo={"name": "Neovim", "version": "0.12.4"})
    assert "diagnosticProvider" not in result["capabilities"]


def test_what_comes_while_the_server_opens_waits_in_its_order() -> None:
    with RawClient(python(TOY, "slow")) as client:
        client.initialize()
        for text in "abc":
            client.notify("textDocument/didChange", {"text": text})
        assert client.call("toy/keys") == ["a", "b", "c"]
        assert client.call("toy/prompt", {"text": "made by the opening"}) == "made by the opening"


def test_a_signal_ends_a_server_that_still_opens() -> None:
    with RawClient(python(TOY, "stuck")) as client:
        client.initialize()
        client.process.send_signal(signal.SIGTERM)
        assert client.process.wait(5) == 1


def test_requests_before_initialize_are_refused(fresh: RawClient) -> None:
    assert error(fresh, "toy/echo").code == -32002
    fresh.initialize()
    assert fresh.call("toy/echo", {"a": 1}) == {"a": 1}


def test_bad_initialize_params_are_answered_with_the_field_and_may_be_corrected(
    fresh: RawClient,
) -> None:
    caught = error(fresh, "initialize", {"processId": None, "capabilities": 7})
    assert caught.code == -32602
    assert "capabilities" in caught.message
    fresh.initialize()


def test_a_second_initialize_is_refused(client: RawClient) -> None:
    assert error(client, "initialize", {"capabilities": {}}).code == -32600


def test_folders_follow_the_client(fresh: RawClient, tmp_path: Path) -> None:
    fresh.initialize(folders=[tmp_path])
    added = {"uri": "file:///other", "name": "other"}
    removed = {"uri": tmp_path.as_uri(), "name": tmp_path.name}
    assert fresh.call("toy/folders") == [tmp_path.as_uri()]
    fresh.notify(
        "workspace/didChangeWorkspaceFolders", {"event": {"added": [added], "removed": [removed]}}
    )
    assert fresh.call("toy/folders") == ["file:///other"]


@pytest.mark.parametrize(
    "odd", [5, None, {}, {"uri": 5, "name": "x"}, {"uri": [], "name": "x"}, {"uri": "file:///x"}]
)
def test_an_odd_folder_is_passed_over_and_the_rest_of_its_change_counts(
    fresh: RawClient, tmp_path: Path, odd: Any
) -> None:
    fresh.initialize(folders=[tmp_path])
    added = [{"uri": "file:///one", "name": "one"}, odd, {"uri": "file:///two", "name": "two"}]
    removed = [odd, {"uri": tmp_path.as_uri(), "name": tmp_path.name}]
    event = {"added": added, "removed": removed}
    fresh.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    assert fresh.call("toy/folders") == ["file:///one", "file:///two"]


def test_the_advertised_names_are_those_of_the_table() -> None:
    assert capabilities.VERSION == PROTOCOL_VERSION
    assert [method.method for method in METHODS] == capabilities.METHODS
    of_questions = [ANSWER_COMMAND, SHOW_QUESTION_COMMAND]
    assert [*(method.command for method in METHODS), *of_questions] == capabilities.COMMANDS
    assert capabilities.NOTIFICATIONS == [EVENT_NOTIFICATION]


def test_capabilities_of_a_newer_editor_are_no_obstacle(fresh: RawClient) -> None:
    newer: Any = {
        "textDocument": {
            "documentSymbol": {"symbolKind": {"valueSet": [1, 99]}},
            "publishDiagnostics": {"tagSupport": {"valueSet": [99]}},
        },
        "workspace": {"workspaceEdit": {"resourceOperations": ["swap"], "failureHandling": "odd"}},
    }
    result = fresh.initialize(newer, trace="loud")
    assert result["serverInfo"]["name"] == "lsp-agent"


# Order


def test_notifications_are_handled_in_the_order_of_the_wire(client: RawClient) -> None:
    client.send(*(change(str(number)) for number in range(1000)))
    assert client.call("toy/keys") == [str(number) for number in range(1000)]


def test_a_snapshot_is_of_the_moment_of_its_request(client: RawClient) -> None:
    client.send(
        change("before"),
        {"id": "s", "method": "toy/snapshot"},
        {"id": "l", "method": "toy/late"},
        change("behind"),
    )
    assert client.result("s") == {"keys": ["before"]}
    assert client.result("l") == {"keys": ["before", "behind"]}


def test_a_failing_notification_does_not_stop_the_next(client: RawClient) -> None:
    client.send({"method": "textDocument/didChange", "params": {"wrong": 1}}, change("right"))
    assert client.call("toy/keys") == ["right"]


# Cancelling


def test_a_cancelled_request_is_answered_and_its_work_ended(client: RawClient) -> None:
    msg_id = client.request("toy/sleep", {"name": "a"})
    client.call("toy/echo")
    client.cancel(msg_id)
    assert client.answer(msg_id, 1)["error"]["code"] == -32800
    assert client.call("toy/cleaned") == ["a"]


def test_a_cancel_in_the_same_chunk_works(client: RawClient) -> None:
    client.send(
        {"id": "c", "method": "toy/sleep", "params": {"name": "c"}},
        {"method": "$/cancelRequest", "params": {"id": "c"}},
    )
    assert client.answer("c", 1)["error"]["code"] == -32800
    assert client.call("toy/cleaned") == ["c"]


def test_a_cancel_of_nothing_is_ignored(client: RawClient) -> None:
    client.cancel(4711)
    assert client.call("toy/echo") == {}


def test_an_id_that_is_running_cannot_be_used_again(client: RawClient) -> None:
    client.send({"id": "d", "method": "toy/sleep"}, {"id": "d", "method": "toy/echo"})
    assert client.answer("d", 1)["error"]["code"] == -32600
    client.send({"method": "$/cancelRequest", "params": {"id": "d"}})


# Errors


@pytest.mark.parametrize(
    ("how", "code", "data"),
    [
        ("params", -32602, {"field": "text"}),
        ("kind", -32803, {"kind": "busy", "turnId": "t1"}),
        ("group", -32803, {"kind": "busy"}),
        ("bug", -32603, None),
    ],
)
def test_errors_have_the_contracts_codes(
    client: RawClient, how: str, code: int, data: object
) -> None:
    caught = error(client, "toy/fail", {"how": how})
    assert (caught.code, caught.data) == (code, data)


def test_a_bug_shows_no_details_to_the_client_but_in_the_log(client: RawClient) -> None:
    assert "secret" not in error(client, "toy/fail", {"how": "bug"}).message
    assert wait_until(lambda: "a secret" in client.stderr)
    assert not client.received("window/showMessage")


def test_of_several_failures_at_once_all_are_told(client: RawClient) -> None:
    failed = error(client, "toy/fail", {"how": "failures"})
    assert (failed.code, failed.message) == (-32602, "text: must not be empty Busy.")
    bug = error(client, "toy/fail", {"how": "bugs"})
    assert (bug.code, bug.message) == (-32603, "Internal error: KeyError, OSError; see the log.")
    assert wait_until(lambda: "another" in client.stderr)


def test_bad_params_of_a_custom_request_name_the_field(client: RawClient) -> None:
    caught = error(client, "toy/prompt", {"text": "x", "whenBusy": "never"})
    assert caught.code == -32602
    assert caught.data == {"field": "whenBusy"}
    assert caught.message.startswith("whenBusy: ")


def test_bad_params_of_a_standard_request_name_the_field(client: RawClient) -> None:
    caught = error(client, "textDocument/hover", {"textDocument": {}, "position": {}})
    assert caught.code == -32602
    assert "textDocument" in caught.message


def test_params_that_are_no_object_are_refused(client: RawClient) -> None:
    client.send({"id": "x", "method": "toy/echo", "params": [1]})
    assert client.answer("x")["error"]["code"] == -32602


def test_an_unknown_method_is_answered(client: RawClient) -> None:
    assert error(client, "toy/nothing").code == -32601


def test_a_result_that_has_no_json_form_is_an_internal_error(client: RawClient) -> None:
    assert error(client, "toy/unserialisable").code == -32603


def test_models_answer_in_the_wires_names(client: RawClient) -> None:
    assert client.call("toy/model") == {"uri": "file:///a"}


def test_a_standard_request_gets_typed_params(client: RawClient) -> None:
    params = {
        "textDocument": {"uri": "file:///a"},
        "position": {"line": 0, "character": 0},
    }
    assert client.call("textDocument/hover", params) == {"contents": "file:///a"}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b'{"id": 1, "method": "toy/echo"}', -32600),
        (b'{"jsonrpc": "2.0", "id": [], "method": "toy/echo"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', -32600),
    ],
)
def test_what_is_no_message_is_answered_and_the_next_one_served(
    client: RawClient, body: bytes, code: int
) -> None:
    client.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    assert client.answer(None)["error"]["code"] == code
    assert client.call("toy/echo", {"a": 1}) == {"a": 1}


@pytest.mark.parametrize("depth", [900, 1000, 100_000])
@pytest.mark.parametrize("method", ["toy/echo", "toy/fail", "textDocument/hover", "initialize"])
def test_a_request_that_is_nested_deeply_is_answered_and_the_next_one_served(
    client: RawClient, method: str, depth: int
) -> None:
    deep = "[" * depth + "]" * depth
    params = f'{{"textDocument": {deep}, "error": {deep}, "capabilities": {deep}}}'
    body = f'{{"jsonrpc": "2.0", "id": "deep", "method": "{method}", "params": {params}}}'
    client.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(body), body.encode()))
    answer = client.answer("deep")
    assert depth < 1000 or "error" in answer
    assert client.call("toy/echo", {"a": 1}) == {"a": 1}


def test_a_message_inside_params_is_just_params(client: RawClient) -> None:
    params = {"frame": {"jsonrpc": "2.0", "id": 1, "method": "x"}, "class": 1, "type_name": "y"}
    assert client.call("toy/echo", params) == params


def test_a_command_gets_its_first_argument(client: RawClient) -> None:
    def execute(**params: Any) -> Any:
        return client.call("workspace/executeCommand", {"command": "lspAgent.state", **params})

    assert execute(arguments=[{"a": 1}]) == {"params": {"a": 1}}
    assert execute() == execute(arguments=[]) == execute(arguments=[None]) == {"params": {}}


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"command": "lspAgent.nothing"}, "command"),
        ({"command": "lspAgent.state", "arguments": {"a": 1}}, "arguments"),
        ({"command": "lspAgent.state", "arguments": ["a"]}, "arguments"),
    ],
)
def test_a_bad_command_names_the_field(
    client: RawClient, params: dict[str, Any], field: str
) -> None:
    caught = error(client, "workspace/executeCommand", params)
    assert (caught.code, caught.data) == (-32602, {"field": field})


def test_half_a_surrogate_pair_and_large_numbers_pass_both_ways(client: RawClient) -> None:
    params = {"text": "a\ud83db", "number": 2**80}
    assert client.call("toy/echo", params) == params


# Frames


def test_headers_in_any_case_and_order(client: RawClient) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": "h", "method": "toy/echo"}).encode()
    head = f"content-type: application/json\r\ncontent-LENGTH:{len(body)}\r\n\r\n"
    client.send_bytes(head.encode() + body)
    assert client.result("h") == {}


def test_a_body_over_the_limit_is_skipped_and_answered(client: RawClient) -> None:
    client.notify("toy/nothing", {"text": "x" * 3_000_000})
    refused = client.answer(None)["error"]
    assert refused["code"] == -32600
    assert "2000000" in refused["message"]
    assert client.call("toy/echo", {"a": 1}) == {"a": 1}


@pytest.mark.parametrize(
    "header", [b"Content-Length: many\r\n\r\n{}", b"Content-Type: x\r\n\r\n{}"]
)
def test_a_stream_without_lengths_ends_the_server(own: RawClient, header: bytes) -> None:
    own.send_bytes(header)
    assert own.wait_for_exit(5) == 1
    assert "Content-Length" in own.stderr


# Requests to the client


def test_the_clients_answer_is_the_result(client: RawClient) -> None:
    client.handlers["client/x"] = lambda _params: {"a": 1}
    assert client.call("toy/ask", {"method": "client/x"}) == {"a": 1}


def test_the_clients_error_is_a_failure_of_ours(client: RawClient) -> None:
    caught = error(client, "toy/ask", {"method": "client/unknown"})
    assert caught.code == -32803
    assert caught.data == {"kind": "editorFailed", "method": "client/unknown", "code": -32601}


def test_a_client_that_does_not_answer_is_given_up_and_told_so(client: RawClient) -> None:
    client.handlers["client/x"] = lambda _params: NO_ANSWER
    assert client.call("toy/ask", {"method": "client/x", "timeout": 0.1}) == "timeout"
    asked = next(m for m in client.messages if m.get("method") == "client/x")
    assert client.notification("$/cancelRequest") == {"id": asked["id"]}
    client.send({"id": asked["id"], "result": "late"})
    assert client.call("toy/echo") == {}


def test_cancelling_a_request_cancels_what_it_asked(client: RawClient) -> None:
    client.handlers["client/x"] = lambda _params: NO_ANSWER
    msg_id = client.request("toy/ask", {"method": "client/x"})
    client.notification("client/x")
    client.cancel(msg_id)
    assert client.answer(msg_id)["error"]["code"] == -32800
    client.notification("$/cancelRequest")


def test_nothing_else_than_frames_reaches_the_client(client: RawClient) -> None:
    client.call("toy/echo")
    assert wait_until(lambda: "this must not reach the client" in client.stderr)


# The end


def test_shutdown_waits_for_the_application_and_exit_ends_with_0(own: RawClient) -> None:
    own.call("shutdown")
    assert own.received("toy/closed") == [{}]
    assert error(own, "toy/echo").code == -32600
    own.notify("exit")
    assert own.wait_for_exit(5) == 0


def test_shutdown_and_exit_in_one_chunk_end_with_0(own: RawClient) -> None:
    own.send({"id": "s", "method": "shutdown"}, {"method": "exit"})
    assert own.wait_for_exit(5) == 0


def test_exit_without_shutdown_ends_with_1(own: RawClient) -> None:
    own.notify("exit")
    assert own.wait_for_exit(5) == 1


def test_exit_before_initialize_ends(fresh: RawClient) -> None:
    fresh.notify("exit")
    assert fresh.wait_for_exit(5) == 1


def test_the_end_of_the_input_ends_the_server(own: RawClient) -> None:
    own.request("toy/sleep")
    own.close_input()
    assert own.wait_for_exit(5) == 1
    assert own.stderr.count("Traceback") == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_server_while_its_input_is_open(
    own: RawClient, number: signal.Signals
) -> None:
    own.request("toy/sleep")
    own.process.send_signal(number)
    assert own.wait_for_exit(5) == 1
    assert "Traceback" not in own.stderr


def test_the_end_of_the_editors_process_ends_the_server(fresh: RawClient) -> None:
    editor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    fresh.initialize(processId=editor.pid)
    editor.kill()
    editor.communicate()
    assert fresh.wait_for_exit() == 1


def test_an_editor_in_another_pid_namespace_is_not_watched(fresh: RawClient) -> None:
    fresh.initialize(processId=2**22 + 1)
    time.sleep(0.7)
    assert fresh.call("toy/echo") == {}


def start_unread(client: RawClient, count: int, size: int) -> None:
    client.send(
        {"id": 1, "method": "initialize", "params": {"processId": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "toy/flood", "params": {"count": count, "size": size}},
    )


@pytest.mark.parametrize("how", ["exit", "end of input", "SIGTERM"])
def test_the_application_cleans_up_however_the_client_goes(own: RawClient, how: str) -> None:
    own.call("toy/echo")  # it is there
    if how == "exit":
        own.notify("exit")
    elif how == "SIGTERM":
        own.process.send_signal(signal.SIGTERM)
    else:
        own.close_input()
    own.wait_for_exit(5)
    assert "cleaned up" in own.stderr


def test_an_application_that_cannot_load_ends_the_server() -> None:
    with RawClient(python(TOY, "broken")) as client:
        client.request("initialize", {"processId": None, "capabilities": {}})
        assert client.wait_for_exit(5) == 1
        assert "cannot start" in client.stderr


def test_a_closed_output_ends_the_server() -> None:
    with RawClient(python(TOY), reading=False) as client:
        start_unread(client, 100_000, 1000)
        assert client.process.stdout
        client.process.stdout.read(10)
        client.process.stdout.close()
        assert client.wait_for_exit() == 1
        assert left_behind(client.mark) == []
        assert "Traceback" not in client.stderr


def test_a_client_that_does_not_read_costs_bounded_memory_and_does_not_stop_the_loop() -> None:
    with RawClient(python(TOY), reading=False) as client:
        start_unread(client, 100, 100)
        client.read_answer(2)
        before = memory(client.process.pid)
        client.request("toy/flood", {"count": 400_000, "size": 100})
        time.sleep(1)
        assert memory(client.process.pid) - before < 15_000_000
        client.process.send_signal(signal.SIGTERM)  # seen only by a loop that runs
        assert client.wait_for_exit(5) == 1


def test_everything_arrives_in_order_once_a_slow_client_reads() -> None:
    with RawClient(python(TOY), reading=False) as client:
        start_unread(client, 20_000, 200)
        time.sleep(0.3)
        client.start_reading()
        assert client.result(2) == 20_000
        numbers = [params["number"] for params in client.received("toy/flood")]
        assert numbers == list(range(20_000))


def test_tcp_serves_one_client() -> None:
    with RawClient(python(TOY, "tcp"), reading=False) as server:
        assert wait_until(lambda: server.stderr.strip().isdigit())
        with socket.create_connection(("127.0.0.1", int(server.stderr))) as connection:
            options = {"token": "the token of the toy"}
            params = {"capabilities": {}, "initializationOptions": options}
            connection.sendall(
                frame({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
            )
            connection.settimeout(60)
            assert b"Content-Length" in connection.recv(4096)
        assert server.wait_for_exit(5) == 1
