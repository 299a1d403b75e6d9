"""Where answers come from. Each provider is a module; ``provider.Provider`` is what it offers."""

import os

from lsp_agent.protocol.providers import KEY_VARIABLES, how_to_get_a_model, provider_of
from lsp_agent.runtime.options import NotConfigured, Options
from lsp_agent.runtime.providers.provider import Provider

_SCRIPT = (
    "run it with --provider script --script FILE, where FILE holds the answers as JSON:"
    ' {"steps": [{"text": "Hello."}]}'
)


def choose(options: Options) -> Provider:
    """Raises NotConfigured, or ScriptError for a script that does not have the form."""
    name = options.provider or provider_of(os.environ) or ""
    if name == "script":
        # Each provider is imported only when it is chosen.
        from lsp_agent.runtime.providers.script import ScriptProvider  # noqa: PLC0415

        if options.script is None:
            raise NotConfigured(f"the provider script needs a script; {_SCRIPT}")
        return ScriptProvider.from_file(options.script)
    if name in KEY_VARIABLES:
        return _remote(name, options)
    if name:
        known = ", ".join((*KEY_VARIABLES, "script"))
        raise NotConfigured(f"there is no provider {name!r}; there are {known}")
    raise NotConfigured(
        f"the embedded agent has no model: no provider is configured; {how_to_get_a_model()}."
        f" To try it without one, {_SCRIPT}"
    )


def _remote(name: str, options: Options) -> Provider:
    from lsp_agent.protocol.settings.files import user_settings_path  # noqa: PLC0415
    from lsp_agent.runtime.providers import remote  # noqa: PLC0415
    from lsp_agent.runtime.providers.anthropic import AnthropicProvider  # noqa: PLC0415
    from lsp_agent.runtime.providers.catalogue import Catalogue  # noqa: PLC0415
    from lsp_agent.runtime.providers.openai import OpenAIProvider  # noqa: PLC0415

    remote.require_sdk(name)
    kind = AnthropicProvider if name == "anthropic" else OpenAIProvider
    catalogue = Catalogue.load(name, user_settings_path().parent)
    return kind(remote.access(name, options), catalogue, options.reasoning)
