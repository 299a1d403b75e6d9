"""The agents that are known here, one entry each: what starts them, brings them and signs them in,
and what each does in its own way. Data alone; docs/agents/catalogue.md says it in words.

What was tried, and with which versions, is in docs/agents/acp.md. An agent that is not in here can
be used all the same, with settings of its own.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from lsp_agent.protocol.settings.settings import BUILTIN_AGENT, AgentSettings, WireName

#: Instructions that agents tell their models of, in the order of any agent's; each takes one or
#: more of them from a folder.
INSTRUCTIONS = (
    "AGENTS.override.md",
    "AGENTS.md",
    "AGENTS.MD",
    "CLAUDE.md",
    "CLAUDE.MD",
    "CONTEXT.md",
)

#: How an agent reaches files. "atStart" is one of the standard ACP that nobody has tried: it says
#: at its start whether it reads and writes files through the editor.
Hosting = Literal["hosted", "mirror", "atStart"]
Level = Literal["info", "warning", "error"]

#: In an agent's ``env``, which only the person's own settings can set: it may obey what the
#: repository brings.
CONSENT = "LSP_AGENT_REPOSITORY_CODE"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpHabits:
    """What an agent of the Agent Client Protocol does in ways of its own."""

    #: As ``agentInfo.name`` has it, in small letters.
    name: str = ""
    #: It reads and writes the disk itself, whatever it is offered.
    mirrors: bool = False
    #: It tells of a write by ``fs/write_text_file`` and does it itself, whatever the answer.
    announces_writes: bool = False
    #: What it says of its usage is the turn's, or its last step's, not the session's so far.
    tells_turns_usage: bool = False
    #: A call's arguments come one by one; those of an edit are whole once it has its diff.
    tells_arguments_singly: bool = False
    #: What a call has for its content before its end is what it is for, and no output.
    describes_in_content: bool = False
    #: A command's line is only in its call's title.
    command_in_title: bool = False
    #: It takes any error for a file that cannot be read, so one that is not there is empty.
    missing_is_empty: bool = False
    #: The mode in which it asks before it acts, and those in which it does not act.
    asking_mode: str = "default"
    idle_modes: tuple[str, ...] = ("plan",)
    #: Of ``session/new`` and its likes: keeps it from what the repository brings.
    isolating_meta: Mapping[str, object] = field(default_factory=dict[str, object])
    #: What begins a message that is not its model's but its own, whole in one piece.
    own_words: Mapping[str, Level] = field(default_factory=dict[str, Level])


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAgent:
    """``install`` and ``sign_in`` are lines for a terminal, or say what else is to be done."""

    name: str
    title: str
    wire: WireName
    command: tuple[str, ...]
    install: str
    sign_in: str
    hosting: Hosting
    #: What people have of it where ``command`` is only its adapter for editors.
    own_program: str = ""
    #: What makes it ask before edits and commands.
    asks: str
    #: What keeps it from running what a repository brings.
    isolation: str
    #: What it is told by its environment, so as to ask and to obey no repository.
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    acp: AcpHabits = AcpHabits()
    #: Of a command that starts it, by whatever name it is called: what one of its words has.
    signs: tuple[str, ...] = ()
    #: What a repository brings that it would obey, with no switch against it: a file, or a folder
    #: with anything in it, in the folder it starts in or above.
    obeys: tuple[str, ...] = ()
    #: Instructions, from its folder up to the repository's root, of which it tells its model also
    #: where they are links, beside those that every agent knows.
    tells_of_links: tuple[str, ...] | None = None
    #: The variable, and the folder in the home folder, of its own settings: they are the person's.
    home: tuple[str, str] = ("", "")
    #: What else it writes in the home folder, or where an XDG variable puts it; a folder has a
    #: slash at its end.
    writes: tuple[str, ...] = ()


#: What opencode does unasked by itself. Its reads and searches follow the repository's links.
_OPENCODE_ASKS = ("edit", "bash", "read", "grep", "glob", "list", "lsp", "webfetch", "websearch")
_XDG_FOLDERS = (".config", ".local/share", ".local/state", ".cache")
_COPILOT_MODE = "https://agentclientprotocol.com/protocol/session-modes#"
#: Safe mode still lets the repository's settings choose a sandbox: a container that they name.
_QWEN_SETTINGS = Path(__file__).parents[1] / "wires" / "acp" / "qwen_settings.json"

CATALOGUE: tuple[KnownAgent, ...] = (
    KnownAgent(
        name="claude",
        title="Claude Code",
        wire="acp",
        command=("claude-agent-acp",),
        own_program="claude",
        install="npm install -g @agentclientprotocol/claude-agent-acp",
        sign_in="claude /login",
        hosting="mirror",
        asks='its mode "default"',
        isolation="only your own settings and servers are named to it at each session",
        acp=AcpHabits(
            name="@agentclientprotocol/claude-agent-acp",
            mirrors=True,
            tells_turns_usage=True,
            tells_arguments_singly=True,
            describes_in_content=True,
            isolating_meta={
                "claudeCode": {"options": {"settingSources": ["user"], "strictMcpConfig": True}}
            },
        ),
        signs=("claude-agent-acp",),
        home=("CLAUDE_CONFIG_DIR", ".claude"),
        writes=(".claude.json", ".cache/claude-cli-nodejs/"),
    ),
    KnownAgent(
        name="codex",
        title="Codex",
        wire="codex",
        command=("codex",),
        install="npm install -g @openai/codex",
        sign_in="codex login",
        hosting="hosted",
        asks="its approval policy, and its own shell is off",
        isolation="a repository's configuration is off until you trust the folder in Codex",
        home=("CODEX_HOME", ".codex"),
    ),
    KnownAgent(
        name="codex-acp",
        title="Codex by its adapter",
        wire="acp",
        command=("codex-acp",),
        install="npm install -g @agentclientprotocol/codex-acp",
        sign_in="codex login",
        hosting="mirror",
        asks='its mode "read-only"',
        isolation="none: it is not started over a repository's .codex/config.toml",
        env={"INITIAL_AGENT_MODE": "read-only"},
        acp=AcpHabits(
            name="@agentclientprotocol/codex-acp",
            mirrors=True,
            tells_turns_usage=True,
            asking_mode="read-only",
            idle_modes=(),
            own_words={"Warning: ": "warning"},
        ),
        signs=("codex-acp",),
        obeys=(".codex/config.toml",),
        tells_of_links=(),
        home=("CODEX_HOME", ".codex"),
    ),
    KnownAgent(
        name="gemini",
        title="Gemini CLI",
        wire="acp",
        command=("gemini", "--acp"),
        install="npm install -g @google/gemini-cli",
        sign_in="gemini",
        hosting="hosted",
        asks='its mode "default"',
        isolation="GEMINI_CLI_TRUST_WORKSPACE=false",
        env={"GEMINI_CLI_TRUST_WORKSPACE": "false"},
        acp=AcpHabits(
            name="gemini-cli",
            tells_turns_usage=True,
            describes_in_content=True,
            command_in_title=True,
            missing_is_empty=True,
        ),
        home=("", ".gemini"),
    ),
    KnownAgent(
        name="copilot",
        title="Copilot CLI",
        wire="acp",
        command=("copilot", "--acp"),
        install="npm install -g @github/copilot",
        sign_in="copilot login",
        hosting="mirror",
        asks='its mode "Agent"',
        isolation="none: it is not started over a repository with .github/hooks",
        env={"COPILOT_ALLOW_ALL": ""},
        acp=AcpHabits(
            name="copilot",
            mirrors=True,
            asking_mode=f"{_COPILOT_MODE}agent",
            idle_modes=(f"{_COPILOT_MODE}plan",),
            own_words={"Info: ": "info", "Error: ": "error"},
        ),
        signs=("copilot",),
        obeys=(".github/hooks",),
        tells_of_links=(".github/copilot-instructions.md",),
        home=("COPILOT_HOME", ".copilot"),
        writes=(".cache/copilot/",),
    ),
    KnownAgent(
        name="opencode",
        title="opencode",
        wire="acp",
        command=("opencode", "acp"),
        install="npm install -g opencode-ai",
        sign_in="opencode auth login",
        hosting="mirror",
        asks="OPENCODE_PERMISSION",
        isolation="OPENCODE_DISABLE_PROJECT_CONFIG=1; it is not started over plugins",
        env={
            "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
            "OPENCODE_PERMISSION": json.dumps(dict.fromkeys(_OPENCODE_ASKS, "ask")),
        },
        acp=AcpHabits(name="opencode", mirrors=True, announces_writes=True, tells_turns_usage=True),
        writes=tuple(f"{folder}/opencode/" for folder in _XDG_FOLDERS),
    ),
    KnownAgent(
        name="qwen",
        title="qwen-code",
        wire="acp",
        command=("qwen", "--acp"),
        install="npm install -g @qwen-code/qwen-code",
        sign_in="qwen",
        hosting="hosted",
        asks='its mode "default"',
        isolation="QWEN_CODE_SAFE_MODE=1, and folder trust",
        env={
            "QWEN_CODE_SAFE_MODE": "1",
            "QWEN_CODE_SYSTEM_SETTINGS_PATH": str(_QWEN_SETTINGS),
        },
        acp=AcpHabits(name="qwen-code"),
        home=("", ".qwen"),
    ),
    KnownAgent(
        name="pi",
        title="pi",
        wire="pi",
        command=("pi",),
        install="npm install -g @earendil-works/pi-coding-agent",
        sign_in="pi, then /login",
        hosting="hosted",
        asks="an extension of ours in it",
        isolation="--no-approve; it is not started over a sessionDir or others' instructions",
        home=("PI_CODING_AGENT_DIR", ".pi/agent"),
    ),
    KnownAgent(
        name="zot",
        title="zot",
        wire="zot",
        command=("zot", "rpc"),
        install="go install github.com/patriceckhart/zot/cmd/zot@latest",
        sign_in="zot, then /login",
        hosting="hosted",
        asks="an extension of ours in it",
        isolation="it is told which extensions to load",
    ),
    KnownAgent(
        name="meerkat",
        title="Meerkat",
        wire="meerkat",
        command=("rkat-rpc",),
        install="put rkat-rpc from Meerkat's releases on PATH",
        sign_in="set the provider's key in its environment",
        hosting="hosted",
        asks="all its tools are ours",
        isolation="it loads nothing of a repository's",
    ),
)


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A program that serves models on this machine, in OpenAI's form, at its usual port."""

    title: str
    port: int

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


