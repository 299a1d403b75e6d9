"""The settings: their shape and defaults (docs/settings.md).

Names are the same in TOML files, ``initializationOptions`` and ``workspace/configuration``.
How the sources are joined, and which may only narrow, is in ``settings_sources.py``.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from lsp_agent.protocol.settings.hosts import Host

Policy = Literal["allow", "ask", "deny"]
CommandPolicy = Literal["allow", "sandbox", "ask", "deny"]
WireName = Literal["zot", "pi", "meerkat", "codex", "acp"]
#: Of those, whose agents take a configuration.
WIRES_WITH_CONFIG: tuple[WireName, ...] = ("meerkat", "codex")
Review = Literal["off", "after", "before"]

BUILTIN_AGENT = "builtin"


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class AgentSettings(_Section):
    """One agent that can be started."""

    wire: WireName = Field(description="the protocol that it speaks")
    command: list[str] = Field(
        min_length=1, description="program and arguments; its wire appends the flags it needs"
    )
    env: dict[str, str] = Field(default={}, description="added to its environment")
    provider: str = Field(default="", description='"" is the agent\'s own default')
    model: str = Field(default="", description='"" is the agent\'s own default')
    hosting: Literal["auto", "hosted", "mirror"] = Field(
        default="auto", description="whether its file tools are replaced by the editor's"
    )
    sandbox: bool = Field(
        default=False,
        description="whether it runs in a sandbox, with all that it starts; not of the wire zot",
    )
    network: Literal["allow"] | list[Host] = Field(
        default="allow",
        description="what it reaches from its sandbox, with all that it starts: everything, or the"
        ' hosts named, such as ["api.anthropic.com", "127.0.0.1:11434"], on the ports 80 and 443 or'
        " the one named; these need bubblewrap",
    )
    config: dict[str, JsonValue] = Field(
        default={},
        description="merged into its own configuration when it is started; of the wires meerkat and"
        " codex",
    )


class EditSettings(_Section):
    review: Review = Field(default="after", description="when an agent's edits are reviewed")
    save: Literal["clean", "always", "never"] = Field(
        default="clean", description="which open documents the client saves after an edit"
    )
    hints: Literal["off", "file", "hunk"] = Field(
        default="file",
        description="hint diagnostics on what there is to review: one a file or one a hunk",
    )
    hold_shrink: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.5,
        description="a write that drops more than this share of a file's lines is held as a "
        "proposal; 1 is never",
    )


class PermissionSettings(_Section):
    read: Policy = Field(
        default="allow",
        description="files inside the workspace; one that is made for secrets, as `.env`, is asked"
        " about unless a pattern names it",
    )
    edit: Literal["allow", "deny"] = Field(
        default="allow", description='to be asked about edits is review = "before"'
    )
    command: CommandPolicy = Field(
        default="ask",
        description='shell commands; "sandbox" runs them without a question where they can be held',
    )
    reading: Literal["allow", "ask"] = Field(
        default="allow",
        description='commands that only read, and only in the workspace, where command = "ask" and'
        ' read = "allow"; where it is "sandbox", those that have git keep something (git commit)',
    )
    network: Literal["allow", "deny"] | list[Host] = Field(
        default="deny",
        description="whether a command in the sandbox reaches the network; of hosts, such as"
        ' ["python.org", "*.gnu.org"], these alone, on the ports 80 and 443: user file or editor'
        " only",
    )
    hidden: list[str] = Field(
        default=[],
        description="files and folders that a command in the sandbox does not see, beside the known"
        " places of keys; user file or editor only",
    )
    secrets: Literal["show", "cover"] = Field(
        default="cover",
        description="whether a model is sent keys and passwords that are recognised, or"
        " `[covered:NAME:…]` in their place",
    )
    outside: Policy = Field(default="deny", description="any path outside the workspace folders")
    other: Policy = Field(default="ask", description="the agent's other tools")
    allow: list[str] = Field(
        default=[], description='patterns, such as "command: git status*"; user file or editor only'
    )


class LimitSettings(_Section):
    idle_seconds: Annotated[float, Field(gt=0)] = Field(
        default=600,
        description="an agent silent this long in a turn is reported at half of it, then ended; one"
        " that hangs is, where its protocol can ask, after 40 s",
    )
    line_bytes: int = Field(
        default=64 * 1024 * 1024, ge=1024, description="the longest line taken from an agent"
    )


class Settings(_Section):
    agent: str = Field(default=BUILTIN_AGENT, description="the agent of new sessions")
    agents: dict[str, AgentSettings] = Field(default={}, description="agents by name")
    edits: EditSettings = EditSettings()
    permissions: PermissionSettings = PermissionSettings()
    limits: LimitSettings = LimitSettings()
