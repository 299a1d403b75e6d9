"""What the chat looks like: narrow and wide, in a dark, a light and a high-contrast theme."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.workbench import Json, wait_until
from vscode_desk import edit, read, step
from vscode_pictures import Pictures
from vscode_product import Product

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("vscode"),
]

#: Of each width, in which all that was said is seen.
HEIGHTS = {300: 1780, 800: 1540}
#: In pixels, of the chat as VS Code shows it at first.
USUAL = 297
THEMES = {
    "dark": ("Default Dark Modern", "vscode-dark"),
    "light": ("Default Light Modern", "vscode-light"),
    "contrast": ("Default High Contrast", "vscode-high-contrast"),
}

PRICES = "apples = 1\nbread = 2\ncheese = 3\n"
SAID = """\
## What is changed

The price of *apples* is **raised** in `prices.py`, see [the list](prices.py):

```py
@staticmethod
def total(count: int = 2) -> str:
    return f"{count * apples}"  # in euros
```

1. bread costs what it did
2. so does cheese

| what | before | now |
|---|---|---|
| apples | 1 | 10 |

> The tests fail; they did before.
"""
FAILS = (
    "touch checked; printf 'one passed\\n\\033[31mtotal.py:2: AssertionError\\033[0m\\n'; exit 3"
)

# Whatever the machine has for "sans-serif", and however long it took; a view that is in the
# focus has a ring.
STEADY = """
() => {
  const { style } = document.documentElement;
  style.setProperty('--vscode-font-family', 'DejaVu Sans');
  style.setProperty('--vscode-editor-font-family', 'DejaVu Sans Mono');
  document.querySelectorAll('summary .took').forEach((each) => each.remove());
  const [took, ...others] = document.querySelectorAll('footer .took');
  took.textContent = 'Took 7 s';
  others.forEach((each) => each.remove());
  document.querySelector('.thinking .name').textContent = 'Thought for 7 s';
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    node.textContent = node.textContent.replace(/Took [0-9.]+s/, 'Took 7.0s');
  }
  document.querySelector('#log').scrollTop = 0;
  document.activeElement.blur();
  return document.fonts.ready.then(() => undefined);
}
"""
UNSEEN = "(log) => log.scrollHeight - log.clientHeight"


def command(line: str) -> Json:
    return {"name": "bash", "args": {"command": line}}


def script() -> list[Json]:
    reads = [read(name) for name in ("prices.py", "total.py", "none.py")]
    edits = [edit("prices.py", ("apples = 1", "apples = 10")), edit("total.py", ("0", "10"))]
    thinking = "The prices are in one file. Who adds them up is to be looked for first."
    return [
        step(*reads, thinking=thinking, text="I look at both files.", delay_ms=1500),
        step(*edits, text="Now they can be changed."),
        step(command(FAILS)),
        step(text=SAID),
        step(error="The model is overloaded"),
        step(command("git commit --all --message 'Raise the price of apples'"), text="It is done."),
    ]


@pytest.fixture(scope="module")
def person(one: Product) -> Iterator[Product]:
    """With a conversation that has all that looks like something, and still asks."""
    (one.folder / "prices.py").write_text(PRICES)
    (one.folder / "total.py").write_text("total = 0\n")
    one.begin(*script())
    one.say("Raise the price of apples")
    one.turn.get_by_role("button", name="Allow", exact=True).wait_for()
    one.read()
    one.press("Allow")
    one.wait_for_end()
    one.say("Are all of them right?")
    one.wait_for_end()
    one.say("Then commit it.")
    one.turn.get_by_role("button", name="Allow", exact=True).wait_for()
    one.input.fill("And tell me what bread costs")
    yield one
    one.page.set_viewport_size({"width": 1280, "height": 800})
    widen(one, USUAL)
    one.theme(None)
    one.end()


def widen(person: Product, width: int) -> None:
    """Drags the edge of the side bar until the chat is so wide."""
    edge = person.page.locator(".primary-sidebar-sash")

    def is_so() -> bool:
        missing = width - person.chat.evaluate("innerWidth")
        box = edge.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + 200
        if missing:
            person.page.mouse.move(x, y)
            person.page.mouse.down()
            person.page.mouse.move(x + missing, y, steps=4)
            person.page.mouse.up()
        return not missing

    wait_until(is_so, pause=0.3)


def show(person: Product, theme: str, width: int) -> bytes:
    name, kind = THEMES[theme]
    person.theme(name)
    person.page.set_viewport_size({"width": 1400, "height": HEIGHTS[width]})
    widen(person, width)
    chat = person.chat
    chat.locator(f"body.{kind}").wait_for()
    chat.evaluate(STEADY)
    unseen = chat.locator("#log").evaluate(UNSEEN)
    assert unseen <= 0, f"{unseen} pixels are not seen"
    person.page.mouse.move(1300, 20)
    box = chat.frame_element().bounding_box()
    assert box is not None
    return person.page.screenshot(clip=box, animations="disabled")


@pytest.mark.parametrize("width", HEIGHTS)
@pytest.mark.parametrize("theme", THEMES)
def test_the_chat_looks_as_it_did(person: Product, theme: str, width: int, tmp_path: Path) -> None:
    shown = show(person, theme, width)
    Pictures(person.page, tmp_path).hold(f"chat-{theme}-{width}", shown)
