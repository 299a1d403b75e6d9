"""The command line of the embedded agent: zot's own flags, and ``--script``."""

import argparse
from dataclasses import dataclass, field
from pathlib import Path

from lsp_agent.protocol.errors import LspAgentError

#: Model calls in one turn, unless told otherwise.
MAX_STEPS = 200
#: How much a model is to think.
REASONING = ("off", "minimal", "low", "medium", "high", "xhigh", "max")


class NotConfigured(LspAgentError):
    """The agent cannot run as it was asked to; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Options:
    """``tools`` names the built-in tools to offer, None for all of them. ``discover``: run the
    person's extensions and those of a trusted repository, beside ``extensions``."""

    cwd: str
    provider: str = ""
    model: str = ""
    script: str | None = None
    max_steps: int = MAX_STEPS
    tools: frozenset[str] | None = None
    extensions: tuple[str, ...] = ()
    discover: bool = True
    api_key: str = field(default="", repr=False)
    base_url: str = ""
    reasoning: str = ""
    system_prompt: str | None = None
    append_system_prompt: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--provider", default="", help="where answers come from: anthropic, openai or script")
    add("--script", metavar="FILE", help="the answers of the provider script, as JSON")
    add("--model", default="", help="the model to start with")
    add("--cwd", metavar="DIR", default=".", help="where relative paths and commands start")
    add("--max-steps", metavar="N", type=int, default=MAX_STEPS, help="model calls in one turn")
    add("--no-tools", action="store_true", help="no built-in tools")
    add("--tools", metavar="A,B", help="only these built-in tools: read, write, edit, bash")
    add("--ext", metavar="DIR", action="append", default=[], help="run the extension in DIR")
    add("--api-key", metavar="KEY", default="", help="instead of the environment's or keyring's")
    add(
        "--base-url", metavar="URL", default="", help="where the provider is, if not at its maker's"
    )
    add("--system-prompt", metavar="TEXT", help="instead of the agent's own")
    add("--append-system-prompt", metavar="TEXT", default="", help="after the agent's own")
    add(
        "--reasoning",
        metavar="LEVEL",
        default="",
        help=", ".join(REASONING),
    )
    add("--no-ext", action="store_true", help="no extensions but those of --ext")
    add("--no-skill", action="store_true", help="no skills; always so here")
    add("--no-yolo", action="store_true", help="accepted, as zot does; whoever hosts asks")


def options(args: argparse.Namespace) -> Options:
    """Raises NotConfigured for a folder that is not there."""
    cwd = Path(args.cwd)
    if not cwd.is_dir():
        raise NotConfigured(f"--cwd {args.cwd} is no folder; name the folder to work in")
    tools = None if args.tools is None else frozenset(str(args.tools).split(","))
    return Options(
        cwd=str(cwd.resolve()),
        provider=args.provider or ("script" if args.script else ""),
        model=args.model,
        script=args.script,
        max_steps=max(1, args.max_steps),
        tools=frozenset() if args.no_tools else tools,
        extensions=tuple(str(Path(folder).absolute()) for folder in args.ext),
        discover=not args.no_ext,
        api_key=args.api_key,
        base_url=args.base_url,
        reasoning=args.reasoning,
        system_prompt=args.system_prompt,
        append_system_prompt=args.append_system_prompt,
    )
