"""Which commands only read, by the catalogue; where paths lead is `test_surroundings`'s."""

import os

import pytest

from lsp_agent.sessions.permissions.reading.reads import Reach, reads
from lsp_agent.sessions.permissions.shell.line import Way
from lsp_agent.sessions.permissions.shell.parse import LONGEST_LINE, parse


class Anywhere:
    """A disk on which all that is named may be read, but ``out``; it notes what was asked for."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def may_read(self, way: Way, word: str, reach: Reach) -> bool:
        self.read.append(
            "/".join([*way, word]) + {"below": "/**", "shown": "/**", "listed": "/*"}.get(reach, "")
        )
        return "out" not in word

    def is_known(self, program: str, *, builtin: bool) -> bool:
        return True

    def is_in_repository(self, way: Way, word: str) -> bool:
        place = os.path.normpath("/".join(["/top", *way, word]))
        return place.startswith("/top/") and not word.startswith(("/", "~"))

    def is_led_out(self, program: str, way: Way, word: str) -> bool:
        return False

    def is_own_repository(self, way: Way) -> bool:
        return True


def only_reads(line: str, disk: Anywhere | None = None) -> bool:
    read = parse(line)
    return not read.unknown and all(reads(each, disk or Anywhere()) for each in read.commands)


READING = [
    *("ls", "ls -la src", "ls -l --color=never *.py", "cat a b", "cat -n < a", "head -5 a"),
    *("head -n 5 a", "head -n5 a", "tail --lines=3 a", "tail -n +5 a", "wc -l a", "wc < a"),
    *("grep -rn 'a.*b' src", "grep -n --include='*.py' x .", "grep -A 3 -B2 x a", "grep -e x -- a"),
    *("rg -n x", "rg -t py 'a b' src", "rg --files", "rg -g '*.py' -l x", "sort -u -k 2 a"),
    *("uniq -c", "uniq -c a", "cut -d : -f 1 a", "tr a-z A-Z", "diff -u a b", "cmp a b"),
    *("stat -c %s a", "file -b a", "du -sh .", "tree -L 2 -I node_modules", "readlink -f a"),
    *("find . -name '*.py' -not -path './x/*'", "find src tests -type f -maxdepth 2 -print"),
    *("find . \\( -name a -o -name b \\) -prune", "find . -newer a", "find -size +1k"),
    *("echo a", "echo $?", "echo *", 'printf "%s\\n" "$HOME"', "pwd", "true", "cd src", "type ls"),
    *("exit", "exit 3", "grep -r x --include=*.py src"),
    *("command -v git", "which git", "test -f a", "[ -d a ]", "[ ! -e a -o a = b ]", "date +%s"),
    *("[ 1 -lt 2 ]", "sed -n 5p a", "sed -n '1,20p' a", "sed -n '/a/,/b/p;5q' a", "sed s/a/b/g a"),
    *("python3 --version", "git --version", "uname -a", "id -u", "whoami", "seq 1 5", "sleep 1"),
    *("sed 's/[0-9]*$//' a", "sed -E 's|^([[:space:]]+)a|\\1b|;1d' a", "sed -n '/a b/I,+3p' a"),
    *("sed 's,a/b,c,2g' a", "sed '$d' a", "sed -n '$=' a", "sed 's/ *; */,/g' a"),
    "sed 's/a/b[/' a",
    *("printf '%s\\t%5s%%\\n' a b", "git log '--format=%h %an %ad %s' --date=short"),
    "git log '--pretty=format:%C(auto)%h%d %s (%ar)'",
    "git log --pretty=oneline --format=fuller",
    "git for-each-ref --sort=-committerdate '--format=%(refname:short) %(objectname:short)'",
    *("git tag --sort=-v:refname", "git branch '--format=%(refname:short)'"),
    "git log --pretty=%x09 --date=format:%F",
    *("git status", "git status --short -uno", "git --no-pager diff --stat HEAD~1 -- src"),
    *("git log --oneline -n 5", "git log -5 --format=%h", "git show HEAD:a", "git -C sub status"),
    *("git branch -a", "git branch --show-current", "git remote", "git rev-parse --short HEAD"),
    *("git diff HEAD~1 -- src/a", "git -C sub diff ../a", "git diff a.py b/../c"),
    *("git ls-files", "git blame -L1,5 a", "git stash list", "git tag", "git tag -l 'v*'"),
    *("git grep -n x", "git reflog", "git worktree list", "git diff --cached", "git cat-file -p x"),
    *("ls 2>/dev/null", "ls > /dev/null 2>&1", "cd a && git status --short | head -5"),
    *('for f in a/*; do wc -l "$f"; done', 'for f in *; do echo "== $f"; done'),
    *("for f in a b; do wc -l $f; done", "if [ -f a ]; then cat a; else echo no; fi"),
    *('echo "$(git rev-parse HEAD)"', "ls a || echo none", "cat <<EOF\nx\nEOF"),
]  # fmt: skip


@pytest.mark.parametrize("line", READING)
def test_it_only_reads(line: str) -> None:
    assert only_reads(line)


@pytest.mark.parametrize(
    "line",
    [
        # It writes.
        *("ls > a", "ls >> a", "sort -o a b", "sort -ob a", "sort --output=a b", "sort -m a"),
        *("sort --outp=a b", "uniq a b", "tree -o a", "tree -Io x a"),
        *("find . -fprint a", "find . -fprintf a %p"),
        *("find . -fls a", "find . -delete", "sed -i s/a/b/ a", "sed -n 'w b' a", "sed s/a/b/w a"),
        *("sed -n '/a/w b' a", "sed --in-place s/a/b/ a", "sed -n '1p;w b' a", "rm a", "touch a"),
        *("date -s 0", "date 01010101", "hostname x", "git diff --output=a", "git diff --outp=a"),
        *("git tag v1", "git branch x", "git branch -d x", "git branch -D x", "git remote add a b"),
        *("git stash", "git reflog expire", "git config a b", "git checkout a", "git add a"),
        *("git worktree add a", "git commit -m x", "git rm a", "git clean -n", "git gc"),
        *("file -C", "uniq - b", "tee a", "sort -T a b", "echo x > a", "cat <<EOF > a\nx\nEOF"),
        *("sed 's/[/]/gp;/w b/p' a", "sed -n '/[/]/w b' a", "sed 's/[/]/x/;w b' a"),
        "sed 's|a|b|w c' a",
        *("uniq a -c", "uniq -- a b", "git describe --dirty", "printf x%n a", "printf '%s%n' a b"),
        # It runs something.
        "for f in true; do for f in touch; do :; done; $f a; done",
        *('for f in *; do grep "$f" .; done', 'for f in *; do git grep "$f" a; done'),
        *('for f in s,a*,b,; do sed "$f" a; done', 'for f in *; do rg "$f" a; done'),
        *('for f in *; do printf "$f" a; done', 'for f in *; do "$f"; done'),
        'for f in *; do head "-$f"; done',
        'for f in *; do for g in "$f"; do grep "$g" a; done; done',
        *("sed 's/[/]/gp;/e#/p' a", "sed 's/[]/]/x/e' a", "sed 's/[^]/]/x/e' a"),
        "sed -n '/a/{p}' a",
        *("sed 's/a/b/;e rm' a", "sed 's/a/b/ e' a", "sed y/a/b/ a", "sed 's,a,b,e' a", "sed 1r a"),
        *("git log '--format=% G?'", "git log --format=%+G?", "git log --pretty=%-GK", "git log %"),
        *("git for-each-ref '--format=%(signature)'", "git branch '--format=%(signature:key)'"),
        *("git tag --sort=signature", "git branch --sort=-signature", "git tag --sort signature"),
        "git for-each-ref '--format=%(push:remotename)'",
        *("git for-each-ref --format '%(signature)'", "git log '--format=%(describe)'"),
        *("git log --submodule=diff", "git log --pretty=format:%C"),
        "git log '--format=%(if)%(then)'",
        *("printf %d 'a[$(rm)]'", "printf '%*s' 'a[1]' x", "[ a -eq 1 ]", "test 1 -lt PATH"),
        *("for x in 'a[$(rm)]'; do [ x -eq 1 ]; done", "printf '%(%s)T' 'a[1]'"),
        *("find . -exec rm {} +", "find . -ok rm", "find . -execdir rm", "rg --pre x y", "rg -z x"),
        *("rg --hostname-bin=x y", "sort --compress-program=x a", "sed '1e rm' a", "sed s/a/b/e a"),
        *("sed -f a b", "sed -e 'w b' a", "sed -e p -e 'e rm' a", "git -c a=b status", "awk 1 a"),
        *("git diff --ext-diff", "git show --textconv", "git grep -Ox", "git log --format=%G?"),
        *("git log --show-signature", "git blame --contents=a b", "xargs cat", "env ls"),
        *("git --exec-path=. status", "git --git-dir=a status", "git --work-tree=a status"),
        *("command ls", "printf -v a b", "test -v 'a[$(rm)]'", "[ 'a[$(rm)]' -eq 1 ]", "eval ls"),
        *("sh -c ls", "exec ls", "time ls", "nice ls", "source a", ". a", "ls() { rm; }; ls"),
        *("PAGER=x git log", "LD_PRELOAD=x ls", "GIT_DIR=x git log", "export A=b", "alias ls=rm"),
        *("./ls", "/bin/ls", "python3 -c 1", "python3 --version x", "node -e 1", "git x", "git"),
        *("which `rm a`", "echo $(rm a)", "cat $(ls)", "ls && rm a", "ls | sh", "$(ls)"),
        # Git takes what ends its options for a value, or leaves it out.
        *("git shortlog --until -- --output=a HEAD", "git log --grep -- --output=a"),
        *("git stash list -- --output=a", "git log -L -- --output=a", "git log -- a --output=b"),
        *("git diff -- ':(top).env'", "git show HEAD -- :/a", "git describe --match -- --dirty"),
        # It compares what lies outside of the repository.
        *("git diff a ../b", "git diff /a b", "git diff ~/a b", "git -C sub diff a ../../b"),
        # It goes on for ever.
        *("tail +1f a", "tail +f a", "sed 'G;D' a"),
        # It follows links, or a list.
        *("ls -L a", "ls -H a", "grep -R x .", "grep -S x .", "rg -L x", "rg --follow x"),
        *("find -L . -name a", "find . -follow", "diff -r a b", "wc --files0-from=a", "du -L a"),
        *("tree -l", "file -f a", "md5sum -c a", "du --files0-from=a", "tail -f a", "tail -F a"),
        # It calls someone, or tells a secret.
        *("git remote -v", "git remote get-url origin", "git branch -v x"),
        *("git fetch", "git ls-remote", "git remote show origin", "git remote update", "curl x"),
        *("env", "printenv", "set", "export", "echo $SECRET", "git config --list", "ps e"),
        # What it is, is decided elsewhere.
        *("ls $HOME", "ls $(pwd)", "cat `ls`", "head -n $? a", "find . -name *.py", "grep * a"),
        *("exit $(rm a)", "exit a b", "grep --inc*=x a"),
        *("head -n * a", "ls -*", "uniq *", "sed -n * a", "date *", "[ -f * ]", "git log $?"),
        # What a substitution prints, and what stands before a glob, may lead anywhere.
        *("echo $(echo '/etc/*')", "echo $HOME/*", 'echo "$HOME"/*', ": $PWD/../*"),
        *("printf '%s' $(echo '/*')", "echo a$(echo '/*')", "echo `echo '/*'`"),
        *("ls --nonsense", "ls -9", "cat --x", "head -5f a", "l?"),
        *("type a*", "command -v a*", "command -V a*"),
    ],
)  # fmt: skip
def test_it_may_do_more_than_read(line: str) -> None:
    assert not only_reads(line)


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("cat a *.py", ["a", "*.py"]),
        ("cd d && cat a < b", ["d", "d/b", "d/a"]),
        ("grep -r x", ["./**"]),
        ("grep -r x d", ["d/**"]),
        ("grep x", []),
        ("grep -f a x", ["a", "x"]),
        ("grep -e x a", ["a"]),
        ("git grep x", ["./**"]),
        ("rg x", ["./**"]),
        ("rg --files d", ["d/**"]),
        ("diff a b", ["a/*", "b/*"]),
        ("head -n 5 a", ["a"]),
        ("head a -n 5", ["-n", "5", "a"]),
        ("find d -newer a", ["d", "a"]),
        ("find -name x", ["."]),
        ("echo a *", ["*"]),
        ("git show a -- b", ["--", "a", "b"]),
        ("git -C d shortlog < ../a", ["../a"]),
        ("sed -n 5p a", ["a"]),
        ("cat -- -a", ["-a"]),
        ("[ -f a ]", ["a"]),
    ],
)
def test_the_files_that_it_reads_are_looked_at(line: str, read: list[str]) -> None:
    disk = Anywhere()
    assert only_reads(line, disk)
    assert disk.read == read


@pytest.mark.parametrize(
    "line",
    [
        *("cat out", "cat a out", "cat < out", "cd out", "grep -f out x", "grep -e x out"),
        *(
            "grep x out",
            "ls -- out",
            "head -n 5 out",
            "find out",
            "find . -newer out",
            "diff a out",
        ),
        *(
            "[ -f out ]",
            "echo out*",
            "sed -n 5p out",
            "git diff out",
            "od -w out",
            *("basename -a out*", "which out*", "dirname out*", "seq out*"),
            "wc - out",
            "head a -n out",
        ),
    ],
)
def test_a_file_that_may_not_be_read_is_seen(line: str) -> None:
    assert not only_reads(line)


@pytest.mark.timeout(20)  # where blanks are shared out in all ways, it takes minutes
def test_a_step_of_sed_behind_many_blanks_is_read_at_once() -> None:
    blanks = " " * (LONGEST_LINE - 100)
    assert only_reads(f"sed '{blanks}p' a")
    assert not only_reads(f"sed '{blanks}w out' a")
