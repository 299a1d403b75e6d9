"""Which lines are let write git's own store in the sandbox: those that have it keep what is there,
where nothing that the repository or the person has set runs beside it."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lsp_agent.protocol.git_environment import git_environment
from lsp_agent.protocol.settings.settings import PermissionSettings
from lsp_agent.sessions.permissions.judge import Permissions
from lsp_agent.toolset.calls import ToolRequest
from lsp_agent.workspace.disk.paths import Confinement

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

LINE = "git add -A && git commit -m x"


class Shop:
    """A repository with a commit, and a person who may have settings for git."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.folder = base / "shop"
        self.person = base / "gitconfig"

    def fill(self) -> None:
        self.person.touch()
        self.git("init", "-q", "-b", "main", str(self.folder), at=self.base)
        for key in ("user.name", "user.email"):
            self.git("config", key, "a")
        for name in ("a.txt", "src/b.py", "../secret"):
            self.file(name)
        (self.folder / "leak").symlink_to("../secret")
        (self.folder / "out").symlink_to("..")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "first")

    def git(self, *words: str, at: Path | None = None) -> None:
        subprocess.run(["git", *words], cwd=at or self.folder, check=True, capture_output=True)

    def file(self, name: str, text: str = "x\n") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def is_kept(
        self, line: str, *, at: str = ".", roots: list[str] | None = None, **settings: str
    ) -> bool:
        known = PermissionSettings.model_validate({"command": "sandbox"} | settings)
        confinement = Confinement(roots or [str(self.folder)])
        permissions = Permissions(str(self.folder / at), lambda: known, lambda _: confinement)
        permissions.surround(git_environment({}))
        store = permissions.judge(ToolRequest("bash", {"command": line}, None)).store
        assert store in (None, str(self.folder / ".git"))
        return store is not None


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shop = Shop(tmp_path_factory.mktemp("filled"))
    shop.fill()
    return shop.base


@pytest.fixture
def shop(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    shutil.copytree(filled, tmp_path, symlinks=True, dirs_exist_ok=True)
    shop = Shop(tmp_path.resolve())
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(shop.person))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    return shop


@pytest.mark.parametrize(
    "line",
    [
        *(LINE, "git add .", "git add src/b.py a.txt", "git add src/*.py", "git add -u"),
        *("git add -v -- src", "git commit -am 'Fix it'", "git commit -q -m a -m b -s a.txt"),
        *("git commit --author='A <a@b>' --message=x", "git commit -F a.txt"),
        *("git branch new", "git switch -c fix/parser", "git checkout -b new", "git tag v1.0"),
        *("git tag -a v1 -m 'One'", "git restore --staged a.txt", "git restore -S ."),
        *("cd src && git add b.py && git commit -m x && git log -1 --oneline | head -1",),
        *("git add -A; git status --short", "git add no-longer-there", "git add -A 2>&1"),
        "git commit -m \"$(cat <<'EOF'\nFix\n\nAnd $more.\nEOF\n)\"",
        *('git commit -m "Built $(date)"', "if git add a.txt; then git commit -m x; fi"),
    ],
)
def test_what_git_keeps_and_what_reads_beside_it(shop: Shop, line: str) -> None:
    assert shop.is_kept(line)


