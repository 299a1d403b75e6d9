"""``lsp-agent serve``: the language server, on stdio or for one client on a loopback port."""

import argparse
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_agent.cli.surroundings import need_stdio
from lsp_agent.protocol.errors import UsageError
from lsp_agent.server.rpc import startup

if TYPE_CHECKING:
    from lsp_agent.server.client.info import ClientInfo
    from lsp_agent.server.rpc.channel import Channel

_LEVELS = ("debug", "info", "warning", "error")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tcp", metavar="HOST:PORT", help="serve one client on this loopback address"
    )
    parser.add_argument(
        "--token-file",
        type=Path,
        metavar="F",
        help="with --tcp: the token that the client must have is in this file",
    )
    parser.add_argument("--log-file", type=Path, metavar="F", help="write the log to this file")
    parser.add_argument("--log-level", choices=_LEVELS, default="warning", metavar="L")


def run(args: argparse.Namespace) -> int:
    if args.tcp is None:
        if args.token_file is not None:
            raise UsageError("--token-file is for --tcp; nobody else can speak on stdio")
        need_stdio("serve")
    startup.begun()
    _log_to(args.log_file, args.log_level)
    # Imported only now: the collector is off while hundreds of classes are made.
    from lsp_agent.server.client.welcome import welcome  # noqa: PLC0415
    from lsp_agent.server.rpc.channel import stdio  # noqa: PLC0415

    channel = stdio() if args.tcp is None else _tcp(args.tcp, args.token_file)
    startup.ends_on_signal()
    welcomed = welcome(channel)
    # The client has its answer to ``initialize`` by now; the rest may take its time.
    from lsp_agent.server.client.client_connection import ClientConnection  # noqa: PLC0415

    face = ClientConnection()

    async def build(client: "ClientInfo") -> None:
        from lsp_agent.server.app import App  # noqa: PLC0415

        await App.open(face, client, args.log_file)

    face.on_initialize = build
    channel = welcomed.channel
    return face.run(channel.recv, channel.send, introduced=welcomed.introduced)


def _tcp(address: str, token_file: Path | None) -> "Channel":
    from lsp_agent.cli.tcp_token import given_token, made_token  # noqa: PLC0415  not on stdio
    from lsp_agent.server.rpc.tcp import parse_address, tcp  # noqa: PLC0415

    host, port = parse_address(address)
    given = given_token(token_file)
    made: list[Path] = []

    def listening(host: str, port: int) -> str:
        told = f"lsp-agent: listening on {host}:{port}"
        token = given
        if token is None:
            token, path = made_token(port)
            made.append(path)
            told += f"\nlsp-agent: the client's token is in {path}"
        print(told, file=sys.stderr, flush=True)
        return token

    try:
        return tcp(host, port, listening)
    finally:
        for path in made:  # it has been used
            path.unlink(missing_ok=True)


def _log_to(file: Path | None, level: str) -> None:
    try:
        handler = logging.FileHandler(file, encoding="utf-8") if file else logging.StreamHandler()
    except OSError as error:
        raise UsageError(f"cannot write the log to {file}: {error.strerror}") from error
    logging.basicConfig(
        handlers=[handler],
        level=level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    # It would log whole messages: prompts, documents, and the environment of agents.
    logging.getLogger("pygls").setLevel(logging.WARNING)
