"""``lsp-agent`` on a machine where bubblewrap is not installed."""

from lsp_agent.cli.main import main
from lsp_agent.sandbox import bubblewrap


def _not_there() -> None:
    return None


bubblewrap.program = _not_there
main()
