"""How what starts a held command (``starter/``) is started: with nothing of the environment's."""

import sys
from pathlib import Path

import lsp_agent

_START = (
    "import sys; sys.path.append(sys.argv[1]); from lsp_agent.sandbox.starter.{module} import main;"
    " main(sys.argv[2:])"
)


def words(module: str) -> list[str]:
    package = str(Path(lsp_agent.__file__).parents[1])
    return [sys.executable, "-I", "-S", "-c", _START.format(module=module), package]
