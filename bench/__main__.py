"""``python -m bench``: every figure with its floor and its limit.

Speed is told, never asserted: the exit code is 0 as long as all could be measured, but for a way of
holding commands that this machine has not. Needs Linux (memory is read from /proc, and the clocks
of processes are compared).
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import report
from bench.chat import chat_edit, chat_words
from bench.chat_delay import chat_delay
from bench.deltas import added_delay, held_back, throughput
from bench.edit import edit
from bench.held import held_by_bubblewrap, held_by_landlock
from bench.hosts import held_by_bubblewrap_to_a_host, held_by_landlock_to_a_host
from bench.keystroke import keystroke
from bench.measure import Row
from bench.opened import opened_files
from bench.reopened import chat_reopened
from bench.review import hunk_list, hunk_list_kept, revert, undo
from bench.seen import write_seen, write_seen_many
from bench.setting import FULL, QUICK, Setting
from bench.slow import slow_stop
from bench.startup import first_request, start_up
from bench.turns import turns_memory

BENCHES: Sequence[Callable[[Setting], Row | None]] = (
    start_up,
    first_request,
    added_delay,
    throughput,
    held_back,
    slow_stop,
    keystroke,
    edit,
    write_seen,
    write_seen_many,
    hunk_list,
    hunk_list_kept,
    undo,
    revert,
    opened_files,
    turns_memory,
    chat_words,
    chat_edit,
    chat_delay,
    chat_reopened,
    held_by_bubblewrap,
    held_by_landlock,
    held_by_bubblewrap_to_a_host,
    held_by_landlock_to_a_host,
)


def main() -> None:
    names = [bench.__name__ for bench in BENCHES]
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, for a first look")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these: {', '.join(names)}")
    args = parser.parse_args()
    begun = time.monotonic()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="bench-") as home:
        folder = Path(home, "workspace").resolve()
        folder.mkdir()
        setting = Setting(Path(home), folder, QUICK if args.quick else FULL)
        for bench in BENCHES:
            name = bench.__name__
            if not args.names or name in args.names:
                print(f"{name} ...", file=sys.stderr, flush=True)
                if row := bench(setting):
                    rows.append(row)
                else:
                    print(f"{name} cannot be measured here", file=sys.stderr, flush=True)
    if args.json:
        print(report.as_json(rows))
    else:
        report.show(rows, time.monotonic() - begun)


if __name__ == "__main__":
    main()
