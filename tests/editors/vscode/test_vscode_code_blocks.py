"""Code in the agent's answers: its colours, and what can be done with it."""

import zipfile

import pytest
from support.vscode_modules import returned
from support.workbench import wait_until
from vscode_product import VSIX, Product

pytestmark = [pytest.mark.vscode]

ANSWER = """\
So it is:

```python
def area(w: int) -> int:
    return w * 2  # "twice"
```

Try it:

```sh
$ echo \\
  typed > ran.txt
```

Or both:

```bash
echo one > ran.txt
echo two >> ran.txt
```
"""
SPANS = (
    "(block) => [...block.querySelectorAll('span')].map((each) => [each.className, each.innerText])"
)


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("make test\n", "make test"),
        ("# all of them\nmake test\n\n", "make test"),
        ("$ make test\n1 passed\n", "make test"),
        ("make \\\n    test\n", "make     test"),
        ("echo 'a\tb'\n", "echo 'a b'"),
        ("echo \x1b[201~a\x03\x07\n", "echo [201~a"),
        ("echo a\recho b", None),
        ("$ cd a\n$ make\n", None),
        ("for a in b; do\n  echo $a\ndone\n", None),
        ("# nothing\n", None),
    ],
)
def test_one_command_is_put_into_a_terminal_and_no_key_with_it(code: str, line: str | None) -> None:
    module = "chat/command_line"
    assert returned("return lines.commandLine(argument) ?? null", code, lines=module) == line


@pytest.mark.parametrize(
    ("raw", "is_whole"),
    [
        ("```py\na\n```", True),
        ("```py\n```\n\n", True),
        ("~~~\na\n~~~~\n", True),
        ("```py\na\n", False),
        ("```py\na\n``", False),
        ("```py\na\n~~~\n", False),
        ("````\n```\n", False),
        ("```", False),
        ("    indented\n", False),
    ],
)
def test_code_is_whole_with_its_closing_fence(raw: str, is_whole: bool) -> None:
    assert returned("return b.isWholeCode(argument)", raw, b="webview/blocks") is is_whole


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.xdist_group("vscode")
class TestInTheWorkbench:
    def test_code_has_colours_once_it_is_whole(self, person: Product) -> None:
        person.begin({"text": "```python\nx = None\n" + "y = 1\n" * 60, "pace_ms": 30})
        person.say("Go")
        block = person.turn.locator(".code")
        block.get_by_text("None").wait_for()
        assert block.locator("span[class^=hljs]").count() == 0
        assert block.get_by_role("button").count() == 1
        person.command("lspAgent.chat.stop")
        person.wait_for_end()
        person.begin({"text": ANSWER})
        person.say("Go")
        person.wait_for_end()
        spans = person.turn.locator(".code pre").first.evaluate(SPANS)
        assert ["hljs-keyword", "return"] in spans
        assert ["hljs-comment", '# "twice"'] in spans

    def test_code_is_inserted_at_the_cursor_as_one_step(self, person: Product) -> None:
        person.open("a.py", "one\ntwo\n")
        person.begin({"text": ANSWER})
        person.say("Go")
        person.wait_for_end()
        person.go_to("a.py", "two")
        person.turn.get_by_role("button", name="Insert at the cursor").first.focus()
        person.page.keyboard.press("Enter")
        code = 'def area(w: int) -> int:\n    return w * 2  # "twice"'
        wait_until(lambda: person.text("a.py") == f"one\n{code}two\n")
        person.key("Control+z")
        wait_until(lambda: person.text("a.py") == "one\ntwo\n")

    def test_without_an_editor_nothing_is_inserted_and_it_is_said(self, person: Product) -> None:
        person.begin({"text": ANSWER})
        person.say("Go")
        person.wait_for_end()
        person.turn.get_by_role("button", name="Insert at the cursor").first.click()
        person.page.locator(".notification-toast", has_text="Open a file first").wait_for()

    def test_a_command_is_put_into_a_terminal_and_does_not_run(self, person: Product) -> None:
        person.begin({"text": ANSWER})
        person.say("Go")
        person.wait_for_end()
        run = person.turn.get_by_role("button", name="Run in Terminal")
        assert run.count() == 2
        run.first.click()
        person.page.locator(".xterm-screen").first.wait_for()
        shell = "return vscode.window.activeTerminal?.processId"
        wait_until(lambda: person.workbench.run(shell))
        person.page.wait_for_timeout(1500)
        ran = person.folder / "ran.txt"
        assert not ran.exists()
        person.command("workbench.action.terminal.focus")
        person.page.keyboard.press("Enter")
        wait_until(lambda: ran.exists() and ran.read_text() == "typed\n")
        ran.unlink()
        run.last.click()
        toast = person.page.locator(".notification-toast", has_text="on the clipboard")
        toast.wait_for()
        assert not (person.folder / "ran.txt").exists()
        person.workbench.run(
            "for (const each of vscode.window.terminals) each.dispose();"
            " await vscode.commands.executeCommand('workbench.action.closePanel')"
        )

    def test_the_extension_has_the_licences_of_what_it_is_made_of(self, person: Product) -> None:
        assert person
        with zipfile.ZipFile(VSIX) as archive:
            said = archive.read("extension/THIRD-PARTY-NOTICES.txt").decode()
        for name in ("highlight.js 11", "marked 18", "dompurify 3", "vscode-languageclient 11"):
            assert f"{name}." in said
        assert "Redistributions in binary form must reproduce" in said
