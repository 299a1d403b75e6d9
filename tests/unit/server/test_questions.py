"""Questions to the person: how they are asked, answered and closed. No answer is never consent."""

import time
from pathlib import Path
from typing import Any

import pytest
from support.project import BESIDE, EVENTS, UNREAD, Editor, Project, bash, step
from support.raw_client import Json, RpcError, wait_until

ASK: Json = {"events": True, "ask": True}
SHOW: Json = {"window": {"showMessage": {}, "workDoneProgress": True}}

#: Commands that only read too.
ASKED: Json = {"permissions": {"reading": "ask"}}

MARK = "ran.txt"
COMMAND = f"echo x >> {MARK}"
#: Of a command that is shown whole, or could be.
ALL_SHOWN = [
    "Show all of it",
    "Allow",
    "Deny",
    "Allow this command in this session",
    "Allow every command in this session",
    "Allow this command always in this project",
    "Allow this command always",
]


def times_run(project: Project) -> int:
    path = project.folder / MARK
    return len(path.read_text().splitlines()) if path.exists() else 0


def commands(*counts: int) -> list[Json]:
    """A turn for each count, with that many commands."""
    turns: list[Json] = []
    for count in counts:
        turns += [step("", bash(COMMAND)) for _ in range(count)]
        turns.append(step("Done."))
    return turns


def open_questions(editor: Editor) -> list[Json]:
    return editor.call("agent/state")["questions"]


# Ways to ask


def test_a_client_with_ask_gets_the_whole_question(project: Project) -> None:
    editor = project.editor(*commands(1), client=ASK)
    editor.answers = ["allow"]
    result = editor.ask_agent("Go.")
    (question,) = editor.received("agent/ask")
    assert question["kind"] == "permission"
    assert question["title"] == f"bash: {COMMAND}"
    assert question["detail"] == COMMAND
    assert (question["sessionId"], question["turnId"]) == (result["sessionId"], result["turnId"])
    assert question["toolCallId"] == editor.event("toolCall")["toolCallId"]
    kinds = [option["kind"] for option in question["options"]]
    assert kinds == [
        "allowOnce", "deny", "allowCommand", "allowSession", "allowProject", "allowAlways",
    ]  # fmt: skip
    words = [option["name"].split()[0] for option in question["options"]]
    assert words == ["Allow", "Deny", *["Allow"] * 4]
    assert times_run(project) == 1
    asked, answered = editor.event("questionAsked"), editor.event("questionAnswered")
    assert asked["question"] == question
    assert answered["questionId"] == question["questionId"]
    assert answered["optionId"] == "allow"


def test_a_plain_client_gets_a_message_with_buttons(project: Project) -> None:
    editor = project.editor(*commands(1), capabilities=SHOW, clientInfo=BESIDE)
    editor.answers = ["Allow"]
    editor.ask_agent("Go.")
    (shown,) = editor.received("window/showMessageRequest")
    assert COMMAND in shown["message"]
    titles = [action["title"] for action in shown["actions"]]
    assert titles == ALL_SHOWN
    assert times_run(project) == 1


def test_a_client_whose_messages_may_take_keys_is_told_and_not_asked(project: Project) -> None:
    editor = project.editor(*commands(1), capabilities=SHOW, clientInfo={"name": "Zed"})
    document = editor.open(project.file("a.txt", "one\n"))
    prompt = editor.prompt("Go.")
    editor.notification(
        "window/showMessage", message=f"Answer the agent by code action: bash: {COMMAND}"
    )
    titles = [action["title"].rpartition(": ")[2] for action in actions(editor, document.uri)]
    assert titles[:2] == ["Show all of it", "Allow"]  # the first, which Enter takes, allows nothing
    assert editor.command("answer", {"optionId": "allow"}) == {"answered": True}
    assert editor.result(prompt)["text"] == "Done."
    assert editor.received("window/showMessageRequest") == []


def test_neovim_is_told_so_that_it_waits_for_no_key(project: Project) -> None:
    editor = project.editor(*commands(1), clientInfo={"name": "Neovim", "version": "0.11.4"})
    editor.prompt("Go.")
    told = editor.notification("window/showMessage")
    assert told == {"type": 1, "message": "Answer the agent by code action"}


