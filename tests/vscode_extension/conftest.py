"""VS Code's workbench with the extension from its .vsix."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "editors"))  # workbench, vscode_desk
