"""What all models behind a network have in common: the key, retries, summaries, failures."""

import asyncio
import importlib.util
import os
import random
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TypeVar

from lsp_agent.protocol.providers import (
    BASE_URL_VARIABLES,
    KEY_VARIABLES,
    KEYRING_SERVICE,
    how_to_get_a_model,
)
from lsp_agent.runtime.options import NotConfigured, Options
from lsp_agent.runtime.providers import summary
from lsp_agent.runtime.providers.catalogue import Catalogue, Known
from lsp_agent.runtime.providers.failures import Asked, Failed, one_line, origin
from lsp_agent.runtime.providers.provider import (
    CallArguments,
    Model,
    Piece,
    Request,
    Stopped,
    TextPiece,
    ThinkingPiece,
    Waiting,
)
from lsp_agent.runtime.transcript import Message, Usage
from lsp_agent.user_data.system_keyring import system_keyring

T = TypeVar("T")

RETRIES = 3
FIRST_PAUSE = 0.5
CONNECT_SECONDS = 10.0
#: Less than an agent may take to start.
KEYRING_SECONDS = 10.0
#: Without a byte; models may think for long, and most services send signs of life meanwhile.
SILENCE_SECONDS = 300.0
#: The most that one answer may have.
MOST_CHARACTERS = 32 << 20
#: Of what is cut out of messages: a shorter key is none, but a word such as "x".
_SHORTEST_KEY = 6

_DEFAULT_URLS: Mapping[str, str] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
}


@dataclass(frozen=True, slots=True)
class Access:
    """Where a provider is, and the key for it. ``bearer``: the key is a token of a login."""

    base_url: str
    key: str = field(repr=False)
    key_source: str
    bearer: bool = False


def access(provider: str, options: Options) -> Access:
    """Raises NotConfigured."""
    variable = BASE_URL_VARIABLES[provider]
    url = options.base_url or os.environ.get(variable) or _DEFAULT_URLS[provider]
    if not url.startswith(("http://", "https://")) or not origin(url):
        source = "--base-url" if options.base_url else variable
        raise NotConfigured(f"{source} must be a URL such as http://localhost:8080/v1")
    if key := options.api_key.strip():
        return Access(url, _usable(key, "--api-key"), "--api-key")
    for name in KEY_VARIABLES[provider]:
        if key := os.environ.get(name, "").strip():
            return Access(url, _usable(key, name), name, bearer=name.endswith("_AUTH_TOKEN"))
    key, trouble = _from_keyring(provider)
    if key:
        source = f"`keyring set {KEYRING_SERVICE} {provider}`"
        return Access(url, _usable(key, source), source)
    if url != _DEFAULT_URLS[provider]:
        # A server of one's own may want none; the SDKs do.
        return Access(url, "none", f"{KEY_VARIABLES[provider][0]}, which is not set")
    raise NotConfigured(f"there is no key for {provider}{trouble}; {how_to_get_a_model()}.")


def _usable(key: str, source: str) -> str:
    """Raises NotConfigured: a header takes no other characters, and who refuses one repeats it, so
    that the key would be shown."""
    if not (key.isascii() and key.isprintable()):
        raise NotConfigured(f"the key of {source} has a character that no key has; set it anew")
    return key


def _pause(attempt: int) -> float:
    return FIRST_PAUSE * 2**attempt * random.uniform(0.75, 1)  # noqa: S311  no secret


def _refuse_flood(size: int) -> None:
    if size > MOST_CHARACTERS:
        raise Failed(f"the answer is longer than {MOST_CHARACTERS >> 20} million characters")


def _characters(piece: Piece) -> int:
    return len(piece.text) if isinstance(piece, TextPiece | ThinkingPiece | CallArguments) else 0


def _from_keyring(provider: str) -> tuple[str | None, str]:
    """The key, and what was in the way of one: "", or words that follow on others."""
    found: list[str | None] = []
    failed: list[str] = []

    def look() -> None:
        try:
            found.append(system_keyring().get_password(KEYRING_SERVICE, provider))
        except Exception as error:  # noqa: BLE001  it is locked, or not there; each kind has its own
            failed.append(type(error).__name__)

    # A locked one may wait for a person who does not see its window.
    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(KEYRING_SECONDS)
    if found:
        return (found[0] or "").strip(), ""
    why = failed[0] if failed else f"no answer within {KEYRING_SECONDS:g} s; is it locked?"
    return None, f" (the system's keyring: {why})"


