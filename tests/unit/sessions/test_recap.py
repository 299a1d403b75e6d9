"""A stored session in words, for a new agent and for a person."""

from lsp_agent.protocol.messages import Block, Message
from lsp_agent.protocol.plan import plan_message
from lsp_agent.sessions.stored.place import About
from lsp_agent.sessions.stored.recap import RECAP_LIMIT, markdown, recap
from lsp_agent.sessions.stored.transcript import Transcript

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
    assert "**bash** `pytest -q -x`" in text
    assert "Failed:\n\n````\n1 failed ``` here\n````" in text
    assert text.count("## Agent") == 1


def test_code_that_was_never_ended_swallows_nothing_of_the_markdown() -> None:
    spoken = [agent("So:\n\n  ~~~~py\nx = 1\n~~~\n```"), user("```\nclosed\n```"), agent("Done.")]
    text = markdown(ABOUT, Transcript(spoken))
    assert "```\n  ~~~~\n\n## You\n\n```\nclosed\n```\n\n## Agent\n\nDone.\n" in text


def test_a_plan_is_told_as_a_list_of_what_is_done_and_what_is_not() -> None:
    plan = plan_message(
        [
            {"content": "Look", "status": "completed"},
            {"content": "Act", "status": "in_progress", "priority": "high"},
            {"content": "Tell", "status": "pending"},
        ]
    )
    told = Transcript([user("Go."), plan, plan_message([])])
    listed = "- [x] Look\n- [ ] (in progress) Act\n- [ ] Tell\n"
    assert recap(told).count(f"Your plan:\n{listed}") == recap(told).count("plan") == 1
    assert markdown(ABOUT, told).endswith(f"## Agent\n\n{listed}")


def test_names_in_the_markdown_are_shown_as_they_are() -> None:
    about = ABOUT.model_copy(update={"title": "One\n# Two", "folder": "/a`b"})
    text = markdown(about, Transcript([agent("", call("bash", command="grep *`x`* <b>"))]))
    assert text.startswith("# One # Two\n\nAgent: zot. Folder: ``/a`b``.\n")
    assert "**bash** ``grep *`x`* <b>``" in text


def test_the_markdown_says_where_the_beginning_is_missing() -> None:
    assert "The beginning is not kept." in markdown(ABOUT, Transcript([user("Hi.")], cut=True))