@pytest.mark.parametrize("option", ["allow", "deny", None])
@pytest.mark.parametrize("named", [True, False])
def test_an_answer_as_a_question_comes_up_is_not_meant_for_it(
    project: Project, option: str | None, named: bool
) -> None:
    # On a busy machine the question may have stood for long when the answer comes.
    tries = (answered_at_once(project, option, named=named) for _ in range(5))
    editor, prompt, question, answer = next(tried for tried in tries if tried)
    before = times_run(project)
    assert open_questions(editor) == [question]
    assert editor.command("answer", answer) == {"answered": True}
    editor.result(prompt)
    assert times_run(project) - before == (option == "allow")


def answered_at_once(
    project: Project, option: str | None, *, named: bool
) -> tuple[Editor, int, Json, Json] | None:
    """Editor, prompt, question, and the answer that was refused; None if it was taken."""
    editor = project.editor(*commands(1))
    prompt = editor.prompt("Go.")
    asked = editor.notification("window/showMessage")
    assert asked["message"].startswith("Answer the agent by code action")
    (question,) = open_questions(editor)
    answer: Json = {"optionId": option} | ({"questionId": question["questionId"]} if named else {})
    command: Json = {"command": "lspAgent.answer", "arguments": [answer]}
    try:
        editor.call("workspace/executeCommand", command)
    except RpcError as error:
        kind = error.data["kind"]
    else:
        editor.result(prompt)
        return None
    assert kind == "conflict"
    return editor, prompt, question, answer


@pytest.mark.parametrize("invoked", [True, False], ids=["menu", "light bulb"])
def test_a_menu_that_opens_puts_the_question_anew_and_a_look_for_a_light_bulb_does_not(
    project: Project, *, invoked: bool
) -> None:
    editor = project.editor(*commands(1))
    document = editor.open(project.file("a.txt", "one\n"))
    editor.prompt("Go.")
    editor.notification("window/showMessage")
    time.sleep(UNREAD)
    actions(editor, document.uri, triggerKind=1 if invoked else 2)
    answer: Json = {"command": "lspAgent.answer", "arguments": [{"optionId": "deny"}]}
    if invoked:
        assert editor.failure("workspace/executeCommand", answer).data["kind"] == "conflict"
    else:
        assert editor.call("workspace/executeCommand", answer) == {"answered": True}


@pytest.mark.parametrize("how", ["command", "code action"])
def test_a_client_that_can_show_none_is_asked_by_state_and_code_action(
    project: Project, how: str
) -> None:
    path = project.file("a.txt", "one\n")
    editor = project.editor(*commands(1))
    document = editor.open(path)
    prompt = editor.prompt("Go.")
    assert wait_until(lambda: open_questions(editor))
    (question,) = open_questions(editor)
    if how == "command":
        answer: Json = {"questionId": question["questionId"], "optionId": "allow"}
    else:
        (action,) = [a for a in actions(editor, document.uri) if a["title"].endswith(": Allow")]
        assert action["title"] == f"Agent asks: bash: {COMMAND}: Allow"
        (answer,) = action["command"]["arguments"]
        assert action["command"]["command"] == "lspAgent.answer"
    assert editor.command("answer", answer) == {"answered": True}
    assert editor.result(prompt)["text"] == "Done."
    assert times_run(project) == 1
    assert open_questions(editor) == []
    assert editor.command("answer", answer) == {"answered": False}
    assert editor.received("window/showMessageRequest") == []


def actions(editor: Editor, uri: str, **context: Any) -> list[Json]:
    start = {"line": 0, "character": 0}
    return editor.call(
        "textDocument/codeAction",
        {
            "textDocument": {"uri": uri},
            "range": {"start": start, "end": start},
            "context": {"diagnostics": []} | context,
        },
    )


def test_a_client_that_knows_no_message_request_after_all_keeps_the_question_open(
    project: Project,
) -> None:
    editor = project.editor(*commands(2), capabilities=SHOW, clientInfo=BESIDE)
    del editor.handlers["window/showMessageRequest"]  # MethodNotFound
    prompt = editor.prompt("Go.")
    for number in (1, 2):
        assert wait_until(lambda: open_questions(editor))
        assert editor.command("answer", {"optionId": "allow"}) == {"answered": True}
        assert wait_until(lambda n=number: times_run(project) == n)
    assert editor.result(prompt)["text"] == "Done."
    assert len(editor.received("window/showMessageRequest")) == 1


# What is too long to be seen

LONG = f"echo x >> {MARK}\n" + "echo y\n" * 10 + "echo z > tail.txt"
WIDE = f"echo x >> {MARK}; {'true; ' * 100} echo z > tail.txt"
SHOWN: Json = SHOW | {"window": SHOW["window"] | {"showDocument": {"support": True}}}


