"""Params and results of the methods that go back to an earlier prompt (``methods.METHODS``)."""

from typing import Literal

from lsp_agent.protocol.edit_methods import RevertResult
from lsp_agent.protocol.session_methods import SessionParams
from lsp_agent.protocol.wire_model import Model


class PastPrompt(Model):
    """``text`` is what the person wrote; ``time`` in seconds since 1970."""

    turn_id: str
    text: str
    time: float | None = None


class PromptsResult(Model):
    """Those that one can go back to, the oldest first."""

    prompts: list[PastPrompt]


class RewindParams(SessionParams, extra="forbid"):
    """To before that turn; without ``turnId`` before the last one. ``files``: whether they stay as
    they are, or what was changed since is taken back."""

    turn_id: str | None = None
    files: Literal["keep", "restore"] = "keep"


class RewindResult(Model):
    """``text`` is the prompt of that turn; what was left is kept as the session
    ``leftSessionId``. ``reverted`` is absent where the files were to stay."""

    session_id: str
    turn_id: str
    text: str
    left_session_id: str
    reverted: RevertResult | None = None


class ForkParams(SessionParams, extra="forbid"):
    """From before that turn on; without ``turnId`` from the end."""

    turn_id: str | None = None


class ForkResult(Model):
    """The new session. ``text`` is the prompt of that turn."""

    session_id: str
    text: str | None = None
