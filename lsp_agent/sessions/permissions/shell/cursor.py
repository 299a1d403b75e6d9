"""A place in a command line that is read from left to right."""

import re

from lsp_agent.sessions.permissions.shell.written import NotUnderstoodError

#: Between two words; a row may be joined there with the next.
_BLANKS = re.compile(r"(?:[ \t]|(?<=[ \t])\\\n(?=[ \t]*[^ \t\n#\\]))*")
_COMMENT = re.compile(r"(?:#[^\n]*)?")
#: How a longer sign goes on that begins with one of these.
_LONGER = (";", "&", "|", ">")


class Cursor:
    """``at`` is where it stands, up to ``end`` there is something to read."""

    def __init__(self, line: str, at: int, end: int) -> None:
        self.line = line
        self.at = at
        self.end = end

    @property
    def sign(self) -> str:
        """The next one; nothing at the end."""
        return self.line[self.at : min(self.at + 1, self.end)]

    def starts(self, *texts: str) -> bool:
        return self.line.startswith(texts, self.at, self.end)

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """What fits ``pattern`` from here on; it is not passed over."""
        return pattern.match(self.line, self.at, self.end)

    def pass_over(self, pattern: re.Pattern[str]) -> str:
        """What fits ``pattern``.

        :raises NotUnderstoodError: where nothing does
        """
        found = self.match(pattern)
        if found is None:
            raise self.unknown()
        self.at = found.end()
        return found[0]

    def blanks(self) -> None:
        self.pass_over(_BLANKS)

    def comment(self) -> None:
        """Blanks and a comment behind them, where a word might begin."""
        self.blanks()
        self.pass_over(_COMMENT)

    def rows(self) -> None:
        """Blanks, comments and ends of rows."""
        self.comment()
        while self.sign == "\n":
            self.at += 1
            self.comment()

    def take(self, sign: str) -> bool:
        """Whether this sign that joins commands stands behind blanks, and not a longer one; it is
        passed over."""
        self.blanks()
        behind = self.at + len(sign)
        is_longer = len(sign) == 1 and self.line.startswith(_LONGER, behind, self.end)
        if not self.starts(sign) or is_longer:
            return False
        self.at = behind
        return True

    def unknown(self) -> NotUnderstoodError:
        """To be raised for what stands here."""
        rest = self.line[self.at : self.end].strip().partition("\n")[0]
        if not rest:
            return NotUnderstoodError("it is no complete line")
        return NotUnderstoodError(f"`{rest[:60]}` is more than is understood")
