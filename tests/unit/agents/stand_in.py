"""A stand-in for zot: its order of frames between model, extension and tools
(docs/design/hosting-zot.md).

    stand_in.py --ext DIR [--quiet]

A prompt's ``message`` is the JSON list of the step's calls, ``[{"tool", "args"}]``, run one
after another. Built in is ``bash`` alone. Like zot it lets a call run whose question stays open
for 5 s, gives up on pending calls at an abort without telling the extension, and goes on without
a lost extension. With ``--quiet`` it tells results only.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path


class Extension:
    def __init__(self, folder):
        manifest = json.loads((Path(folder) / "extension.json").read_text(encoding="utf-8"))
        self.process = subprocess.Popen(
            [manifest["exec"], *manifest["args"]],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.tools = []
        self.answers = {}
        self.ready = threading.Event()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            if len(line) > 4 << 20:
                break
            frame = json.loads(line)
            if frame["type"] == "hello":
                self.send({"type": "hello_ack", "protocol_version": 1})
            elif frame["type"] == "register_tool":
                self.tools.append(frame["name"])
            elif frame["type"] == "ready":
                self.ready.set()
            elif frame.get("id") in self.answers:
                self.answers.pop(frame["id"]).put(frame)

    def ask(self, frame, seconds, aborted):
        """The answer, None after that time, or at once at an abort."""
        frame = {"type": frame.pop("type"), "id": str(time.monotonic_ns()), **frame}
        answer = self.answers[frame["id"]] = queue.Queue()
        try:
            self.send(frame)
        except OSError:
            return None
        end = time.monotonic() + seconds
        while time.monotonic() < end and not (aborted and aborted.is_set()):
            try:
                return answer.get(timeout=0.005)
            except queue.Empty:
                pass
        return None

    def send(self, frame):
        self.process.stdin.write(json.dumps(frame, separators=(",", ":")).encode() + b"\n")
        self.process.stdin.flush()


class Agent:
    def __init__(self, extension):
        self.extension = extension
        self.aborted = threading.Event()
        self.calls = 0
        self.command = None

    def turn(self, prompt):
        for call in prompt:
            self.calls += 1
            wire_id = f"toolu_{self.calls:02}"
            if "--quiet" not in sys.argv:
                say(type="tool_call", id=wire_id, name=call["tool"], args=call["args"])
            text, is_error = self.call(wire_id, call["tool"], call["args"])
            say(
                type="tool_result",
                id=wire_id,
                is_error=is_error,
                content=[{"type": "text", "text": text}],
            )
        say(type="done")

    def call(self, wire_id, tool, args):
        question = {"type": "event_intercept", "event": "tool_call"}
        question |= {"tool_id": wire_id, "tool_name": tool, "tool_args": args}
        answer = self.extension.ask(question, 5, None) or {}
        if answer.get("block"):
            return answer["reason"], True
        args = answer.get("modified_args", args)
        if tool == "bash":
            return self.bash(args["command"], args.get("timeout"))
        if tool not in self.extension.tools:
            return f'unknown tool "{tool}"', True
        frame = {"type": "tool_call", "name": tool, "args": args}
        answer = self.extension.ask(frame, 60, self.aborted)
        if answer is None:
            return f"extension bridge/{tool} failed: context canceled", True
        return answer["content"][0]["text"], answer.get("is_error", False)

    def bash(self, command, timeout):
        if self.aborted.is_set():
            return "aborted: start: context canceled", True
        self.command = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
        try:
            output, _ = self.command.communicate(timeout=timeout)
            code = self.command.returncode
        except subprocess.TimeoutExpired:
            os.killpg(self.command.pid, signal.SIGTERM)
            output, _ = self.command.communicate()
            code = -1
        code = code if code >= 0 else -1
        text = output.decode(errors="replace")
        text = f"$ {command}\n" + (f"\n{text}" if text else "") + f"\n[exit {code}]  Took 0.0s"
        return text, code != 0

    def abort(self):
        self.aborted.set()
        if self.command and self.command.poll() is None:
            os.killpg(self.command.pid, signal.SIGTERM)


def say(**frame):
    sys.stdout.write(json.dumps(frame) + "\n")
    sys.stdout.flush()


def main():
    extension = Extension(sys.argv[sys.argv.index("--ext") + 1])
    extension.ready.wait(3)
    agent = Agent(extension)
    turn = None
    for line in sys.stdin:
        frame = json.loads(line)
        if frame["type"] == "prompt":
            if turn:
                turn.join()
            agent.aborted.clear()
            say(type="response", id=frame["id"], success=True)
            turn = threading.Thread(target=agent.turn, args=(json.loads(frame["message"]),))
            turn.start()
        elif frame["type"] == "abort":
            agent.abort()
            say(type="response", id=frame["id"], success=True)
    if turn:
        turn.join()
    try:
        extension.send({"type": "shutdown"})
        extension.process.stdin.close()
    except OSError:
        pass


if __name__ == "__main__":
    main()
