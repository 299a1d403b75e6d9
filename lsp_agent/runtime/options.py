"""The command line of the embedded agent: zot's own flags, and ``--script``."""

import argparse
from dataclasses import dataclass, field
from pathlib import Path

from lsp_agent.protocol.errors import LspAgentError, UsageError

#: Model calls in one turn, unless told otherwise.
MAX_STEPS = 200
#: The built-in ones.
TOOLS = ("read", "write", "edit", "bash")
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
    add("--tools", metavar="A,B", help=f"only these built-in tools: {', '.join(TOOLS)}")
    add("--ext", metavar="DIR", action="append", default=[], help="run the extension in DIR")
    add("--api-key", metavar="KEY", default="", help="instead of the environment's or keyring's")
    add(
        "--base-url", metavar="URL", default="", help="where the provider is, if not at its maker's"
    )
    add("--system-prompt", metavar="TEXT", help="instead of the agent's own")
    add(
        "--append-system-prompt",
        metavar="TEXT",
        action="append",
        default=[],
        help="after the agent's own; may be given again",
    )
    add("--reasoning", metavar="LEVEL", default="", help=", ".join(REASONING))
    add("--no-ext", action="store_true", help="no extensions but those of --ext")
    add("--no-skill", action="store_true", help="no skills; always so here")
    add("--no-yolo", action="store_true", help="accepted, as zot does; whoever hosts asks")


def options(args: argparse.Namespace) -> Options:
    """Raises UsageError for a folder that is not there, and for a flag that says nothing of
    use."""
    cwd = Path(args.cwd)
    if not cwd.is_dir():
        raise UsageError(f"--cwd {args.cwd} is no folder; name the folder to work in")
    if args.max_steps < 1:
        raise UsageError(f"--max-steps: {args.max_steps} is below 1; a turn takes one at least")
    reasoning = args.reasoning.lower()
    if reasoning and reasoning not in REASONING:
        raise UsageError(
            f"--reasoning: there is no level {args.reasoning!r}, only {', '.join(REASONING)}"
        )
    tools = None if args.tools is None else _tools(args.tools)
    return Options(
        cwd=str(cwd.resolve()),
        provider=args.provider or ("script" if args.script else ""),
        model=args.model,
        script=args.script,
        max_steps=args.max_steps,
        tools=frozenset() if args.no_tools else tools,
        extensions=tuple(str(Path(folder).absolute()) for folder in args.ext),
        discover=not args.no_ext,
        api_key=args.api_key,
        base_url=args.base_url,
        reasoning=reasoning,
        system_prompt=args.system_prompt,
        append_system_prompt="\n\n".join(args.append_system_prompt),
    )


def _tools(words: str) -> frozenset[str]:
    names = [word.strip() for word in words.split(",")]
    for name in names:
        if name not in TOOLS:
            raise UsageError(
                f"--tools: there is no tool {name!r}, only {', '.join(TOOLS)};"
                " --no-tools is none of them"
            )
    return frozenset(names)
