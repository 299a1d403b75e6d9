"""A server that is killed and started again, and what it then tells of its edits."""

import signal
from typing import Any

from support.project import EVENTS, Editor, Project, step
from support.raw_client import Json, wait_until

LINES = "one\ntwo\nthree\nfour\nfive\n"
EDITED = LINES.replace("two", "TWO")
SAVES: Json = EVENTS | {"save": True}
#: Seconds that a busy machine may need for a start and the grace after it.
PATIENCE = 40


def kill(editor: Editor) -> None:
    """The server, and with it all that it started; the buffer stays in ``editor``."""
    editor.process.send_signal(signal.SIGKILL)
    editor.process.wait()


def again(project: Project, **options: Any) -> Editor:
    return project.editor(step("Nothing."), client=EVENTS, **options)


def told(editor: Editor) -> list[tuple[str, str]]:
    """Of each edit its file and status."""
    return [(item["uri"].rsplit("/", 1)[1], item["status"]) for item in listed(editor)]


def listed(editor: Editor) -> list[Json]:
    return editor.call("agent/edits")["edits"]


def settled(editor: Editor, *wanted: tuple[str, str]) -> bool:
    return wait_until(lambda: told(editor) == list(wanted), PATIENCE)
