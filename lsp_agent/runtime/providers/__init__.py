"""Where answers come from. Each provider is a module; ``provider.Provider`` is what it offers."""

from lsp_agent.runtime.options import NotConfigured, Options
from lsp_agent.runtime.providers.provider import Provider

_REMEDY = (
    "run it with --provider script --script FILE, where FILE holds the answers as JSON:"
    ' {"steps": [{"text": "Hello."}]}'
)


def choose(options: Options) -> Provider:
    """Raises NotConfigured, or ScriptError for a script that does not have the form."""
    if options.provider == "script":
        # Each provider is imported only when it is chosen.
        from lsp_agent.runtime.providers.script import ScriptProvider  # noqa: PLC0415

        if options.script is None:
            raise NotConfigured(f"the provider script needs a script; {_REMEDY}")
        return ScriptProvider.from_file(options.script)
    if options.provider:
        raise NotConfigured(f"there is no provider {options.provider!r} yet; {_REMEDY}")
    raise NotConfigured(
        f"the embedded agent has no model: no provider is configured. To try it, {_REMEDY}."
        ' To work with a model, install another agent, such as zot, and choose it by agent = "zot"'
        " in lsp-agent's settings"
    )
