"""A long conversation in VS Code's chat, in a bare page: until it can be read and typed in.

The floor is one of so many turns as are made at once: what is behind them must cost almost nothing.
"""

import contextlib
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from bench.measure import Limit, Row, in_turns
from bench.setting import Setting

if TYPE_CHECKING:
    from playwright.sync_api import Page

_DIST = Path(__file__).parents[1] / "editors" / "vscode" / "dist"
_TURNS = 500
_AT_ONCE = 12

_CODE = "```python\n" + "x = call(y) + 1\n" * 12 + "```"
_TEXT = "\n\n".join(["Some **words**, `a.py:12`. " * 8, "- one\n- two", _CODE, "And so on. " * 8])
_TURN = {
    "prompt": "Go on.",
    "context": [],
    "state": "ended",
    "stopReason": "endTurn",
    "parts": [{"kind": "thinking", "text": _TEXT}, {"kind": "text", "text": _TEXT}],
}
_HEAD = {"sessionId": "s", "agent": "", "options": "", "usage": "", "waiting": []}

_EDITOR = """
window.acquireVsCodeApi = () => ({ postMessage() {}, getState() {}, setState() {} });
"""
_REOPEN = """
async ([head, turn, count]) => {
  const made = (_, at) => ({ ...structuredClone(turn), id: `t${at}` });
  const turns = Array.from({ length: count }, made);
  const begun = performance.now();
  window.dispatchEvent(new MessageEvent('message', { data: { type: 'chat', head, turns } }));
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - begun;
}
"""


def chat_reopened(setting: Setting) -> Row | None:
    """None where there is no Chromium, or no chat has been built (``make vscode``)."""
    program = shutil.which("chromium")
    if find_spec("playwright") is None or program is None or not (_DIST / "chat.js").exists():
        return None
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # optional

    with contextlib.ExitStack() as stack:
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        stack.callback(browser.close)
        page = browser.new_page(viewport={"width": 400, "height": 800})
        page.set_content("<!DOCTYPE html><html><body></body></html>")
        page.add_style_tag(path=_DIST / "chat.css")
        page.add_script_tag(content=_EDITOR)
        page.add_script_tag(path=_DIST / "chat.js")
        _reopen(page, _AT_ONCE)  # the first one compiles
        floor, ours = in_turns(
            setting.sizes.rounds, lambda: _reopen(page, _AT_ONCE), lambda: _reopen(page, _TURNS)
        )
    what = f"a chat of {_TURNS} turns until it is read, to one of {_AT_ONCE}"
    return Row("chat_reopened", what, "ms", floor, ours, Limit(times=1.5))


def _reopen(page: "Page", count: int) -> float:
    return float(page.evaluate(_REOPEN, [_HEAD, _TURN, count]))
