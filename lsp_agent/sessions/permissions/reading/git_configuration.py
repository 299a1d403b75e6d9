"""A repository's own configuration, as far as it decides what a git that reads does.

A filter, an external diff, another configuration that is included, a work tree elsewhere, a server
that missing objects are fetched from: all are named there. Only what is known to do none of it is
let through; the rest of git's settings are a person's own, which we trust as they do.
"""

import re
from collections.abc import Mapping

from lsp_agent.sessions.permissions.reading.catalogue import word_set

#: Of each section the settings that change nothing of what is read; by :mod:`git_environment`
#: a monitor and hooks are none either.
_PLAIN: Mapping[str, frozenset[str]] = {
    "core": word_set(
        "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode"
        " symlinks autocrlf eol safecrlf longpaths untrackedcache quotepath abbrev fscache"
        " fsmonitor hookspath compression commitgraph preloadindex sharedrepository editor"
    ),
    "remote": word_set("url pushurl fetch push tagopt prune mirror gh-resolved"),
    "branch": word_set(
        "remote merge rebase pushremote description autosetuprebase autosetupmerge"
        " vscode-merge-base gh-merge-base github-pr-owner-number"
    ),
    "user": word_set("name email signingkey useconfigonly"),
    "commit": word_set("gpgsign template verbose"),
    "pull": word_set("rebase ff"),
    "push": word_set("default autosetupremote followtags"),
    "fetch": word_set("prune prunetags"),
    "init": word_set("defaultbranch"),
    "gc": word_set("auto autodetach"),
    "maintenance": word_set("auto strategy"),
    "extensions": word_set("worktreeconfig objectformat"),
    "lfs": word_set("repositoryformatversion"),
}
_SECTION = re.compile(r'\[([A-Za-z]+)(?:[ \t]+"[^"\\]*")?\]')
_SETTING = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[^\\]*)?")


def is_plain(text: str) -> bool:
    section: frozenset[str] = frozenset()
    for row in text.split("\n"):
        line = row.strip(" \t\r")
        if not line or line[0] in "#;":
            continue
        if begun := _SECTION.fullmatch(line):
            section = _PLAIN.get(begun[1].lower(), frozenset())
        else:
            setting = _SETTING.fullmatch(line)
            if setting is None or setting[1].lower() not in section:
                return False
    return True
