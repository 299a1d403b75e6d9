"""The person and the agents of ``tests/system/provenance`` at a real Neovim with the plugin: the
same steps, the same oracle, and Neovim's own undo.

STORM_SEED=4711 pytest tests/editors/neovim/test_plugin_provenance.py -k one_seed -s

repeats one run, and shrinks it if it goes wrong. LSP_AGENT_LONG=1 makes a batch of a
thousand edits.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from neovim_hands import NeovimHands
from plugin_desk import PluginDesk
from provenance.hands import RealDesk, batch, one_seed
from support import neovim_versions
from support.neovim_desk import seated
from support.sizes import size

pytestmark = [
    pytest.mark.neovim,
    pytest.mark.timeout(1200),
    # They wait more than they work: one after the other, beside others.
    pytest.mark.xdist_group("words in Neovim"),
]

#: Edits of a batch, the agents' and the person's.
EDITS = size(250, 1000)
QUICK = 40


@pytest.fixture(params=neovim_versions.parameters())
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RealDesk]:
    version = neovim_versions.found()[request.param]
    with seated(PluginDesk, version, tmp_path) as plugin:

        def launch(desk: RealDesk, program: Path, settings: dict[str, object]) -> NeovimHands:
            hands = NeovimHands(plugin)
            plugin.setup(cmd=[str(program), "serve"], settings=settings)
            (desk.folder / "first.txt").write_text("Begins the server.\n")
            plugin.nvim.command(f"edit {desk.folder / 'first.txt'}")
            return hands

        desk = RealDesk(launch)
        yield desk
        desk.close()


def test_no_word_is_lost_in_some_edits(desk: RealDesk) -> None:
    batch(desk, QUICK)


@pytest.mark.slow
def test_no_word_is_lost_in_hundreds_of_edits(desk: RealDesk) -> None:
    batch(desk, EDITS)


def test_one_seed(desk: RealDesk) -> None:
    one_seed(desk)
