"""When an agent that should speak has been silent for too long."""

from collections.abc import Callable

import anyio


async def until_silent(
    limit: float, last_sign: Callable[[], float | None], report: Callable[[], None]
) -> None:
    """Returns after ``limit`` seconds without a sign; ``report`` is called at half of them.

    ``last_sign`` gives its time on the loop's clock, or None while the agent has not the word (a
    tool runs, a person is asked): that time does not count.
    """
    reported = False
    counted_from = anyio.current_time()
    while True:
        await anyio.sleep(min(1.0, limit / 10))
        now, sign = anyio.current_time(), last_sign()
        counted_from = now if sign is None else max(counted_from, sign)
        silent = now - counted_from
        if silent >= limit:
            return
        if silent < limit / 2:
            reported = False
        elif not reported:
            reported = True
            report()
