"""Folders and files that are swapped for symlinks while the agent reads and writes them: a real
race, against a process that does nothing else. Only a hosted agent can be held there: one that
writes itself (mirror) does so after we looked."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from ground import Ground
from support.project import call, edit, step, write

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: renameat2, O_PATH")

CALLS = 60

#: Exchanges two paths, each way in one step, until its stdin ends; prints how often.
SWAPPER = """
import ctypes, os, select, sys, time
libc = ctypes.CDLL(None, use_errno=True)
here, exchange = -100, 2
one, other = map(os.fsencode, sys.argv[1:])
count = 0
while not select.select([0], [], [], 0)[0]:
    if libc.renameat2(here, one, here, other, exchange):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    count += 1
    time.sleep(0.002 if count % 2 else 0.008)  # a call looks often: some are to get through
print(count)
"""

Report = Callable[[str, str, str, str], None]


@contextmanager
def swapping(path: Path, other: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", SWAPPER, str(path), str(other)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process


@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_swap_between_check_and_use_leads_nowhere(
    ground: Ground, what: str, report: Report
) -> None:
    root = ground.folder
    name = "swap/secret.txt"
    ground.file(name, "mine\n")
    target = ground.decoy if what == "folder" else ground.decoy / "secret.txt"
    path = root / "swap" if what == "folder" else root / name
    (root / "link").symlink_to(target)
    calls = [call("read", path=name), write(name, "mine\nagain\n"), edit(name, "mine", "MINE"),
             edit(name, "MINE", "mine"), write("swap/new.txt", "new\n")]  # fmt: skip
    editor = ground.attacked("hosted", step("", *calls * (CALLS // len(calls))), step("Done."))
    with swapping(path, root / "link") as process:
        editor.result(editor.prompt("Go."), timeout=60)
        swaps = int(process.communicate("over")[0])
    ground.check(editor)
    results = editor.events("toolResult")
    texts = [event["content"][0]["text"] for event in results if event["isError"]]
    assert len(results) == CALLS
    assert swaps > CALLS
    assert 0 < len(texts) < CALLS  # else there was no race
    reasons = sorted({text.partition(": ")[2] for text in texts if "symlink" in text})
    message = f"{len(texts)} of {CALLS} calls: {'; '.join(reasons)}"
    row = f"{what} swapped for a symlink under way"
    report(row, "hosted", "refused", ground.shown(message))
    report(row, "mirror", "not held", "the agent writes itself, after we looked (not tried)")