def dialogs(editor: Editor) -> list[list[str]]:
    shown = editor.received("window/showMessageRequest")
    return [[action["title"] for action in one["actions"]] for one in shown]


@pytest.mark.parametrize("command", [LONG, WIDE], ids=["many lines", "a long line"])
def test_a_long_command_can_be_allowed_only_when_all_of_it_has_been_shown(
    project: Project, command: str
) -> None:
    editor = project.editor(
        step("", bash(command)), step("Done."), capabilities=SHOWN, clientInfo=BESIDE
    )
    files: list[str] = []

    def show_document(params: Json) -> Json:
        files.append(uri_text(params["uri"]))
        return {"success": True}

    editor.handlers["window/showDocument"] = show_document
    editor.answers = ["Show all of it", "Allow"]
    editor.ask_agent("Go.")
    first, second = dialogs(editor)
    assert first == ["Show all of it", "Deny"]
    assert second == ALL_SHOWN
    (text,) = files
    assert command in text
    assert times_run(project) == 1


def uri_text(uri: str) -> str:
    return Path(uri.removeprefix("file://")).read_text()


@pytest.mark.parametrize("answer", ["Deny", None, "Allow", "allow"])
def test_a_long_command_that_was_not_shown_does_not_run(
    project: Project, answer: str | None
) -> None:
    editor = project.editor(
        step("", bash(LONG)), step("Done."), capabilities=SHOW, clientInfo=BESIDE
    )
    editor.answers = [answer]
    editor.ask_agent("Go.")
    assert dialogs(editor) == [["Show all of it", "Deny"]]
    assert times_run(project) == 0


@pytest.mark.parametrize("capabilities", [SHOW, SHOWN], ids=["unable", "failing"])
def test_where_no_document_can_be_shown_a_long_command_is_a_message(
    project: Project, capabilities: Json
) -> None:
    editor = project.editor(
        step("", bash(LONG)), step("Done."), capabilities=capabilities, clientInfo=BESIDE
    )
    editor.answers = ["Show all of it", "Allow"]
    editor.ask_agent("Go.")
    assert [m["message"] for m in editor.received("window/showMessage") if LONG in m["message"]]
    methods = [m.get("method") for m in editor.messages]
    asked = [n for n, method in enumerate(methods) if method == "window/showMessageRequest"]
    assert asked[0] < methods.index("window/showMessage") < asked[1]
    assert times_run(project) == 1


def test_a_command_that_a_message_shows_whole_is_asked_about_once(project: Project) -> None:
    command = f"echo x >> {MARK}; {'true; ' * 30}\necho z > tail.txt"
    editor = project.editor(
        step("", bash(command)), step("Done."), capabilities=SHOWN, clientInfo=BESIDE
    )
    editor.answers = ["Allow"]
    assert editor.ask_agent("Go.")["text"] == "Done."
    (asked,) = editor.received("window/showMessageRequest")
    assert command in asked["message"]
    assert times_run(project) == 1


def test_a_menu_offers_to_allow_a_long_command_once_it_has_been_shown(project: Project) -> None:
    path = project.file("a.txt", "one\n")
    editor = project.editor(step("", bash(WIDE)), step("Done."))
    document = editor.open(path)
    prompt = editor.prompt("Go.")
    assert wait_until(lambda: open_questions(editor))

    def asked() -> list[Json]:
        found = actions(editor, document.uri)
        return [each for each in found if each["title"].startswith("Agent asks: ")]

    def names() -> list[str]:
        return [each["title"].rpartition(": ")[2] for each in asked()]

    assert names() == ["Show all of it", "Deny"]
    show = asked()[0]["command"]
    editor.call("workspace/executeCommand", show)
    assert wait_until(lambda: "Allow" in names())
    assert any(WIDE in shown["message"] for shown in editor.received("window/showMessage"))
    (allow,) = [each for each in asked() if each["title"].endswith(": Allow")]
    early = editor.failure("workspace/executeCommand", allow["command"])
    assert (early.data["kind"], "only just" in early.message) == ("conflict", True)
    assert times_run(project) == 0
    time.sleep(UNREAD)
    editor.call("workspace/executeCommand", allow["command"])
    assert editor.result(prompt)["text"] == "Done."
    assert times_run(project) == 1
    with pytest.raises(RpcError) as caught:
        editor.call("workspace/executeCommand", show)
    assert caught.value.data["kind"] == "conflict"


# Answers


