"""A prompt that names one of the agent's commands runs it, as in the chats of the plugins."""

from collections.abc import Iterator

import pytest
from support.project import Document, Editor, Project, new_project, step
from support.raw_client import wait_until
from test_chat_documents import answered, say, send, text_of
from test_methods_commands import install, persons_folder

NOT_TOLD, TOLD = r"(?s)\A(?!.*Upon a time)", r"(?s)\AGo on.*text of a file.*Upon a time"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, Editor]]:
    """A project with one server, whose agent has the commands of an extension."""
    with new_project(tmp_path_factory.mktemp("desk")) as project:
        install(persons_folder(project))
        yield project, project.editor(step("One.", match=r"\A<x y>\Z"), step("Two."))


@pytest.fixture
def editor(shared: tuple[Project, Editor]) -> Editor:
    shared[1].begin_anew()
    return shared[1]


def sent(editor: Editor, project: Project, text: str) -> Document:
    document = editor.open(project.file(f"{len(text)}.chat.md", text))
    send(editor, document)
    return document


def test_one_that_makes_a_prompt_is_answered_under_the_persons_words(
    editor: Editor, shared: tuple[Project, Editor]
) -> None:
    document = sent(editor, shared[0], "## You\n\n/ask x y\n")
    assert wait_until(lambda: answered(document))
    assert text_of(document) == "## You\n\n/ask x y\n\n## Agent\n\nOne.\n\n## You\n\n"


def test_what_one_shows_is_the_answer(editor: Editor, shared: tuple[Project, Editor]) -> None:
    document = sent(editor, shared[0], "## You\n\n/show a b\n")
    assert wait_until(lambda: answered(document))
    assert text_of(document) == "## You\n\n/show a b\n\n## Agent\n\n<a b>\n\n## You\n\n"
    assert editor.received("window/showMessage") == []


def test_one_that_shows_nothing_says_that_it_is_done(
    editor: Editor, shared: tuple[Project, Editor]
) -> None:
    document = sent(editor, shared[0], "## You\n\n/do\n")
    assert wait_until(lambda: answered(document))
    assert text_of(document) == "## You\n\n/do\n\n## Agent\n\n*(done)*\n\n## You\n\n"


def test_what_one_inserts_stands_in_its_place(
    editor: Editor, shared: tuple[Project, Editor]
) -> None:
    document = sent(editor, shared[0], "## You\n\n/put a b\n")
    assert wait_until(lambda: text_of(document) == "## You\n\n<a b>\n")


def test_one_that_is_not_there_says_so_and_stays(
    editor: Editor, shared: tuple[Project, Editor]
) -> None:
    document = editor.open(shared[0].file("x.chat.md", "## You\n\n/init\n"))
    error = editor.failure("agent/sendChat", {"uri": document.uri})
    assert error.data["kind"] == "unsupported"
    assert "it has /ask, /do" in error.message
    assert text_of(document) == "## You\n\n/init\n"


def test_what_stands_above_one_goes_with_the_first_prompt_behind_it(project: Project) -> None:
    install(persons_folder(project))
    above = "## You\n\nOnce.\n\n## Agent\n\nUpon a time.\n\n"
    editor = project.editor(step("One.", match=TOLD), step("Two.", match=NOT_TOLD))
    document = sent(editor, project, f"{above}## You\n\n/do\n")
    assert wait_until(lambda: answered(document, 2))
    say(editor, document, "Go on.")
    send(editor, document)
    assert wait_until(lambda: answered(document, 3))
    say(editor, document, "And on.")
    send(editor, document)
    assert wait_until(lambda: answered(document, 4))
    assert text_of(document).endswith("And on.\n\n## Agent\n\nTwo.\n\n## You\n\n")


@pytest.mark.parametrize("text", ["/ask x", "/usr/bin/make fails."])
def test_an_agent_without_commands_is_sent_the_words(project: Project, text: str) -> None:
    agent = project.agent(step("One.", match=rf"\A{text}"), arguments=["--no-ext"])
    editor = project.editor(agent=agent)
    document = sent(editor, project, text)
    assert wait_until(lambda: answered(document))
    assert "One." in text_of(document)


def test_after_a_restart_the_conversation_goes_on_behind_one(project: Project) -> None:
    install(persons_folder(project))
    agent = project.agent(step("One."))
    first = project.editor(agent=agent)
    document = sent(first, project, "## You\n\n/ask x\n")
    assert wait_until(lambda: answered(document))
    first.shut_down()
    second = project.editor(agent=agent)
    document = second.open(document.path, f"{text_of(document)}And then?")
    send(second, document)
    assert wait_until(lambda: answered(document, 2))
    (session,) = second.call("agent/sessions")["sessions"]
    assert session["title"] == "/ask x"


@pytest.mark.parametrize("text", ["/show a b", "/do", "/ask x y", "Hello."])
def test_two_sends_of_one_prompt_send_it_once(
    editor: Editor, shared: tuple[Project, Editor], text: str
) -> None:
    document = editor.open(shared[0].file("twice.chat.md", f"## You\n\n{text}\n"))
    first, second = (editor.request("agent/sendChat", {"uri": document.uri}) for _ in range(2))
    editor.result(first)
    assert editor.answer(second)["error"]["data"]["kind"] == "conflict"
    assert wait_until(lambda: answered(document))
    editor.retype(document, text_of(document) + "/show last")
    send(editor, document)
    assert wait_until(lambda: answered(document, 2))
    assert text_of(document).count(text) == 1
