"""``lsp-agent ext``: installing, removing, how they stand; errors in one line."""

import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest
from extension_kit import make_extension
from support.rpc_process import RpcProcess

from lsp_agent.cli.main import main
from lsp_agent.runtime.extension_log import ExtensionLog, log_path
from lsp_agent.user_data.extension_folders import own_folder


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    monkeypatch.chdir(tmp_path)


def ext(*args: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    out = TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True)
    with redirect_stdout(out), redirect_stderr(StringIO()) as err:
        code = main(["ext", *args])
    out.seek(0)
    return code, out.read(), err.getvalue()


def failure(*args: str) -> tuple[int, str]:
    """The exit code and the one line on stderr."""
    code, out, err = ext(*args)
    assert out == ""
    assert err.startswith("lsp-agent: ")
    assert err.count("\n") == 1
    return code, err


def left_behind() -> list[str]:
    return sorted(path.name for path in own_folder().iterdir()) if own_folder().exists() else []


def git(folder: Path, *args: str) -> None:
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True)


def test_a_folder_is_copied_and_the_extension_runs(tmp_path: Path):
    source = make_extension(tmp_path / "source", 'say(type="register_command", name="hi")')
    code, out, _ = ext("install", source)
    assert code == 0
    assert out.startswith(f"Installed helper in {own_folder() / 'helper'};")
    assert left_behind() == ["helper"]
    with RpcProcess(tmp_path) as agent:
        names = [each["name"] for each in agent.ask("get_commands")["data"]["commands"]]
    assert names == ["hi", "reload-ext"]


def test_what_cannot_be_copied_is_named(tmp_path: Path):
    source = Path(make_extension(tmp_path / "source"))
    os.mkfifo(source / "pipe")
    code, err = failure("install", str(source))
    assert code == 1
    assert err.startswith(f"lsp-agent: {source / 'pipe'} cannot be copied: ")
    assert err.rstrip().endswith("is a named pipe")
    assert ".installing" not in err
    assert left_behind() == []


def test_zots_are_listed_as_zots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ZOT_HOME", str(tmp_path / "zot"))
    (tmp_path / "zot" / "extensions").mkdir(parents=True)
    make_extension(tmp_path / "zot" / "extensions" / "helper")
    assert ext("list") == (0, "helper  1  enabled, zot's\n", "")


def test_a_repository_is_cloned(tmp_path: Path):
    source = Path(make_extension(tmp_path / "source"))
    git(source, "init", "-q")
    git(source, "add", ".")
    git(source, "commit", "-q", "-m", "x")
    assert ext("install", source.as_uri())[0] == 0
    assert left_behind() == ["helper"]
    assert (own_folder() / "helper" / "helper.py").exists()


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (None, "extension.json cannot be read: No such file"),
        ("{", "extension.json is not JSON"),
        ("[]", "name must be"),
        ('{"name": "../up", "exec": "x"}', "name must be"),
        ('{"name": ".hidden", "exec": "x"}', "name must be"),
        ('{"name": "x"}', "exec must name"),
        ('{"name": "x", "exec": "y", "args": [1]}', "args must be"),
    ],
)
def test_what_is_no_extension_leaves_nothing_behind(
    tmp_path: Path, manifest: str | None, words: str
):
    source = tmp_path / "source"
    source.mkdir()
    if manifest is not None:
        (source / "extension.json").write_text(manifest)
    git(source, "init", "-q")
    git(source, "add", ".")
    git(source, "commit", "-q", "--allow-empty", "-m", "x")
    for given in (str(source), source.as_uri()):
        code, line = failure("install", given)
        assert code == 1
        assert words in line
        assert f"nothing was installed: {given}" in line
        assert left_behind() == []


def test_what_is_neither_a_folder_nor_an_address_is_wrong_use(tmp_path: Path):
    for given in ("nowhere", "--upload-pack=x", str(tmp_path / "nowhere")):
        assert failure("install", "--", given)[0] == 2
    code, line = failure("install", (tmp_path / "nowhere.git").as_uri())
    assert code == 1
    assert "git could not clone" in line


def test_one_that_is_there_already_stays_as_it_is(tmp_path: Path):
    ext("install", make_extension(tmp_path / "one", version="1"))
    code, line = failure("install", make_extension(tmp_path / "two", version="2"))
    assert code == 1
    assert "lsp-agent ext remove helper" in line
    manifest = json.loads((own_folder() / "helper" / "extension.json").read_text())
    assert (left_behind(), manifest["version"]) == (["helper"], "1")


