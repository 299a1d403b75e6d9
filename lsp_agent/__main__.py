"""``python -m lsp_agent``: the same as ``lsp-agent``."""

import sys

from lsp_agent.cli.main import main

sys.exit(main())
