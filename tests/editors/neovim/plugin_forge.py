"""The repository as a forge has it, from which managers install the branch ``neovim``."""

import os
import subprocess

#: What a person writes into their init.lua; %s is the clone.
VIM_PACK = """
vim.pack.add({ { src = "file://%s", version = "neovim" } }, { confirm = false })
require("lsp_agent").setup()
"""


def git_env() -> dict[str, str]:
    names = {
        f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    return {**os.environ, **names, "GIT_CONFIG_GLOBAL": os.devnull}


def git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], env=git_env(), check=True, capture_output=True, text=True
    )
    return done.stdout
