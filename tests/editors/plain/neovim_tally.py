"""What came of a sitting: who changed which words, and what must not be."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import unified_diff
from typing import Literal

from support.neovim import Json
from support.neovim_desk import Desk, ToolOutcome
from support.typist import AgentEdit, Typist, counted

#: Of an edit that is not in, and says so.
NOT_CONFIRMED = "The editor has not confirmed"

Words = Counter[str]
State = Literal["in", "out", "torn"]


@dataclass
class Tally:
    """``said`` counts what is not in by the reason that was given; ``wrong`` says what must not
    be. ``slowest`` is in seconds, from the model's answer to the tool's result."""

    edits: int = 0
    words: int = 0
    undos: int = 0
    prompts: int = 0
    applied: int = 0
    sent_again: int = 0
    undone: int = 0
    kept: int = 0
    reverted: int = 0
    back: int = 0
    said: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    #: Marks that an undo in the editor took or brought back.
    undone_by_person: set[str] = field(default_factory=set)
    #: Edits of which such an undo left a part: one in insert mode takes the person's typing and
    #: the edits beside it as one, and does not always find the lines again.
    torn: int = 0
    #: Ranges of hunks that were found where the listing said.
    compared: int = 0
    lost: int = 0
    doubled: int = 0
    wrong: list[str] = field(default_factory=list)

    def cells(self) -> dict[str, str | int]:
        """For the table at the end of the run."""
        said = Counter(self.said)
        return {
            "edits": self.edits,
            "words": self.words,
            "undos": self.undos,
            "in": self.applied,
            "undone": self.undone,
            "kept": self.kept,
            "reverted": self.reverted,
            "back": self.back,
            "sent again": self.sent_again,
            "proposed": said.pop("proposed", 0),
            "changed": said.pop("changed since", 0) + said.pop("not found", 0),
            "conflict": said.pop("conflict", 0),
            "unknown": said.pop("unknown", 0),
            "else": said.total(),
            "undo tore": self.torn,
            "slowest": f"{1000 * self.slowest:.0f} ms",
            "doubled": self.doubled,
            "lost": self.lost,
        }

    def expect(self, made: AgentEdit, is_: State, wanted: State, why: str) -> None:
        """An edit that is half in counts as lost, like one that is out and must not be; not if
        an undo of Neovim's own is what broke it."""
        if is_ == "torn" and not self.undone_by_person.isdisjoint(made.marks):
            self.torn += 1
        elif is_ != wanted:
            self.lost += is_ != "in"
            self.doubled += is_ == "in"
            self.wrong.append(f"{made.marks}: {is_}, not {wanted}; {why}")

    def differ(self, word: str, is_: int, wanted: int, why: str) -> None:
        if is_ != wanted:
            self.lost += is_ < wanted
            self.doubled += is_ > wanted
            self.wrong.append(f"{word}: {is_} times, not {wanted}; {why}")


def tally(desk: Desk, typist: Typist, lines: list[str]) -> Tally:
    """What holds after any sitting: each word is where its owner put it and nowhere else.

    The text is what was there, and what was typed, and what the agent's side and the person's
    undos made of it; the agent's side changed no word that was typed. The server knows the same
    text.
    """
    result = Tally(words=len(typist.words), undos=typist.undos, prompts=desk.nvim.prompts)
    result.sent_again = sent_again(desk.sends())
    wanted = counted(lines)
    for made in desk.steps():
        by = change(made)
        wanted.update(by)
        if made["by"] == "agent":
            for word in typist.words:
                result.differ(word, by[word], 0, "by a step of the agent's side")
            for mark in (mark for mark in by if by[mark] > 0 and wanted[mark] > 1):
                result.differ(mark, wanted[mark], 1, f"brought in where it was: {made}")
        else:
            result.undone_by_person.update(mark for mark in by if by[mark])
    wanted.update(typist.words)
    now = counted(desk.nvim.lines())
    for word in sorted(wanted.keys() | now.keys()):
        if word in typist.words and not now[word] and typist.interrupted(word):
            result.said["word typed at a prompt"] += 1
        else:
            result.differ(word, now[word], wanted[word], "by all that happened")
    known, shown = desk.shown().splitlines(), desk.nvim.text().splitlines()
    if known != shown:
        differences = "\n".join(unified_diff(known, shown, "server", "editor", n=0, lineterm=""))
        result.wrong.append(f"the server knows another text than the editor shows\n{differences}")
    return result


def change(step: Json) -> Words:
    """By how much a step changed the count of each word."""
    by = counted(step["added"])
    by.subtract(counted(step["removed"]))
    return by


def by_all(desk: Desk, who: str) -> Words:
    """What all steps of the ``agent``'s side, or all undos of the ``person``'s, came to."""
    total: Words = Counter()
    for made in desk.steps():
        if made["by"] == who:
            total.update(change(made))
    return total


def history(desk: Desk, made: AgentEdit) -> str:
    """What changed an edit's words, step by step."""
    told: list[str] = []
    for each in desk.steps():
        by = change(each)
        if any(by[mark] for mark in made.marks):
            told.append(f"{each['by']}: {each['removed']} -> {each['added']}")
    return "\n".join(told)


def states(edits: Iterable[AgentEdit], lines: list[str]) -> list[State]:
    """Whether each edit is in a text, whole and once."""
    now = counted(lines)
    found: list[State] = []
    for made in edits:
        there, gone = {now[mark] for mark in made.there}, {now[mark] for mark in made.gone}
        if there <= {1} and gone <= {0}:
            found.append("in")
        else:
            found.append("out" if there <= {0} and gone <= {1} else "torn")
    return found


def told(
    result: Tally, desk: Desk, edits: Iterable[AgentEdit]
) -> Iterator[tuple[AgentEdit, ToolOutcome, bool]]:
    """Each edit, and whether it is in as the agent was told; an edit of which nothing could be
    told may be either, and is as it is."""
    now = by_all(desk, "agent")
    for made, outcome in zip(edits, desk.edit_outcomes(), strict=True):
        result.edits += 1
        result.slowest = max(result.slowest, outcome.seconds)
        is_in = not outcome.is_error
        if outcome.is_error:
            result.said[reason(outcome)] += 1
        elif outcome.text.startswith(NOT_CONFIRMED):
            result.said["unknown"] += 1
            is_in = all(now[mark] for mark in made.there)  # it may have come later
        result.applied += is_in
        yield made, outcome, is_in


def reason(outcome: ToolOutcome) -> str:
    """Why an edit is not in, short."""
    for words in ("changed since", "not found", "unsaved"):
        if words in outcome.text:
            return words
    return outcome.text


def sent_again(sends: list[Json]) -> int:
    """Edits that were sent more than once: runs of refusals."""
    return sum(
        not send["taken"] and (number == 0 or sends[number - 1]["taken"])
        for number, send in enumerate(sends)
    )
