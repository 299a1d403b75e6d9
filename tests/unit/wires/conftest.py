"""Conversations with Meerkat's wire, past the handshake."""

import pytest
from meerkat_talk import Talk


@pytest.fixture
def talk() -> Talk:
    """Of today's wire."""
    made = Talk()
    made.hello()
    return made


@pytest.fixture
def old() -> Talk:
    """Of the wire as it was first published."""
    made = Talk(seed=True)
    made.hello()
    return made
