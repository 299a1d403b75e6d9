"""What is needed of a connection to talk to its client; ``Face`` is one."""

from typing import Any, Protocol


class Connection(Protocol):
    """``Face``'s own methods of these names say more."""

    @property
    def behind(self) -> bool: ...

    def notify(self, method: str, params: object) -> None: ...

    async def ask(self, method: str, params: object, timeout: float | None) -> Any: ...

    async def drain(self) -> None: ...
