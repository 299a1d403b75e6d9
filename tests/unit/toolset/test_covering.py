"""Which secrets are covered in a text, and that nothing is lost by it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.toolset.covering import (
    UnknownCoverError,
    cover,
    covers_in,
    secret_values,
    uncover,
    variables_in,
)

KEY = b"a key of this test"
TOKEN = "v3ry-much-a-s3cret"
NAMED = {TOKEN: "SHOP_TOKEN", "another0secret": "SHOP_PASSWORD"}
BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
#: Written apart, so that no scanner takes them for somebody's.
SHAPED = [
    ("aws-key-id", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("github-token", "ghp_" + "a1B2" * 9),
    ("github-token", "github_pat_" + "a1B2_" * 9),
    ("api-key", "sk-ant-" + "api03-" + "Ab1_" * 12),
    ("api-key", "sk-" + "Ab1c" * 12),
    ("google-key", "AIza" + "Ab1c_" * 7),
    ("slack-token", "xoxb-" + "123456789012-abcdef"),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0." + "SflKxwRJSMeKKF2QT4"),
]


@pytest.mark.parametrize(("name", "secret"), SHAPED)
def test_a_key_of_a_known_shape_is_covered_wherever_it_stands(name: str, secret: str) -> None:
    for text in (secret, f'key = "{secret}"\n', f"({secret}), and more", f"a={secret}&b=1"):
        covered = cover(text, {}, KEY)
        assert secret not in covered.text
        assert (covered.names(), covered.count) == ([name], 1)
        assert uncover(covered.text, covered.secrets) == text


@pytest.mark.parametrize("between", ["\n", "\r\n", "\\n", '\\n"\n  "'])
def test_the_lines_of_a_private_key_are_covered_and_stay_lines(between: str) -> None:
    lines = ["-----BEGIN RSA PRIVATE KEY-----", BODY, BODY[::-1], "-----END RSA PRIVATE KEY-----"]
    text = between.join(lines)
    covered = cover(text, {}, KEY)
    assert BODY not in covered.text
    assert BODY[::-1] not in covered.text
    assert covered.text.count("\n") == text.count("\n")
    assert covered.names() == ["private-key"]


def test_what_aws_calls_secret_is_covered_behind_its_name() -> None:
    value = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"
    covered = cover(f"aws_secret_access_key = {value}\n", {}, KEY)
    assert covered.text.startswith("aws_secret_access_key = [covered:aws-secret-key:")


@pytest.mark.parametrize(
    "text",
    [
        *("sk-button-with-a-rather-long-name", "ghp_short", "AKIAshort", "eyJ0 eyJ1", "risk-1A"),
        "-----BEGIN PRIVATE KEY----- is how such a file begins, and nothing of it follows here",
        "3f786850e387550fdab836ed7e6dc881de23001b",
    ],
)
def test_what_only_looks_like_a_key_stays(text: str) -> None:
    assert cover(text, {}, KEY).text == text


def test_only_what_is_called_a_secret_and_may_be_one_counts_of_variables() -> None:
    variables = {
        "API_KEY": "0123456789abcdef",
        "db_password": "correct-horse-battery",
        "SHORT_TOKEN": "abc123",
        "PLAIN_SECRET": "development",
        "SSL_KEY": "/etc/ssl/private/1.pem",
        "KEY_URL": "https://keys.example.org/0123",
        "PUBLIC_KEY": "0123456789abcdefgh",
        "FLAT_KEY": "000000000000000000000001",
        "HOME": "/home/0123456789",
    }
    assert secret_values(variables.items()) == {
        "0123456789abcdef": "API_KEY",
        "correct-horse-battery": "db_password",
    }


def test_variables_of_an_env_file_are_read_with_quotes_and_comments() -> None:
    text = "A=1 # one\nexport B = \"two # 2\" # x\nC='3'\n#D=4\nnot one\nE=\n"
    assert dict(variables_in(text)) == {"A": "1", "B": "two # 2", "C": "3", "E": ""}


def test_a_value_has_the_same_cover_everywhere_and_another_under_another_key() -> None:
    one, other = cover(TOKEN, NAMED, KEY), cover(f"x {TOKEN} {TOKEN}", NAMED, KEY)
    assert one.text in other.text
    assert other.count == 2
    assert cover(TOKEN, NAMED, b"another").text != one.text


def test_of_two_secrets_in_one_place_the_longer_is_covered() -> None:
    named = {TOKEN: "SHORT", TOKEN + "-and-more": "LONG"}
    assert cover(TOKEN + "-and-more", named, KEY).names() == ["LONG"]


def test_a_cover_that_stands_for_nothing_is_not_taken_for_a_text() -> None:
    word = cover(TOKEN, NAMED, KEY).text
    assert covers_in(f"{word} [covered:x] {word}") == [word, word]
    with pytest.raises(UnknownCoverError):
        uncover(f"a {word}", {})
    assert uncover(f"a {word}", {}, present=f"about {word}") == f"a {word}"


PIECES = st.sampled_from(
    [
        *(TOKEN, "another0secret", *(secret for _, secret in SHAPED), "[covered:", ":", "]", "\n"),
        *(
            "-----BEGIN PRIVATE KEY-----",
            BODY,
            "=",
            "a",
            "-----END PRIVATE KEY-----",
            "é",
            "\udc80",
        ),
        "[covered:SHOP_TOKEN:0123456789ab]",
    ]
)
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=12).map("".join)


@given(TEXTS)
def test_what_is_covered_and_uncovered_is_what_it_was_line_for_line(text: str) -> None:
    covered = cover(text, NAMED, KEY)
    assert uncover(covered.text, covered.secrets, present=text) == text
    assert covered.text.count("\n") == text.count("\n")
    assert not any(value in covered.text for value in NAMED)


@given(TEXTS, st.data())
def test_an_edit_beside_covers_leaves_the_real_values_standing(
    text: str, data: st.DataObject
) -> None:
    covered = cover(text, NAMED, KEY)
    lines = covered.text.split("\n")
    at = data.draw(st.integers(0, len(lines)))
    edited = "\n".join([*lines[:at], "new", *lines[at:]])
    real = text.split("\n")
    wanted = "\n".join([*real[:at], "new", *real[at:]])
    assert uncover(edited, covered.secrets, present=text) == wanted


def test_a_long_text_without_secrets_is_looked_through_in_no_time() -> None:
    text = "def area(width: float, height: float) -> float:\n    return width * height\n" * 14_000
    named = {f"value-of-key-{number:05}": f"KEY_{number}" for number in range(20)}
    since = time.process_time()
    assert cover(text, named, KEY).text == text  # 1 MB
    assert time.process_time() - since < 0.5


@pytest.mark.timeout(20)  # where each part of a word is read to the word's end, it takes minutes
def test_so_is_a_word_that_begins_a_key_again_and_again() -> None:
    text = "eyJ-" * 250_000
    assert cover(text, {}, KEY).text == text
