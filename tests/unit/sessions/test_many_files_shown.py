"""Of many files that an agent knows, some are looked at with each call, and each of them soon."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.mirror_bench import MirrorBench

from lsp_agent.sessions.files.shown_to_agent import ShownToAgent
from lsp_agent.text.lines import Text

#: With so many, one of them was looked at with every 33rd call once.
MANY = 65
#: Those that the agent met last, and as many of the others, are looked at with each call.
AT_ONCE = 64


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[MirrorBench]:
    bench = MirrorBench(tmp_path)
    yield bench
    bench.close()


def shown(bench: MirrorBench, count: int) -> tuple[ShownToAgent, list[Path]]:
    """Each of so many files, in the order in which the agent has read them."""
    services = SimpleNamespace(ledger=bench.ledger, host=bench.host, documents=bench.documents)
    agent = ShownToAgent(cast(Any, services), "s1")
    files = [bench.root / f"f{number}.txt" for number in range(count)]
    for file in files:
        file.write_text("one\n")
        agent.read(str(file), Text.of("one\n"))
    return agent, files


@pytest.mark.asyncio
@pytest.mark.parametrize("number", [0, 1, 31, 32, 64])
async def test_whichever_of_many_changes_is_told_with_one_of_the_next_two_calls(
    bench: MirrorBench, number: int
) -> None:
    agent, files = shown(bench, MANY)
    for _ in range(5):
        assert await agent.changes("a.py") == ""
        files[number].write_text("two\n")
        notes = [await agent.changes("a.py") for _ in range(2)]
        told = "".join(notes)
        assert told.count(f"{files[number]} changed since you last saw it") == 1
        assert "+two" in told
        assert await agent.changes("a.py") == ""
        files[number].write_text("one\n")
        assert "+one" in "".join([await agent.changes("a.py") for _ in range(2)])


@pytest.mark.asyncio
async def test_no_call_looks_at_more_of_them_than_at_the_first_ones(
    bench: MirrorBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, files = shown(bench, 500)
    looked: list[int] = []
    stamps = agent._stamps  # pyright: ignore[reportPrivateUsage]

    async def counted(paths: Any) -> Any:
        looked.append(len(paths))
        return await stamps(paths)

    monkeypatch.setattr(agent, "_stamps", counted)
    for file in files:
        file.write_text("two\n")
    told = "".join([await agent.changes("a.py") for _ in range(-(-500 // 32))])
    assert max(looked) == AT_ONCE
    assert all(told.count(f"{file} changed since") == 1 for file in files)
