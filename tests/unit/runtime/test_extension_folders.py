"""Which extensions run: the person's own, and a repository's once that is trusted."""

import json
import os
from pathlib import Path

import pytest
from extension_kit import make_extension
from support.rpc_process import RpcProcess

from lsp_agent.user_data import extension_folders
from lsp_agent.user_data.extension_folders import (
    ExtensionProblem,
    Manifest,
    distrust,
    find,
    fingerprint,
    own_folder,
    trust,
    zot_folder,
)


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    own_folder().mkdir(parents=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / ".zot" / "extensions").mkdir(parents=True)
    return folder


def extension(parent: Path, name: str, **manifest: object) -> Path:
    """One that registers a slash command of its own name."""
    greeting = f'say(type="register_command", name="{name}")'
    return Path(make_extension(parent / name, greeting, name=name, **manifest))


def theirs(repository: Path, name: str, **manifest: object) -> Path:
    return extension(repository / ".zot" / "extensions", name, **manifest)


def found(repository: Path) -> list[str]:
    return [Manifest.read(each).name for each in find(str(repository), [own_folder()]).folders]


def problems(repository: Path) -> str:
    return "\n".join(find(str(repository), [own_folder()]).problems)


def test_the_persons_extensions_are_found(repository: Path):
    extension(own_folder(), "one")
    extension(own_folder(), "two", enabled=False)
    (own_folder() / "no-extension").mkdir()
    assert found(repository) == ["one"]


def test_a_folder_that_cannot_be_looked_into_has_none(repository: Path):
    too_long = repository / ("n" * 300)
    assert find(str(repository), [too_long]).folders == ()
    assert find(str(too_long), [too_long]).folders == ()


def test_a_repositorys_extensions_wait_for_trust(repository: Path):
    theirs(repository, "theirs")
    assert found(repository) == []
    assert f"lsp-agent ext trust {repository}" in problems(repository)
    trust(str(repository))
    assert (found(repository), problems(repository)) == (["theirs"], "")
    assert distrust(str(repository))
    assert found(repository) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "helper.py").write_text("import os"),
        lambda folder: (folder / "new.py").write_text(""),
        lambda folder: (folder / "helper.py").unlink(),
        lambda folder: (folder / "helper.py").chmod(0o755),
        lambda folder: (folder / "helper.py").rename(folder / "other.py"),
        lambda folder: (folder / "link").symlink_to("helper.py"),
        lambda folder: (folder / "link").symlink_to("/etc/passwd"),
        lambda folder: make_extension(folder.parent / "second"),
    ],
    ids=["edit", "add", "delete", "mode", "rename", "link", "link out", "another extension"],
)
def test_trust_ends_with_any_change(repository: Path, change):
    folder = theirs(repository, "theirs")
    trust(str(repository))
    change(folder)
    assert found(repository) == []
    assert "not run" in problems(repository)


def test_trust_is_for_one_repository(repository: Path, tmp_path: Path):
    theirs(repository, "theirs")
    trust(str(repository))
    copy = tmp_path / "copy"
    repository.rename(copy)
    assert found(copy) == []


@pytest.mark.parametrize("record", ["", "[]", "{", '{"x": 1}', "\udcff"])
def test_a_record_that_cannot_be_read_trusts_nothing(repository: Path, record: str):
    theirs(repository, "theirs")
    trust(str(repository))
    path = own_folder().parent / "trusted-extensions.json"
    assert json.loads(path.read_text()).keys() == {str(repository)}
    path.write_bytes(record.encode(errors="surrogateescape"))
    assert found(repository) == []


def test_what_lies_elsewhere_cannot_be_trusted(repository: Path, tmp_path: Path):
    theirs(repository, "theirs")
    elsewhere = tmp_path / "elsewhere"
    (repository / ".zot").rename(elsewhere)
    (repository / ".zot").symlink_to(elsewhere)
    with pytest.raises(ExtensionProblem, match="symbolic link"):
        trust(str(repository))


def test_a_pipe_is_refused_without_waiting_for_it(repository: Path):
    os.mkfifo(theirs(repository, "theirs") / "pipe")
    with pytest.raises(ExtensionProblem, match="no regular file"):
        trust(str(repository))