def test_the_folder_of_all_extensions_is_not_copied_into_itself(tmp_path: Path):
    make_extension(tmp_path / "source")
    ext("install", "source")
    (tmp_path / "extension.json").write_text('{"name": "all", "exec": "x"}')
    code, line = failure("install", str(tmp_path))
    assert code == 1
    assert "holds the folder of all extensions" in line


def test_a_removed_extension_is_gone_and_nothing_else(tmp_path: Path):
    for name in ("one", "two"):
        ext("install", make_extension(tmp_path / name, name=name))
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    (own_folder() / "one" / "link").symlink_to(kept)
    assert ext("remove", "one")[:2] == (0, "Removed one.\n")
    assert left_behind() == ["two"]
    assert (kept / "file").exists()


def test_one_that_is_linked_in_is_only_unlinked(tmp_path: Path):
    source = make_extension(tmp_path / "source")
    own_folder().mkdir(parents=True)
    (own_folder() / "helper").symlink_to(source)
    assert ext("remove", "helper")[0] == 0
    assert Path(source, "extension.json").exists()
    assert left_behind() == []


def test_a_broken_one_can_be_removed_by_the_name_of_its_folder(tmp_path: Path):
    ext("install", make_extension(tmp_path / "source"))
    (own_folder() / "helper" / "extension.json").write_text("{")
    assert "broken" in ext("list")[1]
    assert ext("remove", "helper")[0] == 0
    assert left_behind() == []


@pytest.mark.parametrize("action", ["remove", "enable", "disable", "require", "logs"])
@pytest.mark.parametrize("name", ["../source", "/etc", ".", "", "a/b", "-x"])
def test_no_name_leads_elsewhere(tmp_path: Path, action: str, name: str):
    make_extension(tmp_path / "source")
    own_folder().mkdir(parents=True)
    assert failure(action, "--", name)[0] == 2
    assert (tmp_path / "source" / "extension.json").exists()


def test_one_that_is_not_there_is_said_so():
    code, line = failure("disable", "none")
    assert code == 1
    assert "no extension none is installed" in line


def test_enabled_disabled_and_required_are_kept_in_the_manifest(tmp_path: Path):
    ext("install", make_extension(tmp_path / "source", description="does\x1b[31m things"))
    path = own_folder() / "helper" / "extension.json"
    before = json.loads(path.read_text())
    ext("disable", "helper")
    ext("require", "helper")
    assert json.loads(path.read_text()) == {**before, "enabled": False, "required": True}
    row = ext("list")[1]
    assert "disabled, required" in row
    assert "does [31m things" in row  # a terminal is not steered
    ext("enable", "helper")
    ext("require", "helper", "--no")
    assert "enabled  " in ext("list")[1]


def test_one_that_must_be_built_first_is_said_so(tmp_path: Path):
    out = ext("install", make_extension(tmp_path / "source", exec="./built"))[1]
    program = own_folder() / "helper" / "built"
    assert f"there is no {program}; build or install it." in out
    program.write_text("#!/bin/sh\n")
    assert f"{program} is not executable; say: chmod +x {program}" in ext("list")[1]
    program.chmod(0o755)
    assert ext("list")[1] == "helper  1  enabled\n"


def test_a_log_is_printed_and_followed(tmp_path: Path):
    assert "has written no log yet" in failure("logs", "helper")[1]
    log = ExtensionLog("helper")
    log.write(b"one\n")
    assert ext("logs", "helper")[1] == "one\n"
    command = [sys.executable, "-m", "lsp_agent", "ext", "logs", "-f", "helper"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        assert following.stdout.readline() == "one\n"
        log.write(b"two\n")
        assert following.stdout.readline() == "two\n"
        log.write(b"last\n")
        log_path("helper").rename(log_path("helper").with_suffix(".log.1"))
        assert following.stdout.readline() == "last\n"
        log_path("helper").write_bytes(b"3\nand more than there was before\n")
        assert following.stdout.readline() == "3\n"
        following.kill()
    log.close()


def test_a_repository_is_trusted_and_distrusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    repository = tmp_path / "repository"
    (repository / ".zot" / "extensions").mkdir(parents=True)
    assert failure("trust", str(repository))[0] == 1
    greeting = 'say(type="register_command", name="hi")'
    make_extension(repository / ".zot" / "extensions" / "theirs", greeting, name="theirs")
    monkeypatch.chdir(repository)
    assert ", not trusted" in ext("list")[1]
    assert ext("trust")[1].endswith("as long as they stay as they are: theirs.\n")
    assert ", this repository's" in ext("list")[1]
    assert ext("distrust", str(repository))[1].endswith("is no longer trusted.\n")
    assert ", not trusted" in ext("list")[1]


def test_with_nothing_installed_it_says_how_to_begin():
    assert ext("list")[1] == "No extensions; lsp-agent ext install FOLDER brings one.\n"
