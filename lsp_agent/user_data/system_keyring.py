"""The library that opens the system's keyring."""

import sys
from types import ModuleType


def system_keyring() -> ModuleType:
    """``keyring``, with its errors; it looks for the system's services as it is imported."""
    if sys.platform != "darwin":
        # Its part for macOS asks the C compiler three times where Apple's libraries lie. What is
        # None here cannot be imported (typeshed does not know of that); keyring does without.
        sys.modules.setdefault("keyring.backends.macOS.api", None)  # type: ignore[arg-type]
    import keyring  # noqa: PLC0415

    return keyring
