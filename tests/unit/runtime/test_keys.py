"""The key for a model's service, wherever it comes from."""

from pathlib import Path

import pytest

from lsp_agent.runtime.options import NotConfigured, Options
from lsp_agent.runtime.providers import remote

KEY = "sk-secret-1234567890"


@pytest.fixture(autouse=True)
def _no_other_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


class Keyring:
    def __init__(self, key: str) -> None:
        self._key = key

    def get_password(self, _service: str, _name: str) -> str:
        return self._key


def access(monkeypatch: pytest.MonkeyPatch, folder: Path, source: str, key: str) -> remote.Access:
    if source == "the keyring":
        monkeypatch.setattr(remote, "system_keyring", lambda: Keyring(key))
    elif source != "--api-key":
        monkeypatch.setenv(source, key)
    flag = key if source == "--api-key" else ""
    return remote.access("anthropic", Options(str(folder), api_key=flag))


SOURCES = ("--api-key", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "the keyring")


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("end", ["\r", "\n", "\r\n", " "])
def test_a_line_end_behind_a_key_is_no_part_of_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str, end: str
):
    assert access(monkeypatch, tmp_path, source, KEY + end).key == KEY


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("character", ["\n", "\x00", "é", "\udcff"])
def test_a_key_that_no_header_takes_is_refused_without_being_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str, character: str
):
    if character == "\x00" and source.isupper():
        return  # no variable can have it
    with pytest.raises(NotConfigured) as told:
        access(monkeypatch, tmp_path, source, f"{KEY}{character}{KEY}")
    assert "has a character that no key has" in str(told.value)
    assert (source in str(told.value)) == (source != "the keyring")
    assert KEY not in str(told.value)