#: Whose models the embedded agent can use.
LOCAL_SERVERS: tuple[LocalServer, ...] = (
    LocalServer("Ollama", 11434),
    LocalServer("LM Studio", 1234),
    LocalServer("llama.cpp", 8080),
    LocalServer("vLLM", 8000),
)

_BY_NAME: Mapping[str, KnownAgent] = {agent.name: agent for agent in CATALOGUE}
_BY_PROGRAM: Mapping[str, KnownAgent] = {agent.command[0]: agent for agent in CATALOGUE}
_BY_ACP_NAME: Mapping[str, KnownAgent] = {
    agent.acp.name: agent for agent in CATALOGUE if agent.acp.name
}

assert BUILTIN_AGENT not in _BY_NAME  # it is in every installation, and no program beside it


def known(name: str) -> KnownAgent | None:
    """The agent of that name."""
    return _BY_NAME.get(name)


def settings_of(agent: KnownAgent) -> AgentSettings:
    """Those that it has where the person's say nothing of it."""
    return AgentSettings(wire=agent.wire, command=list(agent.command))


def of_program(program: str) -> KnownAgent | None:
    """The agent that a program of that file name is."""
    return _BY_PROGRAM.get(program)


def of_acp_name(name: str) -> KnownAgent | None:
    """The agent of the standard that calls itself so."""
    return _BY_ACP_NAME.get(name.lower())


def acp_environment() -> Mapping[str, str]:
    """What any agent of the standard is started with: which it is, it says only then."""
    return {name: value for agent in CATALOGUE for name, value in agent.env.items()}
