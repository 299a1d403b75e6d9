"""Writes the generated parts of docs/ from the types: ``make docs``.

A page is written by hand around regions that this fills:

    <!-- generated: agent/prompt -->
    …
    <!-- end -->

With ``--check`` nothing is written: it exits with 1 and a diff if a page differs from what the
types say, has a region that nothing fills, or lacks one that a page for that face must have.
"""

import difflib
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from docs_types import (
    alias,
    described,
    event_union,
    interface,
    interfaces_of,
    table,
)
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from lsp_agent.protocol import (
    catalogue,
    client_requests,
    edit_methods,
    edits,
    events,
    messages,
    methods,
    questions,
    rewind_methods,
    script,
    session_methods,
)
from lsp_agent.protocol.errors import ErrorKind
from lsp_agent.protocol.settings import settings
from lsp_agent.protocol.settings.describe import allowed_values
from lsp_agent.protocol.settings.sources import NARROWING

DOCS = Path(__file__).parent.parent / "docs"
REGION = re.compile(r"(<!-- generated: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
NO_WORKSPACE = "no"


def settings_table() -> str:
    """One table a section of the settings."""
    sections: dict[str, type[BaseModel]] = {"": settings.Settings}
    for name, info in settings.Settings.model_fields.items():
        if isinstance(info.default, BaseModel):
            sections[name] = type(info.default)
    sections["agents.NAME"] = settings.AgentSettings
    return "\n".join(_section(name, model) for name, model in sections.items())


def _section(section: str, model: type[BaseModel]) -> str:
    rows = [
        [
            f"`{name}`",
            _cell(allowed_values(info)),
            _default(info),
            _workspace(f"{section}.{name}".lstrip(".")),
            _cell(info.description or ""),
        ]
        for name, info in model.model_fields.items()
        if not (section == "" and (name == "agents" or isinstance(info.default, BaseModel)))
    ]
    title = f"### `[{section}]`" if section else "### At the top level"
    heads = ["key", "takes", "default", "a workspace may", "is"]
    return f"{title}\n\n{table(heads, rows)}"


def _default(info: FieldInfo) -> str:
    return "required" if info.is_required() else f"`{described(info.default)}`"


def _workspace(key: str) -> str:
    match NARROWING.get(key):
        case None:
            return NO_WORKSPACE
        case "smaller":
            return "make it smaller"
        case "freely":
            return "set it"
        case "to deny":
            return 'set it to "deny"'
        case "an agent":
            return "choose among your agents"
        case tuple() as order:
            return "move it along " + " → ".join(order)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def command_table() -> str:
    rows = [
        [
            f"`{method.command}`",
            f"`{method.params.__name__}`",
            f"`{(method.command_result or method.result).__name__}`",
            method.summary,
        ]
        for method in methods.METHODS
    ]
    answer = [f"`{methods.ANSWER_COMMAND}`", "`AnswerParams`", "`AnswerResult`"]
    rows.append([*answer, "Answers an open question."])
    show = [f"`{methods.SHOW_QUESTION_COMMAND}`", "`ShowQuestionParams`", "`Empty`"]
    rows.append([*show, "Shows an open question whole."])
    return table(["command", "argument", "answers", "does"], rows)


def method_types(method: methods.Method) -> str:
    """The interfaces of one method's params and results."""
    models = [method.params, method.result, method.command_result]
    own = [model for model in models if model not in (None, session_methods.Empty, *SHARED)]
    line = f"`{method.method}` (`{method.params.__name__}`) → `{method.result.__name__}`"
    command = method.command_result or method.result
    return (
        f"{line}. {method.summary} As a command: `{method.command}` → `{command.__name__}`.\n"
        + _typescript([interface(model) for model in dict.fromkeys(own)])
    )


#: Models of more than one method, shown once.
SHARED: tuple[type[BaseModel], ...] = (
    session_methods.Empty,
    session_methods.SessionParams,
    edit_methods.EditParams,
    edit_methods.EditResult,
    edit_methods.EditsResult,
    edit_methods.ReviewAllParams,
    session_methods.PromptResult,
    session_methods.PromptStarted,
    session_methods.SessionResult,
    session_methods.StoredSessionParams,
    session_methods.StateResult,
    session_methods.Window,
    session_methods.OptionsResult,
    session_methods.AgentOption,
    session_methods.OptionValue,
    session_methods.BackgroundCommandInfo,
    *interfaces_of(edits),
    *interfaces_of(questions),
    session_methods.ContextItem,
    session_methods.ImageInput,
    session_methods.PromptLine,
    edit_methods.UnappliedEdit,
    edit_methods.RevertedFile,
    edit_methods.RevertResult,
    rewind_methods.PastPrompt,
    session_methods.AgentInfo,
    session_methods.ModelServerInfo,
    session_methods.ModelInfo,
    session_methods.SessionInfo,
    session_methods.AgentSession,
    session_methods.CommandInfo,
    session_methods.KeptPermission,
    client_requests.Diagnostic,
    client_requests.FileDiagnostics,
    client_requests.DocumentParams,
)


#: Shown with the request; the others are among the shared types.
_OF_SERVER_REQUESTS = (
    "SaveParams",
    "SaveAnswer",
    "ReloadAnswer",
    "AskAnswer",
    "DiagnosticsParams",
    "DiagnosticsAnswer",
)


def server_request(name: str, params: str, result: str) -> Callable[[], str]:
    types = [
        interface(getattr(client_requests, model))
        for model in (params, result)
        if model in _OF_SERVER_REQUESTS
    ]
    return lambda: f"`{name}` (`{params}`) → `{result}`\n" + _typescript(types)


def _typescript(definitions: list[str]) -> str:
    body = "\n\n".join(definitions)
    return f"\n```ts\n{body}\n```\n" if definitions else ""


def error_kinds() -> str:
    return ", ".join(f"`{kind}`" for kind in get_args(ErrorKind)) + ".\n"


def stop_reasons() -> str:
    return ", ".join(f"`{reason}`" for reason in get_args(events.StopReason)) + ".\n"


def script_fields() -> str:
    rows = [[f"`{row.key}`", _cell(row.takes), _cell(row.does)] for row in script.STEP_FIELDS]
    return table(["key of a step", "takes", "does"], rows)


def known_agents() -> str:
    rows = [
        [
            f"`{agent.name}`",
            agent.title,
            f"`{' '.join(agent.command)}`",
            f"`{agent.wire}`",
            agent.hosting,
            _cell(agent.install),
            _cell(agent.sign_in),
            _cell(agent.asks),
            _cell(agent.isolation),
        ]
        for agent in catalogue.CATALOGUE
    ]
    heads = ["name", "is", "starts", "wire", "files", "installed by", "sign in", "asks by"]
    return table([*heads, "kept from what a repository brings by"], rows)


def local_servers() -> str:
    rows = [[server.title, f"`{server.base_url}`"] for server in catalogue.LOCAL_SERVERS]
    return table(["server", "looked for at"], rows)


Regions = Mapping[str, Callable[[], str]]


def pages() -> Mapping[str, Regions]:
    """The regions that each page must have."""
    protocol: dict[str, Callable[[], str]] = {
        method.method: (lambda method=method: method_types(method)) for method in methods.METHODS
    }
    protocol |= {
        "shared types": lambda: _typescript(
            [alias(edits.EditStatus), alias(events.StopReason), *map(interface, SHARED)]
        ),
        "answer": lambda: _typescript(
            [
                interface(session_methods.AnswerParams),
                interface(session_methods.AnswerResult),
                interface(session_methods.ShowQuestionParams),
            ]
        ),
        client_requests.ASK_REQUEST: server_request(
            client_requests.ASK_REQUEST, "Question", "AskAnswer"
        ),
        client_requests.SYNC_REQUEST: server_request(
            client_requests.SYNC_REQUEST, "DocumentParams", "Empty"
        ),
        client_requests.SAVE_REQUEST: server_request(
            client_requests.SAVE_REQUEST, "SaveParams", "SaveAnswer"
        ),
        client_requests.RELOAD_REQUEST: server_request(
            client_requests.RELOAD_REQUEST, "DocumentParams", "ReloadAnswer"
        ),
        client_requests.DIAGNOSTICS_REQUEST: server_request(
            client_requests.DIAGNOSTICS_REQUEST, "DiagnosticsParams", "DiagnosticsAnswer"
        ),
        client_requests.EVENT_NOTIFICATION: lambda: _typescript([event_union()]),
        "messages": lambda: _typescript(
            [*map(interface, interfaces_of(messages)), alias(messages.Block)]
        ),
        "error kinds": error_kinds,
        "stop reasons": stop_reasons,
    }
    return {
        "settings.md": {"settings": settings_table},
        "commands.md": {"commands": command_table},
        "script.md": {"script": script_fields},
        "protocol.md": protocol,
        "agents/catalogue.md": {"known agents": known_agents, "local servers": local_servers},
    }


@dataclass(frozen=True, slots=True)
class Page:
    path: Path
    now: str
    meant: str


def filled(path: Path, regions: Regions) -> Page:
    now = path.read_text(encoding="utf-8")
    there = [match[2] for match in REGION.finditer(now)]
    if sorted(there) != sorted(regions):
        unknown, lacking = set(there) - set(regions), set(regions) - set(there)
        sys.exit(f"{path.name}: unknown regions {sorted(unknown)}, missing {sorted(lacking)}")
    meant = REGION.sub(
        lambda match: f"{match[1]}\n{regions[match[2]]().strip()}\n\n{match[3]}", now
    )
    return Page(path, now, meant)


def main() -> int:
    check = sys.argv[1:] == ["--check"]
    changed = [
        page
        for name, regions in pages().items()
        if (page := filled(DOCS / name, regions)).now != page.meant
    ]
    for page in changed:
        if check:
            lines = (page.now.splitlines(), page.meant.splitlines())
            print(*difflib.unified_diff(*lines, page.path.name, "the types", lineterm=""), sep="\n")
        else:
            page.path.write_text(page.meant, encoding="utf-8")
            print(f"wrote docs/{page.path.name}")
    if check and changed:
        print("\ndocs/ differs from the types: run make docs and read the prose around the change")
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
