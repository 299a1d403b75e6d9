"""``lsp-agent rpc``: the embedded agent on stdio."""

import argparse
import gc

from lsp_agent.cli.surroundings import need_stdio
from lsp_agent.runtime import options

add_arguments = options.add_arguments


def run(args: argparse.Namespace) -> int:
    """The agent's exit code: 0 when stdin ended, 1 after a wrong token, 128 + N for signal N."""
    need_stdio("rpc")
    # After the arguments are known to be right: the event loop is most of the start-up time.
    # Nothing of what is imported is ever free.
    gc.disable()
    from lsp_agent.runtime.rpc import serve  # noqa: PLC0415

    gc.freeze()
    gc.enable()
    return serve(options.options(args))
