"""What waits for a client that does not keep up: in order, joined, and out of an answer's way."""

import anyio
from outbox_kit import Client, Clock, message, stamped, stream_to
from support.scripted_editor import in_virtual_time

from lsp_agent.protocol.events import (
    Event,
    Notice,
    TextDelta,
    ToolArgsDelta,
    ToolCall,
    ToolProgress,
    ToolResult,
)
from lsp_agent.protocol.messages import text
from lsp_agent.server.rpc.outbox import JOIN_SECONDS, Outbox
from lsp_agent.server.turns.output_limit import CALL_BYTES

LONG = Notice("info", "x" * 10_000, "agent")


def held(*events: Event) -> tuple[Client, Outbox]:
    """A client that has not read any of these yet."""
    client = Client()
    client.behind = True
    outbox = Outbox(client, Clock())
    stream = stream_to(outbox)
    for each in stamped(*events):
        stream.publish(each)
    assert client.sent == []
    return client, outbox


def told(client: Client, outbox: Outbox) -> list[str]:
    """What comes when it reads on."""
    client.reads()
    outbox.flush()
    assert [event["seq"] for event in client.events] == list(range(1, len(client.events) + 1))
    return [message["params"].get("type") or message["method"] for message in client.sent]


# Deltas


def test_a_delta_after_a_quiet_moment_goes_out_at_once() -> None:
    client, clock = Client(), Clock()
    stream = stream_to(Outbox(client, clock))
    for each in stamped(TextDelta("a"), TextDelta("b")):
        clock.now += 0.002
        stream.publish(each)
    assert [event["text"] for event in client.events] == ["a", "b"]


@in_virtual_time
async def test_a_burst_of_deltas_is_joined_for_16_ms() -> None:
    client = Client()
    outbox = Outbox(client)
    stream = stream_to(outbox)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outbox.run)
        await anyio.sleep(0.01)
        for each in stamped(*[TextDelta("x")] * 1000):
            stream.publish(each)
        await anyio.sleep(0.06)
        tasks.cancel_scope.cancel()
    texts = [event["text"] for event in client.events]
    assert len(texts) <= 3
    assert "".join(texts) == "x" * 1000


@in_virtual_time
async def test_a_delta_close_behind_another_waits_only_for_the_next_quiet_moment() -> None:
    counts: list[int] = []
    for _ in range(5):  # once is enough: the machine may be busy
        client = Client()
        outbox = Outbox(client)
        stream = stream_to(outbox)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(outbox.run)
            for each in stamped(TextDelta("a"), TextDelta("b")):
                stream.publish(each)
            await anyio.sleep(JOIN_SECONDS / 2)
            counts.append(len(client.events))
            tasks.cancel_scope.cancel()
    assert max(counts) == 2


@in_virtual_time
async def test_a_client_that_does_not_keep_up_gets_everything_joined_and_holds_the_agent() -> None:
    client = Client()
    client.behind = True
    outbox = Outbox(client)
    stream = stream_to(outbox)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outbox.run)
        for each in stamped(*[TextDelta("x")] * 200_000):
            stream.publish(each)
        await anyio.sleep(0.05)
        assert client.sent == []
        with anyio.move_on_after(0.05) as waits:
            await outbox.drain()
        assert waits.cancelled_caught
        client.reads()
        with anyio.fail_after(2):
            await outbox.drain()
        tasks.cancel_scope.cancel()
    texts = [event["text"] for event in client.events]
    assert "".join(texts) == "x" * 200_000
    assert len(texts) < 200


def test_a_long_text_goes_out_in_pieces_so_that_an_answer_can_come_between() -> None:
    client, outbox = held(TextDelta("é🎉" * 5000))
    told(client, outbox)
    assert "".join(event["text"] for event in client.events) == "é🎉" * 5000
    assert max(len(event["text"]) for event in client.events) <= 8192


