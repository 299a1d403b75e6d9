"""What a person gets from the VS Code extension, in the real workbench from the built .vsix: each
test looks at the buffer, the disk, and whether there is anything unsaved."""

import base64
import contextlib
import re
import time

import psutil
import pytest
from support.workbench import Json, WorkbenchError, wait_until
from vscode_desk import REFUSED, done, edit, read, step
from vscode_product import Product
from vscode_review import line_of_cursor

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("vscode"),
]

SHAPES = """\
def area(w, h):
    return w * h


def name():
    return "shape"


def corners():
    return 4
"""
#: A picture, and how it is pasted.
DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAA"
    "AElFTkSuQmCC"
)
PASTE = """
(input, data) => {
  const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  const clipboardData = new DataTransfer();
  clipboardData.items.add(new File([bytes], 'image.png', { type: 'image/png' }));
  input.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
}
"""
# Notes whether the chat ever shows how an answer begins, and not yet how it ends.
WATCH = """
() => {
  window.streamed = false;
  const look = () => {
    const shown = document.body.textContent;
    window.streamed ||= shown.includes('All done.') && !shown.includes('Over.');
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
}
"""
#: Of an edit that may not be in, as the agent is told.
NOT_CONFIRMED = "has not confirmed"
#: An edit of each function of ``SHAPES``, so far apart that each is a hunk of its own.
THREE = edit(
    "shapes.py",
    ("return w * h", "return abs(w * h)"),
    ('return "shape"', 'return "a shape"'),
    ("return 4", "return 5"),
)
CHANGED = (
    SHAPES.replace("return w * h", "return abs(w * h)")
    .replace('"shape"', '"a shape"')
    .replace("return 4", "return 5")
)


#: An answer that is stopped long before it ends.
ENDLESS: Json = {"text": "a b c d " * 500, "pace_ms": 200}


def bash(command: str) -> Json:
    return {"name": "bash", "args": {"command": command}}


TAB = "return vscode.window.tabGroups.activeTabGroup.activeTab?.label"


def statuses(person: Product) -> list[str]:
    """Of all hunks of the newest edit."""
    return [hunk["status"] for hunk in person.command("lspAgent.edits")["edits"][-1]["hunks"]]


def told(person: Product) -> list[str]:
    """What the agent of the newest session was told by its tool calls, in order."""
    session = person.command("lspAgent.sessions")["sessions"][0]["sessionId"]
    messages = person.command("lspAgent.messages", {"sessionId": session})["messages"]
    blocks = [block for message in messages for block in message["content"]]
    results = [block["content"] for block in blocks if block["type"] == "toolResult"]
    return ["".join(part.get("text", "") for part in result) for result in results]


def test_a_prompt_streams_into_the_chat_and_its_edit_lands(person: Product) -> None:
    person.open("shapes.py", SHAPES)
    person.begin(
        step(read("shapes.py"), text="I look at **it** first."),
        step(THREE, text="Now I change it."),
        {"text": "All done. " + "Word by word. " * 20 + "Over.", "pace_ms": 50},
    )
    person.chat.evaluate(WATCH)
    person.say("Change all three")
    person.wait_for_end()
    person.turn.get_by_text("Over.").wait_for()
    assert person.chat.evaluate("() => window.streamed")
    assert person.turn.locator("strong").inner_text() == "it"
    assert [each.inner_text() for each in person.turn.locator("summary .name").all()] == [
        "read",
        "edit",
    ]
    assert person.text("shapes.py") == person.on_disk("shapes.py") == CHANGED
    assert not person.is_dirty("shapes.py")


