"""Sizes and prices of models, and a person's own."""

from pathlib import Path

import pytest

from lsp_agent.runtime.options import NotConfigured
from lsp_agent.runtime.providers.catalogue import Catalogue
from lsp_agent.runtime.transcript import Usage

MILLION = Usage(input=1_000_000, output=1_000_000)


def load(folder: Path, text: str = "", provider: str = "openai") -> Catalogue:
    if text:
        (folder / "models.toml").write_text(text, encoding="utf-8")
    return Catalogue.load(provider, folder)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_every_known_model_has_sizes_and_prices(tmp_path: Path, provider: str):
    for known in load(tmp_path, provider=provider).known.values():
        assert known.model.max_output < known.model.context_window
        assert known.prices is not None
        assert known.prices.of(MILLION, 1000) == pytest.approx(
            known.prices.input + known.prices.output
        )


def test_a_dated_name_is_the_same_model(tmp_path: Path):
    catalogue = load(tmp_path, provider="anthropic")
    dated = catalogue.find("claude-haiku-4-5-20251001")
    assert dated.model.id == "claude-haiku-4-5-20251001"
    assert dated.prices == catalogue.find("claude-haiku-4-5").prices


def test_an_unknown_model_has_safe_sizes_and_no_price(tmp_path: Path):
    known = load(tmp_path).find("qwen3-coder")
    assert (known.model.context_window, known.prices) == (128_000, None)


def test_a_long_prompt_costs_what_the_maker_says(tmp_path: Path):
    prices = load(tmp_path).find("gpt-6-sol").prices
    assert prices is not None
    assert prices.of(MILLION, 272_000) == pytest.approx(2 + 10)
    assert prices.of(MILLION, 272_001) == pytest.approx(4 + 15)


def test_a_persons_own_models_are_added_and_known_ones_corrected(tmp_path: Path):
    text = """
        [openai."qwen3-coder"]
        context_window = 262144
        images = false
        prices = { input = 0.2, output = 0.8, cache_read = 0.02, cache_write = 0.2 }
        [openai."gpt-6-sol"]
        max_output = 1000
        [anthropic."other"]
        context_window = 5
    """
    catalogue = load(tmp_path, text)
    own = catalogue.find("qwen3-coder")
    assert (own.model.context_window, own.model.images) == (262144, False)
    assert own.prices is not None
    assert own.prices.of(MILLION, 1) == pytest.approx(1.0)
    assert catalogue.find("gpt-6-sol").model.max_output == 1000
    assert next(iter(catalogue.known)) == "gpt-6-sol"
    assert "other" not in catalogue.known


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("openai = 3", "'openai' is no provider"),
        ("[mystery.a]", "'mystery' is no provider"),
        ("[openai]\na = 1", "must be a table"),
        ("[openai.a]\ncontext_window = 0", "number of tokens"),
        ("[openai.a]\nimages = 1", "true or false"),
        ("[openai.a]\nsize = 1", "unknown key 'size'"),
        ("[openai.a]\nprices = { input = 1 }", "dollars per million"),
        ("[openai.a", "cannot be read"),
    ],
)
def test_what_is_wrong_in_the_file_is_named(tmp_path: Path, text: str, words: str):
    with pytest.raises(NotConfigured, match=words) as fault:
        load(tmp_path, text)
    assert "models.toml" in str(fault.value)
