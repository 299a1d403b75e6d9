"""The embedded agent's providers of models, as the server and the agent both know them."""

import shlex
import sys
from collections.abc import Mapping

#: Each provider with the variables that its key is taken from, in that order.
KEY_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "openai": ("OPENAI_API_KEY",),
}

#: The same with the variable that says where the provider is, if it is not at its maker's.
BASE_URL_VARIABLES: Mapping[str, str] = {
    "anthropic": "ANTHROPIC_BASE_URL",
    "openai": "OPENAI_BASE_URL",
}

#: All that are known to hold a key of some provider's, which no command has a use for.
MODEL_KEYS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CEREBRAS_API_KEY",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GROQ_API_KEY",
    "KIMI_API_KEY",
    "MISTRAL_API_KEY",
    "MOONSHOT_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "XAI_API_KEY",
    "ZAI_API_KEY",
)

#: Under this name the system's keyring keeps the keys, each under its provider's.
KEYRING_SERVICE = "lsp-agent"


def how_to_get_a_model(*, with_keyring: bool = True) -> str:
    """What a person can do who has no key here. The line for the keyring names the Python that
    this runs in: what installs us for one program puts no other on PATH."""
    keyring = (
        f" or keep the key in the system's keyring (`{keyring_command('anthropic')}`) and set"
        ' agents.builtin.provider = "anthropic";'
    )
    return (
        "set ANTHROPIC_API_KEY or OPENAI_API_KEY in the environment of the editor;"
        f"{keyring if with_keyring else ''} or, for a server of your own that speaks OpenAI's"
        ' protocol, set agents.builtin.provider = "openai" and OPENAI_BASE_URL in'
        " agents.builtin.env"
    )


def keyring_command(provider: str) -> str:
    """What puts a key where the embedded agent looks for it."""
    return f"{shlex.quote(sys.executable)} -m keyring set {KEYRING_SERVICE} {provider}"


def provider_of(environment: Mapping[str, str]) -> str | None:
    """The first provider that the environment has a key for."""
    for provider, variables in KEY_VARIABLES.items():
        if any(environment.get(variable) for variable in variables):
            return provider
    return None
