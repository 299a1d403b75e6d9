"""What git may be told to print, and to sort by: nothing that makes it run a program.

For ``%G?`` and ``%(signature)`` it runs what its configuration names.
"""

import re
from collections.abc import Sequence

_PLACE = (
    "[HhTtPpDdSsfbBeNnm%]|[ac][nNeElLdDrtiIsh]|g[dDsnNeE]|x[0-9a-fA-F]{2}"
    r"|C(?:reset|red|green|blue|\((?:auto|reset|(?:bold |dim )?[a-z]+)\))"
    r"|[<>]{1,2}\|?\(\d+(?:,[lm]?trunc)?\)"
)
_NAME = (
    r"(?:refname|objectname|objecttype|objectsize|upstream|push|HEAD|subject|body|contents|tag"
    r"|symref|worktreepath|creator|(?:author|committer|tagger)(?:name|email)?"
    r"|(?:author|committer|tagger|creator)date)"
)
#: The name of a remote may be its address, with a password.
_MORE = r"(?::(?!sig|[a-z0-9=,-]*remotename)[a-z0-9=,-]+)?"
_FORMAT = re.compile(rf"(?:[^%]|%(?:{_PLACE})|%\({_NAME}{_MORE}\))*", re.DOTALL)
_KEY = re.compile(rf"-?(?:v:|version:)?{_NAME}{_MORE}")


def are_plain(words: Sequence[str | None]) -> bool:
    """Of all that a git is given. A format is one wherever it stands; what to sort by is looked at
    where it is attached to its option, and not understood elsewhere."""
    return all(word is not None and _is_plain(word) for word in words)


def _is_plain(word: str) -> bool:
    name, equals, value = word.partition("=")
    if name == "--date":
        return True
    if name == "--sort":
        return bool(equals) and _KEY.fullmatch(value) is not None
    return _FORMAT.fullmatch(word) is not None
