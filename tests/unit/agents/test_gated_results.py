"""What the embedded agent tells of a command that a gate held, and of one that says it was held."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from agents.hosting import Call, Host, allow, bash, deny, embedded, gate
from lsp_agent.toolset.calls import Allow, Block, ToolRequest, Verdict

NEVER_RAN = "\n[not run]"
RAN = "\n[exit 126]  Took "
#: Of the shell's own first environment, which nothing can unset.
PIPE = r"$(tr '\0' '\n' < /proc/$$/environ | sed -n s/^LSP_AGENT_GATE=//p)"


async def gated_alone(request: ToolRequest) -> Verdict:
    return await (gate if "gated" in str(request.args) else allow)(request)


async def decide(request: ToolRequest) -> Allow | Block:
    return await (deny if "denied" in str(request.args) else allow)(request)


async def results(cwd: Path, *calls: Call) -> Sequence[str]:
    """Whether a command is gated, and denied there, is in its words."""
    async with embedded(Host(gated_alone, decide), cwd, calls) as agent:
        return [result.text for result in await agent.turn()]


@pytest.mark.asyncio
async def test_a_command_that_its_gate_denies_never_ran(tmp_path: Path):
    (result,) = await results(tmp_path, bash("touch ran # gated, denied"))
    assert result.endswith(NEVER_RAN)
    assert not (tmp_path / "ran").exists()


@pytest.mark.asyncio
async def test_a_command_without_a_gate_cannot_say_that_it_never_ran(tmp_path: Path):
    command = f"touch ran; echo deny > $LSP_AGENT_GATE; echo deny > {PIPE}; exit 126"
    (result,) = await results(tmp_path, bash(command))
    assert RAN in result
    assert (tmp_path / "ran").exists()


@pytest.mark.asyncio
async def test_a_command_behind_a_gate_cannot_say_that_it_never_ran(tmp_path: Path):
    (result,) = await results(tmp_path, bash(f"echo deny > {PIPE}; exit 126 # gated"))
    assert RAN in result


@pytest.mark.asyncio
async def test_a_command_sees_no_pipe_of_its_gate(tmp_path: Path):
    see = 'echo "[$LSP_AGENT_GATE]"; ls /proc/$$/fd; env | grep LSP_AGENT_GATE'
    behind, without = await results(tmp_path, bash(f"{see} # gated"), bash(see))
    seen = [text.partition("\n\n")[2].partition("\n\n")[0] for text in (behind, without)]
    assert seen[0].startswith("[]\n")
    assert seen[0] == seen[1]


@pytest.mark.asyncio
async def test_where_the_gate_finds_no_pipe_the_exit_code_is_told(tmp_path: Path):
    async with embedded(Host(gate, deny), tmp_path, [bash("echo ran")]) as agent:
        folder = Path(agent.bridge.folder).parent
        real = (folder / "gate").rename(folder / "real")
        script = f'#!/bin/sh\nrm -f "$LSP_AGENT_GATE"\nexec {real} "$@"\n'
        (folder / "gate").write_text(script, encoding="utf-8")
        (folder / "gate").chmod(0o700)
        (result,) = await agent.turn()
    assert RAN in result.text


@pytest.mark.asyncio
async def test_a_gate_has_its_pipe_although_the_temporary_folder_was_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    denied = bash("echo ran # gated, denied")
    calls = [denied, bash(f"rm -rf {temporary}/lsp-agent-[go]*"), denied]
    before, emptied, after = await results(tmp_path, *calls)
    assert "[exit 0]" in emptied
    assert [text.endswith(NEVER_RAN) for text in (before, after)] == [True, True]
