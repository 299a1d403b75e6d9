"""The real server, whose imports after the first answer wait until a file is there:
``held_server.py FILE``. It says ``held`` on stderr when they begin."""

import sys
import time
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

from lsp_agent.cli.main import main

FILE = Path(sys.argv[1])
REST = "lsp_agent.server.client.client_connection"


class Hold(MetaPathFinder):
    def find_spec(self, fullname: str, *_: Any) -> None:
        if fullname == REST:
            print("held", file=sys.stderr, flush=True)
            while not FILE.exists():
                time.sleep(0.01)


if __name__ == "__main__":
    sys.meta_path.insert(0, Hold())
    sys.exit(main(["serve"]))
