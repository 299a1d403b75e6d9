"""What an agent's words can lead to, and what a key is for while words are composed."""

from typing import Any

import pytest
import vscode_stub
from support.vscode_modules import returned
from support.workbench import wait_until
from vscode_product import Product

pytestmark = [pytest.mark.vscode]

LINKS = """\
[page](https://example.org/a) [mail](mailto:a@example.org) [phone](tel:+491) [share](//host/share)
[editor](vscode://file/etc/passwd) [command](command:lspAgent.chat.stop) [file](src/deep.py#L2)
[out](../outside.txt) [passwords](/etc/passwd) [around]({folder}/src/%2E%2E/../outside.txt)
"""
# An input method's Enter, as a browser says that it is one: by the code, or while it composes.
COMPOSED = """
(input, init) => input.dispatchEvent(new KeyboardEvent('keydown',
  { key: 'Enter', bubbles: true, cancelable: true, ...init }))
"""


@pytest.mark.parametrize(
    ("href", "link"),
    [
        ("https://example.org/a?b#c", {"to": "page", "url": "https://example.org/a?b#c"}),
        ("src/a.py", {"to": "file", "path": "src/a.py", "line": 0}),
        ("src/a.py#L12", {"to": "file", "path": "src/a.py", "line": 11}),
        ("src/a.py#L12-L14", {"to": "file", "path": "src/a.py", "line": 11}),
        ("src/a.py:12", {"to": "file", "path": "src/a.py", "line": 11}),
        ("src/a%20b.py:12:3", {"to": "file", "path": "src/a b.py", "line": 11}),
        ("100%/a.py", {"to": "file", "path": "100%/a.py", "line": 0}),
        ("mailto:a@example.org", None),
        ("vscode://file/etc/passwd", None),
        ("command:workbench.action.quit", None),
        ("command%3Aworkbench.action.quit", None),
        ("javascript:alert(1)", None),
        ("//host/share/a.py", None),
        ("%2F%2Fhost/share/a.py", None),
        ("https:", None),
        ("#heading", None),
        ("", None),
    ],
)
def test_a_link_leads_to_a_page_or_a_file(href: str, link: dict[str, Any] | None) -> None:
    assert returned("return links.linkOf(argument) ?? null", href, links="chat/links") == link


@pytest.mark.parametrize(
    ("text", "hrefs"),
    [
        ("in src/a.py:12, and (b.py:3:4).", ["src/a.py:12", "b.py:3"]),
        ("/w/a.py:1: error", ["/w/a.py:1"]),
        ("C:/a.py:1", ["C:/a.py:1"]),
        ("100%/a.py:7", ["100%25/a.py:7"]),
        ("http://host/a.js:12 localhost:80 example.com:443 127.0.0.1:80 at 12:30", []),
        ("vscode://file/a.py:1 command:a.b:1 a.py a.py:x", []),
    ],
)
def test_a_place_in_a_file_is_known_by_its_line(text: str, hrefs: list[str]) -> None:
    code = "return places.places(argument).map(({ href }) => href)"
    assert returned(code, text, places="chat/places") == hrefs


# A folder of the workspace is known by how a path begins, as in VS Code.
OPENED = """
const opened = [];
vscode.window.showTextDocument = async ({ path }) => opened.push(path);
const folder = { uri: vscode.Uri.file('/w') };
Object.assign(vscode.workspace, {
  workspaceFolders: [folder],
  getWorkspaceFolder: ({ path }) => path.startsWith('/w/') ? folder : undefined,
  fs: { stat: async () => ({}) },
});
await opening.openLink(argument).catch(() => undefined);
return opened;
"""


@pytest.mark.parametrize(
    ("href", "paths"),
    [
        ("src/a.py", ["/w/src/a.py"]),
        ("/w/src/a.py", ["/w/src/a.py"]),
        ("/w/src/../a.py:3", ["/w/a.py"]),
        ("../outside.txt", []),
        ("/w/../outside.txt", []),
        ("/w/src/%2E%2E/../outside.txt", []),
        ("/etc/passwd", []),
    ],
)
def test_a_link_out_of_the_workspace_by_way_of_a_folder_in_it_opens_nothing(
    href: str, paths: list[str]
) -> None:
    assert vscode_stub.returned(OPENED, href, opening="chat/opening") == paths


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.xdist_group("vscode")
def test_places_in_answers_and_in_output_are_opened(person: Product) -> None:
    (person.folder / "place.py").write_text("one\ntwo\nthree\n")
    command = {"name": "bash", "args": {"command": "echo place.py:3:1: wrong"}}
    person.begin({"text": "See `place.py:2`.", "calls": [command]}, {"text": "Done."})
    person.say("Go")
    person.wait_for_end()
    where = "const { document, selection } = vscode.window.activeTextEditor ?? {};"
    at = f"{where} return document && [document.fileName, selection.active.line]"
    place = str(person.folder / "place.py")
    person.turn.locator(".text a").click()
    wait_until(lambda: person.workbench.run(at) == [place, 1])
    person.turn.locator(".call summary").click()
    person.turn.locator("pre.output a").last.click()
    wait_until(lambda: person.workbench.run(at) == [place, 2])


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.xdist_group("vscode")
def test_links_open_pages_and_files_of_the_workspace_alone(person: Product) -> None:
    (person.folder / "src").mkdir()
    (person.folder / "src" / "deep.py").write_text("one\ntwo\n")
    (person.folder.parent / "outside.txt").write_text("secret\n")
    person.begin({"text": LINKS.format(folder=person.folder)})
    person.say("Go")
    person.wait_for_end()
    links = person.turn.locator(".text a")
    assert links.all_inner_texts() == ["page", "file", "out", "passwords", "around"]
    for name in ("out", "passwords", "around"):
        links.filter(has_text=name).click()
        refusal = person.page.locator(
            ".notification-toast", has_text="the workspace has no such file"
        )
        refusal.first.wait_for()
        person.command("notifications.clearAll")
        refusal.first.wait_for(state="detached")
    links.filter(has_text="file").click()
    where = "const { document, selection } = vscode.window.activeTextEditor ?? {};"
    at = f"{where} return document && [document.fileName, selection.active.line]"
    deep = [str(person.folder / "src" / "deep.py"), 1]
    wait_until(lambda: person.workbench.run(at) == deep)
    shown = (
        "return vscode.window.tabGroups.all.flatMap((group) => group.tabs).map((tab) => tab.label)"
    )
    assert person.workbench.run(shown) == ["deep.py"]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.xdist_group("vscode")
@pytest.mark.parametrize("init", [{"keyCode": 229}, {"isComposing": True}])
def test_the_enter_that_ends_a_composition_sends_nothing(
    person: Product, init: dict[str, Any]
) -> None:
    person.begin({"text": "Heard."})
    person.input.fill("にほんご")
    person.input.evaluate(COMPOSED, init)
    assert person.input.input_value() == "にほんご"
    assert not person.chat.locator("article").count()
    person.input.press("Enter")
    person.turn.get_by_text("Heard.").wait_for()
    person.wait_for_end()
