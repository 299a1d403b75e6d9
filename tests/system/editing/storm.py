"""One turn of many edits, at random times, while a person types 15 keys a second near them."""

import random
import threading
import time
from collections import Counter

from counts import Counts
from rounds import TOLD, text_of
from support.project import edit, step
from support.raw_client import Json
from support.scripted_editor import Policy
from typing_client import TypingProject

from lsp_agent.text.positions import Encoding

KEYS_A_SECOND = 15
_POINT = "at any time"


class Storm:
    def __init__(
        self, project: TypingProject, policy: Policy, encoding: Encoding, count: int, seed: int
    ) -> None:
        self.chance = random.Random(seed)
        self.policy, self.count = policy, count
        self.counts: Counts = Counter()
        self.wrong: list[str] = []
        self.keys: list[str] = []
        path = project.file("doc.txt", text_of("CRLF", 4 * count))
        self.client = project.client(
            policy, encoding, *map(self._step, range(count)), step("Done."), edits={"save": "never"}
        )
        self.shown = self.client.show(path)
        self._over = threading.Event()

    def _step(self, number: int) -> Json:
        target, mark = f"target{4 * number + 1} ", f"AGENT{number}~ "
        new = mark if number % 3 else f"{target}\n{mark}\nmore 😀\n"
        call = edit("doc.txt", target, new)
        return step("", call, delay_ms=self.chance.randint(0, 150))

    def run(self) -> None:
        typist = threading.Thread(target=self._type)
        typist.start()
        try:
            result = self.client.result(self.client.prompt("Go."), 120)
        finally:
            self._over.set()
            typist.join()
        self.client.flush(self.shown)
        time.sleep(1)  # what is late may come
        self._check(result["turnId"])

    def _type(self) -> None:
        """Goes on behind the key before, wherever the agent's edits have moved that."""
        while not self._over.is_set():
            done = len(self.client.events("toolResult"))
            line = 4 * min(done + self.chance.randint(0, 2), self.count - 1)
            with self.client.lock:
                at = self.shown.text.find(f"l{line + self.chance.choice([0, 1, 1, 2])} ")
            for _ in range(self.chance.randint(3, 9)):
                key = f"«{len(self.keys)}{self.chance.choice('éy😀')}»"
                with self.client.lock:
                    at = max(at, 0)
                    opens = self.chance.random() < 0.05
                    self.client.press(self.shown, at, f"{key}\r\n" if opens else key)
                    self.keys.append(key)
                time.sleep(self.chance.uniform(0.5, 1.5) / KEYS_A_SECOND)
                with self.client.lock:
                    at = self.shown.text.find(key)
                if at < 0:  # an edit that went astray stands in it until that is put right
                    break
                at += len(key)
            if self.chance.random() < 0.5:
                time.sleep(self.chance.uniform(0.1, 0.8))

    def _check(self, turn: str) -> None:
        listed = {e["toolCallId"]: e["status"] for e in self.client.call("agent/edits")["edits"]}
        results = self.client.events("toolResult", turnId=turn)
        assert len(results) == self.count
        text = self.shown.text
        for number, event in enumerate(results):
            statuses = [listed[call] for call in [event["toolCallId"]] if call in listed]
            words = event["content"][0]["text"]
            times = text.count(f"AGENT{number}~")
            late = "has not confirmed" in words and statuses == ["applied"]
            told = TOLD.get((tuple(statuses), event["isError"]))
            self.counts[_POINT, "edits"] += 1
            self.counts[_POINT, "late"] += late
            self.counts[_POINT, "doubled"] += times > 1
            if told is None or not any(part in words for part in told[1]):
                self.wrong.append(f"edit {number} is told as {statuses}: {words[:200]}")
                continue
            self.counts[_POINT, "unknown" if late else told[0]] += 1
            self.counts[_POINT, "lost"] += told[0] == "in" and not times
            if times != (told[0] == "in"):
                self.wrong.append(f"edit {number} is told as {told[0]} and is in {times} times")
        for key in self.keys:
            self.counts[_POINT, "keys"] += 1
            self.counts[_POINT, "lost"] += key not in text
            self.counts[_POINT, "doubled"] += text.count(key) > 1
            if text.count(key) != 1:
                self.wrong.append(f"key {key} is in {text.count(key)} times")
        self.counts[_POINT, "resent"] += max(0, self.shown.sends - self.count)
        (after,) = self.client.call("agent/messages")["messages"][-1:]
        assert after["role"] == "assistant"