@pytest.mark.parametrize(
    "line",
    [
        # What does more, or changes what was kept.
        *("git status", "ls", "git push", "git stash", "git commit", "git commit -a", "git add -p"),
        *("git commit --amend -m x", "git commit -n -m x", "git commit --no-verify -m x"),
        *("git commit -m x --fixup HEAD", "git commit -e -m x", "git commit -v -m x"),
        *("git commit -t a.txt", "git commit --template=a.txt -m x", "git commit -C HEAD"),
        *("git commit -S -m x", "git commit -m x --trailer=a=b", "git commit -m x --no-gpg-sign"),
        *("git add -f a.txt", "git add -e", "git add -i", "git add --chmod=+x a.txt"),
        *("git add --pathspec-from-file=a.txt", "git rm a.txt", "git mv a.txt b", "git reset"),
        *("git restore a.txt", "git restore -SW a.txt", "git restore -S -s HEAD~1 a.txt"),
        *("git branch -f new", "git branch -D main", "git branch new HEAD~1", "git tag -d v1"),
        *("git tag -s v1 -m x", "git tag -a v1", "git switch main", "git switch -C main"),
        *("git checkout -b new origin/main", "git checkout main", "git config a.b c", "git gc"),
        # By way of options and variables of git's own.
        *("git -C . add a.txt", "git -c core.editor=x commit -m x", "git --git-dir=.git add ."),
        *("git --work-tree=/ add .", "GIT_DIR=x git commit -m x", "env GIT_DIR=x git add ."),
        *("git --exec-path=. add .", "export GIT_DIR=x; git add ."),
        # Elsewhere.
        *("git add /etc/passwd", "git add ../secret", "git add leak", "git add out/secret"),
        *("git commit -F ../secret", "git commit -F leak", "git commit -F /etc/passwd"),
        *("git commit -F .env -m x", "cd .. && git add .", "cd out && git add .", "git add ~/x"),
        *("git commit -m x < ../secret", "git add .env", "git add :/", "git add ':(attr:x)'"),
        # Beside what does more.
        *("touch x; git add x", "git add . && pytest", "git commit -m x > log", "git add . && ./x"),
        *('git commit -m "$(./x)"', 'git commit -m "$(cat ../secret)"', "git commit -m $(date)"),
        *('git commit -m "$x"', 'git commit -m "$(cat <<EOF\n$(./x)\nEOF\n)"', 'git "$(date)"'),
        *("git commit -m x & ./x", "eval git add .", "sudo git add .", "./git add .", "g add ."),
    ],
)
def test_any_other_is_held_as_all_is(shop: Shop, line: str) -> None:
    shop.file("x", "#!/bin/sh\n").chmod(0o755)
    shop.file("git", "#!/bin/sh\n").chmod(0o755)
    assert not shop.is_kept(line)


@pytest.mark.parametrize(
    "name",
    [
        *("'$(touch${IFS}x)'", "-d", "HEAD", "FETCH_HEAD", "refs/heads/main", "abcdef1", "main"),
        *("origin", "origin/main", "v0", "a..b", "@", "heads/main", "'a b'", "old"),
    ],
)
@pytest.mark.parametrize("makes", ["git branch", "git tag", "git switch -c", "git checkout -b"])
def test_no_name_is_made_that_means_something_else_already(
    shop: Shop, makes: str, name: str
) -> None:
    shop.git("remote", "add", "origin", "https://example.org/x")
    shop.git("tag", "v0")
    shop.git("branch", "old")
    shop.git("pack-refs", "--all")
    assert shop.is_kept(f"{makes} originally")
    if name != "a..b":  # which git itself refuses
        assert not shop.is_kept(f"{makes} {name}")


def a_hook(shop: Shop) -> None:
    hook = shop.folder / ".git" / "hooks" / "post-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)


def setting(key: str, value: str, *, own: bool = False) -> Callable[[Shop], None]:
    """Of the repository's own file, or of the person's."""

    def set_it(shop: Shop) -> None:
        where = ["--local"] if own else ["--file", str(shop.person)]
        shop.git("config", *where, key, value)

    return set_it


def of_an_include(shop: Shop) -> None:
    (shop.base / "more").write_text("[core]\n\thooksPath = hooks\n")
    shop.person.write_text("[include]\n\tpath = more\n")


def settings_in_the_workspace(shop: Shop) -> None:
    """Which an agent may change meanwhile."""
    shop.file("dotfiles/gitconfig", "[user]\n\tname = a\n")
    shop.person.unlink()
    shop.person.symlink_to("shop/dotfiles/gitconfig")


def a_common_folder(shop: Shop) -> None:
    (shop.folder / ".git" / "commondir").write_text("../other\n")


def a_link_for_git(shop: Shop) -> None:
    (shop.folder / ".git").rename(shop.base / "store")
    (shop.folder / ".git").symlink_to(shop.base / "store")


def a_file_for_git(shop: Shop) -> None:
    (shop.folder / ".git").rename(shop.base / ".git")
    (shop.folder / ".git").write_text("gitdir: ../.git\n")


def a_repository_in_it(shop: Shop) -> None:
    shop.git("clone", "-q", ".", "inner")


def an_empty_repository_in_it(shop: Shop) -> None:
    shop.git("init", "-q", "inner")


