"""Keys that ``lsp-agent setup`` is given: into the system's keyring, or nowhere."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lsp_agent.cli.setup_agent import Choice, choices, keep_key, lacks_key
from lsp_agent.protocol.errors import UsageError

KEYRING = """
from keyring import errors
kept = {}
def get_keyring(): return Backend()
def get_password(service, name): return kept.get((service, name))
def set_password(service, name, key): kept[service, name] = key
class Backend: pass
"""


@pytest.fixture
def keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A stand-in for the package; its file."""
    folder = tmp_path / "keyring"
    folder.mkdir()
    (folder / "__init__.py").write_text(KEYRING)
    (folder / "errors.py").write_text("class KeyringError(Exception): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("keyring", "keyring.errors"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield folder / "__init__.py"
    for name in ("keyring", "keyring.errors"):
        sys.modules.pop(name, None)


def choice(name: str) -> Choice:
    return next(each for each in choices() if each.name == name)


@pytest.mark.usefixtures("keyring")
def test_a_key_is_kept_where_the_embedded_agent_looks_for_it() -> None:
    assert lacks_key(choice("anthropic"))
    keep_key(choice("anthropic"), "sk-1")
    assert sys.modules["keyring"].kept == {("lsp-agent", "anthropic"): "sk-1"}
    assert not lacks_key(choice("anthropic"))
    assert lacks_key(choice("openai"))


def test_a_key_in_the_environment_needs_no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-2")
    assert not lacks_key(choice("openai"))


def test_a_keyring_that_is_a_plain_file_is_refused(keyring: Path) -> None:
    keyring.write_text(f"{KEYRING}\nBackend.__module__ = 'keyrings.alt.file'\n")
    with pytest.raises(UsageError, match=r"plain file.*ANTHROPIC_API_KEY"):
        keep_key(choice("anthropic"), "sk-3")


def test_an_agent_with_a_sign_in_of_its_own_takes_no_key() -> None:
    with pytest.raises(UsageError, match="Claude Code takes no key from here"):
        keep_key(choice("claude"), "sk-4")