def test_an_edit_lands_in_an_unsaved_document_while_typing_goes_on(person: Product) -> None:
    lines = ["mine: \n", *(f"old{n:02} line\n" for n in range(12))]
    person.open("notes.txt", "".join(lines))
    person.begin(
        *(step(edit("notes.txt", (f"old{n:02}", f"new{n:02}")), delay_ms=150) for n in range(12)),
        done(),
    )
    person.go_to("notes.txt", "mine", 0)
    person.key("End")
    person.workbench.type("typed0 ")
    wait_until(lambda: person.is_dirty("notes.txt"))
    person.say("Go")
    person.go_to("notes.txt", "mine", 0)
    person.key("End")
    person.stop.wait_for()
    words = 1
    while person.stop.is_visible():
        person.workbench.type(f"typed{words} ")
        person.settle()
        words += 1
    person.wait_for_end()
    text = person.text("notes.txt")
    assert words > 1
    for n, said in enumerate(told(person)):
        # On a busy machine the window may take longer than the server waits for it, or take none.
        assert f"new{n:02} line" in text or NOT_CONFIRMED in said or REFUSED in said
        assert text.count(f"new{n:02}") + text.count(f"old{n:02}") == 1
    assert text.count("new") > 6
    typed = "".join(f"typed{n} " for n in range(words))
    assert text.replace("new", "old") == "".join(lines).replace("mine: ", f"mine: {typed}")
    assert person.on_disk("notes.txt") == "".join(lines)
    assert person.is_dirty("notes.txt")


def test_a_file_that_is_not_open_is_changed_on_disk_alone(person: Product) -> None:
    (person.folder / "unopened.txt").write_text("one\n")
    person.begin(step(edit("unopened.txt", ("one", "two"))), done())
    person.say("Go")
    person.wait_for_end()
    assert person.on_disk("unopened.txt") == "two\n"
    time.sleep(1.2)  # VS Code opens a tab for what is unsaved after a second
    assert not person.is_open("unopened.txt")


def test_hunks_are_reviewed_by_key(person: Product) -> None:
    person.open("shapes.py", SHAPES)
    person.begin(step(THREE), done())
    person.say("Go")
    person.wait_for_end()
    to_review(person)
    person.go_to("shapes.py", "def area")
    wait_until(lambda: person.page.locator(".codelens-decoration a").count())
    person.key("Alt+F5")
    wait_until(lambda: line_of_cursor(person) == 1)
    person.key("Shift+Alt+Backspace")
    wait_until(lambda: "abs" not in person.text("shapes.py"))
    person.key("Alt+F5")
    wait_until(lambda: line_of_cursor(person) == 5)
    person.key("Shift+Alt+Enter")
    wait_until(lambda: statuses(person) == ["rejected", "kept", "applied"])
    person.key("Alt+F5")
    wait_until(lambda: line_of_cursor(person) == 9)
    person.key("Shift+Alt+F5")  # there is no other one
    person.key("Shift+Alt+Enter")
    wait_until(lambda: statuses(person) == ["rejected", "kept", "kept"])
    person.page.get_by_role("button", name=re.compile("changes?: ")).wait_for(state="detached")
    wanted = CHANGED.replace("abs(w * h)", "w * h")
    assert person.text("shapes.py") == wanted
    wait_until(lambda: person.is_dirty("shapes.py") == (person.on_disk("shapes.py") != wanted))


def test_a_key_decides_as_soon_as_a_file_is_shown(person: Product) -> None:
    (person.folder / "closed.txt").write_text("one\n")
    person.open("shapes.py", SHAPES)
    person.begin(step(edit("closed.txt", ("one", "two"))), done())
    person.say("Go")
    person.wait_for_end()
    person.page.get_by_role("button", name=re.compile("^1 change: ")).wait_for()
    person.go_to("shapes.py", "def area")
    person.key("Alt+F5")
    shown = "return vscode.window.activeTextEditor?.document.uri.path.endsWith('closed.txt')"
    wait_until(lambda: person.workbench.run(shown))
    person.key("Shift+Alt+Backspace")
    wait_until(lambda: person.text("closed.txt") == "one\n")


