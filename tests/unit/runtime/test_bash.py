"""``bash``, through the agent."""

import re
import sys
from pathlib import Path

import pytest
from support.rpc_process import Frame, RpcProcess, call, recorded, result_texts


def run(cwd: Path, command: str, env: dict[str, str] | None = None, **more: object) -> list[Frame]:
    steps = [{"calls": [call("bash", command=command, **more)]}, {"text": "x"}]
    with RpcProcess(cwd, steps, env=env) as agent:
        return agent.prompt()


def output(frames: list[Frame]) -> str:
    (text,) = result_texts(frames)
    return text.partition("\n\n")[2].rpartition("\n\n[exit")[0]


def progress(frames: list[Frame]) -> list[str]:
    return [frame["text"] for frame in frames if frame["type"] == "tool_progress"]


def test_it_runs_in_the_folder_with_nothing_to_read(tmp_path: Path):
    assert output(run(tmp_path, "pwd; cat; echo end")) == f"{tmp_path}\nend"


def test_it_sees_no_token_and_no_key_and_all_else(tmp_path: Path):
    env = {"ZOTCORE_RPC_TOKEN": "", "ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "MINE": "yes"}
    frames = run(tmp_path, "env | grep -e API_KEY -e TOKEN= -e MINE", env)
    assert output(frames) == "MINE=yes"


def test_the_token_is_not_where_the_kernel_shows_the_agents_environment(tmp_path: Path):
    """Every command of the same user may read that."""
    token = "s3cret: é\udcff" * 50
    with RpcProcess(tmp_path, env={"ZOTCORE_RPC_TOKEN": token, "MINE": "yes"}) as agent:
        assert agent.ask("ping")["error"] == "auth required: send hello with token first"
        shown = Path(f"/proc/{agent.process.pid}/environ").read_bytes()
        assert b"MINE=yes" in shown.split(b"\0")
        assert b"s3cret" not in shown


def test_the_token_does_not_reach_a_command(tmp_path: Path):
    steps = [{"calls": [call("bash", command="echo [$ZOTCORE_RPC_TOKEN]")]}, {"text": "x"}]
    with RpcProcess(tmp_path, steps, env={"ZOTCORE_RPC_TOKEN": "s3cret"}) as agent:
        agent.ask("hello", token="s3cret")
        frames = agent.prompt()
    assert output(frames) == "[]"


@pytest.mark.parametrize(("command", "code"), [("exit 3", 3), ("kill -9 $$", -1), ("true", 0)])
def test_its_exit_code_is_told_and_anything_but_0_is_an_error(
    tmp_path: Path, command: str, code: int
):
    frames = run(tmp_path, command)
    assert result_texts(frames)[0].startswith(f"$ {command}\n\n[exit {code}]  Took ")
    assert [f["is_error"] for f in frames if f["type"] == "tool_result"] == [code != 0]


def test_a_time_out_is_the_recorded_one_and_is_called_so(tmp_path: Path):
    (text,) = result_texts(run(tmp_path, "sleep 5; echo no", timeout=1))
    note = "[ended: it took longer than 1 s]\n"
    assert note in text
    took = r"Took [\d.]+s"
    expected = re.sub(took, "", result_texts(recorded("bash_timeout"))[0])
    assert re.sub(took, "", text.replace(note, "")) == expected


def test_progress_comes_while_it_runs(tmp_path: Path):
    frames = run(tmp_path, "for i in 1 2 3; do echo line $i; sleep 0.15; done; echo err >&2")
    pieces = progress(frames)
    assert pieces[0] == "line 1\n"
    assert "".join(pieces) == "line 1\nline 2\nline 3\nerr\n"


def test_what_the_background_prints_at_once_is_not_lost(tmp_path: Path):
    assert output(run(tmp_path, "(sleep 0.02; echo late) & echo now")) == "now\nlate"


def test_progress_is_never_cut_inside_a_character(tmp_path: Path):
    code = "import sys; sys.stdout.write('é😀a' * 20000)"
    pieces = progress(run(tmp_path, f'{sys.executable} -c "{code}"'))
    assert "".join(pieces) == "é😀a" * 20000
    assert max(len(piece.encode()) for piece in pieces) <= 4096


def test_long_output_is_cut_and_kept_in_a_file(tmp_path: Path):
    command = "i=0; while [ $i -lt 9000 ]; do echo long line $i; i=$((i+1)); done"
    steps = [{"calls": [call("bash", command=command)]}, {"text": "x"}]
    with RpcProcess(tmp_path, steps) as agent:
        (text,) = result_texts(agent.prompt())
        found = re.search(r"\[exit 0\] \(full output: (.*)\)  Took", text)
        assert found
        kept = Path(found[1])
        assert kept.read_text().splitlines() == [f"long line {i}" for i in range(9000)]
        assert "long line 1999\n... [truncated at 2000 lines]\n" in text
        assert "... [truncated at 51200 bytes]\n... [its end:]\nlong line 8" in text
        assert "long line 8998\nlong line 8999\n\n[exit 0]" in text
        assert "long line 2000" not in text
        agent.close_stdin()
        agent.wait()
    assert not kept.exists()


def test_2000_short_lines_are_shown_whole(tmp_path: Path):
    text = result_texts(run(tmp_path, "yes | head -n 2000"))[0]
    assert "truncated" not in text
    assert text.count("\ny") == 2000


def test_2001_short_lines_are_cut_by_lines_alone(tmp_path: Path):
    text = result_texts(run(tmp_path, "yes | head -n 2000; echo the end"))[0]
    assert text.count("\ny") == 2000
    assert "truncated at 2000 lines]\n... [its end:]\nthe end\n\n[exit 0]" in text
    assert "bytes" not in text


def test_an_output_of_10_mb_is_shown_by_its_two_ends(tmp_path: Path):
    text = output(run(tmp_path, "yes $(seq 100) | head -c 10000000; echo; echo failed"))
    assert len(text) < 60_000
    assert text.endswith("\nfailed")


def test_output_that_is_no_text_has_replacement_characters(tmp_path: Path):
    assert output(run(tmp_path, r"printf 'a\377b\n'")) == "a\ufffdb"


def test_a_command_with_a_nul_is_refused(tmp_path: Path):
    assert "null byte" in result_texts(run(tmp_path, "a\0b"))[0]
