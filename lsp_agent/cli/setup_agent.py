"""Which agents a person can choose in ``lsp-agent setup``, what choosing one writes, and whether it
answers then. Keys go into the system's keyring and nowhere else."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lsp_agent.cli.doctor_checks import Finding
from lsp_agent.cli.doctor_trial import chosen_agent_answers, scripted_turn
from lsp_agent.cli.editors import tables
from lsp_agent.cli.editors.changes import CannotChange, Change, read
from lsp_agent.protocol.errors import UsageError
from lsp_agent.protocol.providers import BASE_URL_VARIABLES, KEY_VARIABLES, KEYRING_SERVICE
from lsp_agent.protocol.settings.files import load_for_folder, user_settings_path
from lsp_agent.protocol.settings.settings import BUILTIN_AGENT
from lsp_agent.sessions.agents_here import agents_here, model_servers_here
from lsp_agent.user_data.system_keyring import system_keyring

_MAKERS: Mapping[str, str] = {"anthropic": "Anthropic", "openai": "OpenAI"}
_URL, _KEY = BASE_URL_VARIABLES["openai"], KEY_VARIABLES["openai"][0]
#: A server on this machine asks for no key, and the embedded agent needs one.
_NO_KEY = "none"
_HERE = re.compile(r"https?://(localhost|127\.[\d.]+|\[::1\])(:|/|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Choice:
    """``name`` is what ``--agent`` takes; ``hint`` is what is left to do where it does not run;
    ``of_builtin`` is what the embedded agent needs for it."""

    name: str
    title: str
    agent: str
    found: bool
    hint: str | None = None
    of_builtin: Mapping[str, tables.Value] = field(default_factory=dict[str, tables.Value])

    def change(self) -> Change:
        """Of the person's settings file. Raises CannotChange."""
        path = user_settings_path()
        before = read(path)
        try:
            text = tables.with_keys(before or "", (), {"agent": self.agent})
            if self.of_builtin:
                text = tables.with_keys(text, ("agents", BUILTIN_AGENT), self.of_builtin)
        except CannotChange as error:
            by_hand = "; ".join(
                [
                    *tables.lines((), {"agent": self.agent}),
                    *tables.lines(("agents", BUILTIN_AGENT), self.of_builtin),
                ]
            )
            raise CannotChange(
                f"{path} is left alone, as {error}; set by hand: {by_hand}"
            ) from None
        return Change(path, before, text)


def choices() -> list[Choice]:
    """Those that are here first: agents, model servers on this machine; then a maker's key; then
    agents that would have to be installed."""
    settings = load_for_folder(None).settings
    here = [
        Choice(
            each.name,
            each.title,
            each.name,
            found=each.path is not None,
            hint=f"sign in: {each.sign_in}" if each.path and each.sign_in else each.install,
        )
        for each in agents_here(settings)
        if each.name != BUILTIN_AGENT
    ]
    builtin = settings.agents.get(BUILTIN_AGENT)
    env = builtin.env if builtin else {}
    return [
        *(each for each in here if each.found),
        *_local(),
        *(_by_key(provider, env) for provider in _MAKERS),
        *(each for each in here if not each.found),
    ]


def choice_named(offered: Sequence[Choice], name: str) -> Choice:
    """Raises UsageError."""
    if name == BUILTIN_AGENT:
        raise UsageError(
            "the embedded agent needs a model: say --agent anthropic, --agent openai, or the name"
            " of a model server"
        )
    found = next((each for each in offered if each.name == name), None)
    if found is None:
        names = ", ".join(each.name for each in offered)
        raise UsageError(f"there is no agent {name!r}; there are {names}")
    return found


def _local() -> Iterator[Choice]:
    for each in model_servers_here():
        env = {_URL: each.server.base_url, _KEY: _NO_KEY}
        yield Choice(
            each.server.title.lower().replace(" ", "-"),
            f"{each.server.title}, {each.models[0]}",
            BUILTIN_AGENT,
            found=True,
            of_builtin={"provider": "openai", "model": each.models[0], "env": env},
        )


def _by_key(provider: str, env: Mapping[str, str]) -> Choice:
    """``env`` is what the embedded agent's environment has from the settings."""
    of_builtin: dict[str, tables.Value] = {"provider": provider, "model": ""}
    gone = _of_a_local_server(env) if provider == "openai" else []
    if gone:
        of_builtin["env"] = dict.fromkeys(gone)
    return Choice(
        provider,
        f"{_MAKERS[provider]}, by your key",
        BUILTIN_AGENT,
        found=any(os.environ.get(name) for name in KEY_VARIABLES[provider]),
        hint=f"it needs a key: {KEY_VARIABLES[provider][0]}, or one in the system's keyring",
        of_builtin=of_builtin,
    )


def _of_a_local_server(env: Mapping[str, str]) -> list[str]:
    """What would have a maker's key sent to a model server on this machine, or that server's to the
    maker. A gateway elsewhere is the person's own way to the maker, and stays."""
    leads_here = env.get(_KEY) == _NO_KEY or _HERE.match(env.get(_URL, ""))
    return [name for name in (_URL, _KEY) if leads_here and name in env]


# -- keys


def lacks_key(choice: Choice) -> bool:
    """Whether the embedded agent would find none for it."""
    if choice.name not in KEY_VARIABLES or choice.found:
        return False
    keyring = system_keyring()
    try:
        return keyring.get_password(KEYRING_SERVICE, choice.name) is None
    except keyring.errors.KeyringError:
        return True


def keep_key(choice: Choice, key: str) -> None:
    """Puts it into the system's keyring. Raises UsageError, where there is none as well: a key is
    never written into a file."""
    if choice.name not in KEY_VARIABLES:
        raise UsageError(f"{choice.title} takes no key from here; {choice.hint or 'it needs none'}")
    keyring = system_keyring()
    instead = f"put it into the environment of your editor instead: {KEY_VARIABLES[choice.name][0]}"
    if type(keyring.get_keyring()).__module__.startswith("keyrings.alt"):
        raise UsageError(f"this system's keyring is a plain file, which keeps no secret; {instead}")
    try:
        keyring.set_password(KEYRING_SERVICE, choice.name, key)
    except keyring.errors.KeyringError as error:
        raise UsageError(f"the system's keyring did not take it ({error}); {instead}") from None


# -- trial


def tried() -> Iterator[Finding]:
    """Of the server alone, then of the chosen agent as an editor would use it."""
    yield scripted_turn()
    yield chosen_agent_answers(load_for_folder(None).settings.agent)
