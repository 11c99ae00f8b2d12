"""How every report is laid out: headings, labels and tables without lines.

Texts of runs and judges go in as they are, never as markup, with what would steer the terminal made visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from langchain_llm_judge.reports.text import visible

VERDICTS: dict[bool | None, tuple[str, str]] = {
    True: ("passed", "bold green"),
    False: ("failed", "bold red"),
    None: ("no verdict", "bold yellow"),
}
"""Word and style of a verdict."""

SEVERITY_STYLES = {"error": "red", "high": "red", "warning": "yellow", "medium": "yellow", "low": "dim"}

MOST_ROWS = 200
"""Rows a table shows; of longer ones the middle is left out, which a line says."""


Cell: TypeAlias = "str | tuple[str, str]"
"""A text, or a text with the style it is shown in."""

Row: TypeAlias = "Sequence[Cell]"


def heading(title: str, *rest: Cell) -> Text:
    """A section's title and what the section comes to; a part may have a style."""
    return Text.assemble((title, "bold"), "  ", *(span(part) for part in rest))


def span(part: Cell) -> Text:
    """A piece of text, with a style where it has one."""
    text, style = (part, "") if isinstance(part, str) else part
    return Text(visible(text), style)


def rows(table_rows: Sequence[Row]) -> RenderableType:
    """A table: the last column takes the room that is left, the others that of their text."""
    columns = max((len(row) for row in table_rows), default=1)
    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(columns - 1):
        table.add_column(max_width=32, overflow="fold")
    table.add_column(ratio=1, overflow="fold")
    left_out = len(table_rows) - MOST_ROWS
    for number, row in enumerate(table_rows):
        if left_out <= 0 or not MOST_ROWS // 2 <= number < MOST_ROWS // 2 + left_out:
            table.add_row(*map(span, row))
        elif number == MOST_ROWS // 2:
            table.add_row(*[""] * (columns - 1), f"({left_out:,} rows are not shown; --json has them all)")
    return Padding(table, (0, 0, 0, 2))


def stacked(sections: Iterable[RenderableType]) -> RenderableType:
    """Sections one below the other with a blank line between."""
    spaced: list[RenderableType] = []
    for section in sections:
        spaced += [Text(""), section] if spaced else [section]
    return Group(*spaced)


def verdict_line(passed: bool | None, because: str = "") -> Text:
    """The verdict, and what it rests on."""
    return Text.assemble(VERDICTS[passed], span(f": {because}") if because else "")
