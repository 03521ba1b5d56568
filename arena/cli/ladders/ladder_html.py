"""Render ladders as one self-contained HTML page without scripts, fonts or images."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from arena.cli.ladders import ladder_table
from arena.ladders import ladder_values
from arena.ratings.elo import EloSettings
from referee.sanitizing import sanitized

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.ladders.ladder_export import LadderExport
    from arena.ratings.crosstable import CrosstableCell


_STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1f; --dim: #5c5c66; --ground: #fdfdfb;
  --rule: #d9d9d2; --up: 20 120 70; --down: 180 60 40; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8ea; --dim: #a0a0aa; --ground: #17171a;
  --rule: #3a3a40; --up: 70 190 120; --down: 235 120 95; } }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: var(--ink);
  background: var(--ground); font: 1rem/1.5 system-ui, sans-serif; }
div { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--dim); }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--rule); text-align: right;
  white-space: nowrap; }
thead th { border-bottom-width: 2px; }
.left { text-align: left; font-weight: normal; }
p, small { color: var(--dim); }
"""
_LEFT = ("bot", "faults")


def page(exports: Sequence[LadderExport]) -> str:
    """Return the page: standings, crosstable and remarks of each ladder, then notes."""
    title = " · ".join(export.scope.form for export in exports)
    body = "\n".join(line for export in exports for line in _ladder(export))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"{body}\n{_notes()}\n</body>\n</html>\n"
    )


def _ladder(export: LadderExport) -> Iterator[str]:
    form = escape(export.scope.form)
    yield f'<section aria-label="{form}">\n<h1>{form}</h1>'
    headings, rows = ladder_table.ladder_columns(export.table)
    words = [heading.lstrip("<") for heading in headings]
    yield "<div><table>\n<caption>Strongest first</caption>\n<thead><tr>"
    yield "".join(f'<th scope="col"{_side(word)}>{escape(word)}</th>' for word in words)
    yield "</tr></thead>\n<tbody>"
    for row in rows:
        cells = zip(words, row, strict=True)
        yield f"<tr>{''.join(_cell(word, text) for word, text in cells)}</tr>"
    yield "</tbody>\n</table></div>"
    for remark in ladder_values.remarks(export.table):
        yield f"<p>{escape(remark)}</p>"
    yield from _crosstable(export)
    for remark in ladder_values.gift_remarks(export.matrix.gifts):
        yield f"<p>{escape(remark)}</p>"
    yield "</section>"


def _side(word: str) -> str:
    return ' class="left"' if word in _LEFT else ""


def _cell(word: str, text: str) -> str:
    if word == "bot":
        return f'<th scope="row" class="left">{escape(text)}</th>'
    return f"<td{_side(word)}>{escape(text)}</td>"


def _crosstable(export: LadderExport) -> Iterator[str]:
    names = export.matrix.table.entrants
    yield "<div><table>\n<caption>The score of the line against the column in %, with its 95 % "
    yield "interval, and the matches; coloured where it is not by chance</caption>\n<thead><tr>"
    yield '<th scope="col" class="left">bot</th>'
    yield "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    yield "</tr></thead>\n<tbody>"
    for name, row in zip(names, export.matrix.table.cells, strict=True):
        cells = "".join(map(_score, row))
        yield f'<tr><th scope="row" class="left">{escape(name)}</th>{cells}</tr>'
    yield "</tbody>\n</table></div>"


def _score(cell: CrosstableCell | None) -> str:
    if cell is None:
        return "<td>·</td>"
    title = f"{cell.low:.1%} to {cell.high:.1%}"
    interval = f"{100 * cell.low:.0f}–{cell.high:.0%}"
    text = f"{cell.score:.0%} <small>{interval} ({cell.matches})</small>"
    return f'<td title="{title}"{_colour(cell)}>{text}</td>'


def _colour(cell: CrosstableCell) -> str:
    """Return a colour by the distance from one half; none if the interval contains one half."""
    if cell.low <= 0.5 <= cell.high:
        return ""
    way = "up" if cell.score > 0.5 else "down"
    return f' style="background: rgb(var(--{way}) / {abs(cell.score - 0.5):.2f})"'


def _notes() -> str:
    s = EloSettings()
    text = (
        (
            "Strength is fitted to all matches at once, in any order. ±: 95 % "
            "interval; ?: provisional strength; > and <: a lower or upper bound, with a confidence "
            "of at least 95 %, for a bot that won or lost every game. A range of ranks: the "
            "difference between these bots is not significant."
        ),
        f"Elo: K {s.k:g}, from {s.initial:g}; {2 * s.beta:g} points are odds of ten to one; "
        "by rounds, whose order matters.",
        "Points/board: points ahead of the others at the table. p95 ms: of 20 decisions 19 take "
        "no longer.",
    )
    return "<footer>" + "".join(f"<p>{escape(line)}</p>" for line in text) + "</footer>"


def escape(text: str) -> str:
    """Escape a text for HTML and replace characters that hide or reorder others."""
    return html.escape(sanitized(text))
