"""Which files are opened and which folders listed before an agent's first word.

By strace where it is installed, so in every process; else by an audit hook in each Python process
that is not an isolated one.
"""

import json
import os
import re
import shutil
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import lsp_agent
from bench.editor import EditingClient, scripted
from bench.measure import Limit, Row
from bench.setting import Setting
from bench.vscode import Json
from bench.wire import SERVER

_FEW = 50
_IN_A_FOLDER = 100

# The first event that the agent causes, and so long nothing more happens after it.
_EVENT = "stepStarted"
_QUIET_MS = 300

_AUDIT = str(Path(__file__).with_name("audit"))
_MARK = b"--- the first event\n"

_CALLS = "open,openat,openat2,creat,getdents64,write,writev,sendto,sendmsg"
# As strace shows it when the server writes it to the client.
_SAID = b'\\"stepStarted\\"'
_OPENED = re.compile(
    rb"^open (?P<audited>/.*)"
    rb"|(?:open|openat|openat2|creat)(?:\(| resumed>).* = \d+<(?P<traced>/[^>]*)>"
)
_LISTED = re.compile(rb"^list (?P<audited>/.*)|getdents64\(\d+<(?P<traced>/[^>]*)>")
_STORED = re.compile("/lsp-agent/workspaces/[0-9a-f]+/sessions(/|$)")
_COMPILED = ".cpython-"
_MODULES = (
    str(Path(lsp_agent.__file__).parent),
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
)


@dataclass(frozen=True, slots=True)
class Touched:
    """By path; one in the workspace begins with ``WORKSPACE``. Not what is in /proc, since
    processes are looked at as time goes by, nor where sessions are stored and modules lie: threads
    write there and import, before or after the first event."""

    opened: frozenset[str]
    listed: frozenset[str]

    @property
    def count(self) -> int:
        return len(self.opened) + len(self.listed)


def opened_files(setting: Setting) -> Row:
    """From the start of the server to the first event that the agent caused, its first step; the
    floor is the same in a workspace of fifty files."""
    many = setting.sizes.files
    touched_in(setting, 1)  # what is compiled or made once does not count
    floor, ours = touched_in(setting, _FEW), touched_in(setting, many)
    what = f"opened and listed in {many:,} files, to {_FEW}"
    return Row("opened_files", what, "paths", floor.count, ours.count, Limit(times=1))


def touched_in(setting: Setting, files: int) -> Touched:
    """In a new workspace of so many files, of which one is open in the editor. It is always the
    same folder, so that from the second time on our own data of it is there."""
    folder = setting.folder / "project"
    paths = [folder / f"folder{n // _IN_A_FOLDER}" / f"file{n}.py" for n in range(files)]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    log = setting.home / "opened.log"
    log.write_bytes(b"")
    script = setting.home / "opened.json"
    steps = [{"text": "Yes.", "delay_ms": _QUIET_MS}]
    script.write_text(json.dumps({"steps": steps}), encoding="ascii")
    command, env = _watched(setting.env, log)

    def mark(event: Json) -> None:
        if event["type"] == _EVENT and command == SERVER:
            with log.open("ab") as file:
                file.write(_MARK)

    try:
        with EditingClient(command, env, folder) as client:
            client.seen = mark
            client.start(scripted(folder, script))
            client.open(paths[0])
            client.call("agent/prompt", {"text": "Are you there?"})
            client.stop()
        return _touched(log, folder)
    finally:
        shutil.rmtree(folder)


def _watched(env: Mapping[str, str], log: Path) -> tuple[Sequence[str], Mapping[str, str]]:
    """The server's command and environment, so that ``log`` fills."""
    strace = shutil.which("strace")
    if strace is None:
        places = [_AUDIT, *filter(None, [env.get("PYTHONPATH")])]
        path = os.pathsep.join(places)
        return SERVER, {**env, "PYTHONPATH": path, "BENCH_AUDIT_LOG": str(log)}
    options = ("-f", "-y", "-qq", "-s", "65536", "-e", f"trace={_CALLS}", "-o", str(log))
    return (strace, *options, *SERVER), env


def _touched(log: Path, folder: Path) -> Touched:
    found: dict[re.Pattern[bytes], set[str]] = {_OPENED: set(), _LISTED: set()}
    with log.open("rb") as lines:
        for line in lines:
            if line == _MARK or _SAID in line:
                return Touched(frozenset(found[_OPENED]), frozenset(found[_LISTED]))
            for pattern, paths in found.items():
                if (match := pattern.search(line)) is not None:
                    path = os.fsdecode(match["audited"] or match["traced"])
                    imported = path.startswith(_MODULES) or _COMPILED in path
                    if not (imported or path.startswith("/proc/") or _STORED.search(path)):
                        paths.add(path.replace(str(folder), "WORKSPACE"))
    raise RuntimeError("the agent's first event was not seen")
