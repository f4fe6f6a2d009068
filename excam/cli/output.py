"""One way to print results: a table for people, JSON or CSV for programs."""

from __future__ import annotations

import codecs
import csv
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from excam.cli.printable import printable
from excam.spreadsheet import inert

READABLE = 12  # letters of a text that is folded
GAP = 2  # between columns


def console() -> Console:
    """A console that neither guesses at markup nor highlights: what it prints is data. A pipe gets long lines."""
    screen = Console(highlight=False, markup=False, emoji=False)
    if not screen.is_terminal and "COLUMNS" not in os.environ:
        screen.width = 200
    return screen


def print_json(value: object) -> None:
    """JSON as it is for a pipe; for a terminal, or what takes no UTF-8, all beyond ASCII is written as escapes."""
    escaped = sys.stdout.isatty() or codecs.lookup(sys.stdout.encoding).name != "utf-8"
    sys.stdout.write(json.dumps(value, ensure_ascii=escaped, indent=2, default=_plain) + "\n")


def print_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """CSV for a pipe, in which no spreadsheet finds a formula; for a terminal cells are made safe for that too."""
    shown: Callable[[object], object] = _cell if sys.stdout.isatty() else _inert
    writer = csv.DictWriter(sys.stdout, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: shown(row.get(name)) for name in columns} for row in rows)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    right: Iterable[str] = (),
    whole: Iterable[str] = (),
) -> None:
    """A table whose cells are made safe for the terminal; ``right`` are columns of numbers, ``whole`` never wrap.

    Where the terminal is too narrow for these, the lines are longer than it is: a figure cut short is a wrong figure.
    """
    numbers, unbroken = set(right), {*right, *whole}
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        side: Literal["left", "right"] = "right" if column in numbers else "left"
        table.add_column(column, justify=side, no_wrap=column in unbroken, overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(_cell(cell)) for cell in row))
    screen = console()
    screen.width = max(screen.width, _least_width(table))
    screen.print(table)


def _least_width(table: Table) -> int:
    """What a table needs: its unbroken columns whole, of the others enough to read."""
    widest = [max(cell_len(str(text)) for text in (column.header, *column.cells)) for column in table.columns]
    needed = [
        width if column.no_wrap else min(width, READABLE) for column, width in zip(table.columns, widest, strict=True)
    ]
    return sum(needed) + GAP * (len(needed) - 1)


def moment(value: datetime | None) -> str:
    return "–" if value is None else f"{value:%Y-%m-%d %H:%M}"


def _cell(value: object) -> str:
    return "–" if value is None or value == "" else printable(str(value))


def _inert(value: object) -> object:
    return inert(value) if isinstance(value, str) else _plain(value)


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value
