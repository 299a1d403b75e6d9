"""The text of a conversation: what is the prompt in it, and where a turn is written. Pure.

    ## You          what the person says; the last section is the next prompt
    ## Agent        what was answered
    <!-- … -->      in an answer: where the turn with that id goes on

A heading is one wherever it stands, also in a block of code: an answer that was cut off in one
does not take the next prompt with it. All places are found in the text as it is, so whatever is
typed, undone or moved meanwhile stays.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from lsp_agent.text.lines import split_lines

YOU, AGENT = "## You", "## Agent"
HEADINGS = (YOU, AGENT)
#: How the files of conversations end.
ENDING = ".chat.md"

_MARKER = "<!-- the agent is at work: {} -->"
MARKERS = re.compile(_MARKER.format("(t-[0-9a-f]+)"))
_CUT_OFF = "*(cut off)*"
_LINE_END = re.compile(r"\r\n?$|\n$")
#: Of what was said, to find it again.
_BEGINNING = 60

Speaker = Literal["you", "agent", "nobody"]


@dataclass(frozen=True, slots=True)
class Section:
    """``text[start:body]`` is its heading, ``text[body:end]`` what is said in it."""

    speaker: Speaker
    start: int
    body: int
    end: int


@dataclass(frozen=True, slots=True)
class Prompt:
    """The words of the last section, and where in the text they are."""

    words: str
    start: int


@dataclass(frozen=True, slots=True)
class Part:
    """What is to be in the document of one turn: ``said`` so far, of which the first ``told``
    characters are in it. ``here``: its prompt was sent from this document."""

    turn_id: str
    prompt: str
    said: str = ""
    told: int = 0
    ended: bool = False
    here: bool = True

    @property
    def marker(self) -> str:
        return marker_of(self.turn_id)


def marker_of(turn_id: str) -> str:
    """Stands in the document where that turn goes on."""
    return _MARKER.format(turn_id)


def marked(text: str) -> list[tuple[str, int]]:
    """The turns that the document says are at work, and where."""
    return [(mark[1], mark.start()) for mark in MARKERS.finditer(text)]


def is_chat(path: str | None) -> bool:
    """Whether the file of that name is a conversation."""
    return path is not None and path.endswith(ENDING)


def sections(text: str) -> list[Section]:
    """What stands before the first heading is a title, and nobody's; without an answer under it
    it is a prompt."""
    starts: list[tuple[Speaker, int, int]] = [("nobody", 0, 0)]
    at = 0
    for line in split_lines(text):
        heading = line.rstrip("\r\n\t ")
        if heading in HEADINGS:
            starts.append(("you" if heading == YOU else "agent", at, at + len(line)))
        at += len(line)
    if len(starts) == 1 or starts[1][0] == "agent":
        starts[0] = ("you", 0, 0)
    ends = [start for _, start, _ in starts[1:]] + [len(text)]
    return [
        Section(speaker, start, body, end)
        for (speaker, start, body), end in zip(starts, ends, strict=True)
    ]


def prompt_of(text: str) -> Prompt | None:
    """None where the last section is an answer, or nothing stands in it."""
    last = sections(text)[-1]
    body = text[last.body : last.end]
    words = body.strip()
    if last.speaker != "you" or not words:
        return None
    return Prompt(words, last.body + body.index(words))


def unheaded(said: str) -> str:
    """With no line in it that reads as a heading."""
    lines = split_lines(said)
    return "".join(f" {line}" if line.rstrip() in HEADINGS else line for line in lines)


def replaced(text: str, words: str, by: str) -> str:
    """With the prompt that begins with ``words`` being ``by``, behind the last section where there
    is none any more."""
    prompt = prompt_of(text)
    if prompt is None or not prompt.words.startswith(words):
        return _spaced(text) + by
    return text[: prompt.start] + by + text[prompt.start + len(words) :]


def earlier(text: str) -> str:
    """What was said before the prompt, as it stands there; "" where nothing was."""
    found = sections(text)
    before = text[: found[-1].start]
    return MARKERS.sub(_CUT_OFF, before).strip() if len(found) > 1 else ""


def without_stale(text: str, live: Collection[str]) -> str:
    """With the marks of turns that do not run any more, as after a crash, in words."""
    return MARKERS.sub(lambda mark: mark[0] if mark[1] in live else _CUT_OFF, text)


def written(text: str, part: Part) -> str:
    """``text`` with all that ``part`` says; nothing else of it goes or changes."""
    at = text.rfind(part.marker)
    if at >= 0:
        grown = _grown(text, at, part)
    elif (end := _left_off(text, part)) is not None:
        grown = text[:end] + part.said[part.told :] + _tail(part) + text[end:]
    else:
        grown = _begun(text, part)
    if part.ended and sections(grown)[-1].speaker != "you":
        grown = _spaced(grown) + f"{YOU}\n\n"
    return grown


def _grown(text: str, at: int, part: Part) -> str:
    """``at`` is where the marker is, which goes with the end."""
    before, behind = text[:at], text[at + len(part.marker) :]
    more, ending = part.said[part.told :], _LINE_END.search(text[:at])
    if part.told and ending is not None:
        before = before[: ending.start()] + more + ending[0]
    elif more:
        before += more if part.told else more + "\n"
    if not part.ended:
        return before + part.marker + behind
    if ending is not None or not before:
        behind = behind[line_end.end() :] if (line_end := _at_start(behind)) else behind
    return before + behind


def _at_start(text: str) -> re.Match[str] | None:
    return re.match(r"\r\n|\r|\n", text)


def _left_off(text: str, part: Part) -> int | None:
    """The end of the answer that the turn's first words are in, where its marker was taken out."""
    beginning = part.said[: part.told].strip().partition("\n")[0][:_BEGINNING]
    if not beginning:
        return None
    for section in reversed(sections(text)):
        body = text[section.body : section.end]
        if section.speaker == "agent" and body.lstrip().startswith(beginning):
            return section.body + len(body.rstrip())
    return None


def _begun(text: str, part: Part) -> str:
    answer = f"{AGENT}\n\n{part.said}{_tail(part) if part.said else part.marker}\n\n"
    prompt, last = prompt_of(text), sections(text)[-1]
    if part.here and prompt is not None and prompt.words.startswith(part.prompt):
        end = prompt.start + len(part.prompt)
        head = text[:end] if last.body > last.start else f"{YOU}\n\n{text[:end]}"
        # What was typed behind the prompt since it was sent is the next one.
        return f"{head}\n\n{answer}{YOU}\n\n" + text[end:].lstrip("\r\n")
    whole = f"{YOU}\n\n{part.prompt}\n\n{answer}"
    if last.speaker == "you":
        head, rest = text[: last.start], text[last.start :]
        return _spaced(head) + whole + (rest if last.body > last.start else f"{YOU}\n\n{rest}")
    return _spaced(text) + whole + f"{YOU}\n\n"


def _tail(part: Part) -> str:
    return "" if part.ended else f"\n{part.marker}"


def _spaced(text: str) -> str:
    """With an empty line at its end, unless it is empty."""
    if not text or text.endswith(("\n\n", "\r\n\r\n")):
        return text
    return text + ("\n" if text.endswith(("\n", "\r")) else "\n\n")
