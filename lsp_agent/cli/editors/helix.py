"""The agent into Helix' ``languages.toml``, for each language behind the servers that it has."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import cast

from lsp_agent.cli.editors import tables
from lsp_agent.cli.editors.changes import CannotChange
from lsp_agent.cli.editors.tables import Toml

#: The servers that Helix 25.01 has for a language; what a person lists replaces its own list.
SERVERS: Mapping[str, Sequence[str]] = {
    "bash": ["bash-language-server"],
    "c": ["clangd"],
    "cpp": ["clangd"],
    "css": ["vscode-css-language-server"],
    "go": ["gopls", "golangci-lint-lsp"],
    "html": ["vscode-html-language-server", "superhtml"],
    "java": ["jdtls"],
    "javascript": ["typescript-language-server"],
    "json": ["vscode-json-language-server"],
    "lua": ["lua-language-server"],
    "markdown": ["marksman", "markdown-oxide"],
    "python": ["ruff", "jedi", "pylsp"],
    "ruby": ["ruby-lsp", "solargraph"],
    "rust": ["rust-analyzer"],
    "toml": ["taplo"],
    "tsx": ["typescript-language-server"],
    "typescript": ["typescript-language-server"],
    "yaml": ["yaml-language-server", "ansible-language-server"],
    "text": [],
}

_AGENT = "lsp-agent"
_LIST = "language-servers"

_STRING = r'"(?:[^"\\\n]|\\.)*+"|\'[^\'\n]*+\''
_TABLE = rf"\{{(?:[^}}\"'#]|{_STRING})*+\}}"
_PART = re.compile(rf"#[^\n]*+|{_STRING}|{_TABLE}")
_LISTS = re.compile(
    rf"^([ \t]*{_LIST}[ \t]*=[ \t]*\[)((?:[^]\"'#{{]|{_PART.pattern})*+)\]", re.MULTILINE
)
_LANGUAGE = re.compile(r"^[ \t]*\[\[[ \t]*language[ \t]*\]\][^\n]*", re.MULTILINE)
_NAME = re.compile(r"^[ \t]*name[ \t]*=[^\n]*", re.MULTILINE)


def with_agent(text: str, program: str, servers: Mapping[str, Sequence[str]] = SERVERS) -> str:
    """``text`` with the agent, started by ``program``, in the languages of the file and of
    ``servers``, which has those of Helix itself. Raises CannotChange."""
    wanted = tables.read(text)
    languages = _languages(wanted)
    text = _with_program(text, wanted, program)
    text = _with_lists(text, languages, servers)
    for language in languages:
        if _LIST in language and not _has_agent(language):
            language[_LIST].append(_AGENT)
    text = _LISTS.sub(_with_item, text)
    there = [language.get("name") for language in languages]
    for name in servers:
        if name not in there:
            language = {"name": name, _LIST: [*servers[name], _AGENT]}
            if name == "text":
                language |= {"scope": "text.plain", "file-types": ["txt"]}
            languages.append(language)
            text += f"\n[[language]]\n{_written(language)}"
    return tables.proved(text, wanted)


def languages_without_agent(text: str) -> list[str]:
    """Those of the file by their names. Raises CannotChange."""
    languages = _languages(tables.read(text))
    return [str(each.get("name")) for each in languages if not _has_agent(each)]


def _languages(file: Toml) -> list[Toml]:
    """Those of the file, of which nothing is anything else than it should be."""
    languages: object = file.setdefault("language", [])
    if not isinstance(languages, list):
        raise CannotChange("its language is no list of tables")
    for language in cast(list[object], languages):
        if not isinstance(language, dict):
            raise CannotChange("its language is no list of tables")
        if not isinstance(cast(Toml, language).get(_LIST, []), list):
            raise CannotChange(f"its {_LIST} is no list")
    return cast(list[Toml], languages)


def _has_agent(language: Toml) -> bool:
    items: list[object] = language.get(_LIST, [])
    names = (cast(Toml, each).get("name") if isinstance(each, dict) else each for each in items)
    return _AGENT in names


def _with_program(text: str, wanted: Toml, program: str) -> str:
    known: object = wanted.setdefault("language-server", {})
    if not isinstance(known, dict):
        raise CannotChange("its language-server is no table")
    if _AGENT in known:
        return text
    agent = {"command": program, "args": ["serve"]}
    known[_AGENT] = agent
    gap = "" if text.endswith("\n") or not text else "\n"
    gap += "\n" if text.strip() else ""
    return f"{text}{gap}[language-server.{_AGENT}]\n{_written(agent)}"


def _written(table: Toml) -> str:
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())


def _with_lists(text: str, languages: Sequence[Toml], servers: Mapping[str, Sequence[str]]) -> str:
    """With a list for each language that has none, and of which we know Helix' own."""
    headers = list(_LANGUAGE.finditer(text))
    for header, language in reversed(list(zip(headers, languages, strict=False))):
        own = servers.get(str(language.get("name")))
        if _LIST in language or own is None:
            continue
        language[_LIST] = [*own, _AGENT]
        following = tables.HEADER.search(text, header.end())
        name = _NAME.search(text, header.end(), following.start() if following else len(text))
        if name is not None:
            line = f"\n{_LIST} = {json.dumps(language[_LIST])}"
            text = text[: name.end()] + line + text[name.end() :]
    return text


def _with_item(found: re.Match[str]) -> str:
    """Behind the last one, before a comment on it."""
    items = [each for each in _PART.finditer(found[2]) if not each[0].startswith("#")]
    agent = json.dumps(_AGENT)
    if any(agent in item[0] for item in items):
        return found[0]
    end, gap = (items[-1].end(), ", ") if items else (0, "")
    return f"{found[1]}{found[2][:end]}{gap}{agent}{found[2][end:]}]"