def test_deltas_are_not_joined_across_another_message() -> None:
    """It may be an answer that has the state of just then."""
    client = Client()
    client.behind = True
    outbox = Outbox(client, Clock())
    stream = stream_to(outbox)
    first, second = stamped(TextDelta("a"), TextDelta("b"))
    stream.publish(first)
    outbox.write(message("answer"))
    stream.publish(second)
    assert told(client, outbox) == ["textDelta", "answer", "textDelta"]


# What gives way, to a client that has it still before it


def test_waiting_output_gives_way_to_the_result() -> None:
    events = ToolProgress("1", "a"), ToolProgress("2", "b"), ToolResult("1", False, [text("a")])
    assert told(*held(*events)) == ["toolProgress", "toolResult"]


def test_the_end_of_a_long_output_gives_way_where_its_beginning_does() -> None:
    printed = ToolProgress("1", "x" * 2 * CALL_BYTES)
    result = ToolResult("1", False, [text("xx")])
    assert told(*held(printed, result)) == ["toolResult"]
    client, clock = Client(), Clock()
    outbox = Outbox(client, clock)
    stream = stream_to(outbox)
    output, whole = stamped(printed, result)
    stream.publish(output)
    outbox.flush()
    client.behind = True
    stream.publish(whole)
    assert told(client, outbox)[-1] == "toolResult"
    assert "characters left out" in "".join(each.get("text", "") for each in client.events)


def test_waiting_arguments_give_way_to_the_call_unless_it_has_none() -> None:
    whole = ToolArgsDelta("1", "{"), ToolCall("1", "t", "other", {})
    cut = ToolArgsDelta("2", "{"), ToolCall("2", "t", "other", None)
    assert told(*held(*whole, *cut)) == ["toolCall", "toolArgsDelta", "toolCall"]


def test_what_waits_of_another_session_stays() -> None:
    client = Client()
    client.behind = True
    outbox = Outbox(client, Clock())
    stream = stream_to(outbox)
    for each in stamped(ToolProgress("1", "a"), session="r"):
        stream.publish(each)
    for each in stamped(ToolProgress("1", "a"), ToolResult("1", False, [text("a")])):
        stream.publish(each)
    client.reads()
    outbox.flush()
    assert [event["type"] for event in client.events] == ["toolProgress", "toolResult"]
    assert [event["sessionId"] for event in client.events] == ["r", "s"]


def test_a_client_that_keeps_up_is_told_all() -> None:
    client, clock = Client(), Clock()
    outbox = Outbox(client, clock)
    stream = stream_to(outbox)
    for each in stamped(ToolProgress("1", "a"), ToolResult("1", False, [])):
        stream.publish(each)
    assert told(client, outbox) == ["toolProgress", "toolResult"]


# Messages


def test_an_urgent_message_goes_before_much_that_waits_and_behind_little() -> None:
    client, outbox = held(LONG)
    outbox.urgent(message("urgent"))
    assert told(client, outbox) == ["urgent", "notice"]
    client, outbox = held(TextDelta("a"))
    outbox.urgent(message("urgent"))
    assert told(client, outbox) == ["textDelta", "urgent"]


def test_of_a_progress_the_newest_report_waits_in_the_place_of_the_first() -> None:
    client, outbox = held()
    for number in range(1000):
        outbox.write(message("report", number=number), "a")
        outbox.write(message("other report", number=number), "b")
    outbox.write(message("end"))
    assert outbox.backlog < 1000
    client.reads()
    outbox.flush()
    outbox.write(message("report", number=0), "a")
    got = [(message["method"], message["params"].get("number")) for message in client.sent]
    assert got == [("report", 999), ("other report", 999), ("end", None), ("report", 0)]


def test_in_the_end_only_the_last_answer_is_sent_before_much_that_waits() -> None:
    client, outbox = held(LONG)
    outbox.ending()
    client.reads()
    outbox.flush()
    outbox.urgent(message("answer"))
    assert [message["method"] for message in client.sent] == ["answer"]
    outbox.flush_all()
    assert [message["method"] for message in client.sent] == ["answer", "agent/event"]
