"""Which variables of an agent's environment are secrets."""

from collections.abc import Iterable

#: Variables with a provider's key, which commands have no use for.
_KEYS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "OPENAI_API_KEY",
    "KIMI_API_KEY",
    "MOONSHOT_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "DEEPSEEK_API_KEY",
    "OPENROUTER_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "XAI_API_KEY",
)
_ENDINGS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS")


def credentials(own: Iterable[str], *more: str) -> tuple[str, ...]:
    """Those of the agent's ``own`` variables that are called so, ``more``, and all that hold a
    provider's key."""
    named = [name for name in own if name.upper().endswith(_ENDINGS)]
    return tuple(dict.fromkeys((*named, *_KEYS, *more)))
