"""What the chat makes of tool calls: their output in a terminal's colours, reads as one, times."""

import pytest
from support.vscode_modules import returned

pytestmark = [pytest.mark.vscode]

STYLED = "return argument.map((text) => ansi.styled(text).map((p) => [p.text, ...p.classes]))"


def styled(*texts: str) -> list[list[list[str]]]:
    return returned(STYLED, texts, ansi="chat/ansi")


def test_colours_of_a_terminal_become_names_of_the_themes_colours() -> None:
    assert styled(
        "a \x1b[1;31mred\x1b[0m b",
        "\x1b[92;44mboth\x1b[39m ground\x1b[m none",
        "\x1b[38;5;9mone of 256\x1b[0m\x1b[38;2;20;200;30many\x1b[38:5:4mcolons",
        "\x1b[3;4mmarks\x1b[23;24m none",
    ) == [
        [["a "], ["red", "ansi-red", "ansi-bold"], [" b"]],
        [
            ["both", "ansi-bright-green", "ansi-on-blue"],
            [" ground", "ansi-on-blue"],
            [" none"],
        ],
        [["one of 256", "ansi-bright-red"], ["any", "ansi-green"], ["colons", "ansi-blue"]],
        [["marks", "ansi-italic", "ansi-underline"], [" none"]],
    ]


def test_other_signs_of_a_terminal_are_not_shown() -> None:
    link = "\x1b]8;;https://a.b\x1b\\words\x1b]8;;\x07"
    assert styled(f"\x1b[2J\x1b[1;1Ha\x07b\x1b(B\x1b7c{link}\x00\x1b[?25l<b>") == [
        [["a"], ["b"], ["c"], ["words"], ["<b>"]]
    ]


def test_of_a_line_that_is_written_over_the_last_state_is_shown() -> None:
    assert styled(" 10 %\r 50 %\r100 %\r\nend\r") == [[["100 %\nend"]]]


READS = """
const part = ([subject, state, toolKind = 'read']) => ({ kind: 'tool', subject, state, toolKind });
const parts = argument.map(part);
const [first, last] = reads.readsAround(parts, 1);
const { told, state } = reads.readsTold(parts.slice(first, last + 1));
return [first, last, told, state];
"""


def reads(*parts: tuple[str, ...]) -> list[object]:
    return returned(READS, parts, reads="chat/reads")


def test_reads_are_one_from_call_to_call_of_another_kind() -> None:
    assert reads(
        ("a", "done"), ("b", "done"), ("a", "done"), ("x", "done", "edit"), ("c", "done")
    ) == [0, 2, "Read 2 files", "done"]
    assert reads(("x", "done", "command"), ("b", "done")) == [1, 1, "Read 1 file", "done"]


def test_reads_tell_what_runs_and_what_failed() -> None:
    running = reads(("a", "failed"), ("b", "running"))
    assert running[2:] == ["Reading 2 files, 1 failed", "running"]
    assert reads(("a", "failed"), ("b", "done"))[2:] == ["Read 2 files, 1 failed", "failed"]


TIMED = """
const chat = transcript.newChat('s');
for (const [time, type, more] of argument) {
  transcript.take(chat, { sessionId: 's', turnId: 't', seq: 0, time, type, ...more });
}
const [turn] = chat.turns;
return [turn.began, timing.thoughtTook(turn, 0), ...turn.parts.map(timing.took), timing.took(turn)];
"""
CALL = {"toolCallId": "c", "tool": "bash", "kind": "command", "args": {}, "paths": []}


def test_what_the_agent_thinks_what_it_calls_and_the_turn_have_their_times() -> None:
    events = [
        (10, "turnStarted", {"prompt": "Go"}),
        (11, "thinkingDelta", {"text": "Hm"}),
        (12, "thinkingDelta", {"text": "…"}),
        (15, "toolCallStarted", CALL),
        (16, "toolCall", CALL),
        (80.4, "toolResult", CALL | {"isError": False, "content": []}),
        (90, "textDelta", {"text": "Done"}),
        (90.2, "turnEnded", {"stopReason": "endTurn"}),
    ]
    modules = {"transcript": "chat/transcript", "timing": "chat/timing"}
    told = returned(TIMED, events, **modules)
    assert told == [10, "4 s", "", "1 min 5 s", "", "1 min 20 s"]
    untimed = [(0, *each[1:]) for each in events]
    assert returned(TIMED, untimed, **modules) == [None, "", "", "", "", ""]


def test_the_time_of_a_question_is_not_the_calls() -> None:
    question = {"question": {"questionId": "q", "toolCallId": "c", "options": []}}
    events = [
        (10, "turnStarted", {"prompt": "Go"}),
        (11, "toolCall", CALL),
        (11, "questionAsked", question),
        (71, "questionAnswered", {"questionId": "q", "optionId": "allow"}),
        (73, "toolResult", CALL | {"isError": False, "content": []}),
    ]
    told = returned(TIMED, events, transcript="chat/transcript", timing="chat/timing")
    assert told[2] == "2 s"


def test_a_call_waits_while_its_question_is_open() -> None:
    code = """
    const question = { questionId: 'q', toolCallId: 'c', options: [] };
    const turn = { parts: [{ kind: 'tool', id: 'c' }, { kind: 'question', question }] };
    const asked = () => transcript.isAsked(turn, turn.parts[0]);
    const open = asked();
    turn.parts[1].answer = null;
    return [open, asked(), transcript.isAsked(turn, { kind: 'tool', id: 'd' })];
    """
    assert returned(code, transcript="chat/transcript") == [True, False, False]
