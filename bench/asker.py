"""Asks for an address so many times, and prints what one request took, in ms, as a median."""

import statistics
import sys
import time
import urllib.request


def _asked(address: str) -> float:
    begun = time.perf_counter()
    with urllib.request.urlopen(address) as answer:
        if answer.read() != b"hello":
            sys.exit("another answer")
    return 1000 * (time.perf_counter() - begun)


if __name__ == "__main__":
    _asked(sys.argv[1])  # what is made once does not count
    print(statistics.median(_asked(sys.argv[1]) for _ in range(int(sys.argv[2]))))
