"""A server with a bridge, to be killed while its agent's command runs.

    hosting_server.py CWD

Says the pids when the command has started everything; TAG in its environment marks them all.
"""

import asyncio
import json
import sys

import anyio
import psutil

from agents.hosting import Host, bash, hosted

LINGER = "setsid sleep 600 & (setsid sleep 600 &) ; trap '' TERM; touch started; sleep 600 & wait"


async def main() -> None:
    cwd = anyio.Path(sys.argv[1])
    async with hosted(Host(), str(cwd)) as agent:
        await agent.prompt(bash(LINGER))
        while not await (cwd / "started").exists():  # noqa: ASYNC110
            await anyio.sleep(0.01)
        supervisor = agent.process.pid
        agent_pid = psutil.Process(supervisor).children()[0].pid
        print(json.dumps({"supervisor": supervisor, "agent": agent_pid}), flush=True)
        await agent.process.wait()
        await anyio.sleep_forever()


asyncio.run(main())
