"""A double of an ACP agent: it can do what a prompt tells it to, beside the protocol.

    acp_agent.py [JSON]

JSON is an object: ``sessions``, what ``session/list`` answers, by folder; ``mode``, the one that
each session begins in. It has no session "none such". Prompts: ``deaf N`` asks N things without
reading an answer to any, then reads all of them; ``mode ID`` goes into another mode by itself; else
it says ``mode/thought``.
"""

import json
import sys
from typing import Any

Json = dict[str, Any]

MODES = ("plan", "default", "auto-edit", "yolo")
THOUGHTS = ("low", "high")


class Agent:
    def __init__(self, told: Json) -> None:
        self.sessions: list[Json] = told.get("sessions", [])
        self.begins_in: str = told.get("mode", "default")
        self.mode, self.thought = self.begins_in, "low"
        self.session = ""

    def serve(self) -> None:
        while line := sys.stdin.readline():
            frame = json.loads(line)
            if "id" in frame and "method" in frame:
                method, params = frame["method"], frame.get("params", {})
                if method == "session/load" and params["sessionId"] == "none such":
                    refusal = {"code": -32002, "message": "there is no such session"}
                    self.send({"id": frame["id"], "error": refusal})
                else:
                    self.send({"id": frame["id"], "result": self.answer(method, params)})

    def answer(self, method: str, params: Json) -> Json:
        match method:
            case "initialize":
                able = {"loadSession": True, "sessionCapabilities": {"list": {}}}
                return {"protocolVersion": 1, "agentCapabilities": able}
            case "session/new":
                self.session, self.mode = "new", self.begins_in
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
                self.thought = params["value"]
                return {"configOptions": self.options()}
            case "session/prompt":
                self.prompted(params["prompt"][0]["text"])
                return {"stopReason": "end_turn"}
            case _:
                return {}

    def prompted(self, text: str) -> None:
        match text.split():
            case ["deaf", count]:
                for number in range(int(count)):
                    self.send({"id": f"q{number}", "method": "x/y", "params": {"pad": "x" * 200}})
                for _ in range(int(count)):
                    sys.stdin.readline()
                self.say("It was all answered.")
            case ["mode", mode]:
                self.mode = mode
                self.update({"sessionUpdate": "current_mode_update", "currentModeId": mode})
            case _:
                self.say(f"{self.mode}/{self.thought}")

    def settings(self) -> Json:
        modes = [{"id": mode, "name": mode.title()} for mode in MODES]
        return {
            "modes": {"currentModeId": self.mode, "availableModes": modes},
            "configOptions": self.options(),
        }

    def options(self) -> list[Json]:
        thoughts = [{"value": level, "name": level.title()} for level in THOUGHTS]
        return [
            {
                "id": "thought",
                "name": "Thought",
                "category": "thought_level",
                "type": "select",
                "currentValue": self.thought,
                "options": thoughts,
            }
        ]

    def say(self, text: str) -> None:
        content = {"type": "text", "text": text}
        self.update({"sessionUpdate": "agent_message_chunk", "content": content})

    def update(self, update: Json) -> None:
        params = {"sessionId": self.session, "update": update}
        self.send({"method": "session/update", "params": params})

    def send(self, frame: Json) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **frame}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    Agent(json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}).serve()
