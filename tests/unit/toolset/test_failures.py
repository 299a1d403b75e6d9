"""What agents say of a failed request to their model, as a person reads it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.toolset.failures import plain, readable

KEY = "the key was refused: check it in the agent's own settings, or its `env` in yours"


@pytest.mark.parametrize(
    ("message", "told"),
    [
        # pi, with OpenAI's and with Anthropic's form; qwen-code; opencode
        ('401: {"type":"authentication_error","message":"invalid x-api-key"}',
         f"http 401: invalid x-api-key; {KEY}"),
        ('401 {"type":"error","error":{"type":"authentication_error","message":"wrong key"}}',
         f"http 401: wrong key; {KEY}"),
        ("invalid x-api-key", f"invalid x-api-key; {KEY}"),
        # Google's, JSON in JSON
        (json.dumps({"error": {"message": json.dumps({"error": {"code": 404, "message": "No."}})}}),
         "http 404: No; choose another model, or correct the service's address in the agent's"
         " settings"),
        ('It failed: {"error":{"message":"Slow down","code":"x"}}', "It failed: Slow down"),
        ('429 {"error":{"message":"You have insufficient_quota"}}',
         "http 429: You have insufficient_quota; the account has no credit left: add some with the"
         " provider, or use another key"),
        ("503 Service Unavailable", "http 503: Service Unavailable; try again in a while"),
        ("403", "http 403; this key may not do that: check its rights, or choose another model"),
    ],
)  # fmt: skip
def test_a_services_answer_is_told_in_its_words_with_the_remedy(message: str, told: str) -> None:
    assert readable(message) == told


@pytest.mark.parametrize(
    "message",
    ["", "fetch failed", "{", '{"a": 1}', "use {braces}", "4010 tokens", "boom {not json}"],
)
def test_what_is_no_such_answer_stays_as_it_is(message: str) -> None:
    assert readable(message) == message


def test_the_remedy_is_left_out_while_the_agent_still_tries() -> None:
    assert plain('529 {"error":{"message":"Overloaded"}}') == "http 529: Overloaded"


@given(st.text())
def test_any_text_is_taken(message: str) -> None:
    readable(message)
    readable("{" + message)
