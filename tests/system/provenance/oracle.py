"""Who put each word there, who may take it out, and where it has to be in the end.

Each insertion is one word that nothing else is, and a text is lines of such words, each with a
blank before it: a word is found by splitting, without any comparing of texts. A person's words
begin with ``p``, the document's with ``s``, those that another program saved with ``x``, and an
agent's with ``a``: ``a3t2n5`` is the fifth word of turn 2 of agent 3. There is nothing but letters
and digits in them: a merge may well join two changes of the parts of what a comma divides.

``will`` says of every word that is no agent's whether the person wants it: from its birth, until
the person deletes it. Agents never change the will. It belongs to a text, as a buffer, a file on
disk and each step of an editor's undo have one of their own: whoever goes back to an earlier text
goes back to what was wanted then.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

#: Status, old text and new text.
Hunks = Iterable[tuple[str, str, str]]


def words(text: str) -> list[str]:
    return text.split()


def is_agents(word: str) -> bool:
    return word.startswith("a")


def owner(word: str) -> str:
    """``p``, ``s``, ``x``, or the agent's turn: ``a3t2``."""
    return word.partition("n")[0] if is_agents(word) else word[0]


@dataclass(frozen=True)
class State:
    """A text and what the person wants of it."""

    text: str
    will: Mapping[str, bool]

    @classmethod
    def start(cls, text: str) -> "State":
        return cls(text, {word: True for word in words(text) if not is_agents(word)})

    def written(self, text: str) -> "State":
        """After the person, or another program in the person's name, made it another text."""
        here, were = set(words(text)), set(words(self.text))
        will = dict(self.will)
        will.update((word, False) for word in were - here if word in will)
        # Not of all that is there: an agent may have put in again what the person deleted.
        will.update((word, True) for word in here - were if not is_agents(word))
        return State(text, will)

    def back_to(self, earlier: "State") -> "State":
        """After undo or redo: the whole text as it was at another time. What was not born by then
        is not wanted, since it went by the person's key."""
        return State(earlier.text, dict.fromkeys(self.will, False) | dict(earlier.will))

    def with_text(self, text: str) -> "State":
        """The same will, where the text was changed by the server or an agent."""
        return State(text, self.will)


@dataclass(frozen=True)
class Touch:
    """The words of the lines that one change took or left; ``who`` is an owner."""

    who: str
    words: frozenset[str]


@dataclass
class Conflict:
    """One answer ``conflict``; ``needed`` where somebody else changed words of the same lines."""

    what: str
    file: str
    needed: bool


@dataclass
class Wrong:
    """``kind`` is what shrinking keeps."""

    kind: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"


