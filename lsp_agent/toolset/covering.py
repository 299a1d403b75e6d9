"""Secrets in a text that goes to a model, or is stored, are covered: each by a word that says what
it is and stands for its value, which is put back where the agent writes the word. Pure.

A cover has no line end in it and covers none, so a covered text has the lines of the real one.
"""

import hmac
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

#: As ``[covered:GITHUB_TOKEN:5f0c2a917be4]``.
_COVER = re.compile(r"\[covered:[A-Za-z0-9_.-]{1,64}:[0-9a-f]{12}\]")
_COVER_MARK = "[covered:"
_DIGITS = 12
_LONGEST_NAME = 64

#: What is looked for as it is, since that is fast, before the shape is; the name; the shape. A
#: group is the secret alone.
_SHAPES: tuple[tuple[tuple[str, ...], str, re.Pattern[str]], ...] = (
    (("AKIA", "ASIA"), "aws-key-id", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    (
        ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"),
        "aws-secret-key",
        re.compile(
            r"(?i:aws_secret_access_key)[\"']?\s{0,9}[=:]\s{0,9}[\"']?([A-Za-z0-9/+]{40})\b"
        ),
    ),
    (
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        "github-token",
        re.compile(r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b"),
    ),
    (("github_pat_",), "github-token", re.compile(r"\bgithub_pat_[A-Za-z0-9_]{22,255}\b")),
    # A word of a style sheet, as `sk-button-with-a-long-name`, has no digit and no capital.
    (
        ("sk-",),
        "api-key",
        re.compile(
            r"\bsk-(?=[A-Za-z_-]{0,255}[0-9])(?=[a-z0-9_-]{0,255}[A-Z])[A-Za-z0-9_-]{20,255}"
        ),
    ),
    (("AIza",), "google-key", re.compile(r"\bAIza[0-9A-Za-z_-]{35}\b")),
    (("xox",), "slack-token", re.compile(r"\bxox[abeprs]-[A-Za-z0-9-]{10,255}")),
    # Its end is looked for once from where a word begins, and not from each part of the word.
    (
        ("eyJ",),
        "jwt",
        re.compile(
            r"(?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]++\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8})"
            r"[A-Za-z0-9_-]*?\b(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})"
        ),
    ),
)
#: Its beginning, and what may follow as its text: also as a string of some language.
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    r"((?:[A-Za-z0-9+/=\s\"',]|\\[nr]|(?:Proc-Type|DEK-Info):[^\r\n]*)*)"
)
_PRIVATE_KEY_MARK = "PRIVATE KEY"
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}")

_SHORTEST = 12
_LONG = 20
_FEWEST_SIGNS = 6
_NO_SECRET = re.compile(r"[/~.$<{]|.*(?:://|\s)", re.DOTALL)
_SECRET_NAME = re.compile(
    r"(?!.*PUB(?:LIC)?_?KEY).*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS)",
    re.IGNORECASE,
)
_LINE_OF_ENV = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=\s*(.*?)\s*")


@dataclass(frozen=True, slots=True)
class Covered:
    """``secrets`` are the values by what stands for them; ``count`` is how often any did."""

    text: str
    secrets: Mapping[str, str]
    count: int

    def names(self) -> list[str]:
        """What they are called, each once."""
        return list(dict.fromkeys(cover.split(":")[1] for cover in self.secrets))


class UnknownCoverError(Exception):
    """A text has a cover in it that stands for nothing that is known."""


def is_secret_name(name: str) -> bool:
    return _SECRET_NAME.fullmatch(name) is not None


def secret_values(variables: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The names by the values, of variables that are called as secrets are and have a value that
    may be one. A short or plain value is none: to cover it would eat ordinary words."""
    return {
        line: name
        for name, value in variables
        if is_secret_name(name)
        for line in re.split(r"[\r\n]+", value)
        if _may_be_secret(line)
    }


def variables_in(text: str) -> Iterator[tuple[str, str]]:
    """Of a ``.env`` file."""
    for line in text.splitlines():
        if match := _LINE_OF_ENV.fullmatch(line):
            name, value = match.groups()
            quote = value[:1]
            if quote in ("'", '"') and (end := value.find(quote, 1)) > 0:
                yield name, value[1:end]
            else:
                yield name, value.partition(" #")[0].rstrip()


def cover(text: str, named: Mapping[str, str], key: bytes) -> Covered:
    """``named`` are values with their names, beside the shapes that are known; ``key`` makes
    covers of one value alike, and tells nothing of it."""
    pieces: list[str] = []
    secrets: dict[str, str] = {}
    covers: Counter[str] = Counter()
    at = 0
    for start, end, name in _found(text, named):
        if start < at:
            continue
        value = text[start:end]
        word = _cover_of(name, value, key)
        pieces += (text[at:start], word)
        secrets[word] = value
        covers[word] += 1
        at = end
    return Covered("".join([*pieces, text[at:]]), secrets, covers.total())


def has_private_key(text: str) -> bool:
    """Whether a part of it could be one of which the beginning is not in that part."""
    return _PRIVATE_KEY_MARK in text


def covers_in(text: str) -> list[str]:
    """What looks like a cover in it."""
    return _COVER.findall(text) if _COVER_MARK in text else []


def uncover(text: str, secrets: Mapping[str, str], *, present: str = "") -> str:
    """With the values in the place of their covers. A look-alike that is in ``present`` as it is
    stays. :raises UnknownCoverError: for any other"""

    def value(match: re.Match[str]) -> str:
        found = secrets.get(match[0])
        if found is None and match[0] not in present:
            raise UnknownCoverError(match[0])
        return match[0] if found is None else found

    return _COVER.sub(value, text) if _COVER_MARK in text else text


def _may_be_secret(value: str) -> bool:
    return (
        len(value) >= _SHORTEST
        and len(set(value)) >= _FEWEST_SIGNS
        and (len(value) >= _LONG or any(sign.isdigit() for sign in value))
        and not _NO_SECRET.match(value)
    )


def _found(text: str, named: Mapping[str, str]) -> list[tuple[int, int, str]]:
    """Where secrets are; of those that begin together the longest is first."""
    found = [
        (start, start + len(value), name)
        for value, name in named.items()
        for start in _places(text, value)
    ]
    for marks, name, shape in _SHAPES:
        if any(mark in text for mark in marks):
            group = 1 if shape.groups else 0
            found += [(*match.span(group), name) for match in shape.finditer(text)]
    if has_private_key(text):
        for block in _PRIVATE_KEY.finditer(text):
            lines = _KEY_LINE.finditer(text, *block.span(1))
            found += [(*line.span(), "private-key") for line in lines]
    return sorted(found, key=lambda each: (each[0], -each[1]))


def _places(text: str, value: str) -> Iterator[int]:
    at = text.find(value)
    while at >= 0:
        yield at
        at = text.find(value, at + len(value))


def _cover_of(name: str, value: str, key: bytes) -> str:
    shown = re.sub(r"[^A-Za-z0-9_.-]", "-", name)[:_LONGEST_NAME]
    digest = hmac.new(key, value.encode(errors="surrogatepass"), "sha256").hexdigest()
    return f"[covered:{shown}:{digest[:_DIGITS]}]"
