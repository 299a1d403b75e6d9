"""Finds on this machine what a held command may not write and not see."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lsp_agent.protocol.settings.files import WORKSPACE_FILE
from lsp_agent.sandbox.hold import Hold, Place, Store, Way

#: In a workspace folder: what a program of the person's obeys later, without being asked. All of
#: ``.git``: one whose ``hooks`` alone were held could be renamed and another put in its place.
_OBEYED = (
    ".git",
    ".vscode",
    ".idea",
    ".helix",
    ".zed",
    ".cursor",
    ".claude",
    ".codex",
    ".gemini",
    ".opencode",
    ".pi",
    ".qwen",
    ".zot",
    ".mcp.json",
    "opencode.json",
    "opencode.jsonc",
    WORKSPACE_FILE,
    ".dir-locals.el",
    ".dir-locals-2.el",
    ".envrc",
    ".exrc",
    ".vimrc",
    ".gvimrc",
    ".vim",
    ".nvim.lua",
    ".nvimrc",
    ".kateproject",
)
#: In git's own folder: what it runs and obeys, and other repositories' folders; ``hooks`` also
#: where there are none yet.
_OBEYED_IN_STORE = ("config", "config.worktree", "info", "modules", "worktrees")
#: In the home folder: keys, and what opens a door (a daemon's or an agent's socket).
_SECRETS = (
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".docker",
    ".password-store",
    ".1password",
    ".netrc",
    ".pgpass",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".mozilla",
    ".thunderbird",
    ".Xauthority",
    ".ICEauthority",
    ".vault-token",
    ".terraform.d/credentials.tfrc.json",
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".qwen/oauth_creds.json",
    ".pi/agent/auth.json",
    ".local/share/opencode/auth.json",
    ".config/github-copilot",
    ".m2/settings.xml",
    ".cargo/credentials.toml",
    ".cache/huggingface/token",
    ".config/containers/auth.json",
    ".config/rclone",
    ".config/sops",
    ".config/lsp-agent",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".local/share/keyrings",
    ".local/share/kwalletd",
)


def find(
    folders: Sequence[str],
    *,
    home: str,
    runtime: str,
    read_only: Iterable[str] = (),
    hidden: Iterable[str] = (),
    network: bool = False,
    way: Way | None = None,
) -> Hold:
    """``runtime`` is the folder of the person's sockets, or ""; of ``read_only`` what lies outside
    of the folders is held as all else there, and ``~`` in ``hidden`` is ``home``."""
    roots = tuple(dict.fromkeys(map(os.path.realpath, folders)))
    obeyed = [str(Path(root, name)) for root in roots for name in _OBEYED]
    secrets = [str(Path(home, name)) for name in _SECRETS]
    named = [_at_home(path, home) for path in hidden]
    return Hold(
        folders=roots,
        read_only=tuple(_inside([*obeyed, *_existing(read_only)], roots)),
        hidden=tuple(_places(_existing([*secrets, *named, *filter(None, [runtime])]))),
        network=network,
        way=way,
    )


def for_agent(hold: Hold, own: Iterable[str], way: Way | None = None) -> Hold:
    """For a whole agent: with its own files and folders, and the network, which leads to its model;
    with a ``way`` that alone.
    What is not there yet is let be, since it would be there, empty, as long as the agent runs."""
    places = tuple(place.path for place in _places(own) if place.kind != "missing")
    return Hold(
        folders=(*hold.folders, *places),
        read_only=tuple(place for place in hold.read_only if place.kind != "missing"),
        hidden=tuple(
            place
            for place in hold.hidden
            if not any(Path(place.path).is_relative_to(path) for path in places)
        ),
        network=way is None,
        way=way,
    )


def for_store(hold: Hold, path: str) -> Hold:
    """For what git alone keeps in its folder ``path``, of one of the folders."""
    obeyed = _existing(str(Path(path, name)) for name in _OBEYED_IN_STORE)
    spared = tuple(_places([*obeyed, str(Path(path, "hooks"))]))
    return replace(hold, read_only=(), network=False, way=None, store=Store(path, spared))


def _at_home(path: str, home: str) -> str:
    return str(Path(home, path[2:])) if path.startswith("~/") else path


def _existing(paths: Iterable[str]) -> Iterator[str]:
    """What is not there outside of the folders cannot be made either."""
    return (path for path in paths if os.path.lexists(path))


def _inside(paths: Iterable[str], roots: Sequence[str]) -> Iterator[Place]:
    for place in _places(paths):
        if any(Path(root) in Path(place.path).parents for root in roots):
            yield place


def _places(paths: Iterable[str]) -> Iterator[Place]:
    for path in dict.fromkeys(map(os.path.realpath, paths)):
        here = Path(path)
        yield Place(
            path, "folder" if here.is_dir() else "file" if os.path.lexists(here) else "missing"
        )
