"""How far one yes reaches: the pattern that a question about a command offers.

A granted pattern covers the lines that it would be offered for, and no others.
"""

import errno
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_agent.protocol.settings.settings import PermissionSettings
from lsp_agent.sessions.permissions import command_globs, command_patterns
from lsp_agent.sessions.permissions.judge import Permissions, matches_pattern
from lsp_agent.sessions.permissions.shell.parse import parse
from lsp_agent.toolset.calls import ToolRequest
from lsp_agent.workspace.disk.paths import Confinement


def command(line: str) -> ToolRequest:
    return ToolRequest("bash", {"command": line}, None)


def anywhere(_path: str) -> bool:
    return True


def offer(line: str, inside: Callable[[str], bool]) -> str | None:
    read = parse(line)
    if read.unknown:
        return None
    return command_patterns.offer(read.commands, lambda _way, path: inside(path))


class Session:
    """The permissions of one session in a folder, where reading is no reason for a yes."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.settings = PermissionSettings.model_validate({"reading": "ask"} | settings)
        self._permissions = Permissions(
            str(folder),
            lambda: self.settings,
            lambda free: Confinement(["/"] if free else [str(folder)]),
        )

    def allow_pattern(self, line: str) -> str | None:
        """Answers the question about ``line`` with its pattern."""
        pattern = self._permissions.offer(command(line))
        self._permissions.grant(command(line), pattern=pattern)
        return pattern

    def allow_once(self, line: str) -> None:
        self._permissions.grant(command(line))

    def policy(self, line: str) -> str:
        return self._permissions.judge(command(line)).policy


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("git status", "git status*"),
        ("git log --oneline -n 5", "git log*"),
        ("cargo test parser", "cargo test*"),
        ("npm run build", "npm run build*"),
        ("npm test", "npm test*"),
        ("kubectl get pods", "kubectl get pods*"),
        ("docker logs web", "docker logs*"),
        ("pip list", "pip list*"),
        ("uv run pytest -q", "uv run pytest*"),
        ("go test ./...", "go test*"),
        ("python -m pytest tests", "python -m pytest*"),
        ("make test", "make test"),
        ("pytest -q tests", "pytest*"),
        ("ls -la src", "ls*"),
        ('grep -rn "a b" src', "grep*"),
    ],
)
def test_a_pattern_names_what_is_done_and_leaves_the_arguments_open(
    line: str, pattern: str
) -> None:
    assert offer(line, anywhere) == pattern


@pytest.mark.parametrize(
    "line",
    [
        *("git status; rm x", "git status && rm x", "git status & rm x", "git log | sh"),
        *("cat <a", "ls >a", "ls `x`", "ls $(x)", "ls $HOME", "ls {a,b}", "ls\nrm x", "ls\rrm x"),
        *("sh -c 'ls'", "bash -c ls", "/bin/sh x", "dash x.sh", "eval ls", "exec ls", ". ./x"),
        *("python -c 'x'", "python x.py", "python3 -m http.server", "node -e 1", "perl -e 1"),
        *("ruby -e 1", "awk 1 a", "sed -i s/a/b/ a", "vim -c x", "osascript -e x", "php -r x"),
        *("env git status", "env A=1 git status", "A=1 git status", "sudo git status", "time ls a"),
        *("nohup ls a", "xargs rm", "find . -exec rm", "find . -delete", "parallel ls"),
        "watch ls a",
        *("ssh host ls", "docker exec web ls", "docker run alpine", "kubectl exec pod ls"),
        *("npx jest", "npm exec x", "npm install x", "pip install x", "uv run x", "uv run python"),
        *("git -c core.pager=x status", "git --git-dir=x status", "git -C x status"),
        *("git rebase -x y", "isort .", "python -m isort a"),
        *("git bisect run x", "git submodule foreach x", "git config a b", "git push", "git"),
        "git x",
        *("go run x@latest", "cargo install x", "cargo +nightly test", "cargo", "npm run", "npm"),
        *("rm a", "mv a b", "cp a b", "dd if=a", "chmod +x a", "curl x", "wget x", "tee a"),
        "kill 1",
        *("./git status", "/usr/bin/git status", "../ls a", "make CC=x test", "make -f x"),
        "make -j",
        *("ls", "cat", "pytest", "", "  ", "*", "ls* a", "l? a", "'ls a", 'ls "a', "ls \\a"),
        "ls a\0",
        *("git  status", "'git' status", "git 'status'", "git sta'tus'", "g\u0456t status"),
        "ls a\u202eb",
        *("npm run -s build", "npm run *", "kubectl get pods,secrets", "make *", "ls " + "a " * 70),
        "kubectl get pod/a",
    ],
)  # fmt: skip
def test_no_pattern_is_offered_for(line: str) -> None:
    assert offer(line, anywhere) is None


@pytest.mark.parametrize(
    ("allowed", "covered"),
    [
        (
            "git status",
            ["git status", "git status -s", "git status --porcelain src", " git status "],
        ),
        ("git diff", ["git diff --stat", "git diff HEAD~1..HEAD -- a.py", "git diff --no-renames"]),
        ("git log -3", ["git log", "git log --oneline -n 9", "git log --format=%h"]),
        ("pytest -q", ["pytest tests/test_a.py::test_b --maxfail=1", "pytest -k 'a or b' --x=a:b"]),
        ("git commit -m x", ["git commit -m 'fix: the path /api'", "git commit -am 'a, b'"]),
        ("git commit -m y", [f"git commit -m '{'why: so ' * 100}'", f"git commit -m{'y' * 300}"]),
        ("grep -r x src", ["grep -n 'a.*b' src/*.py", "grep -c x .gitignore"]),
        ("npm run build", ["npm run build -- --watch"]),
        ("go test ./...", ["go test -count=1 -short -run Foo ./pkg"]),
        ("make test", ["make test"]),
    ],
)  # fmt: skip
def test_a_granted_pattern_spares_the_question_for(
    tmp_path: Path, allowed: str, covered: list[str]
) -> None:
    session = Session(tmp_path)
    assert session.policy(allowed) == "ask"
    assert session.allow_pattern(allowed)
    assert {line: session.policy(line) for line in covered} == dict.fromkeys(covered, "allow")


@pytest.mark.parametrize(
    ("allowed", "asked"),
    [
        (
            "git status",
            ["git status-evil", "git statusx", "git stat", "git push", "git diff", "git"],
        ),
        (
            "git status",
            ["git status; rm x", "git status\nrm x", "git status | sh", "git status $X"],
        ),
        (
            "git diff",
            ["git diff --output=x", "git diff --outp x", "git diff --ext-diff", "git diff -OO"],
        ),
        (
            "git diff",
            ["git diff --no-index a b", "git -c core.pager=x diff", "git diff /etc/passwd"],
        ),
        ("git grep x", ["git grep -Ox", "git grep -nO x", "git grep --open-files-in-pager=x y"]),
        ("cat a", ["cat /etc/passwd", "cat ~/.ssh/id", "cat ../x", "cat a ../../x", "cat '~/x'"]),
        ("cat a", ["cat .*/x", "cat .?/x", "cat a/.[.]/x", "cat out/secret", "cat .git/config"]),
        ("ls a", ["ls --x=/etc", "ls -I/etc", "ls x=/etc", "ls x=~", "ls x=a:~", "ls -x=../.."]),
        (
            "sort a",
            ["sort -o b a", "sort -no b a", "sort --output=b a", "sort --comp=x a", "sort --o b"],
        ),
        ("pytest -q", ["pytest --report=html:/etc/x", "pytest --x=a,../../b", "pytest a /tmp/x"]),
        ("docker logs a", ["docker logs -H tcp://x a", "docker logs --host=x a"]),
        ("rg x", ["rg --pre x y", "rg --pre=x y", "rg -z x", "rg -nz x"]),
        (
            "go test .",
            ["go test -exec x", "go test --exec=x", "go test -toolexec x", "go test -o x"],
        ),
        (
            "cargo test",
            ["cargo test --config a=b", "cargo test -Zx", "cargo test -C x", "cargo run"],
        ),
        (
            "npm run build",
            ["npm run build2", "npm run", "npm run deploy", "npm run build --prefix x"],
        ),
        ("kubectl get pods", ["kubectl get secrets", "kubectl get pods --kubeconfig x"]),
        (
            "make test",
            ["make test deploy", "make testx", "make test SHELL=x", "make", "make -f x test"],
        ),
        (
            "git commit -m x",
            [
                *("git commit -F/etc/passwd", "git commit -aF/etc/passwd", "git commit -F../x"),
                *("git commit -qaF../x", "git commit -aFout/x", "git commit -aF~/x"),
                *("git commit -aF.git/config", "git commit --file=/etc/passwd"),
                "git commit -aF=/x",
            ],
        ),
        ("rg x", ["rg -.f/etc/passwd x", "rg -L x", "rg --follow x"]),
        ("grep x a", ["grep -R x .", "grep -nR x", "grep --dereference-recursive x ."]),
        ("diff a b", ["diff -r a b", "diff -ru a b", "diff --recursive a b"]),
        ("sort a", ["sort --files0-from=a"]),
        ("wc a", ["wc --files0-from=a", "wc @/etc/passwd"]),
        ("ls a", [f"ls {'a' * 5000}", f"ls {'a' * 300}/b", f"ls {'a' * 300}/../../b"]),
        ("ls b", [f"ls {'*' * 300}/b", f"ls {'a' * 300}=/b", f"ls '~{'a' * 300}'"]),
        ("python -m pytest", ["python -m http.server", "python x.py", "python -c x", "pytest"]),
        ("pytest -q", ["pytest --junitxml=a", "pytest --junit-xml a", "pytest --pastebin=all"]),
        ("flake8 a", ["flake8 --output-file=b a", "flake8 --output-fi=b --format=x a"]),
        ("ruff check a", ["ruff check --output-file b .", "ruff check -o b .", "ruff check -qo b"]),
        ("mypy a", ["mypy --html-report b a", "mypy --txt-report=b a", "mypy --cache-dir=b a"]),
        ("go list ./...", ["go list -m a.org/x@latest", "go list -u -m all", "go list --m x"]),
        ("go list ./...", ["go list -mod=mod evil.example/x", "go list -mod mod evil.example/x"]),
        ("kubectl get pods", ["kubectl get pods --cache_dir=a", "kubectl get pods --Raw=/ -f a"]),
        ("kubectl get pods", ["kubectl get pods --kuberc=a", "kubectl get pods secret/db"]),
        ("uv pip list", ["uv pip list --outdated", "uv pip list --project a"]),
        ("cat a", ["cat =ls"]),
        ("pip list", ["pip list -o --keyring-provider=subprocess"]),
        ("npm ls", ["npm ls --logs-dir=a", "npm ls --cache=a", "npm ls --logs-d=a"]),
    ],
)  # fmt: skip
def test_a_granted_pattern_does_not_reach(tmp_path: Path, allowed: str, asked: list[str]) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "out").symlink_to(tmp_path)
    session = Session(folder)
    assert session.allow_pattern(allowed)
    assert {line: session.policy(line) for line in asked} == dict.fromkeys(asked, "ask")


GLOBS = [
    *("cat o*", "cat ou?", "cat o*/secret", "cat ?ut", "cat [o]ut", "cat ou[!a]/x", "cat *"),
    *("cat [[:alpha:]]ut", "cat sub/*", "cat s*/l*", "cat su?/link", "cat a sub/../o*", "ls ./*/"),
    *("cat */x", "cat {shop}/o*", "cat {shop}/*/link"),
    *("cat --x=o*", "cat -x o*", "cat x:o*", "cat ~bob", "cat ~bob/x", "cat ~+/x"),
]  # fmt: skip


@pytest.mark.parametrize("line", GLOBS)
def test_a_glob_that_may_stand_for_a_link_out_is_asked_about(tmp_path: Path, line: str) -> None:
    folder = tmp_path / "shop"
    (folder / "sub").mkdir(parents=True)
    (folder / "out").symlink_to(tmp_path)
    (folder / "sub" / "link").symlink_to("/etc/passwd")
    session = Session(folder)
    session.allow_pattern("cat a")
    session.allow_pattern("ls a")
    assert session.policy(line.replace("{shop}", str(folder))) == "ask"


def test_a_glob_that_stays_inside_is_covered(tmp_path: Path) -> None:
    for name in ("src", "tests", ".git"):
        (tmp_path / name).mkdir()
    for name in ("src/a.py", "src/b.py", "readme", "inner"):
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to("src")
    (tmp_path / ".hidden").symlink_to("/etc")
    session = Session(tmp_path)
    session.allow_pattern("cat a")
    lines = ["cat *", "cat src/*.py", "cat l*/a.py", "cat none*", "cat */?.py", "cat s[r]c/[ab].py"]
    assert {line: session.policy(line) for line in lines} == dict.fromkeys(lines, "allow")


@pytest.mark.parametrize("name", ["--output=x", "-ofoo"])
def test_a_glob_that_may_stand_for_an_option_is_asked_about(tmp_path: Path, name: str) -> None:
    session = Session(tmp_path)
    session.allow_pattern("sort a")
    assert session.policy("sort *") == "allow"
    (tmp_path / name).touch()
    for line in ("sort *", "sort ?*", f"sort {name[:2]}*", "sort [-]*"):
        assert session.policy(line) == "ask"
    assert session.policy("sort ./*") == "allow"


def test_a_glob_over_more_files_than_are_looked_at_is_asked_about(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.allow_pattern("ls a")
    for number in range(command_globs.MOST_ENTRIES):
        (tmp_path / f"f{number}").touch()
    assert session.policy("ls f1999*") == "allow"
    assert session.policy("ls f*") == "ask"
    (tmp_path / "one-more").touch()
    assert session.policy("ls f1999*") == "ask"


def test_a_folder_that_cannot_be_looked_into_makes_a_glob_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session(tmp_path)
    session.allow_pattern("ls a")
    assert session.policy("ls x*") == "allow"

    def stale(path: str) -> object:
        raise OSError(errno.ESTALE, "Stale file handle", path)

    monkeypatch.setattr(os, "scandir", stale)
    assert session.policy("ls x*") == "ask"


def test_a_line_of_a_megabyte_is_asked_about_at_once(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.allow_pattern("ls a")
    for word in ("a ", "a", "-a", "*/", "a:"):
        line = "ls " + word * (1_000_000 // len(word))
        began = time.perf_counter()
        assert session.policy(line) == "ask"
        assert time.perf_counter() - began < 5


def test_what_a_pattern_does_not_cover_is_not_offered_one(tmp_path: Path) -> None:
    session = Session(tmp_path)
    assert session.allow_pattern("cat /etc/passwd") is None
    assert session.allow_pattern("git diff --output=x") is None
    assert session.policy("cat a") == "ask"


def test_allowed_once_grants_nothing(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.allow_once("git status")
    assert session.policy("git status") == "ask"


def test_another_session_is_asked_anew(tmp_path: Path) -> None:
    one, other = Session(tmp_path), Session(tmp_path)
    one.allow_pattern("git status")
    assert (one.policy("git status"), other.policy("git status")) == ("allow", "ask")


def test_a_denial_in_the_settings_stands_above_a_grant(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.allow_pattern("git status")
    session.settings = PermissionSettings(command="deny")
    assert session.policy("git status") == "deny"


def test_a_pattern_in_the_settings_means_what_it_meant(tmp_path: Path) -> None:
    session = Session(tmp_path, allow=["command: git status*"])
    for line in ("git status", "git status-all", "git status --x=/etc"):
        assert session.policy(line) == "allow"
    assert session.policy("git status; rm x") == "ask"


WORDS = st.sampled_from(
    [
        *("git", "status", "diff", "npm", "run", "test", "make", "ls", "cat", "env", "sh", "-c"),
        *("-s", "--output", "-o=x", "a.py", "../x", "/etc", "~", ";", "|", "$X", "'q q'", "*"),
        *(".*", "'", '"', "\\", "\n", "#", "!", "x=y", "", "\u00e9", "a'b'c"),
    ]
)


LINES = st.lists(WORDS, max_size=6).map(" ".join)


@given(LINES)
def test_a_pattern_is_never_wider_than_the_same_one_in_the_settings(line: str) -> None:
    pattern = offer(line, lambda path: not path.startswith(("/", "..")))
    if pattern is not None:
        assert matches_pattern("command", line, [f"command: {pattern}"])


#: A shell that says which words it would have run each program with, and runs none.
TELLING = "set -f; tell() { printf '%s\\0' \"$@\"; };" + "".join(
    f'{program}() {{ tell {program} "$@"; }};' for program in ("git", "npm", "ls", "cat")
)


@settings(max_examples=60)
@given(st.sampled_from(["git status", "git diff", "npm test", "ls", "cat"]), LINES)
def test_a_shell_reads_a_covered_line_as_one_command_with_the_words_that_were_judged(
    start: str, rest: str
) -> None:
    seen: list[str] = []
    line = f"{start} {rest}"
    if offer(line, lambda path: not seen.append(path)) is None:
        return
    told = subprocess.run(["/bin/sh", "-c", f"{TELLING}\n{line}"], capture_output=True, check=True)
    *words, end = told.stdout.decode().split("\0")
    assert (end, told.stderr) == ("", b"")
    assert " ".join(words).startswith(start)
    operands = [word for word in words[len(start.split()) :] if word and word[0] != "-"]
    assert set(operands) <= set(seen)


@pytest.mark.parametrize("tool", ["bash", "other", "read"])
def test_a_call_that_is_nested_too_deeply_to_be_shown_is_refused(tmp_path: Path, tool: str) -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    settings_ = PermissionSettings()
    permissions = Permissions(str(tmp_path), lambda: settings_, lambda _free: Confinement(["/"]))
    judgement = permissions.judge(ToolRequest(tool, {"odd": {"deep": deep}}, None))
    assert judgement.policy == "deny"
    assert "nested too deeply" in judgement.reason
    inner: list[object] = []
    flat = ToolRequest(tool, {"odd": {"flat": [[inner]]}}, None)
    assert "nested" not in permissions.judge(flat).reason
