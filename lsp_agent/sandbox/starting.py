"""How what holds a command is started: our own (``starter/``) with nothing of the environment's,
and each without the credentials of the person's own proxy."""

import sys
from collections.abc import Sequence
from pathlib import Path

import lsp_agent
from lsp_agent.sandbox.hold import Hold
from lsp_agent.sandbox.network.upstream import VARIABLES

_START = (
    "import sys; sys.path.append(sys.argv[1]); from lsp_agent.sandbox.starter.{module} import main;"
    " main(sys.argv[2:])"
)


def words(module: str) -> list[str]:
    package = str(Path(lsp_agent.__file__).parents[1])
    return [sys.executable, "-I", "-S", "-c", _START.format(module=module), package]


def unset(hold: Hold) -> tuple[str, ...]:
    """The variables that a holder is started without. A command sees the environment of a holder
    that runs beside it, and has no use for a proxy that it does not reach."""
    return () if hold.network else VARIABLES


def without(names: Sequence[str]) -> list[str]:
    """What starts a program without these variables, before its own words."""
    return ["/usr/bin/env", *(word for name in names for word in ("-u", name))] if names else []