def test_allowed_once_means_that_the_next_command_is_asked_for(project: Project) -> None:
    editor = project.editor(*commands(2), client=ASK)
    editor.answers = ["allow", "deny"]
    editor.ask_agent("Go.")
    assert len(editor.received("agent/ask")) == 2
    assert times_run(project) == 1


def test_the_result_of_a_gated_command_shows_the_command_and_not_the_gate(
    project: Project,
) -> None:
    editor = project.editor(step("", bash("echo hi")), step("Done."), client=ASK)
    editor.answers = ["allow"]
    editor.ask_agent("Go.")
    content = editor.event("toolResult")["content"]
    assert content[0]["text"].startswith("$ echo hi\n\nhi\n")


def test_allowed_for_the_session_holds_for_its_later_turns_only(project: Project) -> None:
    editor = project.editor(*commands(2, 1), client=ASK)
    editor.answers = ["allowSession"]
    editor.ask_agent("Go.")
    editor.ask_agent("Again.")
    assert len(editor.received("agent/ask")) == 1
    assert times_run(project) == 3
    editor.answers = ["deny", "deny"]
    other = editor.call("agent/newSession")["sessionId"]
    editor.ask_agent("Go.", sessionId=other)
    assert len(editor.received("agent/ask")) == 3
    assert times_run(project) == 3


@pytest.mark.parametrize(
    ("answer", "reason"),
    [("deny", "the user declined this command"), (None, "was not answered"), ("odd", "answered")],
    ids=["denied", "dismissed", "an unknown option"],
)
def test_without_consent_the_command_does_not_run_and_the_model_reads_why(
    project: Project, answer: str | None, reason: str
) -> None:
    editor = project.editor(*commands(1), client=ASK)
    editor.answers = [answer]
    assert editor.ask_agent("Go.")["text"] == "Done."
    assert times_run(project) == 0
    (result,) = editor.events("toolResult")
    assert result["isError"] is True
    assert reason in editor.tool_texts()[0]
    assert reason in str(editor.call("agent/messages"))


def test_a_dismissed_message_is_a_refusal(project: Project) -> None:
    editor = project.editor(*commands(1), capabilities=SHOW, clientInfo=BESIDE, client=EVENTS)
    editor.answers = [None]
    assert editor.ask_agent("Go.")["text"] == "Done."
    assert times_run(project) == 0
    assert "was not answered" in editor.tool_texts()[0]


def test_a_question_can_be_dismissed_by_command(project: Project) -> None:
    editor = project.editor(*commands(1))
    prompt = editor.prompt("Go.")
    assert wait_until(lambda: open_questions(editor))
    assert editor.command("answer", {"optionId": None}) == {"answered": True}
    editor.result(prompt)
    assert times_run(project) == 0


def test_an_answer_must_fit_the_question(project: Project) -> None:
    editor = project.editor(*commands(1))
    prompt = editor.prompt("Go.")
    assert wait_until(lambda: open_questions(editor))
    for argument in ({"optionId": "maybe"}, {}):
        with pytest.raises(RpcError) as caught:
            editor.command("answer", argument)
        assert caught.value.data["kind"] == "conflict"
        assert "allowSession" in caught.value.message
    assert editor.command("answer", {"questionId": "q-none", "optionId": "allow"}) == {
        "answered": False
    }
    assert editor.command("answer", {"optionId": "deny"}) == {"answered": True}
    editor.result(prompt)
    assert times_run(project) == 0


def test_of_several_open_questions_one_is_named(project: Project) -> None:
    agent = project.agent(step("", bash(COMMAND)), step("Done."))
    editor = project.editor(agent=agent)
    sessions = [editor.call("agent/newSession")["sessionId"] for _ in range(2)]
    prompts = [editor.prompt("Go.", sessionId=session) for session in sessions]

    def asked(session: str) -> list[Json]:
        return editor.call("agent/state", {"sessionId": session})["questions"]

    assert wait_until(lambda: all(asked(session) for session in sessions))
    ids = [asked(session)[0]["questionId"] for session in sessions]
    with pytest.raises(RpcError) as caught:
        editor.command("answer", {"optionId": "allow"})
    assert caught.value.data["kind"] == "conflict"
    assert sorted(caught.value.data["questionIds"]) == sorted(ids)
    editor.command("answer", {"questionId": ids[0], "optionId": "allow"})
    assert editor.result(prompts[0])["text"] == "Done."
    editor.command("answer", {"optionId": "deny"})  # now there is one
    assert editor.result(prompts[1])["text"] == "Done."
    assert times_run(project) == 1


# The end of a question


