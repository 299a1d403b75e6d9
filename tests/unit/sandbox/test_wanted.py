"""What a sandbox kept from a command, by the command's own words."""

import pytest

from lsp_agent.sandbox.wanted import refused

HIDDEN = ["/home/me/.ssh"]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("sh: 1: cannot create /etc/x: Read-only file system", "it may not write there"),
        ("fatal: Unable to create '/w/.git/index.lock': Read-only file system", "it may not write"),
        (
            "fatal: cannot lock ref 'refs/heads/fix/x': unable to create directory for"
            " .git/refs/heads/fix/x",
            "it may not write",
        ),
        ("npm error code EROFS", "it may not write there"),
        ("curl: (6) Could not resolve host: example.org", "it has no network"),
        ("ping: connect: Network is unreachable", "it has no network"),
        ("Error: getaddrinfo EAI_AGAIN registry.example.org", "it has no network"),
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution", "it has no network"),
        ("cat: /home/me/.ssh/id_rsa: No such file or directory", "it does not see that place"),
    ],
)
def test_it_is_told_by_the_last_line_that_says_so(said: str, reason: str) -> None:
    found = refused(f"begun\n{said}\n1 failed\n", HIDDEN, by_rights=False)
    assert found is not None
    assert found[0].startswith(reason)
    assert found[1] == said


@pytest.mark.parametrize(
    "said",
    [
        *("", "1 failed, 3 passed", "sh: ./run: Permission denied"),
        "cat: a: No such file or directory",
        "fatal: cannot lock ref 'refs/heads/fix/x': 'refs/heads/fix' exists; cannot create"
        " 'refs/heads/fix/x'",
    ],
)
def test_a_failure_of_its_own_is_none_of_the_sandboxs(said: str) -> None:
    assert refused(said, HIDDEN, by_rights=False) is None


def test_a_missing_right_is_the_sandboxs_where_it_holds_by_rights() -> None:
    found = refused("sh: 1: cannot create /etc/x: Permission denied", HIDDEN, by_rights=True)
    assert found is not None
    assert found[0] == "it may not do that"
