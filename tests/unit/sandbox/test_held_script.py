"""The script that runs a held command, with ``env`` in the sandbox's place."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from subprocess import PIPE, STDOUT

from lsp_agent.sandbox.held_script import SAID, held_script

HOLDER = ("env", "HELD=yes")


def run(
    folder: Path, command: str, *, ask: str = "false", made: Sequence[str] = (), path: str = ""
) -> "subprocess.CompletedProcess[bytes]":
    script = folder / "held"
    script.write_text(held_script(HOLDER, made, command, ask))
    env = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"} if path else None
    return subprocess.run(
        ["/bin/sh", script, "/bin/sh"], env=env, capture_output=True, check=False, timeout=60
    )


def test_it_ends_as_the_command_and_says_what_it_says(tmp_path: Path) -> None:
    done = run(tmp_path, """echo "it's"; echo no >&2; exit 7""")
    assert (done.returncode, done.stdout, done.stderr) == (7, b"it's\n", b"no\n")
    assert sorted((tmp_path / f"held{SAID}").read_text().splitlines()) == ["it's", "no"]


def test_what_it_says_in_one_stream_stays_in_its_order(tmp_path: Path) -> None:
    script = tmp_path / "held"
    said = "".join(f"echo {number}; echo {number} >&2; " for number in range(50))
    script.write_text(held_script(HOLDER, [], f"{said}exit 1", "false"))
    done = subprocess.run(
        ["/bin/sh", script, "/bin/sh"], stdout=PIPE, stderr=STDOUT, check=False, timeout=60
    )
    assert done.stdout.split() == [b"%d" % (number // 2) for number in range(100)]
    assert (tmp_path / f"held{SAID}").read_bytes() == done.stdout


def test_what_was_made_to_mount_on_is_taken_away_where_it_is_empty(tmp_path: Path) -> None:
    empty, full = tmp_path / "empty", tmp_path / "full"
    (full / "x").mkdir(parents=True)
    empty.mkdir()
    run(tmp_path, "exit 0", made=[str(empty), str(full)])
    assert (empty.exists(), full.exists()) == (False, True)


def test_one_that_failed_runs_once_more_without_its_holder_where_that_is_allowed(
    tmp_path: Path,
) -> None:
    done = run(tmp_path, "echo ${HELD:-no}; test -z $HELD", ask="true")
    assert (done.returncode, done.stdout) == (0, b"yes\nno\n")


def test_variables_of_the_persons_are_kept_from_its_holder_and_not_from_that_run(
    tmp_path: Path,
) -> None:
    script = tmp_path / "held"
    command = "echo ${HELD:-no} ${http_proxy:-none}; exit 1"
    script.write_text(held_script(HOLDER, [], command, "true", unset=["http_proxy", "HTTP_PROXY"]))
    env = {**os.environ, "http_proxy": "http://user:secret@proxy"}
    for stderr in (PIPE, STDOUT):
        done = subprocess.run(
            ["/bin/sh", script, "/bin/sh"], env=env, stdout=PIPE, stderr=stderr, check=False
        )
        assert done.stdout == b"yes none\nno http://user:secret@proxy\n"


def test_one_that_went_well_asks_nothing(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    assert run(tmp_path, "exit 0", ask=f"touch {asked}").returncode == 0
    assert not asked.exists()


def test_one_with_a_pipe_tells_also_that_it_went_well_and_stays_so(tmp_path: Path) -> None:
    ask = "eval 'echo ended with $code; false'"
    assert run(tmp_path, "false | cat", ask=ask).stdout == b"ended with 0\n"
    assert run(tmp_path, "false | cat", ask=ask).returncode == 0
    assert run(tmp_path, "false || true", ask=ask).stdout == b""


def test_one_that_is_ended_says_that_it_took_too_long(tmp_path: Path) -> None:
    script = tmp_path / "held"
    script.write_text(held_script(HOLDER, [], "echo begun; kill -TERM 0; sleep 60", "true", 1.5))
    done = subprocess.run(
        ["/bin/sh", script, "/bin/sh"],
        process_group=0,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (143, b"begun\n[ended: it took longer than 1.5 s]\n")


def test_of_much_that_it_says_a_bounded_part_is_kept(tmp_path: Path) -> None:
    done = run(tmp_path, "head -c 3000000 /dev/zero >&2; exit 1")
    assert (done.returncode, len(done.stderr)) == (1, 3_000_000)
    assert (tmp_path / f"held{SAID}").stat().st_size <= 1 << 20


def test_no_program_that_a_held_command_has_put_on_the_path_runs_outside(tmp_path: Path) -> None:
    planted, ran = tmp_path / "bin", tmp_path / "ran"
    planted.mkdir()
    for name in ("tee", "rmdir", "cat"):
        (planted / name).write_text(f"#!/bin/sh\ntouch {ran}\n")
        (planted / name).chmod(0o755)
    run(tmp_path, "exit 1", made=[str(tmp_path / "none")], path=str(planted))
    assert not ran.exists()
