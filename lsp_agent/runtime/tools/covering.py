"""Covers the secrets in what a command says, as whoever started the agent wants it."""

import os
from collections.abc import Callable, Mapping

from lsp_agent.protocol.environment import COVER_VARIABLE
from lsp_agent.toolset.covering import cover
from lsp_agent.toolset.known_secrets import KnownSecrets


def covering_of(environment: Mapping[str, str]) -> Callable[[str], str]:
    """Blocking; any thread. What it is not told to cover stays."""
    key, *folders = environment.get(COVER_VARIABLE, "").split(os.pathsep)
    if not key:
        return str
    known = KnownSecrets(environment)
    return lambda text: cover(text, known.values(folders), key.encode()).text
