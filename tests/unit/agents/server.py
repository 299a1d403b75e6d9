"""A server of one agent, to be killed: starts a spawner, has it spawn, says so and waits.

server.py TAG
"""

import asyncio
import sys
from pathlib import Path

from lsp_agent.agents.process import AgentProcess


async def main() -> None:
    tag = sys.argv[1]
    agent = await AgentProcess.start(
        [sys.executable, str(Path(__file__).with_name("spawner.py")), tag],
        cwd="/",
        env={"TAG": tag},
        line_bytes=1 << 20,
    )
    await agent.send({"do": "spawn"})
    async for batch in agent.batches():
        if {"spawned": True} in batch:
            print("spawned", flush=True)


asyncio.run(main())
