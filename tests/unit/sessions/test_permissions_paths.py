"""Which paths a pattern of the settings covers."""

from pathlib import Path

import pytest

from lsp_agent.sessions.permissions.path_patterns import allowed_by, places_of


def covers(globs: list[str], path: str, real: str | None = None) -> bool:
    """From ``/w``; ``real`` is where links lead, from there too."""
    places = places_of(path, "/w", str(Path("/w", real or path)))
    return allowed_by(globs, places)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*", "a"),
        ("docs/*", "docs/a/b"),
        ("./docs/*", "docs/a"),
        ("docs/*", "/w/docs/a"),
        ("/w/docs/*", "docs/a"),
        ("docs/[id].tsx", "docs/[id].tsx"),
        ("docs/*", "docs/(group); x"),
        ("../other/*", "../other/x"),
    ],
)
def test_a_pattern_covers(glob: str, path: str) -> None:
    assert covers([glob], path, real=str(Path("/w", path)).replace("/w/../", "/"))


@pytest.mark.parametrize(
    ("glob", "path", "real"),
    [
        ("docs/*", "docs", None),
        ("docs/*", "docs/../a", "a"),
        ("docs/*", "docs/link", "private/a"),
        ("docs/*", "link", "docs/a"),
        ("*w/*", "private/a", None),  # the folder's own name is no part of it
        ("/other/*", "a", None),
    ],
)
def test_a_pattern_does_not_cover(glob: str, path: str, real: str | None) -> None:
    assert not covers([glob], path, real)


def test_two_patterns_may_cover_a_path_and_where_it_leads() -> None:
    assert covers(["docs/*", "shared/*"], "docs/link", "shared/a")


def test_a_path_without_a_place_is_not_covered() -> None:
    assert not allowed_by(["*"], [])
