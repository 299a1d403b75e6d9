"""A person at VS Code's workbench who has nothing but the keyboard: each press is a step."""

from typing import TYPE_CHECKING

from support.days_task import Day
from support.workbench import wait_until
from vscode_product import Product

if TYPE_CHECKING:
    from playwright.sync_api import Locator

LINE = "return vscode.window.activeTextEditor?.selection.active.line"
SHOWN = """
const shown = vscode.window.activeTextEditor?.document;
return shown && [shown.uri.path.split('/').at(-1), shown.lineAt(argument).text];
"""
#: Milliseconds.
SOON, LATE = 5000, 60_000


class Hands:
    def __init__(self, person: Product, day: Day) -> None:
        self.person = person
        self._day = day

    def press(self, *keys: str) -> None:
        """One after the other, for one thing that is wanted."""
        self._day.step()
        for key in keys:
            self.person.key(key)

    def command(self, title: str) -> None:
        """By its name, in the palette."""
        self._day.step()
        wait_until(lambda: self._chosen("F1", f">{title}", title))

    def file(self, name: str) -> None:
        self._day.step()
        wait_until(lambda: self._chosen("Control+p", name, name))
        wait_until(lambda: (self.shown(0) or [""])[0] == name)

    def pick(self, title: str) -> None:
        """From the list that has opened."""
        self._day.step()
        self.person.row(title).wait_for(timeout=LATE)
        self.person.page.keyboard.type(title)
        self._focused(title).wait_for(timeout=LATE)
        wait_until(lambda: self._is_taken(title))

    def _is_taken(self, title: str) -> bool:
        """Not where the extension has heard of the letters late: for a while after them a list of
        answers takes no Enter. A person sees that it still stands there, and presses again."""
        from playwright.sync_api import TimeoutError as NotInTime  # noqa: PLC0415  # optional

        self.person.read()
        self.person.key("Enter")
        try:
            self.person.row(title).wait_for(state="hidden", timeout=SOON)
        except NotInTime:
            return False
        return True

    def _chosen(self, key: str, text: str, title: str) -> bool:
        """Not where what takes the focus just now has closed the list again."""
        from playwright.sync_api import TimeoutError as NotInTime  # noqa: PLC0415  # optional

        self.person.key(key)
        try:
            self.person.asked.wait_for(timeout=SOON)
            self.person.key("Control+a")
            self.person.page.keyboard.type(text)
            self._focused(title).wait_for(timeout=SOON)
        except NotInTime:
            return False
        self.person.key("Enter")
        return True

    def _focused(self, title: str) -> "Locator":
        rows = self.person.page.locator(".quick-input-list .monaco-list-row.focused:visible")
        return rows.filter(has_text=title).first

    def go_to_chat(self) -> None:
        """By its keys, and again where a window that still comes up has taken none."""
        wait_until(self._is_in_chat)

    def _is_in_chat(self) -> bool:
        self.press("Control+k", "a")
        try:
            self.person.wait_for_cursor(SOON / 1000)
        except AssertionError:
            return False
        return True

    def say(self, text: str, end: str = "Enter") -> None:
        """Types into the message, which must have the focus, and sends it."""
        self._day.step()
        self.person.wait_for_cursor()
        self.person.page.keyboard.type(text)
        wait_until(lambda: self.person.input.input_value().endswith(text))
        self.person.key(end)
        wait_until(lambda: not self.person.input.input_value())

    def enter(self, text: str) -> None:
        """Into the field that has opened at the top of the window."""
        self._day.step()
        self.person.page.locator(".quick-input-widget input:focus").wait_for()
        self.person.page.keyboard.type(text)
        self.person.key("Enter")

    def write_below(self, text: str) -> None:
        """Two steps: the key, and the words in the box that it opens, which are sent."""
        self.press("Alt+i")
        self.person.page.locator(".review-widget .comment-form .monaco-editor.focused").wait_for()
        self._day.step()
        self.person.page.keyboard.type(text)
        self.person.key("Control+Enter")

    def shown(self, line: int) -> list[str] | None:
        """The name of the file in the active editor, and that line of it, 0-based."""
        return self.person.workbench.run(SHOWN, line)

    def wait_for_place(self, name: str, text: str) -> None:
        """Until the cursor is in a line with this text, of that file."""
        wait_until(lambda: self._is_at(name, text))

    def _is_at(self, name: str, text: str) -> bool:
        line = self.person.workbench.run(LINE)
        found = line is not None and self.shown(line)
        return bool(found) and found[0] == name and text in found[1]

    def wait_for_texts(self, texts: dict[str, str]) -> None:
        """Of these files, on disk and where they are open, with nothing unsaved: a window that is
        loaded anew while it saves has that unsaved, and its file changed by somebody else."""
        for name, text in texts.items():
            wait_until(lambda n=name, t=text: self._has(n, t))

    def _has(self, name: str, text: str) -> bool:
        person = self.person
        if person.is_open(name) and (person.text(name) != text or person.is_dirty(name)):
            return False
        return person.on_disk(name) == text
