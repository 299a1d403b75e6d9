"""Uses the scripted editor of the workspace's tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "workspace"))