@pytest.mark.parametrize("client", ["ask", "show"])
def test_an_abort_closes_the_question(project: Project, client: str) -> None:
    editor = (
        project.editor(*commands(1), step("Next."), client=ASK)
        if client == "ask"
        else project.editor(
            *commands(1), step("Next."), client=EVENTS, capabilities=SHOW, clientInfo=BESIDE
        )
    )
    prompt = editor.prompt("Go.")
    method = "agent/ask" if client == "ask" else "window/showMessageRequest"
    request = editor.wait_for(lambda message: message.get("method") == method)
    assert editor.call("agent/abort") == {"aborted": True}
    assert editor.result(prompt)["stopReason"] == "aborted"
    editor.notification("$/cancelRequest", id=request["id"])
    assert open_questions(editor) == []
    assert editor.event("questionAnswered").get("optionId") is None
    editor.send({"id": request["id"], "result": {"optionId": "allow", "title": "Allow"}})  # late
    editor.call("agent/state")
    assert times_run(project) == 0
    types = [event["type"] for event in editor.events()]
    assert types.index("questionAnswered") < types.index("turnEnded")


# Unsaved text


def test_a_command_names_the_documents_with_unsaved_text(project: Project) -> None:
    path = project.file("src/a.txt", "one\n")
    line = bash("cat src/a.txt")
    editor = project.editor(step("", line), step("Done."), client=ASK, options=ASKED)
    editor.type(editor.open(path), 0, "typed\n")
    editor.answers = ["allow"]
    editor.ask_agent("Go.")
    (question,) = editor.received("agent/ask")
    assert "src/a.txt" in question["detail"]
    assert question["options"][0]["name"] == "Allow"  # this client cannot save
    assert "typed" not in editor.tool_texts()[0]
    assert "Unsaved in the editor, so not seen by this command: src/a.txt" in editor.tool_texts()[0]


def test_an_empty_document_that_has_no_file_has_nothing_unsaved(project: Project) -> None:
    editor = project.editor(step("", bash("true")), step("Done."), client=ASK, options=ASKED)
    editor.open(project.folder / "deleted.txt", "")
    editor.answers = ["allow"]
    editor.ask_agent("Go.")
    (question,) = editor.received("agent/ask")
    assert "Unsaved" not in question["detail"]
    assert "Unsaved" not in editor.tool_texts()[0]


def test_a_client_that_saves_is_offered_to_save_first(project: Project) -> None:
    path = project.file("a.txt", "one\n")
    line, client = bash("cat a.txt"), ASK | {"save": True}
    editor = project.editor(step("", line), step("Done."), client=client, options=ASKED)
    editor.type(editor.open(path), 0, "typed\n")
    editor.answers = ["allowAndSave"]
    editor.ask_agent("Go.")
    (question,) = editor.received("agent/ask")
    names = [option["name"] for option in question["options"]]
    assert names[:3] == ["Allow, saving files first", "Deny", "Allow as it is on disk"]
    assert path.read_text() == "typed\none\n"
    assert "typed" in editor.tool_texts()[0]
    assert "unsaved" not in editor.tool_texts()[0]


def test_allowed_commands_still_name_unsaved_documents(project: Project) -> None:
    path = project.file("a.txt", "one\n")
    editor = project.editor(
        step("", bash("cat a.txt")),
        step("Done."),
        client=ASK,
        options={"permissions": {"command": "allow"}},
    )
    editor.type(editor.open(path), 0, "typed\n")
    editor.ask_agent("Go.")
    assert editor.received("agent/ask") == []
    assert "not seen by this command: a.txt" in editor.tool_texts()[0]


# Settings that spare the question


@pytest.mark.parametrize(
    ("permissions", "asked", "ran"),
    [
        ({"command": "allow"}, 0, 1),
        ({"command": "deny"}, 0, 0),
        ({"allow": ["command: echo *"]}, 1, 0),  # a compound command is not matched by a glob
        ({"allow": [f"command: {COMMAND}"]}, 0, 1),
        ({"command": "deny", "allow": [f"command: {COMMAND}"]}, 0, 0),
    ],
)
def test_settings_decide_without_a_question(
    project: Project, permissions: Json, asked: int, ran: int
) -> None:
    editor = project.editor(*commands(1), client=ASK, options={"permissions": permissions})
    editor.answers = ["deny"]
    editor.ask_agent("Go.")
    assert len(editor.received("agent/ask")) == asked
    assert times_run(project) == ran
    assert editor.events("toolResult")[0]["isError"] is (ran == 0)
