"""The table, and the same as JSON."""

import json
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from bench.measure import Row


def table(rows: Sequence[Row]) -> Table:
    result = Table(box=box.SIMPLE_HEAD)
    result.add_column("what")
    for column in ("floor", "ours", "ratio", "limit"):
        result.add_column(column, justify="right")
    result.add_column("")
    for row in rows:
        result.add_row(
            row.what,
            f"{_figure(row.floor)} {row.unit}",
            f"{_figure(row.ours)} {row.unit}",
            f"{row.ratio:.2f} x",
            row.limit.text(row.unit),
            "[green]under[/]" if row.under else "[red]over[/]",
        )
    return result


def as_json(rows: Sequence[Row]) -> str:
    values = [
        {
            "name": row.name,
            "what": row.what,
            "unit": row.unit,
            "floor": row.floor,
            "ours": row.ours,
            "ratio": row.ratio,
            "limit": row.limit.text(row.unit),
            "under": row.under,
        }
        for row in rows
    ]
    return json.dumps({"rows": values}, indent=2)


def show(rows: Sequence[Row], seconds: float) -> None:
    console = Console()
    console.print(table(rows))
    console.print(f"[dim]medians over rounds in turns; {seconds:.0f} s[/]")


def _figure(value: float) -> str:
    """Three digits that say something."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