def require_sdk(package: str) -> None:
    """Raises NotConfigured with the command that installs it."""
    if importlib.util.find_spec(package) is None:
        raise NotConfigured(
            f"the provider {package} needs the package {package}:"
            f" `{sys.executable} -m pip install {package}`"
        )


class RemoteProvider(ABC):
    """A provider over the network. A subclass has ``name`` and streams one answer;
    ``base_url_end``: how most of its base URLs end."""

    name: str
    base_url_end = ""
    compacts = True

    def __init__(self, access: Access, catalogue: Catalogue, reasoning: str) -> None:
        self.models = tuple(known.model for known in catalogue.known.values())
        self._access = access
        self._catalogue = catalogue
        self.reasoning: str | None = reasoning
        self._used_ids: set[object] = set()
        #: Models that refused to think while there are tools, with the level that was asked for.
        self._thoughtless: set[tuple[str, str | None]] = set()

    def find(self, model: str) -> Model | None:
        return self._catalogue.find(model).model if model else None

    async def answer(self, request: Request) -> AsyncGenerator[Piece]:
        blocks = (block for source in request.messages for block in source["content"])
        self._used_ids.update(block["id"] for block in blocks if block["type"] == "tool_call")
        for attempt in range(RETRIES + 1):
            size, said = 0, False
            early: list[Usage] = []  # told with the first words: before, it can be tried again
            try:
                async with aclosing(self._stream(request)) as pieces:
                    async for piece in pieces:
                        if isinstance(piece, Usage) and not said:
                            early.append(piece)
                            continue
                        size += 1 + _characters(piece)
                        _refuse_flood(size)
                        if not isinstance(piece, ThinkingPiece):
                            said = True
                            for usage in early:
                                yield usage
                            early.clear()
                        yield piece
            except Failed as failed:
                if said or not failed.again or attempt == RETRIES:
                    yield Stopped("error", self._words(str(failed)), too_long=failed.too_long)
                    return
                wait = _pause(attempt) if failed.wait is None else failed.wait
                words = self._words(failed.told)
            else:
                return
            yield Waiting(f"{words} (trying again in {wait:.1f} s)")
            await asyncio.sleep(wait)

    async def summarize(self, model: str, messages: Sequence[Message]) -> tuple[str, Usage]:
        return await summary.summarize(self, model, messages)

    @abstractmethod
    def _stream(self, request: Request) -> AsyncGenerator[Piece]:
        """One try. Raises Failed."""

    async def _in_thread(self, connect: Callable[[], T]) -> T:
        """A client of an SDK, whose import takes a second. Raises Failed."""
        import httpx2  # noqa: PLC0415  the SDKs' HTTP client

        try:
            return await asyncio.to_thread(connect)
        except (ImportError, ValueError, httpx2.InvalidURL) as error:
            raise Failed(
                f"the proxy that the environment names cannot be used: {one_line(str(error))}",
                "correct HTTPS_PROXY or ALL_PROXY, or for a SOCKS proxy run"
                f" `{sys.executable} -m pip install socksio`",
            ) from None

    def _known(self, model: str) -> Known:
        return self._catalogue.find(model)

    def _asked(self, model: str) -> Asked:
        url, end = self._access.base_url, self.base_url_end
        hint = "" if url.rstrip("/").endswith(end) else f"; most end in {end}"
        return Asked(model, origin(url), self._access.key_source, hint)

    def _words(self, text: str) -> str:
        """Services repeat keys in what they say of them; "x" for a server at home is none."""
        key = self._access.key
        return f"{self.name}: {text.replace(key, '…') if len(key) >= _SHORTEST_KEY else text}"

    def new_id(self, given: str) -> str:
        """A call's id: not every server gives one, or a new one in each answer."""
        call_id = given
        while not call_id or call_id in self._used_ids:
            call_id = f"call_{random.getrandbits(64):016x}"
        self._used_ids.add(call_id)
        return call_id

    def priced(self, model: str, usage: Usage, request: Usage) -> Usage:
        """``usage``, a part of what the ``request`` has used so far, with what it costs."""
        prompt = request.input + request.cache_read + request.cache_write
        prices = self._known(model).prices
        if prices is None:
            return usage
        return usage + Usage(cost_usd=prices.of(usage, prompt))
