"""Texts of editors' files: what is put in, what stays, and what is left alone."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from lsp_agent.cli.editors import blocks, changes, jsonc, tables
from lsp_agent.cli.editors.changes import CannotChange, Change

COMMENTED = """// mine
{
  // the theme
  "theme": "One", /* dark */
  "lsp": { "other": { "binary": {} }, },
}
"""


def test_a_json_file_keeps_its_comments_and_what_else_is_in_it():
    after = jsonc.with_value(COMMENTED, ["lsp", "lsp-agent"], {"a": [1]})
    for line in ("// mine", "// the theme", "/* dark */", '"other": { "binary": {} }'):
        assert line in after
    assert jsonc.with_value(after, ["lsp", "lsp-agent"], {"a": [1]}) == after


@pytest.mark.parametrize("text", ["", "\n", "{}", "{ }\n", "{\n}\n", "{ // nothing\n}"])
def test_an_empty_json_file_gets_the_value_alone(text: str):
    after = jsonc.with_value(text, ["servers", "lsp-agent"], {"a": 1})
    assert json.loads(after.replace("// nothing", "")) == {"servers": {"lsp-agent": {"a": 1}}}


def test_our_own_value_is_brought_up_to_date():
    before = '{"clients": {"lsp-agent": {"old": 1}, "b": 2}}'
    after = json.loads(jsonc.with_value(before, ["clients", "lsp-agent"], {"new": 1}))
    assert after == {"clients": {"lsp-agent": {"new": 1}, "b": 2}}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"lsp": {"marksman": {"binary": {"path": "x"}}}}', "another lsp.marksman.binary"),
        ('{"lsp": 3}', "lsp is no object"),
        ('{"lsp": {}', "missing"),
        ('{"a": 1, "a": 2}', "member 'a'"),
        ("[]", "not one JSON object"),
        ('{"a": yes}', "not JSON"),
        ('{"a": 1} {}', "not one JSON object"),
    ],
)
def test_a_json_file_that_is_not_understood_or_says_otherwise_is_left_alone(text: str, why: str):
    with pytest.raises(CannotChange, match=why):
        jsonc.with_value(text, ["lsp", "marksman", "binary"], {"path": "lsp-agent"})


def test_keys_of_a_toml_file_are_set_where_they_are_written():
    before = '# mine\nagent = "old" # was\n\n[agents.builtin]\nmodel = "m"\n[limits]\nagent = 1\n'
    after = tables.with_keys(before, (), {"agent": "new"})
    after = tables.with_keys(after, ("agents", "builtin"), {"provider": "openai"})
    assert after.startswith("# mine\n")
    assert tomllib.loads(after) == {
        "agent": "new",
        "agents": {"builtin": {"model": "m", "provider": "openai"}},
        "limits": {"agent": 1},
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("agent = ", "not TOML"),
        ('agent = """\nx\n"""\n', "not understood"),
        ('agents = { builtin = { model = "m" } }\n', "not understood"),
        ('[agents.builtin]\n"provider" = "x"\n', "not understood"),
        ("[agents]\nbuiltin = 1\n", "no table"),
    ],
)
def test_a_toml_file_that_is_not_understood_is_left_alone(text: str, why: str):
    def change() -> str:
        changed = tables.with_keys(text, (), {"agent": "new"})
        return tables.with_keys(changed, ("agents", "builtin"), {"provider": "openai"})

    with pytest.raises(CannotChange, match=why):
        change()


BUILTIN = ("agents", "builtin")


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("[agents.builtin]", id="plain"),
        pytest.param('[agents."builtin"]', id="quoted"),
        pytest.param("  [ agents . builtin ]  # mine", id="with spaces"),
    ],
)
def test_a_table_is_found_by_its_header_at_the_end_of_a_file_too(header: str):
    after = tables.with_keys(header, BUILTIN, {"model": "m"})
    assert after == f'{header}\nmodel = "m"\n'


def test_a_key_that_is_to_go_is_taken_out_with_its_line():
    before = "[agents.builtin]\nmodel = 1\nprovider = 2\n"
    after = tables.with_keys(before, BUILTIN, {"model": None, "sandbox": None})
    assert after == "[agents.builtin]\nprovider = 2\n"


def test_the_members_of_an_inline_table_are_joined_with_those_that_are_there():
    before = '[agents.builtin]\nenv = { PROXY = "ü", OLD = "a" }\n'
    after = tables.with_keys(before, BUILTIN, {"env": {"URL": "u", "OLD": None}})
    assert after == '[agents.builtin]\nenv = { PROXY = "ü", URL = "u" }\n'


def test_an_inline_table_that_becomes_empty_goes_with_its_last_member():
    before = '[agents.builtin]\nenv = { OLD = "a" }\nmodel = "m"\n'
    after = tables.with_keys(before, BUILTIN, {"env": {"OLD": None}})
    assert after == '[agents.builtin]\nmodel = "m"\n'


def test_the_members_of_a_table_with_a_header_of_its_own_are_written_there():
    before = '[agents.builtin]\nmodel = "m"\n[agents.builtin.env]\n# mine\nPROXY = "p"\nOLD = "a"\n'
    after = tables.with_keys(before, BUILTIN, {"env": {"URL": "u", "OLD": None}})
    assert after == (
        '[agents.builtin]\nmodel = "m"\n[agents.builtin.env]\nURL = "u"\n# mine\nPROXY = "p"\n'
    )


def test_what_is_no_table_gets_no_members():
    with pytest.raises(CannotChange, match=r"its agents\.builtin\.env is no table"):
        tables.with_keys("[agents.builtin]\nenv = 3\n", BUILTIN, {"env": {"URL": "u"}})


def test_a_block_stands_at_the_end_and_is_replaced_in_its_place():
    once = blocks.with_block("set a\r\n", "#", "one\ntwo")
    assert once.startswith("set a\r\n\r\n#")
    assert "\n" not in once.replace("\r\n", "")
    twice = blocks.with_block(once + "set b\r\n", "#", "three")
    assert twice == once.replace("one\r\ntwo", "three") + "set b\r\n"


@pytest.fixture(autouse=True)
def _data_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def made(tmp_path: Path) -> Callable[[str | None, str], Path]:
    """Makes a change of a file; its path."""

    def make(before: str | None, after: str) -> Path:
        path = tmp_path / "settings"
        if before is not None:
            path.write_text(before)
        changes.make("test", [Change(path, before, after)])
        return path

    return make


def taken_back() -> None:
    changes.undo("test", [changes.take_back(each) for each in changes.made("test")])


def test_a_change_is_taken_back_and_leaves_what_the_person_did_since(made):
    path = made("one\ntwo\n", "one\ntwo\n\nours\n")
    path.write_text("ONE\ntwo\n\nours\nthree\n")
    taken_back()
    assert path.read_text() == "ONE\ntwo\nthree\n"
    assert changes.made("test") == []


def test_a_file_that_was_not_there_is_gone_again(made):
    path = made(None, "ours\n")
    taken_back()
    assert not path.exists()


def test_a_file_whose_lines_of_ours_were_changed_is_left_alone_and_its_backup_named(made):
    path = made("one\n", "one\nours\n")
    path.write_text("one\nmine by now\n")
    with pytest.raises(CannotChange, match="as it was before is in") as told:
        taken_back()
    assert path.read_text() == "one\nmine by now\n"
    assert Path(str(told.value).rpartition(" ")[2]).read_text() == "one\n"


def test_what_was_there_first_is_what_a_second_change_is_taken_back_to(made):
    path = made("one\n", "one\nours\n")
    path.write_text("one\nours\nmine\n")
    changes.make("test", [Change(path, "one\nours\nmine\n", "one\nours, newer\nmine\n")])
    taken_back()
    assert path.read_text() == "one\nmine\n"


def record(**odd: object) -> str:
    """What is kept of one change."""
    file = {"path": "/a", "before": "one\n", "after": None}
    return json.dumps({"version": 1, "files": [file | odd]})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("{", id="torn"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param("[]", id="no object"),
        pytest.param('{"version": 1}', id="no files"),
        pytest.param('{"version": 1, "files": 5}', id="no list"),
        pytest.param('{"version": 1, "files": [5]}', id="a file that is none"),
        pytest.param(record(path=5), id="a path that is no text"),
        pytest.param(record(path="/a\0"), id="a path that no system takes"),
        pytest.param(record(before=5), id="a text that is none"),
        pytest.param(record(after="\ud800"), id="half a character"),
    ],
)
def test_a_record_that_is_damaged_changes_no_file_and_is_named(made, tmp_path: Path, text: str):
    path = made("one\n", "one\nours\n")
    kept = tmp_path / "data/lsp-agent/setup/test/record.json"
    kept.write_text(text)
    change = Change(path, "one\nours\n", "one\nours, newer\n")
    for attempt in (taken_back, lambda: changes.make("test", [change])):
        with pytest.raises(CannotChange, match=f"{kept} is damaged.*move {kept.parent} away"):
            attempt()
    assert (path.read_text(), kept.read_text()) == ("one\nours\n", text)


def test_a_file_that_has_changed_since_it_was_shown_is_not_written(made, tmp_path: Path):
    path = tmp_path / "settings"
    path.write_text("newer\n")
    with pytest.raises(CannotChange, match="changed meanwhile"):
        changes.make("test", [Change(path, "older\n", "older\nours\n")])
    assert path.read_text() == "newer\n"


def test_a_link_stays_one_and_a_mode_stays(tmp_path: Path):
    kept, link = tmp_path / "dotfiles", tmp_path / "settings"
    kept.write_text("one\n")
    kept.chmod(0o600)
    link.symlink_to(kept)
    changes.make("test", [Change(link, "one\n", "one\nours\n")])
    assert link.is_symlink()
    assert kept.read_text() == "one\nours\n"
    assert kept.stat().st_mode & 0o777 == 0o600