@dataclass
class Oracle:
    wrongs: list[Wrong] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    _known: set[str] = field(default_factory=set)
    #: By file, the words that an agent took out which had been shown them.
    _licensed: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    #: By file, the words of the lines that agents wrote anew: what somebody had taken out of these
    #: meanwhile is there again.
    _written: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _touches: defaultdict[str, list[Touch]] = field(default_factory=lambda: defaultdict(list))
    #: By file and word, as bits, the words that were seen behind it in one text.
    _behind: defaultdict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    _bits: dict[str, int] = field(default_factory=dict)
    #: Words of agents that the person once took out, by deleting or by undo.
    _taken: set[str] = field(default_factory=set)

    def say(self, kind: str, what: str) -> None:
        self.wrongs.append(Wrong(kind, what))

    # -- what happens

    def born(self, new: Iterable[str]) -> None:
        self._known |= set(new)

    def license(self, file: str, gone: Iterable[str]) -> None:
        self._licensed[file] |= set(gone)

    def written(self, file: str, anew: Iterable[str]) -> None:
        self._written[file] |= set(anew)

    def touched(self, file: str, who: str, before: str, after: str) -> None:
        """Notes which lines somebody changed, to judge conflicts by."""
        old, new = set(before.splitlines()), set(after.splitlines())
        if who == "p":
            self._taken |= set(words(before)) - set(words(after))
        if changed := old ^ new:
            self._touches[file].append(Touch(who, frozenset(words("\n".join(changed)))))

    def seen(self, file: str, text: str) -> None:
        """Some text that the person made: notes in which order the words stand."""
        self._order(file, text)

    def server_changed(self, file: str, before: State, text: str, cause: str) -> State:
        """The server made it another text; ``cause`` is what it was to do."""
        old, new = set(words(before.text)), set(words(text))
        for word in old - new:
            if before.will.get(word) and word not in self._licensed[file]:
                self.say("lost", f"{word} of {file} went when {cause}")
        for word in new - old - self._written[file]:
            if before.will.get(word) is False and word not in self._licensed[file]:
                self.say("risen", f"{word} of {file}, which the person deleted, is back: {cause}")
        self._whole(file, text, cause)
        return before.with_text(text)

    def decided(self, what: str, file: str, hunk: Iterable[str]) -> None:
        """Keep, undo or apply of a hunk of these words was answered ``conflict``."""
        own = frozenset(hunk)
        whose = {owner(word) for word in own if is_agents(word)}
        self._conflict(what, file, own, whose)

    def reverted(self, what: str, file: str, turns: Iterable[str]) -> None:
        """A revert of these turns was answered ``conflict`` for the file."""
        whose = set(turns)
        of_turns = [touch.words for touch in self._touches[file] if touch.who in whose]
        self._conflict(what, file, frozenset().union(*of_turns), whose)

    # -- what has to be

    def unlisted(self, file: str, text: str, hunks: Hunks, hot: str = "") -> list[Wrong]:
        """Each word of an agent in the text is in the new text of some hunk that counts as in; and
        a hunk that counts as in has something in the text, unless somebody took that out, or in
        the ``hot`` text that a closed editor keeps. What is not so."""
        found: list[Wrong] = []
        told: set[str] = set()
        here = set(words(text))
        for status, old, new in hunks:
            agents = [word for word in words(new) if is_agents(word)]
            if status in ("applied", "kept", "unknown"):
                told.update(agents)
            agents = [word for word in agents if word not in words(old)]  # what it put in
            there = here.union(self._taken, self._licensed[file], words(hot)) & set(agents)
            if status in ("applied", "kept") and agents and not there:
                found.append(Wrong("ghost", f"a hunk is {status}, but {agents} are not in {file}"))
        for word in here - told:
            if is_agents(word):
                found.append(Wrong("unlisted", f"{word} is in {file}, and no edit says so"))
        return found

    def kept(self, file: str, text: str, new: str) -> None:
        """The answer says that a hunk with this new text is kept: something of it is there, or in
        what a closed editor keeps, of which no server knows, unless the person took it out."""
        agents = [word for word in words(new) if is_agents(word) and word not in self._taken]
        if agents and not set(words(text)) & set(agents):
            self.say("kept", f"{agents} of a kept hunk are not in {file}")

    def unseen(self, gone: Iterable[str], hunks: Hunks) -> list[str]:
        """What an agent took out, and is in the old text of no hunk."""
        told = {word for _, old, _ in hunks for word in words(old)}
        return [word for word in gone if word not in told]

    def without_agents(self, file: str, state: State, outcome: str | None) -> None:
        """After all turns were reverted; ``outcome`` is what the last answer said of the file."""
        there = words(state.text)
        self._whole(file, state.text, "all turns were reverted")
        if outcome == "conflict":
            return
        told = f"reverted, the answer was {outcome}"
        for word in there:
            if is_agents(word):
                self.say("left", f"{word} is in {file}; {told}")
        here = set(there)
        for word, wanted in state.will.items():
            if wanted and word not in here:
                self.say("missing", f"{word} is not in {file}; {told}")
            if not wanted and word in here:
                self.say("risen", f"{word}, which the person deleted, is in {file}; {told}")

    # -- the parts

    def _whole(self, file: str, text: str, cause: str) -> None:
        """Each word is there once, none is torn, and their order is as it was."""
        for word, count in Counter(words(text)).items():
            if word not in self._known:
                self.say("torn", f"{word!r} in {file} is no word of anybody: {cause}")
            if count > 1:
                self.say("doubled", f"{word} is {count} times in {file}: {cause}")
        wrong = self._order(file, text)
        if wrong:
            self.say("moved", f"{wrong} changed places in {file}: {cause}")

    def _order(self, file: str, text: str) -> str:
        """Notes the order of the words that are no agent's; a word that is out of it, or ""."""
        behind, out = self._behind[file], ""
        after = 0
        for word in reversed(words(text)):
            if is_agents(word):
                continue
            bit = self._bits.setdefault(word, 1 << len(self._bits))
            for other in self._in_front(after, behind, bit):
                out = f"{word} and {other}"
            behind[word] = behind.get(word, 0) | after
            after |= bit
        return out

    def _in_front(self, after: int, behind: Mapping[str, int], bit: int) -> list[str]:
        """Those of ``after`` that were once in front of the word with that bit."""
        return [other for other, seen in behind.items() if seen & bit and self._bits[other] & after]

    def _conflict(self, what: str, file: str, own: frozenset[str], whose: set[str]) -> None:
        others = (touch.words for touch in self._touches[file] if touch.who not in whose)
        needed = any(own & theirs for theirs in others)
        self.conflicts.append(Conflict(what, file, needed))
