"""Reads the settings files: the user's ``config.toml`` and a workspace's ``.lsp-agent.toml``.

Blocking, but small: at most :data:`LARGEST` bytes of a regular file.
"""

import os
import stat
import tomllib
from pathlib import Path

from lsp_agent.protocol.settings.sources import Loaded, Problem, SettingsFile, load

WORKSPACE_FILE = ".lsp-agent.toml"
LARGEST = 256 * 1024


def user_settings_path() -> Path:
    """``config.toml`` in the user's configuration folder of ``lsp-agent``."""
    # Looked for at the call: it costs start-up time, and XDG_CONFIG_HOME may change in tests.
    from platformdirs import user_config_path  # noqa: PLC0415

    return user_config_path("lsp-agent", appauthor=False) / "config.toml"


def load_for_folder(folder: Path | None) -> Loaded:
    """What the files say of a workspace folder (None: of no folder), read anew."""
    workspace_file = None if folder is None else read_workspace_file(folder)
    return load(user_file=read_user_file(), workspace_file=workspace_file)


def read_user_file() -> SettingsFile | None:
    """None if there is none, or nothing in it. May be a symbolic link: people keep their settings
    elsewhere."""
    return _read(user_settings_path(), os.O_RDONLY)


def read_workspace_file(folder: Path) -> SettingsFile | None:
    """None if there is none, or nothing in it. A symbolic link is refused: it could name any file
    of the user's."""
    return _read(folder / WORKSPACE_FILE, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))


def _read(path: Path, flags: int) -> SettingsFile | None:
    try:
        text = _text(path, flags)
        if not text:
            return None
        values = tomllib.loads(text)
    except FileNotFoundError:
        return None
    except _Unusable as error:
        return _unread(path, str(error))
    except OSError as error:
        reason = "it is a symbolic link" if path.is_symlink() else error.strerror or str(error)
        return _unread(path, f"not read: {reason}")
    except RecursionError:
        return _unread(path, "not TOML: nested too deeply")
    except ValueError as error:  # tomllib's errors, and numbers too long for int()
        return _unread(path, f"not TOML: {error}")
    return SettingsFile(str(path), values)


class _Unusable(Exception):
    """Says why a file is not even parsed."""


def _text(path: Path, flags: int) -> str:
    # Without O_NONBLOCK, opening a FIFO would wait for a writer.
    with open(path, "rb", opener=lambda name, _: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise _Unusable("not read: it is not a regular file")
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise _Unusable(f"not read: larger than {LARGEST // 1024} KiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _Unusable(f"not read: not UTF-8 at byte {error.start}") from error


def _unread(path: Path, message: str) -> SettingsFile:
    return SettingsFile(str(path), {}, (Problem(str(path), "", message),))
