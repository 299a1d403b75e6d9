"""Lines of ours in a file of any language that has comments: between two marks, at its end."""


def with_block(text: str, comment: str, body: str) -> str:
    """``text`` with ``body`` between the marks; what was between them before is replaced."""
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    first, last = _marks(comment)
    block = end_of_line.join([first, *body.strip("\n").split("\n"), last]) + end_of_line
    start, end = _place(text, comment)
    if start < end:
        return text[:start] + block + text[end:].removeprefix(end_of_line)
    if not text.strip():
        return block
    gap = "" if text.endswith("\n") else end_of_line
    return f"{text}{gap}{end_of_line}{block}"


def without_block(text: str, comment: str) -> str:
    """What the person has written."""
    start, end = _place(text, comment)
    return text[:start] + text[end:]


def _place(text: str, comment: str) -> tuple[int, int]:
    """Where the block is, marks included; an empty place at the end where there is none."""
    first, last = _marks(comment)
    start, end = text.find(first), text.find(last)
    return (start, end + len(last)) if 0 <= start < end else (len(text), len(text))


def _marks(comment: str) -> tuple[str, str]:
    return f"{comment} >>> lsp-agent setup >>>", f"{comment} <<< lsp-agent setup <<<"
