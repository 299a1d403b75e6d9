"""How long to wait between two looks at an editor: to look costs it, and the machine, some work."""

from collections.abc import Iterator


def pauses(first: float, most: float) -> Iterator[float]:
    """In seconds, each longer than the one before: what comes soon is seen soon, and what takes
    long is not looked for all the time."""
    while True:
        yield first
        first = min(1.3 * first, most)
