"""What is known of models: their sizes and prices, as their makers told in November 2026.

``models.toml`` beside the person's settings adds models, and corrects these:

    [openai."qwen3-coder"]
    context_window = 262144
    max_output = 65536
    reasoning = false
    images = false
    prices = { input = 0.2, output = 0.8, cache_read = 0.02, cache_write = 0.2 }

All of it is optional. A model that is in neither has the sizes of ``_UNKNOWN``, and no price.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast

from lsp_agent.runtime.options import NotConfigured
from lsp_agent.runtime.providers.provider import Model
from lsp_agent.runtime.transcript import Usage

FILE_NAME = "models.toml"

#: How a model is told how much to think. "adaptive": by effort; "always": the same, and it cannot
#: be told not to; "budget": by tokens; "effort": by OpenAI's ``reasoning_effort``; "not with
#: tools": the same, but over chat completions it takes tools only without thinking.
Thinking = Literal["adaptive", "always", "budget", "effort", "not with tools"]


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per million tokens. With more than ``long_from`` tokens of input, the whole
    request costs ``long_input`` and ``long_output`` times as much."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    long_from: int | None = None
    long_input: float = 1
    long_output: float = 1

    def of(self, usage: Usage, prompt: int) -> float:
        """What ``usage`` costs in a request with ``prompt`` tokens of input."""
        long = self.long_from is not None and prompt > self.long_from
        more_in, more_out = (self.long_input, self.long_output) if long else (1, 1)
        inputs = (
            usage.input * self.input
            + usage.cache_read * self.cache_read
            + usage.cache_write * self.cache_write
        )
        return (inputs * more_in + usage.output * self.output * more_out) / 1_000_000


@dataclass(frozen=True, slots=True)
class Known:
    model: Model
    thinking: Thinking
    prices: Prices | None = None


def _claude(
    id_: str, thinking: Thinking, price_in: float, price_out: float, *, small: bool = False
) -> Known:
    window, output = (200_000, 64_000) if small else (1_000_000, 128_000)
    prices = Prices(price_in, price_out, price_in * 0.1, price_in * 1.25)
    return Known(Model(id_, window, output, reasoning=True), thinking, prices)


def _gpt(id_: str, prices: Prices) -> Known:
    model = Model(id_, 1_050_000, 128_000, reasoning=True)
    return Known(
        model, "not with tools", replace(prices, long_from=272_000, long_input=2, long_output=1.5)
    )


_HAIKU = _claude("claude-haiku-5-5", "adaptive", 0.1, 0.5)
_BUILT_IN: Mapping[str, tuple[Known, ...]] = {
    "anthropic": (
        _claude("claude-sonnet-5-5", "adaptive", 2, 10),
        _claude("claude-opus-5-5", "always", 4, 20),
        replace(
            _HAIKU,
            prices=Prices(0.1, 0.5, 0.01, 0.125, long_from=100_000, long_input=5, long_output=5),
        ),
        _claude("claude-fable-5-1", "always", 10, 50),
        _claude("claude-opus-5", "adaptive", 5, 25),
        _claude("claude-sonnet-5", "adaptive", 2, 10),
        _claude("claude-opus-4-5", "budget", 5, 25, small=True),
        _claude("claude-sonnet-4-5", "budget", 3, 15, small=True),
        _claude("claude-haiku-4-5", "budget", 1, 5, small=True),
    ),
    "openai": (
        _gpt("gpt-6-sol", Prices(2, 10, 0.2, 2.5)),
        _gpt("gpt-6-luna", Prices(0.1, 0.5, 0.01, 0.125)),
        _gpt("gpt-5.5", Prices(5, 30, 0.5, 5)),
    ),
}
_UNKNOWN: Mapping[str, Known] = {
    "anthropic": Known(Model("", 200_000, 32_000, reasoning=True), "adaptive"),
    "openai": Known(Model("", 128_000, 16_384, reasoning=False), "effort"),
}
_DATE = re.compile(r"-(\d{8}|\d{4}-\d\d-\d\d)$")


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The models of one provider; the first is the default."""

    provider: str
    known: Mapping[str, Known] = field(default_factory=dict[str, Known])

    @classmethod
    def load(cls, provider: str, folder: Path) -> "Catalogue":
        """With what ``models.toml`` in ``folder`` says, if it is there. Raises NotConfigured."""
        known = {one.model.id: one for one in _BUILT_IN[provider]}
        for id_, given in _read(folder / FILE_NAME, provider).items():
            known[id_] = _changed(known.get(id_, _unknown(provider, id_)), given)
        return cls(provider, known)

    def find(self, id_: str) -> Known:
        """Of a dated name (``…-20251001``) what is known of it without the date."""
        known = self.known.get(id_) or self.known.get(_DATE.sub("", id_))
        if known is None:
            return _unknown(self.provider, id_)
        return replace(known, model=replace(known.model, id=id_))


def _unknown(provider: str, id_: str) -> Known:
    default = _UNKNOWN[provider]
    return replace(default, model=replace(default.model, id=id_))


_SIZES = frozenset({"context_window", "max_output"})
_FLAGS = frozenset({"reasoning", "images"})
_PRICES = ("input", "output", "cache_read", "cache_write")


def _read(path: Path, provider: str) -> Mapping[str, Mapping[str, object]]:
    """The models that the file has for the provider."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise NotConfigured(f"{path} cannot be read: {error}") from None
    for name, models in tables.items():
        if name not in _BUILT_IN or not isinstance(models, dict):
            raise NotConfigured(f"{path}: {name!r} is no provider; say {', '.join(_BUILT_IN)}")
        for id_, given in cast(dict[str, object], models).items():
            if (fault := _fault(given)) is not None:
                raise NotConfigured(f'{path}: {name}."{id_}": {fault}')
    return tables.get(provider, {})


def _fault(given: object) -> str | None:
    if not isinstance(given, dict):
        return 'must be a table, such as [openai."my model"]'
    for key, value in cast(dict[str, object], given).items():
        if key in _SIZES and (type(value) is not int or value < 1):
            return f"{key} must be a number of tokens"
        if key in _FLAGS and not isinstance(value, bool):
            return f"{key} must be true or false"
        if key == "prices" and not _are_prices(value):
            return f"prices must have {', '.join(_PRICES)}: dollars per million tokens"
        if key not in {*_SIZES, *_FLAGS, "prices"}:
            return f"unknown key {key!r}"
    return None


def _are_prices(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    prices = cast(dict[str, object], value)
    numbers = all(type(price) in (int, float) for price in prices.values())
    return numbers and set(prices) == set(_PRICES)


def _prices(given: Mapping[str, float]) -> Prices:
    return Prices(given["input"], given["output"], given["cache_read"], given["cache_write"])


def _changed(known: Known, given: Mapping[str, object]) -> Known:
    fields = {key: value for key, value in given.items() if key != "prices"}
    prices = cast(Mapping[str, float] | None, given.get("prices"))
    return replace(
        known,
        model=replace(known.model, **fields),  # type: ignore[arg-type]
        prices=known.prices if prices is None else _prices(prices),
    )
