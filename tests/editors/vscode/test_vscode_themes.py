"""The chat can be read in each of VS Code's own kinds of theme."""

from collections.abc import Iterator

import pytest
from support.workbench import Json
from vscode_desk import done, edit, step
from vscode_product import Product

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("vscode"),
]

#: With words of each kind.
CODE = """\
```py
@staticmethod
def two(n: int = 2) -> str:
    return "two"  # in words
```
"""
#: Which only reads, so that nobody is asked. Its last lines are seen while it is folded.
COLOURED = "".join(f"\\033[{colour}mcolour {colour}\\n" for colour in (31, 32, 33, 34, 35, 36))
#: WCAG 2.2: for text in any theme, for text in high contrast, for what bounds a control.
READABLE, HIGH_CONTRAST, BOUNDARY = 4.5, 7.0, 3.0

# What is on show with its contrast: [text, of its colour to what is behind it] of each text, and
# [name, of its border to what is around it] of each button with words and of the prompt's box.
MEASURE = """
() => {
  const channels = (color) => {
    const [r, g, b, a = 1] = color.match(/[\\d.]+/g).map(Number);
    return color.startsWith('color(') ? [r * 255, g * 255, b * 255, a] : [r, g, b, a];
  };
  const over = ([r, g, b, a], [x, y, z]) =>
    [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1];
  const style = (element) => getComputedStyle(element);
  const base = style(document.documentElement).getPropertyValue('--vscode-sideBar-background');
  const root = document.createElement('i');
  root.style.color = base;
  document.body.append(root);
  const ground = channels(style(root).color);
  root.remove();
  const behind = (element) => element === null ? ground
    : over(channels(style(element).backgroundColor), behind(element.parentElement));
  const light = ([r, g, b]) => [r, g, b]
    .map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (color, under) => {
    const [high, low] = [light(over(channels(color), under)), light(under)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const isShown = (element) => element.checkVisibility() && element.getClientRects().length > 0
    && element.closest('.hidden') === null;
  const texts = [], edges = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].filter((node) => node.nodeType === 3)
      .map((node) => node.textContent.trim()).join('');
    if (!isShown(element)) continue;
    const under = behind(element);
    if (own) texts.push([own, contrast(style(element).color, under)]);
    if (element.matches('button.primary, button.secondary, .composer .box')) {
      const around = behind(element.parentElement);
      const { borderTopColor, borderTopWidth } = style(element);
      const edge = borderTopWidth === '0px' ? 1 : contrast(borderTopColor, around);
      edges.push([own || element.className, edge]);
    }
  }
  return { texts, edges };
}
"""


@pytest.fixture(scope="module")
def person(one: Product) -> Iterator[Product]:
    """With a turn that changed something, said something in Markdown and asks something."""
    one.open("a.py", "one = 1\n")
    command: Json = {"name": "bash", "args": {"command": "touch never.txt"}}
    one.begin(
        step(edit("a.py", ("1", "2")), text="It is `2` now:\n\n" + CODE),
        step({"name": "bash", "args": {"command": f"printf '{COLOURED}'; exit 1"}}),
        step(command),
        done(),
    )
    one.say("Go")
    one.chat.get_by_role("button", name="Deny", exact=True).wait_for()
    one.turn.locator(".call summary", has_text="printf").click()
    one.turn.locator(".ansi-cyan").wait_for()
    yield one
    one.theme(None)
    one.end()


@pytest.mark.parametrize(
    ("theme", "least"),
    [
        ("Default Light Modern", READABLE),
        ("Default Dark Modern", READABLE),
        ("Default High Contrast Light", HIGH_CONTRAST),
        ("Default High Contrast", HIGH_CONTRAST),
    ],
)
def test_all_text_has_enough_contrast(person: Product, theme: str, least: float) -> None:
    measured = shown_in(person, theme)
    assert len(measured["texts"]) > 10
    assert [text for text in measured["texts"] if text[1] < least] == []


@pytest.mark.parametrize("theme", ["Default High Contrast Light", "Default High Contrast"])
def test_controls_have_edges_in_high_contrast(person: Product, theme: str) -> None:
    measured = shown_in(person, theme)
    assert len(measured["edges"]) >= 4
    assert [edge for edge in measured["edges"] if edge[1] < BOUNDARY] == []


def shown_in(person: Product, theme: str) -> Json:
    """Measured when the chat has the theme's colours."""
    kind = {
        "Default Light Modern": "vscode-light",
        "Default Dark Modern": "vscode-dark",
        "Default High Contrast Light": "vscode-high-contrast-light",
        "Default High Contrast": "vscode-high-contrast:not(.vscode-high-contrast-light)",
    }[theme]
    person.theme(theme)
    person.chat.locator(f"body.{kind}").wait_for()
    person.chat.wait_for_function(
        "() => document.getAnimations().every((each) => each.playState !== 'running'"
        " || each.effect.getTiming().iterations === Infinity)"
    )
    return person.chat.evaluate(MEASURE)
