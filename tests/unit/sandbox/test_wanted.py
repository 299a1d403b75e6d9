"""What a sandbox kept from a command, by the command's own words."""

import pytest

from lsp_agent.sandbox.wanted import refused

HOME = "/home/me"
HIDDEN = [f"{HOME}/{name}" for name in (".ssh", ".aws", ".config/gh", ".netrc")]


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
        ("E: Temporary failure resolving 'packages.example.org'", "it has no network"),
        ("java.net.UnknownHostException: repo.example.org", "it has no network"),
        ("dial tcp 127.0.0.1:5432: connect: connection refused", "it has no network"),
        ("Error: connect ECONNREFUSED 127.0.0.1:6379", "it has no network"),
        ("cat: /home/me/.ssh/id_rsa: No such file or directory", "it does not see that place"),
        ("cat: ~/.ssh/id_rsa: No such file or directory", "it does not see that place"),
        ("cat: .config/gh/hosts.yml: No such file or directory", "it does not see that place"),
        ("cat: /tmp/log.txt: No such file or directory", "it has a folder of its own there"),
        (
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is it running?",
            "it reaches no socket there",
        ),
        (
            'psql: error: connection to server on socket "/var/run/postgresql/.s.PGSQL.5432" failed'
            ": No such file or directory",
            "it reaches no socket there",
        ),
        ("Unable to locate credentials. You can configure them by aws login", "it does not see ~/"),
        ("To get started with GitHub CLI, please run:  gh auth login", "it does not see ~/.config"),
        ("git@example.org: Permission denied (publickey).", "it does not see ~/.ssh"),
    ],
)
def test_it_is_told_by_the_last_line_that_says_so(said: str, reason: str) -> None:
    found = refused(f"begun\n{said}\n1 failed\n", HIDDEN, HOME)
    assert found is not None
    assert found[0].startswith(reason)
    assert found[1] == said


@pytest.mark.parametrize(
    "said",
    [
        *("", "1 failed, 3 passed", "sh: ./run: Permission denied"),
        *("cat: a: No such file or directory", "cat: a.ssh/x: No such file or directory"),
        *("open src/.ssh.py: No such file or directory", "gpg: signing failed: No secret key"),
        "fatal: cannot lock ref 'refs/heads/fix/x': 'refs/heads/fix' exists; cannot create"
        " 'refs/heads/fix/x'",
    ],
)
def test_a_failure_of_its_own_is_none_of_the_sandboxs(said: str) -> None:
    assert refused(said, HIDDEN, HOME) is None


@pytest.mark.parametrize(
    "said", ["curl: (6) Could not resolve host: example.org", "connect: connection refused"]
)
def test_a_network_that_fails_though_it_was_let_through_is_none_of_the_sandboxs(said: str) -> None:
    assert refused(said, HIDDEN, HOME, network=True) is None


def test_a_missing_right_is_the_sandboxs_where_it_holds_by_rights() -> None:
    found = refused("sh: 1: cannot create /etc/x: Permission denied", HIDDEN, HOME, by_rights=True)
    assert found is not None
    assert found[0] == "it may not do that"


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("curl -sf https://example.org -o x", 6, "curl ended with 6"),
        ("cd /tmp && /usr/bin/curl -s localhost:1", 7, "curl ended with 7"),
        ("wget -q https://example.org", 4, "wget ended with 4"),
        ("curl -sf https://example.org", 22, None),
        ("python curls.py", 6, None),
    ],
)
def test_who_is_quiet_tells_by_its_exit_code(line: str, code: int, told: str | None) -> None:
    wanted = None if told is None else ("it has no network", told)
    assert refused("", HIDDEN, HOME, ended=(line, code)) == wanted
    assert refused("", HIDDEN, HOME, ended=(line, code), network=True) is None