def to_review(person: Product) -> None:
    """Waits until the status bar counts three changes; from then on the keys work."""
    person.page.get_by_role("button", name=re.compile("^3 changes: ")).wait_for()


def test_hunks_are_reviewed_by_mouse(person: Product) -> None:
    person.open("shapes.py", SHAPES)
    person.begin(step(THREE), done())
    person.say("Go")
    person.wait_for_end()
    person.workbench.press_lens("Undo", 1, of=3)
    wait_until(lambda: '"a shape"' not in person.text("shapes.py"))
    person.workbench.press_lens("Keep", 0, of=2)
    wait_until(lambda: statuses(person) == ["kept", "rejected", "applied"])
    counted = person.turn.locator("footer .counts")
    wait_until(lambda: counted.inner_text().split() == ["+1", "−1"])
    person.press("Undo")  # what is left of the turn, in the chat
    wait_until(lambda: "return 4" in person.text("shapes.py"))
    wait_until(lambda: statuses(person) == ["kept", "rejected", "rejected"])
    wait_until(lambda: counted.count() == 0)
    person.press("Take Back")
    wait_until(lambda: person.text("shapes.py") == SHAPES)


def test_a_turn_is_shown_in_the_multi_diff_editor(person: Product) -> None:
    (person.folder / "closed.txt").write_text("one\n")
    person.open("shapes.py", SHAPES)
    person.begin(step(THREE, edit("closed.txt", ("one", "two"))), done())
    person.say("Both files")
    person.wait_for_end()
    person.press("Review")
    diffs = person.page.locator(".multiDiffEntry")
    wait_until(lambda: diffs.count() == 2)
    wait_until(lambda: (person.workbench.run(TAB) or "").startswith("Agent: Both files"))
    diffs.filter(has_text="shapes.py").wait_for()
    diffs.filter(has_text="closed.txt").wait_for()
    assert person.on_disk("closed.txt") == "two\n"
    assert not person.is_dirty("shapes.py")


def test_an_undo_takes_the_agents_edit_alone(person: Product) -> None:
    person.open("shapes.py", SHAPES)
    person.begin(step(THREE), done())
    person.go_to("shapes.py", "def area")
    person.workbench.type("mine_")
    person.settle()
    person.say("Go")
    person.wait_for_end()
    assert person.text("shapes.py") == "mine_" + CHANGED
    person.go_to("shapes.py", "def name")
    person.key("Control+z")
    wait_until(lambda: person.text("shapes.py") == "mine_" + SHAPES)
    person.key("Control+z")
    wait_until(lambda: person.text("shapes.py") == SHAPES)
    assert person.on_disk("shapes.py") == SHAPES


def test_a_command_is_denied_and_allowed_in_the_chat(person: Product) -> None:
    person.begin(
        *(step(bash("echo hello | tee denied.txt")), done()),
        *(step(bash("echo hello | tee allowed.txt")), done()),
    )
    person.say("Try")
    question = person.turn.locator(".question.open")
    question.filter(has_text="denied.txt").wait_for()
    person.read()
    question.get_by_role("button", name="Deny with a Reason…").click()
    person.page.locator(".quick-input-widget input:focus").wait_for()
    person.page.keyboard.type("not in this folder")
    person.page.keyboard.press("Enter")
    person.wait_for_end()
    assert not (person.folder / "denied.txt").exists()
    person.turn.locator("summary", has_text="tee denied.txt").click()
    assert "says: not in this folder" in person.turn.locator("pre.output").inner_text()
    toasts = person.page.locator(".notification-toast", has_text="denied.txt")
    assert toasts.count() == 0  # the chat is seen
    assert person.turn.locator(".question .answer").inner_text().startswith("Deny")
    person.say("Try again")
    question.wait_for()
    question.get_by_role("button", name=re.compile("^Allow")).first.wait_for()
    person.read()
    question.get_by_role("button", name=re.compile("^Allow")).first.focus()
    person.page.keyboard.press("Enter")
    person.wait_for_end()
    assert person.on_disk("allowed.txt") == "hello\n"
    person.turn.locator("summary", has_text="tee allowed.txt").click()
    assert "hello" in person.turn.locator("pre.output").inner_text()


