"""Which hosts and addresses are meant by what a person named."""

import ipaddress

import pytest

from lsp_agent.sandbox.network.hosts import is_named, is_open, may_be_reached, plain

NAMED = ["Python.org", "*.gnu.org", "10.0.0.5", "::1"]


@pytest.mark.parametrize(
    "host",
    [
        "python.org",
        "PYTHON.ORG",
        "python.org.",
        "registry.gnu.org",
        "a.b.gnu.org",
        "10.0.0.5",
        "::1",
    ],
)
def test_it_is_named_in_any_spelling(host: str) -> None:
    assert is_named(plain(host) or "", NAMED)


@pytest.mark.parametrize(
    "host",
    [
        *(
            "evil-python.org",
            "python.org.evil.com",
            "www.python.org",
            "python.orgs",
            "org",
            "python",
        ),
        *(
            "gnu.org",
            "evilgnu.org",
            "gnu.org.evil.com",
            "10.0.0.50",
            "::2",
            "localhost",
        ),
        *(
            "python.org..",
            ".gnu.org",
            "python.org\0",
            "*.gnu.org",
            "python.org@evil.com",
            "python_org",
        ),
        *("рython.org", "python.org evil.com", "python.org%2eevil.com", "python.org:80", ""),
    ],
)
def test_nothing_else_is(host: str) -> None:
    assert not is_named(plain(host) or "", NAMED)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
        *("100.64.0.1", "224.0.0.1", "255.255.255.255", "::", "fe80::1", "fc00::1", "ff02::1"),
        *("::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:0a00:0001::1"),
    ],
)
def test_no_name_leads_to_this_machine_or_a_private_network(address: str) -> None:
    assert not may_be_reached(ipaddress.ip_address(address), 443, ["*.example.org", "10.0.0.5"])


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "10.0.0.5", "::1"])
def test_one_leads_to_a_public_address_or_a_named_one(address: str) -> None:
    assert may_be_reached(ipaddress.ip_address(address), 80, NAMED)


@pytest.mark.parametrize(
    ("host", "port", "opened"),
    [
        ("127.0.0.1", 8080, True),
        ("127.0.0.1", 443, False),
        ("model.gnu.org", 8443, True),
        ("model.gnu.org", 443, False),
        ("python.org", 443, True),
        ("python.org", 8080, False),
        ("other.org", 443, False),
    ],
)
def test_a_host_is_open_at_the_port_that_it_is_named_with_or_at_the_webs(
    host: str, port: int, opened: bool
) -> None:
    assert is_open(host, port, ["python.org", "127.0.0.1:8080", "*.gnu.org:8443"]) is opened


def test_an_address_that_is_named_with_a_port_is_not_led_to_at_another_one() -> None:
    address = ipaddress.ip_address("127.0.0.1")
    assert may_be_reached(address, 8080, ["127.0.0.1:8080", "python.org"])
    assert not may_be_reached(address, 443, ["127.0.0.1:8080", "python.org"])
