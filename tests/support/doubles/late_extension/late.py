"""An extension of the oldest form that tells its slash command only a while after its hello."""

import json
import sys
import time


def say(**frame: object) -> None:
    print(json.dumps(frame), flush=True)


say(type="hello", name="late", version="1", capabilities=["commands"])
time.sleep(0.6)
say(type="register_command", name="late", description="to be late")
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "command_invoked":
        say(type="command_response", id=asked["id"], action="insert", insert="there")
