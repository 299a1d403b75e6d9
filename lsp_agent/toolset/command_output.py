"""What is shown of a command's output that is too long: its beginning, and its end, where errors
stand."""

from lsp_agent.toolset.commands import CommandOutput
from lsp_agent.toolset.reading import MAX_BYTES, MAX_LINES, decode

#: How much of the end.
TAIL_BYTES = 4096


class OutputEnds:
    """Both ends of an output, as it comes; ``size`` is the whole's, in bytes."""

    def __init__(self) -> None:
        self.head = bytearray()
        self.size = 0
        self._tail = b""

    def add(self, data: bytes) -> bytes:
        """Returns that of it which belongs to the beginning."""
        of_head = data[: MAX_BYTES - len(self.head)]
        self.head += of_head
        self._tail = (self._tail + data)[-TAIL_BYTES:]
        self.size += len(data)
        return of_head

    @property
    def has_too_many_lines(self) -> bool:
        *lines, last = bytes(self.head).split(b"\n", MAX_LINES)
        return len(lines) == MAX_LINES and last != b""

    def shown(self, note: str = "", full_path: str | None = None) -> CommandOutput:
        """``note`` is a last line of ours, or ""."""
        text, cut_lines = bytes(self.head), self.has_too_many_lines
        if cut_lines:
            text = b"\n".join(text.split(b"\n", MAX_LINES)[:MAX_LINES]) + b"\n"
        return CommandOutput(
            decode(text),
            cut_lines=cut_lines,
            cut_bytes=self.size > MAX_BYTES,
            full_path=full_path,
            more=self._end(self.size - len(text)) + (f"{note}\n" if note else ""),
        )

    def _end(self, left_out: int) -> str:
        """The end of the ``left_out`` last bytes, in whole lines."""
        if left_out == 0:
            return ""
        tail = self._tail[-left_out:]
        if left_out > len(tail):
            tail = tail.partition(b"\n")[2] or tail
        return "... [its end:]\n" + decode(tail.removesuffix(b"\n")) + "\n"
