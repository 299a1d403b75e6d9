"""Writes ``docs/images/demo.svg``: ``lsp-agent demo`` as it runs, in a picture that moves.

    python tools/record_demo.py

Each line of the terminal comes at its time; when the screen is full, the lines go up. CSS does
it, so the picture needs no script where it is shown. The demo runs for real; its pauses are cut to
a second.
"""

import os
import pty
import subprocess
import sys
import time
from dataclasses import dataclass
from html import escape
from pathlib import Path

from rich.style import Style
from rich.text import Text

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "demo.svg"
COLUMNS, ROWS = 96, 22
LINE, WIDTH, MARGIN = 19, 8.2, 14
LONGEST_PAUSE, LAST_PAUSE = 1.0, 6.0
COLOURS = {"cyan": "#56b6c2", "green": "#98c379", "red": "#e06c75", "blue": "#61afef"}
COLOURS |= {"yellow": "#e5c07b", "default": "#dcdfe4"}
COMMAND = "$ uvx lsp-agent demo"


@dataclass(frozen=True)
class Line:
    seconds: float
    text: Text


def recorded() -> list[Line]:
    """The lines that the demo prints, with the seconds from its start."""
    ours, terminal = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LANG": "C.UTF-8"}
    command = [sys.executable, "-m", "lsp_agent", "demo"]
    process = subprocess.Popen(command, stdout=terminal, stderr=terminal, env=env)  # noqa: S603
    os.close(terminal)
    started, pending, lines = time.monotonic(), b"", [Line(0, Text(COMMAND))]
    while chunk := _read(ours):
        *whole, pending = (pending + chunk).split(b"\n")
        now = time.monotonic() - started
        lines += [Line(now, Text.from_ansi(each.decode().rstrip("\r"))) for each in whole]
    if process.wait() != 0:
        raise SystemExit("the demo failed")
    return lines


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed
        return b""


def hurried(lines: list[Line]) -> list[Line]:
    """Without long waits, and no two lines at the same time."""
    now, before, result = 0.6, 0.0, list[Line]()
    for line in lines:
        now += min(max(line.seconds - before, 0.06), LONGEST_PAUSE)
        before = line.seconds
        result.append(Line(now, line.text))
    return result


def drawn(lines: list[Line]) -> str:
    total = lines[-1].seconds + LAST_PAUSE
    width, height = COLUMNS * WIDTH + 2 * MARGIN, ROWS * LINE + 2 * MARGIN
    rules, rows = list[str](), list[str]()
    for number, line in enumerate(lines):
        at = 100 * line.seconds / total
        rules.append(
            f"@keyframes l{number}{{0%,{at:.2f}%{{opacity:0}}{at + 0.01:.2f}%{{opacity:1}}}}"
        )
        rules.append(f".l{number}{{animation-name:l{number}}}")
        place = MARGIN + (number + 1) * LINE - 5
        rows.append(
            f'<text class="l l{number}" x="{MARGIN}" y="{place}">{_spans(line.text)}</text>'
        )
    steps = ["0%{transform:translateY(0)}"]
    for number, line in enumerate(lines[ROWS:], 1):
        at, up = 100 * line.seconds / total, number * LINE
        steps.append(f"{at:.2f}%{{transform:translateY(-{up - LINE}px)}}")
        steps.append(f"{at + 0.01:.2f}%{{transform:translateY(-{up}px)}}")
    steps.append(f"100%{{transform:translateY(-{max(len(lines) - ROWS, 0) * LINE}px)}}")
    style = (
        "text{font:13.6px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
        f"white-space:pre;fill:{COLOURS['default']}}}"
        f".l,.up{{animation-duration:{total:.1f}s;animation-iteration-count:infinite}}"
        f".up{{animation-name:up}}@keyframes up{{{''.join(steps)}}}{''.join(rules)}"
    )
    size = f'width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}"'
    inner = f'<svg x="0" y="{MARGIN}" width="{width:.0f}" height="{ROWS * LINE}">'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="lsp-agent demo">\n'
        f"<style>{style}</style>\n"
        f'<rect width="100%" height="100%" rx="8" fill="#22262d"/>\n'
        f'{inner}<g class="up" transform="translate(0,-{MARGIN})">\n'
        + "\n".join(rows)
        + "\n</g></svg></svg>\n"
    )


def _spans(text: Text) -> str:
    """``text`` with the colours that it has."""
    text = text[:COLUMNS]
    parts = list[str]()
    for piece in text.divide(sorted({edge for span in text.spans for edge in span[:2]})):
        style = Style.combine(
            [Style.null(), *(Style.parse(str(span.style)) for span in piece.spans)]
        )
        colour = COLOURS.get(style.color.name if style.color else "default", COLOURS["default"])
        marks = f' fill="{colour}"' if colour != COLOURS["default"] else ""
        marks += ' opacity=".6"' if style.dim else ""
        marks += ' font-weight="bold"' if style.bold else ""
        said = escape(piece.plain, quote=False)
        parts.append(f"<tspan{marks}>{said}</tspan>" if marks else said)
    return "".join(parts)


if __name__ == "__main__":
    PICTURE.write_text(drawn(hurried(recorded())), encoding="utf-8")
    print(f"{PICTURE.name}: {PICTURE.stat().st_size // 1024} KB")
