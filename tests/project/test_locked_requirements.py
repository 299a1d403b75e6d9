"""What the VS Code extension installs is named with a version and hashes, and nothing else is."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
_HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def locked() -> dict[str, tuple[Requirement, list[str]]]:
    """By name, with the hashes."""
    text = (ROOT / "requirements-locked.txt").read_text(encoding="utf-8")
    lines = [line for line in text.replace("\\\n", " ").splitlines() if not line.startswith("#")]
    found = [(Requirement(_HASH.sub("", line).strip()), _HASH.findall(line)) for line in lines]
    return {canonicalize_name(each.name): (each, hashes) for each, hashes in found}


def pins(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if "==" in line)
    return {canonicalize_name(name): version for name, version in pairs}


def test_each_is_one_version_with_the_hashes_of_its_files() -> None:
    assert len(locked()) > 30
    for requirement, hashes in locked().values():
        assert re.fullmatch(r"==[^,*]+", str(requirement.specifier)), requirement
        assert hashes, requirement


def test_all_that_the_server_needs_is_there_in_the_version_that_was_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    tested = pins("constraints.txt")
    for needed in map(Requirement, project["dependencies"]):
        name = canonicalize_name(needed.name)
        requirement, _ = locked()[name]
        (only,) = requirement.specifier
        assert needed.specifier.contains(only.version), needed
    for name, (requirement, _) in locked().items():
        if name in tested:
            assert str(requirement.specifier) == f"=={tested[name]}", name


def test_an_extension_is_built_with_them() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "@cp requirements-locked.txt $(@D)/requirements.txt" in makefile
