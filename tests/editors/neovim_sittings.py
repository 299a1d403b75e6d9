"""A person and an agent at one long text in a real Neovim, each way in which they meet."""

import random
import time
from collections.abc import Callable

from neovim import Json
from neovim_desk import Desk, done, edit, step
from neovim_tally import Tally, by_agent, tally, tell
from typist import AgentEdit, Typist, document

NAME = "shop.txt"
#: The client's own time for holding changes back, and more.
FLUSHED = 0.5


class Sitting:
    """``turns`` are the edits of each prompt, in order."""

    def __init__(self, desk: Desk, seed: int, count: int, turns: int = 1) -> None:
        self.desk = desk
        self.rng = random.Random(seed)
        self.lines, edits = document(self.rng, count * turns)
        self.turns = [edits[n * count : (n + 1) * count] for n in range(turns)]
        self.typist = Typist(desk.nvim, self.rng, edits)

    @property
    def edits(self) -> list[AgentEdit]:
        return self.typist.edits

    def begin(self, **options: object) -> None:
        self.desk.open(NAME, "".join(f"{line}\n" for line in self.lines))
        steps: list[Json] = []
        for edits in self.turns:
            pauses = [self.rng.randrange(20, 180) for _ in edits]
            steps += [
                step(edit(NAME, e.old, e.new), delay_ms=pause)
                for e, pause in zip(edits, pauses, strict=True)
            ]
            steps.append(done())
        self.desk.start(*steps, **options)

    def type_until(self, done: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < deadline, f"not done; {len(self.desk.sends())} sends"
            self.typist.type_a_while()

    def type_through(self, number: int, seconds: float = 10) -> Json:
        """Types until a request is answered; its result."""
        self.type_until(lambda: self.desk.answer(number) is not None, seconds)
        return self.desk.wait(number)

    def turn(self) -> str:
        """Types through a whole turn; its id."""
        result = self.type_through(self.desk.prompt("Go."), 20 + len(self.edits))
        assert result["stopReason"] == "endTurn", result
        return result["turnId"]

    def end(self) -> Tally:
        time.sleep(FLUSHED)
        return tally(self.desk, self.typist, self.lines)


def hosted(desk: Desk, seed: int, count: int) -> Tally:
    """``count`` edits in one turn, at random times, beside a person at the keyboard."""
    sitting = Sitting(desk, seed, count)
    sitting.begin()
    sitting.turn()
    result = sitting.end()
    made = by_agent(desk)
    for each, is_in in tell(result, desk, sitting.edits):
        result.applied += is_in
        for mark in each.there:
            result.differ(mark, made[mark], int(is_in), "as the agent was told")
        for mark in each.gone:
            result.differ(mark, made[mark], -int(is_in), "as the agent was told")
    return result