def test_a_question_is_asked_in_a_notification_where_the_chat_is_hidden(person: Product) -> None:
    person.begin(step(bash("touch noticed.txt")), done())
    person.hide()
    person.command("lspAgent.prompt", {"text": "Go"})
    toast = person.page.locator(".notification-toast", has_text="touch noticed.txt").filter(
        has=person.page.get_by_role("button", name=re.compile("^Deny"))
    )
    toast.get_by_role("button", name=re.compile("^Allow")).first.wait_for()
    person.read()
    toast.get_by_role("button", name=re.compile("^Allow")).first.click()
    wait_until((person.folder / "noticed.txt").exists)
    person.command("lspAgent.chat.open")
    person.wait_for_end()


def test_what_a_code_action_asks_goes_on_with_the_session_that_is_shown(person: Product) -> None:
    person.open("shapes.py", SHAPES)
    person.begin({"text": "First."}, {"text": "Second."})
    person.say("One")
    person.wait_for_end()
    person.new_session()
    person.say("Two")
    person.turn.get_by_text("First.").wait_for()
    person.wait_for_end()
    uri = (person.folder / "shapes.py").as_uri()
    person.command("lspAgent.prompt", {"text": "Three", "context": [{"uri": uri}]})
    person.turn.get_by_text("Second.").wait_for()
    assert person.chat.locator("article").count() == 2


def test_a_turn_is_stopped_in_the_chat(person: Product) -> None:
    person.open("shapes.py", SHAPES)
    person.begin(ENDLESS, step(THREE), done())
    person.say("Go")
    person.turn.get_by_text("a b c").wait_for()
    person.stop.click()
    person.turn.get_by_text("Stopped").wait_for()
    person.wait_for_end()
    assert person.text("shapes.py") == person.on_disk("shapes.py") == SHAPES
    assert not person.is_dirty("shapes.py")


def test_a_turn_is_stopped_by_the_escape_key_and_by_its_notification(person: Product) -> None:
    person.begin(ENDLESS, ENDLESS)
    person.say("One")
    person.turn.get_by_text("a b c").wait_for()
    person.stop.wait_for()
    person.key("Escape")
    person.turn.get_by_text("Stopped").wait_for()
    person.wait_for_end()
    person.hide()
    person.command("lspAgent.prompt", {"text": "Two"})
    toast = person.page.locator(".notification-toast", has_text="agent: Two")
    toast.get_by_role("button", name="Cancel").click()
    toast.wait_for(state="detached")
    person.command("lspAgent.chat.open")
    second = person.chat.get_by_role("article", name="You: Two")
    second.get_by_text("Stopped").wait_for()


def test_a_prompt_waits_in_the_queue_and_can_be_dropped(person: Product) -> None:
    person.begin(step(bash("sh -c true")), done(), {"text": "Second."})
    person.say("One")
    person.turn.locator(".question.open").wait_for()
    person.say("Two")
    person.say("Three")
    person.turn.get_by_text("Three").wait_for()
    person.press("Drop")
    person.turn.get_by_text("Stopped").wait_for()
    person.chat.get_by_role("button", name=re.compile("^Allow")).first.wait_for()
    person.read()
    person.chat.get_by_role("button", name=re.compile("^Allow")).first.click()
    person.wait_for_end()
    answers = [each.inner_text() for each in person.chat.locator("article .parts").all()]
    assert answers[1:] == ["Second.", ""]


