"""What is needed of a connection to talk to its client; ``ClientConnection`` is one."""

from collections.abc import Hashable
from typing import Any, Protocol


class Connection(Protocol):
    """``ClientConnection``'s own methods of these names say more."""

    def notify(self, method: str, params: object) -> None: ...

    def notify_newest(self, method: str, params: object, of: Hashable) -> None: ...

    async def ask(self, method: str, params: object, timeout: float | None) -> Any: ...