def test_what_is_too_large_to_be_looked_through_is_to_be_installed(
    repository: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = theirs(repository, "theirs")
    monkeypatch.setattr(extension_folders, "MOST_TRUSTED_BYTES", 10_000)
    (folder / "data").write_bytes(b"x" * 20_000)
    with pytest.raises(ExtensionProblem, match="ext install"):
        fingerprint(str(repository))


def test_a_repositorys_extension_goes_before_the_persons_of_the_same_name(repository: Path):
    extension(own_folder(), "same")
    folder = theirs(repository, "same")
    trust(str(repository))
    assert find(str(repository), [own_folder()]).folders == (str(folder),)


def test_one_that_is_disabled_in_a_repository_hides_the_persons(repository: Path):
    extension(own_folder(), "same")
    theirs(repository, "same", enabled=False)
    trust(str(repository))
    assert found(repository) == []


def test_a_name_that_is_taken_is_left_out(repository: Path):
    extension(own_folder(), "bridge")
    assert find(str(repository), [own_folder()], frozenset({"bridge"})).folders == ()


def test_a_broken_one_is_told_of_and_the_others_are_found(repository: Path):
    (extension(own_folder(), "broken") / "extension.json").write_text("{")
    extension(own_folder(), "good")
    assert found(repository) == ["good"]
    assert "broken/extension.json is not JSON" in problems(repository)


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"ZOT_HOME": "/z"}, "/z/extensions"),
        ({"XDG_STATE_HOME": "/s"}, "/s/zot/extensions"),
    ],
)
def test_zots_own_folder_is_where_zot_has_it(environment: dict[str, str], folder: str):
    assert zot_folder(environment) == Path(folder)


# -- in the real agent


def commands(agent: RpcProcess) -> list[str]:
    return [command["name"] for command in agent.ask("get_commands")["data"]["commands"]]


def test_the_agent_runs_what_is_found_unless_told_not_to(repository: Path, tmp_path: Path):
    extension(own_folder(), "mine")
    theirs(repository, "theirs")
    named = extension(tmp_path, "named")
    trust(str(repository))
    with RpcProcess(repository, [], "--ext", str(named)) as agent:
        assert commands(agent) == ["mine", "named", "reload-ext", "theirs"]
    with RpcProcess(repository, [], "--ext", str(named), "--no-ext") as agent:
        assert commands(agent) == ["named", "reload-ext"]


def test_the_agent_says_why_a_repositorys_extensions_do_not_run(repository: Path):
    folder = theirs(repository, "theirs")
    with RpcProcess(repository) as agent:
        assert commands(agent) == ["reload-ext"]
    notice = next(frame for frame in agent.frames if frame["type"] == "ext_notify")
    assert notice["level"] == "warn"
    assert "lsp-agent ext trust" in notice["message"]
    assert not (folder / "frames.jsonl").exists()


@pytest.fixture
def zots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ZOT_HOME", str(tmp_path / "zot"))
    folder = tmp_path / "zot" / "extensions"
    folder.mkdir(parents=True)
    return folder


def test_the_agent_runs_those_of_zots_own_folder_behind_the_persons(repository: Path, zots: Path):
    extension(zots, "zots")
    hidden = extension(zots, "same")
    mine = extension(own_folder(), "same")
    with RpcProcess(repository, []) as agent:
        assert commands(agent) == ["reload-ext", "same", "zots"]
    assert (mine / "frames.jsonl").exists()
    assert not (hidden / "frames.jsonl").exists()
    with RpcProcess(repository, [], "--no-ext") as agent:
        assert commands(agent) == []


def test_zots_folder_that_others_may_write_to_is_not_run_from(repository: Path, zots: Path):
    extension(zots, "zots")
    zots.chmod(0o777)
    with RpcProcess(repository, []) as agent:
        assert commands(agent) == ["reload-ext"]
    notice = next(frame for frame in agent.frames if frame["type"] == "ext_notify")
    assert f"{zots}: other users may write to it" in notice["message"]