def test_what_is_said_to_a_running_turn_reaches_it(person: Product) -> None:
    told = {"text": "Blue, then.", "match": "Blue!"}
    person.begin(step(bash("sh -c true")), {"text": "Red it is."}, told)
    person.say("Red.")
    person.turn.locator(".question.open").wait_for()
    hint = "tells the agent now"
    wait_until(lambda: hint in (person.input.get_attribute("placeholder") or ""))
    person.input.fill("Blue!")
    person.input.press("Control+Enter")
    person.turn.locator(".parts .prompt", has_text="Blue!").wait_for()
    person.chat.get_by_role("button", name=re.compile("^Allow")).first.wait_for()
    person.read()
    person.chat.get_by_role("button", name=re.compile("^Allow")).first.click()
    person.wait_for_end()
    (turn,) = person.chat.locator("article").all()
    assert turn.locator(".parts .text").last.inner_text().endswith("Blue, then.")


def kept(person: Product) -> str:
    """What the extension has written down of the chat."""
    found = (person.folder.parent / "user").rglob("chats.json")
    return "".join(path.read_text() for path in found)


def test_a_reload_of_the_window_loses_nothing(person: Product) -> None:
    person.open("shapes.py", SHAPES)
    person.begin(
        {"match": "What did I ask", "text": "You said Go."},
        {**step(THREE), "match": "^Go"},
        {"text": "I changed all three."},
    )
    person.go_to("shapes.py", "def area")
    person.workbench.type("# mine\n")
    person.settle()
    person.say("Go")
    person.wait_for_end()
    person.input.focus()
    person.page.keyboard.type("half a thought")
    wait_until(lambda: "half a thought" in kept(person))
    time.sleep(1.5)  # VS Code backs unsaved text up after a second
    person.workbench.reload()
    person.turn.get_by_text("I changed all three.").wait_for()
    assert person.turn.locator(".prompt").inner_text() == "Go"
    wait_until(lambda: person.input.input_value() == "half a thought")
    wait_until(lambda: person.is_open("shapes.py") and person.is_dirty("shapes.py"))
    assert person.text("shapes.py") == "# mine\n" + CHANGED
    assert person.on_disk("shapes.py") == SHAPES
    person.workbench.press_lens("Undo", of=3)  # still under review
    wait_until(lambda: "abs" not in person.text("shapes.py"))
    person.input.fill("")
    person.say("What did I ask?")  # the same session goes on
    person.turn.get_by_text("You said Go.").wait_for()
    person.wait_for_end()
    (session,) = [s for s in person.command("lspAgent.sessions")["sessions"] if not s["stored"]]
    exported = person.command("lspAgent.exportSession", {"sessionId": session["sessionId"]})
    assert exported["markdown"].index("Go") < exported["markdown"].index("What did I ask?")


def test_what_is_typed_right_before_the_view_is_hidden_is_there_again(person: Product) -> None:
    person.begin()
    person.chat.evaluate("() => { window.setTimeout = () => 0; }")  # no time is left
    person.input.fill("half a thought")
    person.hide()
    person.command("lspAgent.chat.open")
    wait_until(lambda: person.input.input_value() == "half a thought")


def test_what_is_decided_after_a_restart_is_shown_in_the_chat_and_the_editor(
    person: Product,
) -> None:
    person.open("shapes.py", SHAPES)
    person.begin(step(THREE), done())
    person.say("Go")
    person.wait_for_end()
    person.command("lspAgent.server.restart")
    person.chat.get_by_text("From an earlier run.").wait_for()
    person.workbench.press_lens("Undo", 1, of=3)
    wait_until(lambda: '"a shape"' not in person.text("shapes.py"))
    person.press("Keep")
    person.turn.get_by_role("button", name="Keep", exact=True).wait_for(state="detached")
    person.page.get_by_role("button", name=re.compile("^[0-9]+ changes?: ")).wait_for(
        state="detached"
    )


