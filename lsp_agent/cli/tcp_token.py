"""The token of ``lsp-agent serve --tcp``: given by who starts it, or made here for them to read."""

import os
import secrets
import stat
from pathlib import Path

from lsp_agent.protocol.errors import UsageError
from lsp_agent.user_data.data_folder import data_folder
from lsp_agent.user_data.private_files import make_private, why_not_private, write_private

VARIABLE = "LSP_AGENT_TOKEN"
_SHORTEST = 16
_LONGEST = 4096
_HOW = "for example with: (umask 077; openssl rand -hex 32 > FILE)"


def given_token(file: Path | None) -> str | None:
    """What is in ``file`` or the environment, which agents do not inherit; None if neither.
    Raises ``UsageError``."""
    variable = os.environ.pop(VARIABLE, None)
    if file is not None:
        return _long_enough(_read(file), f"--token-file {file}")
    return None if variable is None else _long_enough(variable.strip(), VARIABLE)


def made_token(port: int) -> tuple[str, Path]:
    """A new one, and the file where only this user reads it. Raises ``UsageError``."""
    token, path = secrets.token_urlsafe(32), data_folder() / f"tcp-{port}.token"
    try:
        make_private(path.parent)
        write_private(path, f"{token}\n".encode())
    except OSError as error:
        raise UsageError(
            f"the token cannot be kept in {path} ({error.strerror}): give one in {VARIABLE} or"
            " with --token-file"
        ) from error
    return token, path


def _read(path: Path) -> str:
    try:
        # A pipe without a writer would be waited for.
        with open(path, "rb", opener=lambda name, _: os.open(name, os.O_NONBLOCK)) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise UsageError(f"--token-file {path} is no file; make one {_HOW}")
            why = why_not_private(path)
            if why is None and stat.S_IMODE(status.st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
                why = "other users may read it"
            if why is not None:
                raise UsageError(f"--token-file {path}: {why}; make a new one {_HOW}")
            return file.read(_LONGEST).decode("ascii").strip()
    except OSError as error:
        raise UsageError(f"--token-file {path}: {error.strerror}; make one {_HOW}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"--token-file {path} is no ASCII; make a new one {_HOW}") from error


def _long_enough(token: str, where: str) -> str:
    if len(token) < _SHORTEST:
        raise UsageError(f"the token in {where} has fewer than {_SHORTEST} characters")
    return token
