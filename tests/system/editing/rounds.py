"""One edit after the other in one server process, each with a key typed at one point.

Every key and every edit is a text of its own. After each turn, and at the end, what the editor
shows is compared with what the server reads and says: statuses, events, tool results.
"""

import random
from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from counts import Counts
from support.project import call, edit, step, write
from support.raw_client import Json, wait_until
from support.scripted_editor import POINTS, Point, Policy
from typing_client import Shown, TypingProject

from lsp_agent.text.positions import Encoding

#: Line end, what stands in the lines, and the last line's end.
CONTENTS = {
    "emoji": ("\n", "a 😀é e\u0301 b", "\n"),
    "CRLF": ("\r\n", "x 😀", "\r\n"),
    "form feeds": ("\n", "p\x0cq\x0b", "\n"),
    "U+2028": ("\r\n", "m\u2028n\x85o", "\r\n"),
    "no last newline": ("\n", "tail 👩\u200d🚒", ""),
}
Place = Literal["same line", "in the word", "above", "below", "new line above", "far above", "end"]
PLACES: tuple[Place, ...] = (
    "same line",
    "in the word",
    "above",
    "below",
    "new line above",
    "far above",
    "end",
)
Kind = Literal["replace", "insert", "delete", "two places", "append", "write"]
KINDS: tuple[Kind, ...] = ("replace", "insert", "delete", "two places", "append", "write")

Outcome = Literal["in", "changed", "conflict", "unknown"]

#: How each outcome must be told: the edits' statuses, whether the tool failed, words of its
#: result.
TOLD: dict[tuple[tuple[str, ...], bool], tuple[Outcome, tuple[str, ...]]] = {
    (("applied",), False): ("in", ("",)),
    ((), True): ("changed", ("not found in", "changed since you read it")),
    (("conflict",), True): (
        "conflict",
        ("changed since you read it", "the editor refused the edit"),
    ),
    (("unknown",), False): ("unknown", ("has not confirmed",)),
}


@dataclass(frozen=True)
class Round:
    """One edit. ``slot`` numbers the edits of one document."""

    number: int
    point: Point
    place: Place
    kind: Kind
    content: str
    slot: int

    def __str__(self) -> str:
        parts = (self.number, self.point, self.place, self.kind, self.content)
        return " / ".join(map(str, parts))

    @property
    def name(self) -> str:
        """Whole texts are written to files of their own."""
        what = f"whole {self.number}" if self.kind == "write" else self.content
        return what.replace(" ", "-").replace("+", "") + ".txt"

    @property
    def variant(self) -> int:
        """0, 1 or 2, in turn for each point."""
        return self.number // len(POINTS) % 3

    @property
    def line(self) -> int:
        return 4 * self.slot + 1

    @property
    def target(self) -> str:
        return f"target{self.line} "

    @property
    def marks(self) -> list[str]:
        """What is in the text once the edit is."""
        first = f"AGENT{self.number}~"
        return {"delete": [], "two places": [first, f"BOT{self.number}~"]}.get(self.kind, [first])

    @property
    def touches(self) -> bool:
        """Whether the person types on a line of the edit's."""
        return self.place in {"same line", "in the word"} or (
            self.kind == "append" and self.place == "end"
        )

    def calls(self, last: int) -> list[Json]:
        """The steps before the last; ``last`` is the last line's number."""
        end, filler, _ = CONTENTS[self.content]
        new = "".join(f"{mark} " for mark in self.marks)
        match self.kind:
            case "replace":
                call_ = edit(self.name, self.target, new)
            case "insert":
                call_ = edit(self.name, self.target, f"{self.target}\n{new}\none more 😀\n")
            case "delete":
                call_ = edit(self.name, _line(self.line, filler) + end, "")
            case "append":
                old = f"gone{last} z"
                call_ = edit(self.name, old, f"{old}\n{new}appended")
            case "two places":
                pairs = zip((self.target, f"gone{self.line + 1} "), self.marks, strict=True)
                edits = [{"oldText": old, "newText": f"{mark} "} for old, mark in pairs]
                call_ = call("edit", path=self.name, edits=edits)
            case "write":
                whole = text_of(self.content, 12).replace(self.target, new)
                return [
                    step("", call("read", path=self.name)),
                    step("", write(self.name, whole)),
                ]
        return [step("", call_)]

    def times_in(self, text: str) -> list[int]:
        """How often each part of the edit is in ``text``."""
        if self.kind == "delete":
            return [int(f"gone{self.line} " not in text)]
        return [text.count(mark) for mark in self.marks]


def _line(number: int, filler: str) -> str:
    return f"{filler} l{number} target{number} {filler} gone{number} z"


def text_of(content: str, lines: int) -> str:
    end, filler, last = CONTENTS[content]
    return end.join(_line(number, filler) for number in range(lines)) + last


