"""``lsp-agent log``: what was decided on the agents' commands."""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict

from lsp_agent.protocol.errors import UsageError
from lsp_agent.text.plain import escaped_line
from lsp_agent.user_data.command_log import Entry, command_log, read_entries

_SHOWN = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    logs = parser.add_subparsers(dest="log", required=True, metavar="LOG")
    words = "list what was decided on commands, the newest last"
    commands = logs.add_parser("commands", help=words, description=f"{words.capitalize()}.")
    commands.add_argument(
        "-n", metavar="N", type=_count, default=_SHOWN, help=f"the newest N, {_SHOWN} if absent"
    )
    commands.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    try:
        entries = read_entries()[-args.n :]
    except OSError as error:
        raise UsageError(f"{command_log()} cannot be read: {error.strerror}") from error
    if args.json:
        print(json.dumps({"commands": [_as_json(each) for each in entries]}))
    else:
        _list(entries)
    return 0


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return int(text)


def _list(entries: Sequence[Entry]) -> None:
    if not entries:
        print("No command was decided on.")
    for each in entries:
        decided = each.decided
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(decided.at))
        who = f"{escaped_line(decided.agent)} {escaped_line(decided.session)}"
        background = ", in the background" if decided.background else ""
        head = f"{when}  {decided.verdict} by {decided.by}{background}{_end(each)}"
        where, command = escaped_line(decided.folder), escaped_line(decided.command)
        print(f"{head}  {who}  {where}: {command}")


def _end(entry: Entry) -> str:
    ended = entry.ended
    if ended is None:
        return ""
    how = "failed" if ended.failed else "done"
    if ended.exit is not None:
        how = f"exit {ended.exit}"
    return f", {how} after {ended.seconds:.1f}s"


def _as_json(entry: Entry) -> dict[str, object]:
    return {**asdict(entry.decided), "ended": entry.ended and asdict(entry.ended)}
