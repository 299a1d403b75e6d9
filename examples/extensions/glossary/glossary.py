"""What the words of a project mean: a tool for the model, slash commands for the person.

GLOSSARY.md in the folder that the agent works in has one line a word, `**word**: meaning`.
"""

import re
from pathlib import Path
from typing import Any

from lsp_agent.ext import Display, Extension, Insert, Prompt

extension = Extension("glossary", "1.0.0")


def words() -> dict[str, str]:
    text = (Path(extension.host.cwd) / "GLOSSARY.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\*\*(.+?)\*\*: (.+)$", text, re.MULTILINE))


def meaning(word: str) -> str:
    known = {each.lower(): text for each, text in words().items()}
    if word.lower() not in known:
        raise KeyError(f"GLOSSARY.md does not have {word!r}")
    return known[word.lower()]


@extension.tool(
    "glossary",
    "What a word means in this project.",
    {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
)
def look_up(args: dict[str, Any]) -> str:
    return meaning(args["word"])


@extension.command("glossary", "show all words of this project")
def show(_args: str) -> Display:
    return Display("\n".join(f"{word}: {text}" for word, text in sorted(words().items())))


@extension.command("meaning", "insert the meaning of a word")
def insert(args: str) -> Insert:
    return Insert(meaning(args))


@extension.command("explain", "have the agent explain where a word is used")
def explain(args: str) -> Prompt:
    return Prompt(f"Explain what {args!r} ({meaning(args)}) is in this code, and where it is used.")


@extension.command("forgotten", "say which words GLOSSARY.md still lacks a meaning for")
def forgotten(_args: str) -> None:
    empty = [word for word, text in words().items() if text.strip() == "?"]
    extension.notify(f"no meaning yet: {', '.join(empty) or 'none'}")


extension.run()
