"""Whose file tools a session's agent uses: ours (hosted), or its own (mirror)."""

from collections.abc import Mapping
from typing import Literal

from lsp_agent.protocol.events import Notice, ToolCall, ToolKind, ToolResult
from lsp_agent.protocol.settings.review import asks_first
from lsp_agent.sessions.files.bridged import Bridged
from lsp_agent.sessions.shared.session_view import SessionView

#: Short: some editors stop the typist for a message that does not fit into a line.
_MIRROR_NOTICE = "This agent writes files itself; open ones are merged with them."
_MIRROR_BEFORE = " `review = before` cannot hold for it: each edit is asked about."


class HostingState:
    """``now`` is ``starting`` until the agent's first file call: one that comes to us makes it
    ``hosted``, a file tool of its own makes it ``mirror`` for good."""

    def __init__(self, session: SessionView, bridged: Bridged, *, mirror: bool) -> None:
        self.now: Literal["starting", "hosted", "mirror"] = "mirror" if mirror else "starting"
        self._session = session
        self._bridged = bridged
        self._told = False
        #: Whether its ``bash`` takes ``background``, and ``OF_BACKGROUND`` are tools of its own.
        self.runs_background = False
        # Of the running turn.
        self._file_calls: dict[str, ToolKind] = {}
        self._own_calls: set[str] = set()
        self._commands: set[str] = set()

    @property
    def hosts_files(self) -> bool:
        """File calls come to us."""
        return self.now != "mirror"

    def surely_hosts_files(self) -> bool:
        """As ``hosts_files``, where that is known: of an agent without our extension only once a
        file call has come."""
        return self.now == "hosted" or (self.hosts_files and self._bridged.is_open)

    def changes_disk(self, kind: ToolKind) -> bool:
        """Whether a call of that kind reaches the disk without us; of one whose files come to us,
        only a command does."""
        return kind == "command" or self.now != "hosted"

    def turn_begins(self) -> None:
        if self.now == "mirror":
            self._tell_mirror()

    def turn_ended(self) -> None:
        self._file_calls.clear()
        self._own_calls.clear()
        self._commands.clear()

    def agent_can(self, capabilities: Mapping[str, bool]) -> None:
        """What its handshake said. One that never lets us serve its files is no hosted agent."""
        self.runs_background = capabilities.get("background", False)
        if not capabilities["hostedFiles"] and self.now == "starting":
            self.now = "mirror"
            self._tell_mirror()

    def came_to_us(self, call_id: str | None) -> None:
        """A file call did."""
        if call_id is not None:
            self._own_calls.add(call_id)
        if self.now == "starting":
            self.now = "hosted"

    def called(self, call: ToolCall) -> None:
        """The wire told of it."""
        if call.kind in ("read", "edit"):
            self._file_calls[call.tool_call_id] = call.kind
        elif call.kind == "command":
            self._commands.add(call.tool_call_id)

    def returned(self, result: ToolResult) -> None:
        """The wire told of it."""
        if self._is_its_own(result.tool_call_id) and not result.is_error and self.hosts_files:
            self.now = "mirror"
            self._tell_mirror()

    def forget(self, call_id: str) -> None:
        """It has ended, and its id may be another call's in a later step."""
        self._file_calls.pop(call_id, None)
        self._own_calls.discard(call_id)
        self._commands.discard(call_id)

    def is_ours(self, call_id: str) -> bool:
        """Whether it is a file call that came to us."""
        return call_id in self._own_calls & self._file_calls.keys()

    def ran(self, result: ToolResult) -> bool:
        """Whether it is a command's, and not of one that was refused or stopped before it began:
        that is an error without the header of a command that ran."""
        if result.tool_call_id not in self._commands:
            return False
        return not result.is_error or any(
            block["type"] == "text" and block["text"].startswith("$ ") for block in result.content
        )

    def _is_its_own(self, call_id: str) -> bool:
        """Whether it was a file call that did not come to us. One without our extension may look
        at files in ways of its own, and still have its edits come."""
        kind = self._file_calls.get(call_id)
        if kind is None or call_id in self._own_calls:
            return False
        return kind == "edit" or self._bridged.is_open

    def _tell_mirror(self) -> None:
        if not self._told:
            self._told = True
            held = asks_first(self._session.settings.edits.review)
            message = _MIRROR_NOTICE + (_MIRROR_BEFORE if held else "")
            self._session.emit(Notice("warning", message, "lsp-agent"), self._session.turn_id)
