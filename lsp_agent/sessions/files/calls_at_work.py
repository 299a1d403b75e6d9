"""Which calls of a session's agent may be changing the disk; pure."""

from dataclasses import dataclass, replace

from lsp_agent.protocol.events import ToolKind


@dataclass(frozen=True, slots=True)
class ToolCallSeen:
    """A call as the agent asked for it, or as its wire told of it. ``paths`` are those that it
    names, as given."""

    tool: str
    kind: ToolKind
    args: object
    paths: tuple[str, ...]
    call_id: str | None
    turn_id: str | None


@dataclass(frozen=True, slots=True)
class Call:
    """``what`` it is about: its command line, or its path. ``paths`` are the real ones that it
    names, within the workspace; ``outside`` those that are not, as given. ``asked``: it waits until
    we let it begin."""

    seen: ToolCallSeen
    what: str
    paths: tuple[str, ...]
    outside: tuple[str, ...] = ()
    asked: bool = False

    @property
    def looks_everywhere(self) -> bool:
        """It can change files that it does not name."""
        return self.seen.kind not in ("read", "edit")


class CallsAtWork:
    """Of one turn."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}
        #: Calls that have their result and are yet to be looked after.
        self._returned: list[Call] = []
        #: The calls that could change any file; what is new is the last one's doing.
        self._anywhere: list[Call] = []

    def clear(self) -> None:
        self._calls.clear()
        self._returned.clear()
        self._anywhere.clear()

    def __contains__(self, call_id: str | None) -> bool:
        return call_id in self._calls

    def asked_about(self, call: Call) -> Call:
        """``call`` as it is, now that we are asked whether it may begin."""
        told = self._calls.get(call.seen.call_id or "")
        if told is not None and not told.asked:
            # It has not begun: what is new is not its doing.
            self._calls.pop(told.seen.call_id or "")
            self._anywhere = [each for each in self._anywhere if each is not told]
        # Each of several files is asked about, some of them when the call is at work already.
        paths = tuple(dict.fromkeys([*(told.paths if told else ()), *call.paths]))
        return replace(call, paths=paths, asked=True)

    def begin(self, call: Call) -> None:
        """From here on what is new may be its doing."""
        if call.seen.call_id is not None:
            self._calls[call.seen.call_id] = call
        if call.looks_everywhere:
            self._anywhere.append(call)

    def drop(self, call_id: str) -> None:
        """It changes nothing on disk."""
        self._calls.pop(call_id, None)

    def returned(self, call_id: str) -> Call | None:
        """The call that has its result now; it is to be looked after."""
        call = self._calls.pop(call_id, None)
        if call is not None:
            self._returned.append(call)
        return call

    def looked_after(self, call: Call) -> None:
        if call in self._returned:
            self._returned.remove(call)

    def settled(self, last: Call) -> None:
        """What ``last`` left at work has been looked for."""
        if self.last is last:
            self._anywhere.clear()

    @property
    def last(self) -> Call | None:
        """Whose doing it is what is new in a file that no call names."""
        return self._anywhere[-1] if self._anywhere else None

    def writing(self) -> list[Call]:
        """File calls that have no result yet."""
        return [call for call in self._calls.values() if not call.looks_everywhere]

    def by_path(self) -> dict[str, Call]:
        return {path: call for call in self.writing() for path in call.paths}

    def named(self) -> list[str]:
        """The paths of all that are at work or yet to be looked after."""
        last = [self.last] if self.last else []
        calls = [*self._calls.values(), *self._returned, *last]
        return [path for call in calls for path in call.paths]