def test_a_command_that_fails_says_so_once(person: Product) -> None:
    person.begin()
    with contextlib.suppress(WorkbenchError):
        person.command("lspAgent.applyEdit", {"editId": "none"})
    toasts = person.page.locator(".notification-toast")
    toasts.first.wait_for()
    person.page.wait_for_timeout(500)
    told = [text for text in toasts.all_inner_texts() if re.search("none|executeCommand", text)]
    assert len(told) == 1


def test_two_sessions_work_beside_each_other(person: Product) -> None:
    person.open("shapes.py", SHAPES)
    person.begin(
        {"text": "slow words " * 1000, "pace_ms": 150, "match": "Slow"},
        {**step(THREE), "match": "Quick"},
        {"text": "Quickly done."},
    )
    person.say("Slow")
    person.turn.get_by_text("slow words").wait_for()
    person.new_session()
    person.say("Quick")
    person.turn.get_by_text("Quickly done.").wait_for()
    assert person.text("shapes.py") == CHANGED
    assert not person.is_dirty("shapes.py")
    person.workbench.run("void vscode.commands.executeCommand('lspAgent.chat.sessions')")
    person.row("Slow").filter(has_text="working").click()
    person.turn.get_by_text("slow words").wait_for()
    person.stop.click()
    person.turn.get_by_text("Stopped").wait_for()


def test_an_agent_that_dies_is_reported_and_the_next_prompt_starts_another(
    person: Product,
) -> None:
    person.open("shapes.py", SHAPES)
    person.begin(ENDLESS, match_again(THREE), done())
    person.say("Go")
    person.turn.get_by_text("a b c").wait_for()
    for process in psutil.process_iter(["cmdline"]):
        command = process.info["cmdline"] or []
        if "rpc" in command and str(person.folder.parent / "script.json") in command:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
    person.turn.locator(".notice.error").first.wait_for()
    person.wait_for_end()
    assert person.text("shapes.py") == SHAPES
    again = person.chat.get_by_role("button", name="Try Again")
    assert [each.is_visible() for each in again.all()] == [True]
    again.click()
    wait_until(lambda: person.chat.locator("article").count() == 2)
    assert person.turn.get_by_text("Go", exact=True).is_visible()
    person.stop.click()
    person.wait_for_end()
    person.say("Again")
    person.turn.get_by_text("Done.").wait_for()
    person.wait_for_end()
    assert person.text("shapes.py") == person.on_disk("shapes.py") == CHANGED
    assert not person.is_dirty("shapes.py")


def match_again(*calls: Json) -> Json:
    return {**step(*calls), "match": "Again"}


def test_files_and_the_selection_are_sent_along(person: Product) -> None:
    (person.folder / "closed.txt").write_text("text of a closed file\n")
    person.open("shapes.py", SHAPES)
    person.begin(done())
    person.go_to("shapes.py", "def name")
    person.key("Shift+ArrowDown")
    person.key("Shift+ArrowDown")
    person.input.focus()
    person.chat.locator(".composer .chips", has_text="shapes.py:5-6").wait_for()
    person.page.keyboard.type("See @clos")
    person.chat.get_by_role("option", name=re.compile("closed.txt")).wait_for()
    person.page.keyboard.press("Enter")
    assert person.input.input_value() == "See @closed.txt "
    person.page.keyboard.press("Enter")
    person.wait_for_end()
    wait_until(lambda: sent_along(person) == ["closed.txt", "shapes.py:5-6"])
    session = person.command("lspAgent.sessions")["sessions"][0]["sessionId"]
    messages = person.command("lspAgent.messages", {"sessionId": session})["messages"]
    said = str(messages[0])
    assert "text of a closed file" in said
    assert 'return \\"shape\\"' in said or 'return "shape"' in said
    assert "corners" not in said