def rounds(count: int, seed: int, points: tuple[Point, ...] = POINTS) -> list[Round]:
    """``count`` edits; as many at each point, everything else in turn, in random order."""
    chance = random.Random(seed)
    mixed = list(product(PLACES, KINDS))
    chance.shuffle(mixed)
    contents, slots = list(CONTENTS), Counter[str]()
    made: list[Round] = []
    for number in range(count):
        place, kind = mixed[number % len(mixed)]
        content = contents[(number + seed) % len(contents)]
        point = points[number % len(points)]
        slot = 0
        if kind != "write":
            slot = slots[content]
            slots[content] += 1
        made.append(Round(number, point, place, kind, content, slot))
    chance.shuffle(made)
    return made


class Sitting:
    """A server, its client, and the rounds; ``wrong`` is what must not be."""

    def __init__(
        self, project: TypingProject, policy: Policy, encoding: Encoding, todo: list[Round]
    ) -> None:
        self.policy, self.todo = policy, todo
        self.counts: Counts = Counter()
        self.wrong: list[str] = []
        self.tokens: list[tuple[Shown, str, Point]] = []
        self.outcomes: dict[int, Outcome] = {}
        self.edit_ids: dict[int, str] = {}
        self.now: Round | None = None
        self._typed = False
        lengths = Counter(each.content for each in todo if each.kind != "write")
        lines = {each.name: 4 * lengths[each.content] + 4 for each in todo}
        steps: list[Json] = []
        self.files: dict[str, str] = {}
        for each in todo:
            count = 12 if each.kind == "write" else lines[each.name]
            self.files[each.name] = text_of(each.content, count)
            steps += [*each.calls(count - 1), step("Done.")]
        for name, text in self.files.items():
            project.file(name, text)
            steps += [step("", call("read", path=name)), step("Done.")]
        self.client = project.client(policy, encoding, *steps, **{"edits": {"save": "clean"}})
        self.shown = {name: self.client.show(project.folder / name) for name in self.files}
        self.client.keys = self._keys
        self.client.before_sync = self._before_sync

    def run(self) -> None:
        for each in self.todo:
            self._one(each)
        self._settle()
        self._check_texts()
        self._check_statuses()

    # Typing

    def _keys(self, shown: Shown, point: Point, send: int) -> None:
        each = self.now
        if each is None or shown is not self.shown[each.name] or send != 1:
            return
        # Of one that is typed before the send at the latest here: what was taken for the text as
        # it was is never done to another one.
        first = each.point in {"before send", "before retry"} and not self._typed
        if point == each.point or (first and point == "before apply"):
            self._press(each, point)

    def _before_sync(self) -> None:
        each = self.now
        if each and each.point == "before send" and each.variant == 2 and not self._typed:
            self._press(each, "before send")

    def _press(self, each: Round, point: Point) -> None:
        self._typed = True
        shown, end = self.shown[each.name], CONTENTS[each.content][0]
        token = f"«{len(self.tokens)}😀»"
        self.tokens.append((shown, token, each.point))
        self.counts[each.point, "keys"] += 1
        with self.client.lock:
            text = shown.text
            line = each.line + {"above": -1, "new line above": -1, "below": 1}.get(each.place, 0)
            if each.kind == "append" and each.place == "below":
                line = each.line
            at = text.find(f"l{line} ")
            match each.place:
                case "in the word" if each.target in text:
                    at = text.index(each.target) + 3
                case "new line above":
                    token += f"{end} "
                case "far above":
                    at = 0
                case "end":
                    at = len(text)
                case _ if at < 0:  # the line is gone: the person goes on somewhere else
                    at = text.index(f"l{each.line + 2} ")
            self.client.press(shown, at, token)

    # One edit

    def _one(self, each: Round) -> None:
        client, shown = self.client, self.shown[each.name]
        if each.point == "during save":
            client.save_by_hand(shown)
        shown.sends = shown.saves = 0
        client.save_order = each.variant
        dirty, at_call = shown.dirty, False
        self.now, self._typed = each, False
        start = len(client.messages)
        if each.point == "before send":
            at_call = each.kind == "write" or each.variant == 1
            at_call = at_call or (each.variant == 2 and not self.policy.traits.can_sync)
            if not at_call and each.variant == 0:
                self._press(each, "before send")
        prompt = client.prompt("Go on.")
        if at_call:
            tool = "write" if each.kind == "write" else "edit"
            client.wait_for(lambda message: _is_call(message, tool), start=start)
            with client.lock:
                if not self._typed:
                    self._press(each, "before send")
        result = client.result(prompt, 30)
        with client.lock:
            self.now = None
            self._check(each, result, client.messages[start:], shown)
            self._check_saved(each, shown, dirty=dirty)

    def _check(self, each: Round, result: Json, messages: list[Json], shown: Shown) -> None:
        events = [m["params"] for m in messages if m.get("method") == "agent/event"]
        tool = [event for event in events if event["type"] == "toolResult"][-1]
        words = "".join(block.get("text", "") for block in tool["content"])
        statuses = tuple(item["status"] for item in result["edits"])
        told = TOLD.get((statuses, tool["isError"]))
        if told is None or not any(part in words for part in told[1]):
            self._wrong(each, f"told as {statuses}, error {tool['isError']}: {words[:200]}")
            return
        outcome = self.outcomes[each.number] = told[0]
        self.counts[each.point, "edits"] += 1
        self.counts[each.point, outcome] += 1
        self.counts[each.point, "resent"] += shown.sends > 1
        if statuses:
            self.edit_ids[each.number] = result["edits"][0]["editId"]
            changed = [event["edit"] for event in events if event["type"].startswith("edit")]
            if [edit_["status"] for edit_ in changed][-1:] != list(statuses):
                self._wrong(each, f"the last event of an edit tells of another status: {changed}")
        if not self.policy.lie and not each.touches and outcome != "in":
            self._wrong(each, f"{outcome} though the person typed elsewhere: {words[:200]}")
        self._count_in(each)

    def _count_in(self, each: Round) -> None:
        outcome = self.outcomes[each.number]
        times = set(each.times_in(self.shown[each.name].text))
        self.counts[each.point, "doubled"] += max(times) > 1
        self.counts[each.point, "lost"] += outcome == "in" and 0 in times
        if outcome != "unknown" and times != {int(outcome == "in")}:
            self._wrong(each, f"told as {outcome}, but it is in {times} times")

    def _check_saved(self, each: Round, shown: Shown, *, dirty: bool) -> None:
        if dirty and shown.saves:
            self._wrong(each, "the person's unsaved text was saved")
        if each.point != "during save":
            return
        if self.outcomes.get(each.number) == "in" and self.policy.traits.can_save:
            if shown.saves != 1:
                self._wrong(each, f"saved {shown.saves} times")
                return
            # With a key before the save the document is not what the save was asked for.
            is_saved = not self._typed or each.variant != 0 or self.policy.checks == "never"
            if set(each.times_in(shown.path.read_bytes().decode())) != {int(is_saved)}:
                self._wrong(each, f"it is {'not ' if is_saved else ''}on disk")

    def _wrong(self, each: Round, what: str) -> None:
        self.wrong.append(f"{self.policy.name}: {each}: {what}")

    # The end

    def _settle(self) -> None:
        """Until all that was typed is sent, and late edits are in."""
        if self.policy.lie == "late":
            unknown = {self.edit_ids[n] for n, o in self.outcomes.items() if o == "unknown"}
            wait_until(lambda: not unknown & set(self._listed("unknown")), self.policy.late + 20)
        self.client.flush_all()

    def _listed(self, status: str) -> dict[str, Any]:
        found = self.client.call("agent/edits", {"status": status})["edits"]
        return {edit_["editId"]: edit_ for edit_ in found}

    def _check_texts(self) -> None:
        for name in self.files:
            self.client.flush_all()
            turn = self.client.ask_agent("Read.")["turnId"]
            (event,) = self.client.events("toolResult", turnId=turn)
            text = self.shown[name].text
            read = "".join(block["text"] for block in event["content"])
            read = read.partition("\n[Note from the editor")[0]  # of another file
            text += "" if text.endswith("\n") else "\n"
            if read != text:
                at = next(
                    (i for i, (a, b) in enumerate(zip(read, text, strict=False)) if a != b), 0
                )
                parts = f"{read[at : at + 80]!r}, the editor shows {text[at : at + 80]!r}"
                self.wrong.append(f"{name}: at {at} the server reads {parts}")
        for shown, token, point in self.tokens:
            bare = token.split("»")[0] + "»"
            count = shown.text.count(bare)
            self.counts[point, "lost"] += count == 0
            self.counts[point, "doubled"] += count > 1
            if count != 1:
                self.wrong.append(f"{self.policy.name}: key {bare} ({point}) is in {count} times")

    def _check_statuses(self) -> None:
        """``agent/edits`` and the last event of each edit say what is so at the end."""
        listed = {e["editId"]: e["status"] for e in self.client.call("agent/edits")["edits"]}
        told = {
            event["edit"]["editId"]: event["edit"]["status"]
            for event in self.client.events()
            if event["type"].startswith("edit")
        }
        if listed != told or set(listed) != set(self.edit_ids.values()):
            self.wrong.append(f"{self.policy.name}: listed {listed}, told {told}")
        for each in self.todo:
            status = listed.get(self.edit_ids.get(each.number, ""))
            if self.outcomes.get(each.number) == "unknown" and status == "applied":
                self.counts[each.point, "late"] += 1
                self.outcomes[each.number] = "in"
            elif self.outcomes.get(each.number) == "unknown" and 0 not in each.times_in(
                self.shown[each.name].text
            ):
                self._wrong(each, "it is in, and stays unknown")
            if each.number in self.outcomes:
                self._count_in(each)


def _is_call(message: Json, tool: str) -> bool:
    params = message.get("params") or {}
    return (
        message.get("method") == "agent/event"
        and params["type"] == "toolCall"
        and params["tool"] == tool
    )
