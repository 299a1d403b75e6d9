"""Where sessions are opened: in a workspace folder, or in a folder that lies in one."""

import os
from collections.abc import Sequence

from lsp_agent.protocol.errors import BadParams, RequestFailed
from lsp_agent.workspace.disk.paths import is_os_text, shown_path


def holding(folders: Sequence[str], path: str | None) -> str:
    """The innermost one that holds ``path``, else the first. :raises RequestFailed: "noFolder\""""
    if not folders:
        raise RequestFailed(
            "noFolder",
            "No folder is open; open one in the editor (or where it goes by markers, put a "
            ".lsp-agent.toml into one) and try again.",
        )
    found = [folder for folder in folders if path and _holds(folder, path)]
    return max(found, key=len) if found else folders[0]


def inside(folders: Sequence[str], folder: str) -> str:
    """The real path of ``folder``, so that no link leads out of the workspace.

    :raises RequestFailed: "outsideWorkspace"
    :raises BadParams: for what is no folder
    """
    if not is_os_text(folder):
        raise BadParams("cwd", f"{shown_path(folder)} is no path")
    path = os.path.realpath(folder)
    if not any(_holds(root, path) for root in folders):
        raise RequestFailed(
            "outsideWorkspace", f"{folder} is in none of the open folders.", {"cwd": folder}
        )
    if not os.path.isdir(path):  # noqa: PTH112 - paths are strings here
        raise BadParams("cwd", f"{folder} is no folder")
    return path


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
