"""Markdown that grows: what is taken as settled, against all of it read anew."""

import random

import pytest
from support.vscode_modules import returned

pytestmark = [pytest.mark.vscode]

#: What may change its meaning with what comes before or after it.
PIECES = [
    "word",
    "two words",
    "**bold** and `code`",
    "- item",
    "- [ ] to do",
    "  - inner item",
    "  more of an item",
    "1. first",
    "2. second",
    "10) tenth",
    "# Heading",
    "===",
    "---",
    "***",
    "> said",
    "> - a list in it",
    ">",
    "```python",
    "```",
    "~~~",
    "    indented",
    "\ttab",
    "a | b",
    "--- | ---",
    "1 | 2",
    "<div>",
    "</div>",
    "<!-- a comment",
    "-->",
    "text that **is not",
    "closed** before",
    "[link](a.py)",
    "\\",
    " ",
]
# White space of a line that continues a paragraph, which no browser shows, depends on what follows.
GROWN = """
const marked = require('marked');
const parse = (text) => marked.parse(text).trim();
const seen = (html) => html.replace(/\\s+/g, ' ').replace(/ ?(<[^>]*>) ?/g, '$1').trim();
return argument.map((pieces) => {
  const grown = new blocks.Blocks();
  const settled = [];
  let whole = '';
  for (const piece of pieces) {
    whole += piece;
    settled.push(...grown.grow(piece));
    const shown = [...settled, grown.open].map((each) => parse(grown.definitions + each)).join('');
    if (seen(shown) !== seen(parse(whole))) return [whole, shown, parse(whole)];
  }
  return settled.length;
});
"""


def texts(count: int) -> list[list[str]]:
    """Each in pieces of random length."""
    chance = random.Random(7)
    made: list[list[str]] = []
    for _ in range(count):
        ends = chance.choice((["\n"], ["\n", "\n\n"], ["\r\n", "\r\n\r\n"], ["\n\n", "\n\n\n"]))
        text = "".join(
            chance.choice(PIECES) + chance.choice(ends) for _ in range(chance.randint(1, 14))
        )
        pieces: list[str] = []
        while text:
            length = chance.choice((1, 2, 5, 30))
            pieces.append(text[:length])
            text = text[length:]
        made.append(pieces)
    return made


def test_what_is_shown_is_what_all_of_it_says_at_every_moment() -> None:
    found = returned(GROWN, texts(5000), blocks="webview/blocks")
    assert [each for each in found if isinstance(each, list)][:3] == []
    assert sum(found) > 5000


def test_what_is_settled_is_not_read_again() -> None:
    code = """
    const grown = new blocks.Blocks();
    let longest = 0;
    for (let n = 0; n < 5000; n++) {
      grown.grow(`Paragraph ${n}.\\n\\n`);
      longest = Math.max(longest, grown.open.length);
    }
    return longest;
    """
    assert returned(code, blocks="webview/blocks") < 50


def test_a_definition_is_known_to_all_blocks_after_it() -> None:
    code = """
    const grown = new blocks.Blocks();
    return [grown.grow('[a]: b.py\\n\\nSee [a].\\n\\nMore.\\n'), grown.definitions, grown.open];
    """
    settled, definitions, rest = returned(code, blocks="webview/blocks")
    assert settled[1:] == ["See [a]."]
    assert definitions.strip() == "[a]: b.py"
    assert rest == "More.\n"
