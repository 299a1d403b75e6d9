"""The package for Emacs, as its page has Emacs fetch it."""

import subprocess
from pathlib import Path

import pytest
from plain_project import ROOT, block
from plain_terminal import FETCHED

pytestmark = [pytest.mark.emacs, pytest.mark.slow]

EMACS = FETCHED / "emacs" / "bin" / "emacs"
HOME = "https://github.com/lsp-agent/lsp-agent"
CHECK = """
(princ (format "%s %s" (keymap-lookup eglot-mode-map "C-c a p")
               (and (cl-find-class 'lsp-agent-server) t)))
"""


def batch(home: Path, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [EMACS, "--batch", *arguments],
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_the_pages_line_fetches_the_package_from_the_repository(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, clone], check=True)
    line = block("emacs.md", "elisp").replace(HOME, f"file://{clone}")
    init = tmp_path / ".emacs.d" / "init.el"
    init.parent.mkdir()
    # Which system a forge's address is of Emacs knows, not that of a folder.
    init.write_text(line.replace(":rev :newest", ":rev :newest :vc-backend Git"))
    done = batch(tmp_path, "-l", init, "--eval", f"(progn {CHECK})")
    assert done.stdout.endswith("lsp-agent-prompt t"), done.stderr


def test_it_compiles_without_a_warning(tmp_path: Path) -> None:
    package = tmp_path / "lsp-agent.el"
    package.write_bytes((ROOT / "editors" / "emacs" / "lsp-agent.el").read_bytes())
    done = batch(tmp_path, "-Q", "--eval", f'(byte-compile-file "{package}")')
    assert package.with_suffix(".elc").exists(), done.stderr
    assert "Warning" not in done.stderr
