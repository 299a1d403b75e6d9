"""A long text, what an agent changes all over it, and a person who types beside that."""

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from support.neovim import Neovim, wait_until

KEYS_A_SECOND = 15
MARKS = re.compile(r"(?:tok|old|ins|del|pre|post|has)\d{3}[bz]?")
WORDS = re.compile(r"k\d{3}[qxz]")


@dataclass(frozen=True)
class AgentEdit:
    """``there`` are marks that are in the text once the edit is, ``gone`` those that no longer
    are; ``near`` is in a line that the person can find before it is made."""

    old: str
    new: str
    near: str
    there: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def marks(self) -> tuple[str, ...]:
        return (*self.there, *self.gone)

    @property
    def place(self) -> str:
        """Vim's pattern for a word in its line or beside it, before and after."""
        return r"\|".join([self.near, *self.there[:1]])


def document(rng: random.Random, count: int) -> tuple[list[str], list[AgentEdit]]:
    """About five and a half lines an edit, with tabs, emoji, blank and repeated lines; the
    edits in random order, three of five replace a word, one inserts and one deletes lines."""
    lines: list[str] = []
    edits: list[AgentEdit] = []
    for n in range(count):
        fillers = ["", "", "}", "\treturn result", f"\t\thas{n:03} 😀 = 'é'", f"    has{n:03}z"]
        lines += [line for line in fillers if rng.random() < 0.72]
        if n % 5 == 3:
            lines.append(f"\tins{n:03} = 1")
            new = [f"\ttok{n:03} = 2", f"\ttok{n:03}b 🙂"][: rng.randint(1, 2)]
            there = tuple(MARKS.findall(" ".join(new)))
            anchor = f"\tins{n:03} = 1\n"
            edits.append(AgentEdit(anchor, anchor + "\n".join([*new, ""]), f"ins{n:03}", there))
        elif n % 5 == 4:
            old = [f"\tdel{n:03} 😀", f"\tdel{n:03}b", ""][: rng.randint(1, 3)]
            lines += old
            gone = tuple(MARKS.findall(" ".join(old)))
            edits.append(AgentEdit("\n".join([*old, ""]), "", gone[0], (), gone))
        else:
            face = rng.choice(["", "😀 ", "é\t"])
            lines.append(f"\t{face}pre{n:03} old{n:03} post{n:03}")
            old, new = f"old{n:03}", f"tok{n:03}"
            edits.append(AgentEdit(old, new, old, (new,), (old,)))
    rng.shuffle(edits)
    return lines, edits


GO_TO = """
local place, offset, at_mark = ...
local found = vim.fn.searchpos('\\\\C' .. place, 'cnw')
local line = found[1] > 0 and found[1] or vim.fn.line('.')
line = math.max(1, math.min(vim.fn.line('$'), line + offset))
vim.api.nvim_win_set_cursor(0, { line, at_mark and found[1] == line and found[2] - 1 or 0 })
"""


@dataclass
class Typist:
    """Types unique words where the agent is about to edit, or anywhere once all edits are in.

    ``meanwhile`` is called before each key: what else the person's editor does, and does not
    wait for.
    """

    nvim: Neovim
    rng: random.Random
    edits: list[AgentEdit]
    meanwhile: Callable[[], None] = lambda: None
    #: How often something typed is followed by an undo.
    undoing: float = 0.2
    #: Types in lines that the agent leaves alone.
    apart: bool = False
    words: list[str] = field(default_factory=list)
    undos: int = 0
    #: Neovim's prompts that were seen before each word.
    prompts: list[int] = field(default_factory=list)
    _next_key: float = 0.0

    def __post_init__(self) -> None:
        self.nvim.dismisses = True

    def type_a_while(self) -> None:
        """Goes somewhere, types a word or a few, leaves insert mode, now and then undoes."""
        taken = self.nvim.lua("return #vim.tbl_filter(function(s) return s.taken end, _G.sends)")
        soon = taken + self.rng.randrange(3)
        target = self.edits[soon] if soon < len(self.edits) else self.rng.choice(self.edits)
        offset = 0 if self.apart else self.rng.choice((-1, 0, 0, 0, 1))
        start = self.rng.choice(("A ", "I") if self.apart else ("A ", "A ", "I", "o", "O", "i"))
        place = rf"\<has{target.near[-3:]}\>" if self.apart else target.place
        self.nvim.lua(GO_TO, place, offset, start == "i")
        for key in start:
            self._key(key)
        for number in range(self.rng.randint(1, 3)):
            self._word(number)
        self._key("<Esc>")
        self._back_in_normal_mode()
        if self.rng.random() < self.undoing:
            self._undo()

    def _word(self, number: int) -> None:
        word = f"k{len(self.words):03}{self.rng.choice('qxz')}"
        self.words.append(word)
        self.prompts.append(self.nvim.prompts)
        if number:
            self._key(" " if self.apart else self.rng.choice((" ", "<CR>")))
        for letter in word:
            if self.rng.random() < 0.05:
                self._key("y")
                self._key("<BS>")
            self._key(letter)
        self._key(" ")

    def _key(self, key: str) -> None:
        self.meanwhile()
        now = time.monotonic()
        self._next_key = max(self._next_key + 1 / KEYS_A_SECOND, now)
        time.sleep(self._next_key - now)
        self.nvim.keys(key)

    def interrupted(self, word: str) -> bool:
        """Whether Neovim stopped at a prompt of its own while the word was typed, or right
        before or after: that prompt takes keys, whoever is connected."""
        number = self.words.index(word)
        later = [*self.prompts[number + 2 :], self.nvim.prompts][0]
        return later > self.prompts[max(number - 1, 0)]

    def _back_in_normal_mode(self) -> None:
        def normal() -> bool:
            mode = self.nvim.mode()
            if mode == "blocked":
                self._key("<CR>")
            return mode == "n"

        wait_until(normal)

    def _undo(self) -> None:
        self.nvim.lua("_G.undo()")
        self.undos += 1


def counted(lines: Iterable[str]) -> Counter[str]:
    """How often each mark and each typed word is in the text."""
    text = "\n".join(lines)
    return Counter(MARKS.findall(text)) + Counter(WORDS.findall(text))
