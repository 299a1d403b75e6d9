"""When an agent that should speak has been silent for too long, or answers nothing any more."""

from collections.abc import Awaitable, Callable
from typing import Literal

import anyio

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.sessions.agent.link import REPLY_SECONDS, AgentLink
from lsp_agent.wires.wire import Ping

#: After so much silence, and again after as much more, it is asked whether it is there.
ASK_SECONDS = 30.0


async def until_silent(
    limit: float,
    last_sign: Callable[[], float | None],
    report: Callable[[], None],
    answers: Callable[[], Awaitable[bool]],
) -> Literal["silent", "hung"]:
    """Returns after ``limit`` seconds without a sign, or once it does not answer; ``report`` is
    called at half of the limit.

    ``last_sign`` gives its time on the loop's clock, or None while the agent has not the word (a
    tool runs, a person is asked): that time does not count. One that ``answers`` is at work, and
    has the whole of the limit.
    """
    reported, ask_at = False, ASK_SECONDS
    counted_from = anyio.current_time()
    while True:
        await anyio.sleep(min(1.0, limit / 10))
        now, sign = anyio.current_time(), last_sign()
        counted_from = now if sign is None else max(counted_from, sign)
        silent = now - counted_from
        if silent >= limit:
            return "silent"
        if silent < limit / 2:
            reported = False
        elif not reported:
            reported = True
            report()
        if silent < ASK_SECONDS:
            ask_at = ASK_SECONDS
        elif silent >= ask_at:
            ask_at = silent + ASK_SECONDS
            if not await answers() and last_sign() == sign:
                return "hung"


async def answers_ping(link: AgentLink | None) -> bool:
    """One that cannot be asked, or has ended, is none that hangs."""
    if link is None or not link.wire.has_ping:
        return True
    try:
        await link.request(Ping(), REPLY_SECONDS)
    except RequestFailed as failure:
        return failure.kind != "agentTimeout"
    return True
