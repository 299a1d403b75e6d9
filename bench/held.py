"""What a hold adds to a command: from the start of its shell to its end."""

import subprocess
import time
from collections.abc import Callable, Sequence

from bench.measure import Limit, Row, in_turns
from bench.setting import Setting
from lsp_agent.sandbox import bubblewrap, landlock
from lsp_agent.sandbox.held_script import held_script
from lsp_agent.sandbox.hold import CannotHold, Holder
from lsp_agent.sandbox.places import find
from lsp_agent.sandbox.starting import unset

_PLAIN = ("/bin/sh", "-c", "true")


def held_by_bubblewrap(setting: Setting) -> Row | None:
    return _measured(setting, "held_by_bubblewrap", bubblewrap.working)


def held_by_landlock(setting: Setting) -> Row | None:
    return _measured(setting, "held_by_landlock", landlock.working)


def _measured(setting: Setting, name: str, working: Callable[[], Holder]) -> Row | None:
    try:
        holder = working()
    except CannotHold:
        return None
    hold = find([str(setting.folder)], home=str(setting.home), runtime="")
    words = holder.words(hold, str(setting.folder))
    script = setting.home / name
    script.write_text(
        held_script(words, holder.mount_points(hold), "true", "false", None, unset(hold))
    )

    def run(command: Sequence[str]) -> float:
        begun = time.perf_counter()
        subprocess.run(command, env=setting.env, check=True)
        return 1000 * (time.perf_counter() - begun)

    held = ("/bin/sh", str(script), "/bin/sh")
    run(held)  # what is compiled once does not count
    floor, ours = in_turns(setting.sizes.commands, lambda: run(_PLAIN), lambda: run(held))
    what = f"a command held by {holder.name}, to plain"
    return Row(name, what, "ms", floor, ours, Limit(added=15))
