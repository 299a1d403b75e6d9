"""What a service's refusal means, by its status and words."""

import pytest

from lsp_agent.runtime.providers.failures import Asked, Failed, failure


class Refusal(Exception):
    """As an SDK raises it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.status_code = 400
        self.body = {"error": {"type": "invalid_request_error", "message": message}}


def told(message: str) -> Failed:
    return failure(Refusal(message), Asked("some-model", "http://model.invalid", "THE_KEY", ""))


@pytest.mark.parametrize(
    "message",
    [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000, decrease"
        " input length or `max_tokens` and try again",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "Invalid request: Your request exceeded model token limit: 262144",
        "Prompt exceeds max length",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    ],
)
def test_a_conversation_that_does_not_fit_is_known_by_each_services_words(message: str):
    failed = told(message)
    assert failed.too_long
    assert "compact or clear the conversation" in str(failed)


def test_a_model_that_does_not_think_beside_tools_is_known():
    assert told(
        "Function tools with reasoning_effort are not supported for new-one in"
        " /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort"
        " to 'none'."
    ).refuses_thoughts


@pytest.mark.parametrize(
    "message",
    [
        "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model. Supported"
        " values are: 'none', 'low', 'medium', and 'high'.",
        "Unsupported value: 'reasoning_effort' does not support 'xhigh' with tools. Supported"
        " values are: 'none' and 'low'.",
        "output_config.effort: Input should be 'low', 'medium' or 'high'",
    ],
)
def test_a_level_that_a_model_does_not_have_is_told_with_its_remedy(message: str):
    failed = told(message)
    assert not failed.refuses_thoughts
    assert "choose another reasoning level" in str(failed)
