"""What an agent is told of its file calls, beside the answers that its own tools would give."""

import os

from lsp_agent.text.plain import escaped_line
from lsp_agent.toolset.arguments import not_a_directory
from lsp_agent.toolset.editing import read_directory
from lsp_agent.toolset.reading import is_directory
from lsp_agent.toolset.writing import open_directory
from lsp_agent.workspace.changing.file_host import Placed
from lsp_agent.workspace.disk.files import FileProblem


def agents_words(tool: str, path: str, problem: FileProblem) -> str:
    """What the agent's own tool would say where a folder is in the way, or a file in a folder's."""
    match tool, problem.kind:
        case "read", "directory":
            return is_directory(path)
        case "edit", "directory":
            return read_directory(path)
        case "write", "directory":
            return open_directory(path)
        case "read", "notDirectory":
            return not_a_directory("stat", path)
        case "edit", "notDirectory":
            return not_a_directory("open", path)
        case "write", "notDirectory":
            return not_a_directory("mkdir", os.path.dirname(path))  # noqa: PTH120
        case _:
            return str(problem)


def refused(path: str, placed: Placed) -> str:
    """Where the editor did not take the edit."""
    return (
        f"{path} was not changed: {escaped_line(placed.note or '')}. The user can still apply the"
        " change; read the file again before you go on"
    )


def placed_result(path: str, placed: Placed, text: str) -> str:
    """``text`` is what the agent's own tool would answer."""
    match placed.status:
        case "proposed":
            return (
                f"Proposed, not yet reviewed by the user: {path} will change when accepted.\n{text}"
            )
        case "unknown":
            return (
                f"The editor has not confirmed the change of {path}: it may be in or not. Read it"
                " again before you go on, and repeat the change only where it is missing.\n"
                f"{text}"
            )
        case _:
            return text
