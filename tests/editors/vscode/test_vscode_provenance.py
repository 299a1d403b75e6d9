"""The person and the agents of ``tests/system/provenance`` at VS Code's workbench with the
extension: the same steps, the same oracle, and the workbench's own undo.

STORM_SEED=4711 pytest tests/editors/vscode/test_vscode_provenance.py -m slow -k one_seed -s

repeats one run, and shrinks it if it goes wrong. LSP_AGENT_LONG=1 makes a batch of a
thousand edits.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from provenance.hands import RealDesk, batch, one_seed
from provenance.hub import Json
from support.sizes import size
from vscode_hands import VSCodeHands
from vscode_product import ProductWorkbench, build

pytestmark = [
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.timeout(size(1200, 3600)),
    pytest.mark.xdist_group("vscode"),
]

#: Edits of the batch, the agents' and the person's: each costs several of a Neovim's.
EDITS = size(100, 1000)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealDesk]:
    base = tmp_path_factory.mktemp("workbench")
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(base))

        def launch(desk: RealDesk, program: Path, settings: Json) -> VSCodeHands:
            own = {"server.path": str(program)} | settings
            machine = {f"lspAgent.{name}": value for name, value in own.items()}
            path = os.environ["PATH"]
            workbench = ProductWorkbench(base, desk.folder, build(), machine, path, trusts_all=True)
            return VSCodeHands(stack.enter_context(workbench))

        desk = RealDesk(launch)
        stack.callback(desk.close)
        yield desk


def test_no_word_is_lost_in_a_hundred_edits(desk: RealDesk) -> None:
    batch(desk, EDITS)


def test_one_seed(desk: RealDesk) -> None:
    one_seed(desk)
