"""A client that reads 20 KB a second, as over a bad line: what a person waits for comes soon.

Time is not asserted, but how much comes before an answer: 40 KB are two seconds of such a line.
"""

import json
import os
import re
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

import pytest
from support.project import EVENTS, LSP_AGENT, Project, step
from support.raw_client import Json, RawClient

pytestmark = pytest.mark.slow

_A_SECOND = 20_000
_PIECES = 50
_MOST_BEFORE_AN_ANSWER = 40_000
#: Until the turn is told to have ended.
_MOST_AFTER_A_STOP = 80_000
_GIVE_UP = 5 * _MOST_BEFORE_AN_ANSWER
_LENGTH = re.compile(rb"Content-Length: (\d+)\r\n\r\n")

#: An agent of long-winded words: about ten times what the client reads.
TALK = step(" ".join(f"word-{n}" for n in range(100_000)), pace_ms=0)


class SlowReader:
    """Reads the output of a client that does not read by itself."""

    def __init__(self, client: RawClient) -> None:
        assert client.process.stdout
        self._client = client
        self._fd = client.process.stdout.fileno()
        self._rest = b""
        self.messages: list[Json] = []
        self.slow = True

    def read_until(self, wanted: Callable[[Json], object], at_most: int) -> int:
        """Reads up to the message that is wanted: so many bytes came before and with it."""
        count = 0
        while count < at_most:
            if self.slow:
                time.sleep(1 / _PIECES)
            data = os.read(self._fd, _A_SECOND // _PIECES if self.slow else 1 << 16)
            assert data, self._client.stderr[-2000:]
            count += len(data)
            for message in self._taken(data):
                if wanted(message):
                    return count
        raise AssertionError(f"{count} bytes came before it")

    def read_for(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        self.read_until(lambda _: time.monotonic() > until, 1 << 30)

    def _taken(self, data: bytes) -> list[Json]:
        self._rest += data
        taken: list[Json] = []
        while (header := _LENGTH.match(self._rest)) is not None:
            end = header.end() + int(header[1])
            if len(self._rest) < end:
                break
            taken.append(json.loads(self._rest[header.end() : end]))
            self._rest = self._rest[end:]
        self.messages += taken
        for message in taken:
            if "method" in message and "id" in message:
                refusal = {"code": -32601, "message": "not here"}
                self._client.send({"id": message["id"], "error": refusal})
        return taken

    def events(self, kind: str) -> list[Json]:
        told = [m["params"] for m in self.messages if m.get("method") == "agent/event"]
        return [event for event in told if event["type"] == kind]


@contextmanager
def slow_client(project: Project, *steps: Json) -> Generator[tuple[RawClient, SlowReader]]:
    """A server whose agent follows ``steps``, with its client's slow half."""
    command, env = [*LSP_AGENT, "serve"], project.environment()
    with RawClient(command, cwd=project.folder, env=env, reading=False) as client:
        reader = SlowReader(client)
        options = {"agent": "a", "agents": {"a": project.agent(*steps)}}
        params = {
            "processId": None,
            "capabilities": {"experimental": {"agent": EVENTS}},
            "workspaceFolders": [{"uri": project.folder.as_uri(), "name": "p"}],
            "initializationOptions": options,
        }
        reader.slow = False
        initialize = client.request("initialize", params)
        reader.read_until(answers(initialize), _GIVE_UP)
        client.notify("initialized")
        reader.slow = True
        yield client, reader


def answers(msg_id: int) -> Callable[[Json], bool]:
    return lambda message: "method" not in message and message["id"] == msg_id


def is_event(kind: str) -> Callable[[Json], bool]:
    return lambda message: (
        message.get("method") == "agent/event" and message["params"]["type"] == kind
    )


@pytest.mark.parametrize("stop", ["agent/abort", "lspAgent.abort", "$/cancelRequest"])
def test_the_answer_to_a_stop_does_not_wait_behind_what_was_said(
    project: Project, stop: str
) -> None:
    with slow_client(project, TALK) as (client, reader):
        prompt = client.request("agent/prompt", {"text": "Go."})
        reader.read_until(is_event("textDelta"), _GIVE_UP)
        reader.read_for(2)
        if stop == "agent/abort":
            asked = client.request(stop)
        elif stop == "lspAgent.abort":
            asked = client.request("workspace/executeCommand", {"command": stop})
        else:
            client.cancel(asked := prompt)
        read = reader.read_until(answers(asked), _GIVE_UP)
        assert read <= _MOST_BEFORE_AN_ANSWER
        (answer,) = filter(answers(asked), reader.messages)
        assert answer.get("result") == {"aborted": True} or answer["error"]["code"] == -32800


def test_little_is_told_of_a_turn_after_it_was_stopped(project: Project) -> None:
    with slow_client(project, TALK) as (client, reader):
        client.request("agent/prompt", {"text": "Go."})
        reader.read_until(is_event("textDelta"), _GIVE_UP)
        reader.read_for(2)
        reader.read_until(answers(client.request("agent/abort")), _GIVE_UP)
        reader.read_until(is_event("turnEnded"), _MOST_AFTER_A_STOP)


def test_the_answer_to_shutdown_does_not_either(project: Project) -> None:
    with slow_client(project, TALK) as (client, reader):
        client.request("agent/prompt", {"text": "Go."})
        reader.read_until(is_event("textDelta"), _GIVE_UP)
        reader.read_for(2)
        read = reader.read_until(answers(client.request("shutdown")), _GIVE_UP)
        assert read <= _MOST_BEFORE_AN_ANSWER
