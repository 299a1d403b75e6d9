"""How the settings name a host: by a name, by all below one (``*.gnu.org``), by an address."""

from typing import Annotated

from pydantic import StringConstraints

_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?"

Host = Annotated[
    str,
    StringConstraints(
        max_length=253,
        pattern=rf"^(?:(?:\*\.)?{_LABEL}(?:\.{_LABEL})*|[0-9A-Fa-f:]+:[0-9A-Fa-f:.]*)$",
    ),
]
