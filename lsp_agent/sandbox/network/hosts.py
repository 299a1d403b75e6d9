"""Which hosts and addresses may be reached, by what the person named."""

import ipaddress
import re
from collections.abc import Iterable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_LONGEST = 253
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
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
    for each in named:
        wild = each.startswith("*.")
        found = plain(each.removeprefix("*."))
        if found is None:
            continue
        if host.endswith(f".{found}") if wild else host == found:
            return True
    return False


def may_be_reached(address: Address, named: Iterable[str]) -> bool:
    """Whether a name that is allowed may lead there: to this machine, a private network or a group
    only where that very address is named."""
    wrapped = any(address in network for network in _WRAPPED)
    public = address.is_global and not address.is_multicast and not wrapped
    return public or is_named(str(address), named)
