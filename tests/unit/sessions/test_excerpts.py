"""The fences around what goes with a prompt."""

import pytest

from lsp_agent.sessions.stored.excerpts import Excerpt, prompt_with_context


@pytest.mark.parametrize(("inside", "fence"), [("no", 3), ("``", 3), ("```", 4), ("`` `````", 6)])
def test_a_fence_is_longer_than_any_inside(inside: str, fence: int) -> None:
    lines = prompt_with_context("Look.", [Excerpt("a.md", f"{inside}\n")]).splitlines()
    assert lines[-3:] == ["`" * fence, inside, "`" * fence]
