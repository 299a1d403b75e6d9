"""``lsp-agent permissions``: the commands that are allowed for good, and taking them back."""

import argparse
import json
import time
from collections.abc import Sequence

from lsp_agent.protocol.errors import UsageError
from lsp_agent.text.plain import escaped_line
from lsp_agent.user_data.kept_grants import KeptGrant, read_grants, remove_grants


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    words = "list the commands that you have allowed for good"
    listed = actions.add_parser("list", help=words, description=f"{words.capitalize()}.")
    listed.add_argument("--json", action="store_true", help="print one JSON object")
    words = "ask about these commands again"
    removed = actions.add_parser("remove", help=words, description=f"{words.capitalize()}.")
    removed.add_argument("ids", metavar="ID", nargs="+", help="as the list names them")


def run(args: argparse.Namespace) -> int:
    if args.action == "remove":
        _remove(args.ids)
    elif args.json:
        print(json.dumps({"permissions": [_as_json(each) for each in read_grants()]}))
    else:
        _list(read_grants())
    return 0


def _list(grants: Sequence[KeptGrant]) -> None:
    if not grants:
        print("No command is allowed for good.")
    for each in grants:
        since = time.strftime("%Y-%m-%d", time.localtime(each.since))
        print(f"{each.id}  {since}  {_where(each)}: {escaped_line(each.command)}")


def _remove(ids: Sequence[str]) -> None:
    unknown = set(ids) - {each.id for each in read_grants()}
    if unknown:
        names = ", ".join(sorted(unknown))
        raise UsageError(f"{names} is not allowed for good; see lsp-agent permissions list")
    for each in remove_grants(ids):
        print(f"asked about again, {_where(each)}: {escaped_line(each.command)}")


def _where(grant: KeptGrant) -> str:
    return "everywhere" if grant.folder is None else f"in {escaped_line(grant.folder)}"


def _as_json(grant: KeptGrant) -> dict[str, object]:
    """As ``agent/permissions`` answers."""
    return {
        "permissionId": grant.id,
        "kind": grant.kind,
        "command": grant.command,
        "folder": grant.folder,
        "since": grant.since,
    }
