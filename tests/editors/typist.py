"""A long text, an agent that edits all over it, and a person who types beside the edits.

``sitting`` brings them together in a real Neovim and counts: what was typed and what the agent
was told is in must be in once, unless the person undid it; nothing else may have changed.
"""

import random
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from statistics import quantiles

from neovim import Json, Neovim, wait_until
from neovim_desk import Desk, ToolOutcome, done, edit, read, step

NAME = "shop.txt"
KEYS_A_SECOND = 15
#: Of an edit that is not in, and says so.
NOT_CONFIRMED = "The editor has not confirmed"
MARKS = re.compile(r"(?:tok|old|ins|del|pre|post|has)\d{3}[a-z]?")


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
local mark, offset, at_mark = ...
local found = vim.fn.searchpos('\\\\C' .. mark, 'cnw')
local line = found[1] > 0 and found[1] or vim.fn.line('.')
line = math.max(1, math.min(vim.fn.line('$'), line + offset))
vim.api.nvim_win_set_cursor(0, { line, at_mark and found[1] == line and found[2] - 1 or 0 })
"""


@dataclass
class Typist:
    """Types unique words where the agent is about to edit."""

    nvim: Neovim
    rng: random.Random
    edits: list[AgentEdit]
    words: list[str] = field(default_factory=list)
    undos: int = 0
    #: Neovim's prompts that were seen before each word.
    prompts: list[int] = field(default_factory=list)
    _next_key: float = 0.0

    def type_a_while(self) -> None:
        """Goes somewhere, types a word or a few, leaves insert mode, now and then undoes."""
        taken = self.nvim.lua("return #vim.tbl_filter(function(s) return s.taken end, _G.sends)")
        target = self.edits[min(taken + self.rng.randrange(3), len(self.edits) - 1)]
        offset = self.rng.choice((-1, 0, 0, 0, 1))
        start = self.rng.choice(("A ", "A ", "I", "o", "O", "i"))
        self.nvim.lua(GO_TO, target.near, offset, start == "i")
        for key in start:
            self._key(key)
        for number in range(self.rng.randint(1, 3)):
            self._word(number)
        self._key("<Esc>")
        self._back_in_normal_mode()
        if self.rng.random() < 0.2:
            self._undo()

    def _word(self, number: int) -> None:
        word = f"k{len(self.words):03}{self.rng.choice('qxz')}"
        self.words.append(word)
        self.prompts.append(self.nvim.prompts)
        if number:
            self._key(self.rng.choice((" ", "<CR>")))
        for letter in word:
            if self.rng.random() < 0.05:
                self._key("y")
                self._key("<BS>")
            self._key(letter)
        self._key(" ")

    def _key(self, key: str) -> None:
        now = time.monotonic()
        self._next_key = max(self._next_key + 1 / KEYS_A_SECOND, now)
        time.sleep(self._next_key - now)
        self.nvim.keys(key)

    def interrupted(self, word: str) -> bool:
        """Whether Neovim stopped at a prompt of its own while the word was typed, or right
        after: that prompt takes a key, whoever is connected."""
        number = self.words.index(word)
        later = [*self.prompts[number + 2 :], self.nvim.prompts][0]
        return later > self.prompts[number]

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


def counted(lines: list[str]) -> Counter[str]:
    """How often each mark and each typed word is in the text."""
    text = "\n".join(lines)
    return Counter(MARKS.findall(text)) + Counter(re.findall(r"k\d{3}[qxz]", text))


@dataclass
class Tally:
    """What a sitting, or several, came to; ``wrong`` says what must not be."""

    runs: int = 0
    edits: int = 0
    words: int = 0
    undos: int = 0
    prompts: int = 0
    refused: int = 0
    milliseconds: list[float] = field(default_factory=list)
    said: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    doubled: int = 0
    wrong: list[str] = field(default_factory=list)

    def __add__(self, other: "Tally") -> "Tally":
        mine, others = vars(self), vars(other)
        return Tally(**{name: mine[name] + others[name] for name in mine})

    HEAD = (
        "| runs × edits | words / undos | refused first | p50 / p95 / max ms"
        " | not in, and said so | Neovim's prompts | lost | doubled |"
    )

    def row(self) -> str:
        cuts = quantiles(self.milliseconds, n=20, method="inclusive")
        times = f"{cuts[9]:.0f} / {cuts[18]:.0f} / {max(self.milliseconds):.0f}"
        said = ", ".join(f"{count} {what}" for what, count in sorted(self.said.items())) or "none"
        return (
            f"| {self.runs} × {self.edits // self.runs} | {self.words} / {self.undos}"
            f" | {100 * self.refused / self.edits:.1f} % | {times} | {said} | {self.prompts}"
            f" | {self.lost} | {self.doubled} |"
        )


def sitting(desk: Desk, seed: int, count: int) -> Tally:
    """One run: ``count`` edits in one turn, at random times, beside a person at the keyboard."""
    rng = random.Random(seed)
    lines, edits = document(rng, count)
    desk.open(NAME, "".join(f"{line}\n" for line in lines))
    steps = [step(edit(NAME, e.old, e.new), delay_ms=rng.randrange(20, 180)) for e in edits]
    desk.start(*steps, done(), step(read(NAME), match="Show"), done())
    typist = Typist(desk.nvim, rng, edits)
    turn = desk.prompt("Go.")
    deadline = time.monotonic() + 20 + count
    while (answer := desk.answer(turn)) is None and time.monotonic() < deadline:
        typist.type_a_while()
    assert answer is not None, f"the turn did not end; {len(desk.sends())} sends"
    assert answer["result"]["stopReason"] == "endTurn", answer
    time.sleep(0.5)  # the client's own time for holding changes back, and more
    desk.run("Show.")
    return tally(desk, typist, lines, edits)


def tally(desk: Desk, typist: Typist, lines: list[str], edits: list[AgentEdit]) -> Tally:
    *outcomes, shown = desk.outcomes()
    assert len(outcomes) == len(edits), [outcome.text for outcome in outcomes]
    now = counted(desk.nvim.lines())
    result = Tally(1, len(edits), len(typist.words), typist.undos, desk.nvim.prompts)
    result.refused = refused_first(desk.sends())
    result.milliseconds = [1000 * outcome.seconds for outcome in outcomes]
    seen, _, _ = shown.text.partition("\n[Note from the editor")
    if seen.rstrip("\n") != desk.nvim.text().rstrip("\n"):
        result.wrong.append("the server shows another text than the editor")

    wanted = counted(lines) + Counter(typist.words)
    for made, outcome in zip(edits, outcomes, strict=True):
        is_in = not outcome.is_error
        if outcome.is_error:
            result.said[reason(outcome)] += 1
        elif outcome.text.startswith(NOT_CONFIRMED):
            result.said["unknown"] += 1
            is_in = all(now[mark] for mark in made.there)  # it may have come later
        if is_in:
            wanted.update(made.there)
            wanted.subtract(made.gone)
    for made in desk.steps():
        if made["by"] == "person":
            wanted.update(counted(made["added"]))
            wanted.subtract(counted(made["removed"]))
    for mark in wanted.keys() | now.keys():
        if mark in typist.words and not now[mark] and typist.interrupted(mark):
            result.said["word typed at a prompt"] += 1
        elif now[mark] != wanted[mark]:
            result.lost += now[mark] < wanted[mark]
            result.doubled += now[mark] > wanted[mark]
            told = [o.text for e, o in zip(edits, outcomes, strict=True) if mark in e.marks]
            result.wrong.append(f"{mark}: {now[mark]} times, not {wanted[mark]}; told {told}")
    return result


def reason(outcome: ToolOutcome) -> str:
    """Why an edit is not in, short."""
    for words in ("changed since", "not found", "unsaved"):
        if words in outcome.text:
            return words
    return outcome.text


def refused_first(sends: list[Json]) -> int:
    """Edits that were sent more than once: runs of refusals."""
    return sum(
        not send["taken"] and (number == 0 or sends[number - 1]["taken"])
        for number, send in enumerate(sends)
    )
