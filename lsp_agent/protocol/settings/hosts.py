"""How the settings name a host: by a name, by all below one (``*.gnu.org``), by an address; with a
port (``127.0.0.1:8080``), at that alone."""

from typing import Annotated

from pydantic import StringConstraints

_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?"

Host = Annotated[
    str,
    StringConstraints(
        max_length=259,
        pattern=rf"^(?:(?:\*\.)?{_LABEL}(?:\.{_LABEL})*(?::[0-9]{{1,5}})?|[0-9A-Fa-f:]+:[0-9A-Fa-f:.]*)$",
    ),
]
