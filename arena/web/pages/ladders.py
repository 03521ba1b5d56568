"""Page of all ladders with their first places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena.ladders.columns import Rendering, columns_of, csv_table, text_table, to_json
from arena.ladders.ladder_columns import LADDER, LadderLine
from arena.ladders.ladder_key import LadderKey
from arena.store.tournaments.tournaments import Tournament
from arena.web.data.web_state import WebState
from arena.web.page import Page, PageRequest, TextTable
from arena.web.pages import ladder
from arena.web.pages.tournaments import is_endless
from referee.games.registry import GAMES

FIRST = 3
"""Number of lines of each ladder."""


@dataclass(frozen=True, slots=True)
class LadderCard:
    """A ladder on a page that lists ladders.

    Args:
        bots: the number of all lines.
        schedule: the running ladder that schedules its matches; None without one.
    """

    scope: LadderKey
    lines: tuple[LadderLine, ...]
    bots: int
    matches: int
    schedule: Tournament | None

    @property
    def form(self) -> str:
        """The name of the ladder."""
        return self.scope.name

    def to_json(self) -> dict[str, Any]:
        return {
            "ladder": self.form,
            "form": self.scope.form,
            "clock_class": self.scope.clock_class,
            "bots": self.bots,
            "matches": self.matches,
            "schedule": self.schedule.id if self.schedule else None,
            "standings": [to_json(LADDER, line) for line in self.lines],
        }


def ladders_page(web: WebState, page_request: PageRequest) -> Page:
    cards = ladder_cards(web, FIRST)
    lines = [(card.form, line) for card in cards for line in card.lines]
    columns = columns_of(LADDER, Rendering.TEXT, [line for _, line in lines])
    heads, rows = csv_table(LADDER, [line for _, line in lines])
    text_heads, text_rows = text_table(columns, [line for _, line in lines])
    forms = [form for form, _ in lines]
    return Page(
        title="Ladders",
        template="ladders.html",
        model={
            "cards": cards,
            "top_columns": columns_of(LADDER, Rendering.TOP),
            "games": list(GAMES.values()),
        },
        data={"ladders": [card.to_json() for card in cards]},
        csv=TextTable(
            ("form", *heads), [(form, *row) for form, row in zip(forms, rows, strict=True)]
        ),
        text=TextTable(
            ("<form", *text_heads),
            [(form, *row) for form, row in zip(forms, text_rows, strict=True)],
        ),
        parts=("ladder-cards",),
    )


def ladder_cards(web: WebState, first: int) -> list[LadderCard]:
    """Return the current ladders with their first lines."""
    snapshot = web.snapshot
    schedules = {
        tournament.plan.ladder: tournament
        for tournament, _ in snapshot.open_tournaments
        if is_endless(tournament)
    }
    return [
        LadderCard(
            standing.scope,
            tuple(ladder.lines(snapshot, standing)[:first]),
            len(standing.table.lines),
            standing.table.matches,
            schedules.get(name),
        )
        for name, standing in snapshot.ladders.items()
    ]