def a_repository_around_files(shop: Shop) -> None:
    shop.git("clone", "-q", "--bare", ".", str(shop.base / "bare"))
    (shop.base / "bare").rename(shop.folder / "src" / ".git")


def a_repository_for_a_file(shop: Shop) -> None:
    (shop.folder / "a.txt").unlink()
    shop.git("clone", "-q", ".", "inner")
    (shop.folder / "inner").rename(shop.folder / "a.txt")


def a_repository_in_the_index(shop: Shop) -> None:
    shop.git("clone", "-q", ".", "inner")
    shop.git("add", "inner")


def a_secret(shop: Shop) -> None:
    shop.file("src/.env")


@pytest.mark.parametrize(
    "change",
    [
        *(a_hook, a_common_folder, a_link_for_git, a_file_for_git, of_an_include),
        settings_in_the_workspace,
        *(a_repository_in_it, an_empty_repository_in_it, a_repository_around_files),
        *(a_repository_for_a_file, a_repository_in_the_index, a_secret),
        *(setting("core.hooksPath", "hooks"), setting("core.hooksPath", "hooks", own=True)),
        *(setting("commit.gpgSign", "true"), setting("tag.forceSignAnnotated", "yes")),
        *(setting("filter.x.clean", "./x"), setting("filter.x.clean", "./x", own=True)),
        *(setting("filter.lfs.process", "./git-lfs"), setting("merge.x.driver", "./x")),
        *(setting("hook.x.command", "./x"), setting("gc.recentObjectsHook", "./x")),
        *(setting("filter.lfs.clean", "git-lfs clean -- %f"),),
        *(setting("core.worktree", "..", own=True),),
        *(setting("branch.autoSetupMerge", "always"), setting("include.path", "../x", own=True)),
    ],
    ids=lambda change: change.__name__,
)  # fmt: skip
def test_where_something_else_would_run_or_be_taken_in_it_is_held_as_all_is(
    shop: Shop, change: Callable[[Shop], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shop.is_kept(LINE)
    monkeypatch.setenv("PATH", f"{shop.folder}/bin", prepend=":")
    shop.file("bin/git-lfs").chmod(0o755)
    change(shop)
    assert not shop.is_kept(LINE)


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"])
def test_where_the_environment_leads_elsewhere_it_is_held_as_all_is(
    shop: Shop, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "x")
    assert not shop.is_kept(LINE)


def test_a_secret_that_is_not_taken_in_stands_in_nobodys_way(shop: Shop) -> None:
    shop.file(".env")
    shop.file("src/.env.local")
    assert shop.is_kept("git add a.txt && git commit -m x")
    assert shop.is_kept("git add -u && git commit -am x")
    for line in ("git add .", "git add src", "cd src && git add .", "git add '*'", "git add s*"):
        assert not shop.is_kept(line)
    shop.file(".gitignore", ".env*\n")
    assert shop.is_kept("git add -A && git add src")


def test_git_lfs_of_the_person_stands_in_nobodys_way(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop.base / "bin").mkdir()
    program = shop.base / "bin" / "git-lfs"
    program.touch()
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    setting("filter.lfs.clean", "git-lfs clean -- %f")(shop)
    setting("filter.lfs.process", "git-lfs filter-process")(shop)
    assert shop.is_kept(LINE)


def test_samples_of_hooks_are_none(shop: Shop) -> None:
    a_hook(shop)
    hooks = shop.folder / ".git" / "hooks"
    (hooks / "post-commit").rename(hooks / "post-commit.sample")
    assert shop.is_kept(LINE)


@pytest.mark.parametrize("settings", [{"reading": "ask"}, {"read": "ask"}, {"command": "ask"}])
def test_it_is_so_where_the_settings_trust_the_tables(shop: Shop, settings: dict[str, str]) -> None:
    assert not shop.is_kept(LINE, **settings)


def test_only_the_repository_of_a_workspace_folder_is_meant(shop: Shop) -> None:
    """In another the sandbox lets it work in any case, or not at all."""
    assert shop.is_kept(LINE, at="src")
    assert not shop.is_kept(LINE, at="src", roots=[str(shop.folder / "src")])
    assert not shop.is_kept(LINE, roots=[str(shop.base)])
