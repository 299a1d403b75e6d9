"""A double of an ACP agent: it can do what a prompt tells it to, beside the protocol.

    acp_agent.py [JSON]

JSON is an object: ``sessions``, what ``session/list`` answers, by folder; ``mode``, the one that
each session begins in; ``modes``, those that it has; ``models``, the same; ``name``, as it calls
itself; ``signedIn``, a file without which it wants a login; ``forgets``, true for one that takes
up no session; ``echoes``, true for one that says its prompts again. It has no session "none such".
Prompts:
``deaf N`` asks N things without reading an answer to any, then reads all of them;
``mode ID`` goes into another mode by itself; ``plan DONE… of STEP…`` tells its plan, these
steps of one word, each time with so many done and the next in progress, and says how many those
are; ``wait`` among them waits for the stop; ``die`` ends it; else it says ``mode/thought``, and
``/model`` where it has any.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Json = dict[str, Any]

MODES = ("plan", "default", "auto-edit", "yolo")
THOUGHTS = ("low", "high")


class Agent:
    def __init__(self, told: Json) -> None:
        self.sessions: list[Json] = told.get("sessions", [])
        self.begins_in: str = told.get("mode", "default")
        self.modes: list[str] = told.get("modes", MODES)
        self.models: list[str] = told.get("models", [])
        self.name: str = told.get("name", "")
        self.signed_in: str | None = told.get("signedIn")
        self.forgets: bool = told.get("forgets", False)
        self.echoes: bool = told.get("echoes", False)
        self.session = ""
        self.begin()

    def begin(self) -> None:
        self.mode, self.thought = self.begins_in, "low"
        self.model = next(iter(self.models), "")

    def serve(self) -> None:
        while line := sys.stdin.readline():
            frame = json.loads(line)
            if "id" in frame and "method" in frame:
                method, params = frame["method"], frame.get("params", {})
                if method == "session/load" and params["sessionId"] == "none such":
                    refusal = {"code": -32002, "message": "there is no such session"}
                    self.send({"id": frame["id"], "error": refusal})
                elif (
                    method == "session/new" and self.signed_in and not Path(self.signed_in).exists()
                ):
                    refusal = {"code": -32000, "message": "Authentication required"}
                    self.send({"id": frame["id"], "error": refusal})
                else:
                    self.send({"id": frame["id"], "result": self.answer(method, params)})

    def answer(self, method: str, params: Json) -> Json:
        match method:
            case "initialize":
                able = {"loadSession": not self.forgets, "sessionCapabilities": {"list": {}}}
                named = {"agentInfo": {"name": self.name, "version": "1.0"}} if self.name else {}
                return {"protocolVersion": 1, "agentCapabilities": able} | named
            case "session/new":
                self.session = "new"
                self.begin()
                return {"sessionId": self.session, **self.settings()}
            case "session/load":
                self.session = params["sessionId"]
                said = {"type": "text", "text": f"said in {self.session}"}
                self.update({"sessionUpdate": "user_message_chunk", "content": said})
                return self.settings()
            case "session/list":
                # By the protocol ``cwd`` is a filter; some agents do not look at it.
                return {"sessions": self.sessions}
            case "session/set_mode":
                self.mode = params["modeId"]
                return {}
            case "session/set_config_option":
                setattr(self, params["configId"], params["value"])
                return {"configOptions": self.options()}
            case "session/prompt":
                self.prompted(params["prompt"][0]["text"])
                return {"stopReason": "end_turn"}
            case _:
                return {}

    def prompted(self, text: str) -> None:
        match text.partition("\n")[0].split():
            case ["deaf", count]:
                for number in range(int(count)):
                    self.send({"id": f"q{number}", "method": "x/y", "params": {"pad": "x" * 200}})
                for _ in range(int(count)):
                    sys.stdin.readline()
                self.say("It was all answered.")
            case ["mode", mode]:
                self.mode = mode
                self.update({"sessionUpdate": "current_mode_update", "currentModeId": mode})
            case ["plan", *words]:
                of = words.index("of")
                for word in words[:of]:
                    if word == "wait":
                        sys.stdin.readline()
                    else:
                        self.plan(words[of + 1 :], int(word))
                        self.say(f"{word} done. ")
            case ["die"]:
                sys.exit(1)
            case _ if self.echoes:
                self.say(text)
            case _:
                self.say("/".join(filter(None, (self.mode, self.thought, self.model))))

    def plan(self, steps: list[str], done: int) -> None:
        states = ["completed"] * done + ["in_progress"] + ["pending"] * len(steps)
        entries = [
            {"content": step, "priority": "medium", "status": state}
            for step, state in zip(steps, states, strict=False)
        ]
        self.update({"sessionUpdate": "plan", "entries": entries})

    def settings(self) -> Json:
        modes = [{"id": mode, "name": mode.title()} for mode in self.modes]
        return {
            "modes": {"currentModeId": self.mode, "availableModes": modes},
            "configOptions": self.options(),
        }

    def options(self) -> list[Json]:
        options = [select("thought", "thought_level", self.thought, THOUGHTS)]
        return options + [select("model", "model", self.model, self.models)] * bool(self.models)

    def say(self, text: str) -> None:
        content = {"type": "text", "text": text}
        self.update({"sessionUpdate": "agent_message_chunk", "content": content})

    def update(self, update: Json) -> None:
        params = {"sessionId": self.session, "update": update}
        self.send({"method": "session/update", "params": params})

    def send(self, frame: Json) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **frame}) + "\n")
        sys.stdout.flush()


def select(name: str, category: str, value: str, values: Iterable[str]) -> Json:
    return {
        "id": name,
        "name": name.title(),
        "category": category,
        "type": "select",
        "currentValue": value,
        "options": [{"value": value, "name": value.title()} for value in values],
    }


if __name__ == "__main__":
    Agent(json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}).serve()
