"""A stored session in words, for a new agent and for a person."""

from lsp_agent.protocol.messages import Block, Message
from lsp_agent.sessions.retelling import RECAP_LIMIT, markdown, recap
from lsp_agent.sessions.store import About
from lsp_agent.sessions.transcript import Transcript

ABOUT = About(id="s-1", folder="/p", agent="zot", title="Prices", created=1, updated=1)


def user(words: str) -> Message:
    return {"role": "user", "content": [{"type": "text", "text": words}]}


def agent(words: str, *calls: Block) -> Message:
    return {"role": "assistant", "content": [{"type": "text", "text": words}, *calls]}


def call(tool: str, **args: object) -> Block:
    return {"type": "toolCall", "toolCallId": "c", "tool": tool, "args": args}


def result(words: str, *, is_error: bool = False) -> Message:
    content: list[Block] = [{"type": "text", "text": words}]
    block: Block = {
        "type": "toolResult",
        "toolCallId": "c",
        "isError": is_error,
        "content": content,
    }
    return {"role": "tool", "content": [block]}


TOLD = Transcript(
    [
        user("Fix it."),
        agent("I look.", call("bash", command="pytest -q\n-x")),
        result("1 failed ``` here", is_error=True),
        agent("It is fixed."),
    ]
)


def test_the_recap_says_who_said_and_did_what_in_order() -> None:
    words = recap(TOLD)
    parts = ["Person: Fix it.", "You: I look.", "You used bash: pytest -q -x", "That failed: 1"]
    places = [words.index(part) for part in [*parts, "You: It is fixed.", "now says:"]]
    assert places == sorted(places)


def test_of_a_long_session_the_recap_has_the_newest() -> None:
    messages = [user(f"question {n} " + "x" * 400) for n in range(200)]
    words = recap(Transcript(messages))
    assert len(words) < RECAP_LIMIT + 1000
    assert "question 199" in words
    assert "question 0 " not in words


def test_where_nothing_was_said_there_is_no_recap() -> None:
    assert recap(Transcript([])) == ""


def test_the_markdown_has_all_and_a_fence_that_holds() -> None:
    text = markdown(ABOUT, TOLD)
    assert text.startswith(
        "# Prices\n\nAgent: zot. Folder: `/p`.\n\n## You\n\nFix it.\n\n## Agent\n"
    )
    assert "**bash: pytest -q -x**" in text
    assert "Failed:\n\n````\n1 failed ``` here\n````" in text
    assert text.count("## Agent") == 1


def test_the_markdown_says_where_the_beginning_is_missing() -> None:
    assert "The beginning is not kept." in markdown(ABOUT, Transcript([user("Hi.")], cut=True))
