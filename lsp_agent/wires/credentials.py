"""What is secret of an agent's environment and of its configuration, by its name."""

from collections.abc import Iterable, Mapping
from typing import cast

from lsp_agent.protocol.providers import MODEL_KEYS
from lsp_agent.toolset.covering import is_secret_name

#: Levels of a configuration that are looked into.
_DEEPEST = 32


def credentials(own: Iterable[str], *more: str) -> tuple[str, ...]:
    """Those of the agent's ``own`` variables that are called so, ``more``, and all that hold a
    provider's key."""
    named = [name for name in own if is_secret_name(name)]
    return tuple(dict.fromkeys((*named, *MODEL_KEYS, *more)))


def without_secrets(configuration: object, depth: int = 0) -> object:
    """Decoded JSON with "…" for each value that is called as a secret is, or lies too deep."""
    if depth > _DEEPEST:
        return "…"
    if isinstance(configuration, Mapping):
        table = cast(Mapping[str, object], configuration)
        return {
            name: "…" if is_secret_name(name) else without_secrets(value, depth + 1)
            for name, value in table.items()
        }
    if isinstance(configuration, list):
        return [without_secrets(item, depth + 1) for item in cast(list[object], configuration)]
    return configuration
