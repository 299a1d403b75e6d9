"""Programs that only read, each with the options that leave it so.

What is missing is missed on purpose: options that write (``sort -o``), run a program (``rg
--pre``), follow links (``ls -L``, ``grep -R``), take their files from a list that nobody looks at
(``wc --files0-from``) or do not end (``tail -f``). Programs whose arguments are code are not here.
"""

from collections.abc import Mapping

from lsp_agent.sessions.permissions.reading.options import Operands, Options, Reach, Takes


def options(  # noqa: PLR0913  the columns of a table
    letters: str = "",
    values: str = "",
    names: str = "",
    *,
    patterns: str = "",
    files: str = "",
    texts_of: str = "",
    attached: str = "",
    nexts: str = "",
    operands: Operands = "files",
    texts: int = 0,
    most: int | None = None,
    numbers: bool = False,
    reach: Reach = "itself",
    deep: str = "",
    textless: str = "",
) -> Options:
    """A row: letters of options that take nothing, a value, a pattern, a file's name, a text, what
    is attached, the next word; and names, ``name=`` for one with a value, ``name?`` for one that
    may have it attached."""
    kinds: dict[str, Takes] = dict.fromkeys(letters, "nothing")
    kinds |= dict.fromkeys(values, "value")
    kinds |= dict.fromkeys(patterns, "pattern")
    kinds |= dict.fromkeys(files, "file")
    kinds |= dict.fromkeys(texts_of, "text")
    kinds |= dict.fromkeys(attached, "attached")
    kinds |= dict.fromkeys(nexts, "next")
    return Options(
        kinds,
        dict(_named(name) for name in names.split()),
        operands,
        texts,
        most,
        numbers,
        reach,
        word_set(deep),
        word_set(textless),
    )


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _named(name: str) -> tuple[str, Takes]:
    if name == "message=":
        return "message", "text"
    if name.endswith("="):
        return name[:-1], "pattern" if name == "regexp=" else "value"
    return (name[:-1], "attached") if name.endswith("?") else (name, "nothing")


_LINES = options("qvz", "nc", "lines= bytes= quiet silent verbose", numbers=True)
_GREP = options(
    "abcEFGhHiIlLnoPqrsTUvwxyZz",
    "ABCm",
    "include= exclude= exclude-dir= color? colour? line-number ignore-case count text null quiet"
    " files-with-matches files-without-match only-matching word-regexp line-regexp regexp="
    " extended-regexp fixed-strings perl-regexp basic-regexp recursive invert-match max-count="
    " context= after-context= before-context= no-filename with-filename no-messages",
    patterns="e",
    files="f",
    texts=1,
    numbers=True,
    deep="r recursive",
)
_RG = options(
    # Without what shows hidden files, in which secrets are kept.
    "acFHiIlnNoPpqsSUvwx0",
    "ABCmMgtTEdjr",
    "type= type-not= glob= iglob= files no-ignore no-heading heading line-number column"
    " count no-line-number count-matches files-with-matches files-without-match ignore-case"
    " smart-case case-sensitive word-regexp line-regexp fixed-strings context= after-context="
    " before-context= max-count= max-depth= max-columns= color= json multiline only-matching"
    " replace= sort= sortr= no-filename with-filename stats trim vimgrep type-list null pcre2 text"
    " invert-match quiet regexp= no-messages no-config",
    patterns="e",
    files="f",
    texts=1,
    reach="shown",
    # What these name is opened though it is hidden.
    deep="g glob iglob t type",
    textless="files type-list",
)
_SUM = options("bt", "", "binary text tag")
_WORDS = options(operands="texts")
_ALONE = options(operands="none")

PROGRAMS: Mapping[str, Options] = {
    "ls": options(
        "1aAbBcCdfFgGhiklmnNopqQrRsStuUvxX",
        "",
        "all almost-all author directory classify? color? human-readable group-directories-first"
        " recursive reverse size sort= time= time-style= full-time inode no-group numeric-uid-gid"
        " hide= ignore= format= si block-size= file-type width= quote-name escape literal",
    ),
    "cat": options(
        "AbeEnstTuv",
        "",
        "number number-nonblank show-all show-ends show-tabs squeeze-blank show-nonprinting",
    ),
    "tac": options("br", "s"),
    "rev": options(),
    "nl": options("p", "bdfhilnsvw"),
    "head": _LINES,
    "tail": _LINES,
    "wc": options("clmwL", "", "lines words chars bytes max-line-length"),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": _RG,
    "sort": options(
        "bdfghiMnRrVcCsuz",
        "kt",
        "numeric-sort reverse unique key= field-separator= human-numeric-sort version-sort"
        " ignore-case general-numeric-sort check stable zero-terminated",
    ),
    # Its second file would be written.
    "uniq": options("cdDiuz", "fsw", "count repeated unique ignore-case", most=1),
    "cut": options(
        "nsz", "bcdf", "complement output-delimiter= fields= delimiter= characters= only-delimited"
    ),
    "tr": options("cCdst", "", "complement delete squeeze-repeats", operands="texts"),
    "comm": options("123z", "", "nocheck-order"),
    "paste": options("sz", "d"),
    "join": options("i", "aejotv12"),
    "fold": options("bs", "w", numbers=True),
    "column": options("tx", "sco", "table separator="),
    "diff": options(
        "abBdeEinpqstTuwyZ",
        "CUWI",
        "unified? context? color? side-by-side brief ignore-all-space ignore-space-change"
        " ignore-blank-lines ignore-case report-identical-files width= text minimal"
        " strip-trailing-cr suppress-common-lines",
        reach="listed",
    ),
    "cmp": options("bls", "in", "silent quiet print-bytes verbose"),
    "stat": options("t", "c", "format= printf= terse"),
    "file": options("bhik", "", "brief mime mime-type mime-encoding no-dereference"),
    "du": options(
        "abchkmsSx0",
        "dt",
        "max-depth= summarize human-readable total all apparent-size exclude= bytes separate-dirs",
    ),
    "df": options("ahHiklmPT", "", "human-readable total"),
    "tree": options(
        "acdfhiCDFnpsugtrvxJAQ",
        "",
        "dirsfirst noreport gitignore prune du si",
        nexts="LIP",
    ),
    "readlink": options("efmnqsvz", "", "canonicalize"),
    "realpath": options("eLmPqsz", "", "no-symlinks canonicalize-existing canonicalize-missing"),
    "basename": options("az", "s", "multiple suffix=", operands="texts"),
    "dirname": options("z", operands="texts"),
    "md5sum": _SUM,
    "sha1sum": _SUM,
    "sha256sum": _SUM,
    "sha512sum": _SUM,
    "cksum": options(),
    "od": options("abcdfiloxsv", "AjNt", attached="w"),
    "hexdump": options("bcCdovx", "ns"),
    "which": options("a", operands="texts"),
    "seq": options("w", "fs", operands="texts", numbers=True),
    "uname": options("asnrvmpio", operands="none"),
    "id": options("ugGnrz", operands="none"),
    "whoami": _ALONE,
    "nproc": _ALONE,
    "arch": _ALONE,
    "hostname": _ALONE,
    "sleep": _WORDS,
}

#: Those that say their version and no more when that is all they are asked.
VERSIONED = word_set("bash gcc git make node python python3 rg sed")
