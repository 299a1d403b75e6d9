"""How a command line is read: the commands in it, where they run, and what is not understood."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_agent.sessions.permissions.shell.line import Way
from lsp_agent.sessions.permissions.shell.parse import parse

HERE: set[Way] = {()}


def words(line: str) -> list[tuple[str | None, ...]]:
    read = parse(line)
    assert not read.unknown
    return [command.words for command in read.commands]


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("ls -la src", ["ls -la src"]),
        ("cd sub && git status --short | head -5", ["cd sub", "git status --short", "head -5"]),
        ("ls; pwd & wc || true", ["ls", "pwd", "wc", "true"]),
        ("ls |& wc", ["ls", "wc"]),
        ("ls\n# a remark\n\npwd # another", ["ls", "pwd"]),
        ("ls \\\n  -a", ["ls -a"]),
        ("(ls; { pwd; })", ["ls", "pwd"]),
        ("! ls", ["ls"]),
        ("if ls; then pwd; elif wc; then true; else head; fi", ["ls", "pwd", "wc", "true", "head"]),
        ("for f in a b; do cat d/$f.py; done", ["cat d/a.py", "cat d/b.py"]),
        ('for f in *.py; do wc "$f"; done', ["echo *.py", "wc *.py"]),
        ("for a in x y; do for b in 1 2; do echo $a${b}; done; done",
            ["echo x1", "echo x2", "echo y1", "echo y2"]),
        ("[ -f a ] && [ ! a = b ]", ["[ -f a ]", "[ ! a = b ]"]),
        ("cat <<EOF\nrm x\nEOF\nls", ["cat", "ls"]),
        ("cat <<'EOF'\n$(rm x)\nEOF", ["cat"]),
        ("cat <<< x", ["cat"]),
        ("git show HEAD@{1} {}", ["git show HEAD@{1} {}"]),
        ("git diff HEAD^{tree}..x", ["git diff HEAD^{tree}..x"]),
        # What looks like the end of something, and is none.
        ("cat <<E\nE; echo 'foo\nE\nrm x #'", ["cat", "rm x"]),
        ("cat <<'E'\nE\t; echo 'a\nE\nrm x", ["cat", "rm x"]),
        ("[ -f a ]#; rm x", ["[ -f a ]#", "rm x"]),
        ("[ a =\n'1/ls' ]", ["[ a =", "1/ls ]"]),
        ("[ -z\nrm ]", ["[ -z", "rm ]"]),
        ("if true; then ls; else'x' ; fi", ["true", "ls", "elsex"]),
    ],
)  # fmt: skip
def test_each_command_of_a_line_is_found(line: str, commands: list[str]) -> None:
    assert [" ".join(map(str, each)) for each in words(line)] == commands


#: What stands before a variable in quotes stays.
IN_QUOTES = [
    (" $f", " v"),
    ("\t$f#", "\tv#"),
    ("${f}\t$f", "v\tv"),
    ("$f $f", "v v"),
    ("b\n$f", "b\nv"),
]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("x 'a b'", "a b"),
        ('x "a b"', "a b"),
        ('x "  a  "', "  a  "),
        (r"x a\ b\;", "a b;"),
        (r'x "a\"b\$c\d"', r"a\"b$c\d".replace(r"\"", '"')),
        ("x a'b'\"c\"d", "abcd"),
        ("x ''", ""),
        ("x --a='b c'", "--a=b c"),
        ("x *.py", "*.py"),
        ("x -5", "-5"),
        ("x 5", "5"),
        ("x 5a", "5a"),
        ("x a#b", "a#b"),
        ("x 'a\nb'", "a\nb"),
        *((f'for f in v; do x "{said}"; done', word) for said, word in IN_QUOTES),
        ("x é", "é"),
        ("for f in v; do x ${f}é; done", "vé"),
        ("for f in v; do x ${f}:h; done", "v:h"),
        (r"x ]\s", "]s"),
        (r"x ]\%n", "]%n"),
        (r"x [\a", "[a"),
        ("x --format='{a,b}'", "--format={a,b}"),
        ('x "a$"', "a$"),
        ('x "a$|(b$)"', "a$|(b$)"),
    ],
)  # fmt: skip
def test_a_word_is_what_the_program_is_given(line: str, word: str) -> None:
    assert words(line) == [("x", word)]


@pytest.mark.parametrize("line", ["x $?", 'x "  $HOME/a"', "x $(pwd)", "x `pwd`", 'x "a$(pwd)"'])
def test_a_word_that_is_decided_at_run_time_is_not_known(line: str) -> None:
    assert words(line)[-1] == ("x", None)


def test_the_commands_in_a_word_are_found_before_its_own() -> None:
    found = words('ls "$(cat $(git ls-files))" `pwd`')
    assert found == [("git", "ls-files"), ("cat", None), ("pwd",), ("ls", None, None)]


@pytest.mark.parametrize(
    ("line", "reads", "writes"),
    [
        ("x < a", ["a"], []),
        ("x > a 2>> b", [], ["a", "b"]),
        ("x &> a", [], ["a"]),
        ("x >| 'a b'", [], ["a b"]),
        ("x > $HOME/a", [], [None]),
        ("x 2>&1 >/dev/null 2>/dev/null >&2", [], []),
        ("y && x > a", [], ["a"]),
        ("y | x > a", [], ["a"]),
    ],
)
def test_the_files_that_a_command_is_led_from_and_to(
    line: str, reads: list[str | None], writes: list[str | None]
) -> None:
    last = parse(line).commands[-1]
    assert (last.words, list(last.reads), list(last.writes)) == (("x",), reads, writes)
    assert all(not each.writes for each in parse(line).commands[:-1])


@pytest.mark.parametrize(
    ("line", "ways"),
    [
        ("x", HERE),
        ("cd a && x", {("a",)}),
        ("cd a && cd b && x", {("a", "b")}),
        ("cd a 2>/dev/null && x | y", {("a",)}),
        ("cd a; x", {(), ("a",)}),
        ("cd a\nx", {(), ("a",)}),
        ("cd a || x", HERE),
        ("cd a || y; x", {(), ("a",)}),
        ("y || cd a && x", {(), ("a",)}),
        ("cd a && y 2>&1 | z; x", {(), ("a",)}),
        ("! cd a && x", HERE),
        ("(cd a); x", HERE),
        ("{ cd a; }; x", {(), ("a",)}),
        ("{ cd a && y; } && x", {("a",)}),
        ("if cd a; then x; fi", {(), ("a",)}),
        ("if y; then cd a; fi; x", {(), ("a",)}),
        ("cd a & x", {(), ("a",)}),
        ("y | cd a; x", {(), ("a",)}),
        ("echo $(cd a); x", HERE),
        ("cd -- a && x", {("a",)}),
        ("x &>/dev/null && y |& z", HERE),
        ("cd a; x &>/dev/null && y", {(), ("a",)}),
    ],
)
def test_the_folders_that_a_command_may_run_in(line: str, ways: set[Way]) -> None:
    read = parse(line)
    assert not read.unknown
    assert [set(c.ways) for c in read.commands if c.words == ("x",)] == [ways]


@pytest.mark.parametrize(
    "line",
    [
        *("ls 'a", 'ls "a', "ls (", "ls &&", "if ls", "ls )", "for f in a; do ls"),
        *("A=1 ls", "PATH=.", "export A=1", "ls() { rm x; }", "function ls { rm x; }"),
        *("echo $SECRET", "echo ${A:-b}", "echo ${A}", "echo $1", "echo $@", "echo $!"),
        *("echo $((1+1))", "ls $'a'", 'ls $"a"', "ls <(pwd)", "ls {a,b}", "ls {1..3}", "ls a{,b}"),
        *("while ls; do pwd; done", "until ls; do pwd; done", "case a in a) ls;; esac"),
        *("[[ -f a ]]", "(( 1 ))", "for ((;;)); do ls; done", "select f in a; do ls; done"),
        *("for PATH in .; do ls; done", "for path in .; do ls; done", "for f; do ls $f; done"),
        *("for f in $(ls); do cat $f; done", "for f in 'a b'; do cat $f; done"),
        *("for f in ''; do cat $f x; done", "for f in *; do cat $f; done"),
        *("for f in a; do for f in b; do ls; done; done", "cat x=~/a", "cat a:~/b"),
        *("for f in a; do cd $f; done", "cd", "cd ~", "cd -", "cd -P a", "cd $HOME", "cd a*"),
        *("cd a b", "cd +1", "pushd a", "popd"),
        *("cat <<EOF\n$(rm x)\nEOF", "cat <<EOF\n`rm x`\nEOF", "cat <<EOF && rm x\na\nEOF"),
        *("cat <<-EOF\n\ta\n\tEOF", "cat <<'E F'\na\nE F", "cat <<EOF\na\n"),
        *("ls >& a", "ls 2>&-", "ls <&3", "ls <> a", "ls > a b", ">a", "2>/dev/null ls"),
        *("ls \x00", "ls\rpwd", "ls \u202e", "ls \x1b", "ls\xa0a", "ls `echo \\`rm x\\``"),
        # Of one word that is written in two rows the grammar makes two.
        *("sort -\\\no a b", "cat a\\\nb", "cat 'a'\\\nb", 'cat a\\\n"b"', "ls\\\n-a"),
        # Of a row and the one behind an escaped one it makes one command; a shell ends the first.
        *("ls a\n\\\nrm x", "ls a\n\\\n rm x", "(ls a\n\\\nrm x)", 'echo "$(ls\n\\\nrm x)"'),
        *("for f in a\n\\\nb; do ls; done", "ls <\na"),
        *("ls a\n\\\n<a", "ls a >&1\n\\\nrm", "head -5>&1", "head a -5>&1"),
        "cat a\\\n 2>&1",
        # It ends a here-document where a shell does not, and a backquote where a shell does.
        *("cat <<E\nx\n E\ncat <<F\nE\nrm x\nF\n", "cat <<'E'\nx\n\tE\nrm x\nE\n"),
        'echo "`echo \'`"; rm x; "`\'`"',
        # It begins a comment in a word, and takes a program's name for brackets.
        *("ls; {}#; rm x", "{ ls; }#; rm x; }", "{#; rm x\nls; }", "ls;{}"),
        *("{}|ls", "{ls; }", "![ -f a ]", "ls; {\n}"),
        *('if ls;then"ls"; fi', 'for f in a; do"ls"; done'),
        *("! ! ls", "time ls", "then ls"),
        # It redirects what to a shell is a word, a variable's name, or two commands.
        *(": {PATH}>&1; ls", ": {a}<b", ": {a}<<<b", "ls 12>&1", "ls a 10>/dev/null", "ls>&1"),
        *("cd a &>/dev/null && ls", "{ cd a; } &>/dev/null && ls", "ls a\\\n2>&1"),
        # A shell may run what stands before it in the background, and go on in another folder.
        *("cd sub && ls &>/dev/null && cat ../x", "cd sub && ls | wc &>/dev/null && cat ../x"),
        *("{ cd sub && ls &>>/dev/null; } && cat ../x", "cd sub && ls 2>&1 &>/dev/null | cat ../x"),
        *("cd sub && ! ls x &>/dev/null && ls", "cd sub && ls |& cat ../x", "cd a || ls |& cat x"),
        *(": {PATH} >/dev/null; ls", ": {PATH} </dev/null; ls", ": {a} <<E\nE\nls"),
        # A variable's name goes on over a letter, and its value may be several words.
        *("for f in x; do cat $fé/a; done", 'for f in x; do cat "$f中"; done'),
        *("for f in '{a,b}'; do cat $f; done", "for f in '{'; do cat ${f}a; done"),
        *("for f in v; do cat $f[1]; done", "for f in a/v; do cat $f:h; done"),
        # A variable's name goes on behind an escaped row, or does not in a new one.
        *('echo "$USER\\\n_TOKEN"', 'for f in v; do cat "d$f\\\na/x"; done', "ls $USER\\\n_A"),
        *('for f in a; do cat "$\nf"; done', 'for f in a; do cat "${ f}"; done'),
        # Of one word it makes two.
        *("cat {]\\a,/etc/hostname}", "for f in ]\\s; do cat $f; done"),
        *("ls;;", "$(ls) a", "$HOME/a", "declare -x A=1", "unset PATH", "@(a)", "ls !(a)"),
    ],
)  # fmt: skip
def test_what_is_not_understood(line: str) -> None:
    assert parse(line).unknown


@pytest.mark.parametrize("line", ['echo "$(cat <<E\n)\nE\n)"', 'echo "$(ls # )\n)"'])
def test_where_an_old_bash_looks_for_the_end_elsewhere_it_is_not_understood(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    assert not parse(line).unknown
    monkeypatch.setattr(sys, "platform", "darwin")
    assert parse(line).unknown


@pytest.mark.parametrize("piece", ["(", "a ", "{ ", "$(", "`", "if ", "ls;", "a|", "'", "<<E\n"])
def test_a_line_of_any_length_is_read_at_once(piece: str) -> None:
    for length in (4096, 1_000_000):
        began = time.perf_counter()
        parse(piece * (length // len(piece)))
        assert time.perf_counter() - began < 5


PIECES = st.sampled_from(
    [
        *("a", "b c", "'q q'", '"d  d"', '" $? "', "e\\ f", "\\;", ";", "|", "&&", "||", "&", "\n"),
        *("$(p 1)", "`p 2`", "(", ")", "{ ", "; }", "!", "#", "x=1", "if p", "; then", "; fi"),
        *("for f in 1 2; do", "; done", "$f", '"$f"', "2>&1", ">/dev/null", "p", "p", "p z", "''"),
        *('""', "\\", "'", '"', "{a,b}", "*", "~", "-5", "é", "<<E\n", "\nE\n", "cd d", "cd d &&"),
        *("a\\\nb", "\\\n", "'q'\\\nb", "&\\\n&", "-\\\nb"),
        *(
            "\n\\\n",
            "[ a =\n",
            " ]",
            "]",
            "{]",
            "\\x",
            "<<E\nx\n E\n",
            "'`'",
            '"`',
            '`"',
            "<<'E'\n",
        ),
        *("cd d && p &>/dev/null && p", "cd d && p |& p", "{ cd d && p &>/dev/null; }", "$fé"),
        *("{}", "}#", "]#", "{", "\nE; ", "\nE & "),
        *('" $f"', '"$f\\\nx"', '"a\t$f $f"', "{f}>&1", "12>&1", "&>/dev/null", "else", '"$\nf"'),
    ]
)
#: Most stand behind each other with a blank between them.
LINES = st.lists(st.tuples(PIECES, st.sampled_from(("", " ", " "))), min_size=1, max_size=9).map(
    lambda pieces: "".join(piece + between for piece, between in pieces)
)
#: A shell that says which words it would have run ``p`` with, and where, and runs nothing.
TELLING = """p() { printf '%s\\0' "$PWD" p "$@" "" >&9; return "$STATUS"; }; set -f
"""


@settings(max_examples=150, deadline=None)
@given(line=LINES, status=st.sampled_from("01"))
@pytest.mark.parametrize("shell", ["/bin/sh", "/bin/bash"])
def test_a_shell_runs_no_other_command_than_was_read(
    shell: str, line: str, status: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    line = f"p {line}"
    read = parse(line)
    if read.unknown:
        return
    folder = tmp_path_factory.getbasetemp() / "shell"
    (folder / "d" / "d").mkdir(parents=True, exist_ok=True)
    told = subprocess.run(
        [shell, "-c", f"exec 9>&1 1>&2\n{TELLING}{line}"],
        cwd=folder,
        env={"PATH": "/nowhere", "HOME": "~", "STATUS": status, "LC_ALL": "C.UTF-8"},
        capture_output=True,
        timeout=20,
        check=False,
    ).stdout.decode()
    for place, *run in _runs(told.split("\0")):
        way = Path(os.path.relpath(place, os.path.realpath(folder))).parts
        assert any(
            way in command.ways and _may_be(command.words, run) for command in read.commands
        ), (place, run)


def _runs(told: list[str]) -> list[list[str]]:
    """Folder and words of each; none of the words in these lines is empty but the last."""
    runs: list[list[str]] = [[]]
    for word in told:
        if word.startswith("/") and runs[-1]:
            runs.append([])
        runs[-1].append(word)
    return [[word for word in run if word] for run in runs if any(run)]


def _may_be(words: tuple[str | None, ...], run: list[str]) -> bool:
    known = [word for word in words if word != ""]
    if None in known:
        return known[0] == run[0]
    return known == run