def test_what_is_asked_of_the_selection_alone_changes_nothing_else(person: Product) -> None:
    person.open("shapes.py", SHAPES)
    beyond = step(edit("shapes.py", ("w * h", "abs(w * h)")))
    person.begin(step(edit("shapes.py", ('"shape"', '"a shape"'))), beyond, done())
    person.go_to("shapes.py", "def name")
    person.key("Shift+ArrowDown")
    person.key("Shift+ArrowDown")
    person.palette("Agent: Change Only the Selection")
    person.page.get_by_text("it changes nothing but these lines").wait_for()
    person.page.keyboard.type("Say which")
    person.page.keyboard.press("Enter")
    person.turn.get_by_text("Say which").wait_for()
    person.wait_for_end()
    assert person.text("shapes.py") == SHAPES.replace('"shape"', '"a shape"')


def test_the_list_stays_for_who_leaves_the_prompt_and_is_back_at_once(person: Product) -> None:
    person.open("shapes.py", SHAPES)
    person.begin(done())
    person.input.focus()
    person.page.keyboard.type("See ")
    person.input.evaluate("(input) => { input.blur(); input.focus(); }")
    person.page.keyboard.type("@shapes")
    offered = person.chat.get_by_role("option", name=re.compile("shapes.py"))
    offered.wait_for()
    person.page.wait_for_timeout(300)
    assert offered.is_visible()
    person.page.keyboard.press("Escape")
    person.input.fill("")


def sent_along(person: Product) -> list[str]:
    """With the last prompt: the labels."""
    chips = person.turn.locator(".prompt .chips li").all_inner_texts()
    return [chip.strip() for chip in chips]


def test_a_pasted_image_and_one_of_a_file_are_sent_along(person: Product) -> None:
    (person.folder / "dot.png").write_bytes(base64.b64decode(DOT))
    person.begin(done())
    person.input.evaluate(PASTE, DOT)
    person.chat.locator(".composer .chips img").wait_for()
    person.input.focus()
    person.page.keyboard.type("Compare @dot")
    person.chat.get_by_role("option", name=re.compile("dot.png")).wait_for()
    person.page.keyboard.press("Enter")
    person.page.keyboard.press("Enter")
    person.wait_for_end()
    wait_until(lambda: sent_along(person) == ["image 1", "dot.png"])
    session = person.command("lspAgent.sessions")["sessions"][0]["sessionId"]
    messages = person.command("lspAgent.messages", {"sessionId": session})["messages"]
    images = [block for block in messages[0]["content"] if block["type"] == "image"]
    assert [image["mimeType"] for image in images] == ["image/png", "image/png"]
    assert not person.chat.locator(".composer .chips img").count()


def test_slash_commands_are_offered_and_run(person: Product) -> None:
    person.begin({"text": "First."})
    person.say("Hello")
    person.wait_for_end()
    person.input.focus()
    person.page.keyboard.type("/cl")
    person.chat.get_by_role("option", name="/clear").wait_for()
    person.page.keyboard.press("Tab")
    person.page.keyboard.press("Enter")
    person.chat.locator(".welcome").wait_for()
    person.say("/nonsense")
    person.chat.get_by_text("There is no command /nonsense.").wait_for()


def test_a_proposal_is_applied_where_it_is(person: Product) -> None:
    person.open("shapes.py", SHAPES)
    person.begin(step(THREE), done(), **{"lspAgent.edits.review": "before"})
    person.say("Go")
    person.wait_for_end()
    assert person.text("shapes.py") == SHAPES
    wait_until(lambda: len(person.workbench.lenses("Apply")) == 3)
    to_review(person)
    person.go_to("shapes.py", "return 4")
    person.key("Shift+Alt+Enter")
    wait_until(lambda: "return 5" in person.text("shapes.py"))
    # On a busy machine the lenses are drawn anew under the click: a person clicks again.
    wait_until(
        lambda: (
            person.workbench.run(TAB) == "shapes.py (the agent's proposal)"
            or person.workbench.press_lens("Preview", of=2)
        ),
        pause=3,
    )
    person.press("Apply")
    wait_until(lambda: person.text("shapes.py") == CHANGED)
