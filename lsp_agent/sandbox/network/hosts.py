"""Which hosts and addresses may be reached, by what the person named."""

import ipaddress
import re
from collections.abc import Iterable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_LONGEST = 253
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
#: Of a host that is named without one.
PORTS = (80, 443)
_WITH_PORT = re.compile(r"([^:]+):([0-9]{1,5})")
#: In these lies another address, which a gateway would lead to.
_WRAPPED = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("2002::/16"))


def plain(host: str) -> str | None:
    """``host`` as it is compared: in small letters and without the root's dot; None where it is
    neither a name nor an address."""
    host = host.lower().removesuffix(".")
    if address := address_of(host):
        return str(address)
    return host if len(host) <= _LONGEST and _NAME.fullmatch(host) else None


def address_of(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def is_named(host: str, named: Iterable[str]) -> bool:
    """``host`` is plain. ``*.`` stands for one or more names before what follows it."""
    return any(_means(name_of(each), host) for each in named)


def is_open(host: str, port: int, named: Iterable[str]) -> bool:
    """Whether it is named, and for that port."""
    return any(
        _means(name_of(each), host) and port in ((own,) if (own := _port_of(each)) else PORTS)
        for each in named
    )


def may_be_reached(address: Address, port: int, named: Iterable[str]) -> bool:
    """Whether a name that is allowed may lead there: to this machine, a private network or a group
    only where that very address is named."""
    wrapped = any(address in network for network in _WRAPPED)
    public = address.is_global and not address.is_multicast and not wrapped
    return public or is_open(str(address), port, named)


def name_of(named: str) -> str:
    """Without a port."""
    found = _WITH_PORT.fullmatch(named)
    return found[1] if found else named


def _port_of(named: str) -> int | None:
    found = _WITH_PORT.fullmatch(named)
    return int(found[2]) if found else None


def _means(named: str, host: str) -> bool:
    found = plain(named.removeprefix("*."))
    if found is None:
        return False
    return host.endswith(f".{found}") if named.startswith("*.") else host == found
