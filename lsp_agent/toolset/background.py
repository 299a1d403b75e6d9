"""What is kept of a background command's output, and what is said of the command; pure."""

from lsp_agent.toolset.reading import MAX_BYTES, decode

#: Of the output of one command.
KEPT_BYTES = 256 << 10
#: An unfinished line that is longer counts as told.
_LONGEST_UNFINISHED = 4096


class RecentOutput:
    """The end of an output that goes on, and how far it was told."""

    def __init__(self) -> None:
        self._kept = b""
        self._size = 0
        self._told = 0

    def add(self, data: bytes) -> None:
        self._kept = (self._kept + data)[-KEPT_BYTES:]
        self._size += len(data)

    def new(self, *, ended: bool) -> str:
        """What came since the last call, at most ``MAX_BYTES`` of it, after how much of it is left
        out. An unfinished line is told, and once more when it is whole: a half of it could hide a
        secret from who covers them."""
        first = max(self._told, self._size - len(self._kept), self._size - MAX_BYTES)
        text = self._kept[len(self._kept) - (self._size - first) :]
        if first > self._told:  # in whole lines, if there are any
            rest = text.partition(b"\n")[2]
            first, text = (first + len(text) - len(rest), rest) if rest else (first, text)
        left_out, self._told = first - self._told, self._size
        unfinished = len(text) - text.rfind(b"\n") - 1
        if not ended and unfinished <= _LONGEST_UNFINISHED:
            self._told -= unfinished
        note = f"[left out: {left_out} bytes]\n" if left_out else ""
        return note + decode(text)

    def last_lines(self, count: int) -> list[str]:
        tail = self._kept[-MAX_BYTES:]
        return decode(tail).splitlines()[-count:]


def how_it_ended(code: int) -> str:
    return "was ended" if code < 0 else f"has ended, exit {code}"


def started(name: str, command: str, output: str) -> str:
    """In the form of a result of ``bash``."""
    shown = f"\n{output.rstrip()}\n" if output else ""
    return (
        f"$ {command}\n{shown}\n[runs in the background as {name}: bash_output tells what it says,"
        " bash_kill ends it]"
    )


def output_result(name: str, exit_code: int | None, text: str) -> str:
    state = "runs" if exit_code is None else how_it_ended(exit_code)
    return f"[{name} {state}]\n" + (text or "[nothing new]")
