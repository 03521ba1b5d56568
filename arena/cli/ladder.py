"""Ladders: the standings of each game, from the closed matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from arena import standings
from arena.ratings.elo import EloSettings
from arena.results import ClosedMatch
from arena.standings import Standing
from arena.store import results, tournaments

if TYPE_CHECKING:
    from sqlalchemy import Engine

Ladders = Mapping[str, Sequence[Standing]]
"""The standings by game."""

HEADINGS = ("#", "<bot", "Elo", "matches", "games", "W–D–L", "points", "mean", "<faults")


def of_games(engine: Engine, game: str | None = None) -> Ladders:
    """The ladder of every game that has been played, or of one, over all tournaments."""
    made: dict[str, list[ClosedMatch]] = {}
    rounds: dict[str, int] = {}
    for tournament in tournaments.listing(engine, game=game):
        # A round is the period of the ratings: those of a later tournament come after.
        before = rounds.get(tournament.plan.game, 0)
        played = [
            replace(match, round=match.round + before)
            for match in results.closed(engine, tournament=tournament.id)
        ]
        if played:
            made.setdefault(tournament.plan.game, []).extend(played)
            rounds[tournament.plan.game] = 1 + max(match.round for match in played)
    return {name: standings.table(matches) for name, matches in sorted(made.items())}


def of_tournament(engine: Engine, tournament: str, entrants: Iterable[str]) -> Sequence[Standing]:
    """The standings of one tournament; who has not played yet is in it too."""
    return standings.table(results.closed(engine, tournament=tournament), entrants=entrants)


def rows(table: Sequence[Standing]) -> Iterator[tuple[object, ...]]:
    """The lines of a ladder for people."""
    for one in table:
        yield (
            one.rank,
            one.entrant,
            f"{one.elo:.0f}",
            one.matches,
            one.games,
            f"{one.wins}–{one.draws}–{one.losses}",
            one.points,
            "–" if one.mean is None else f"{one.mean:.3f}",
            _faults(one),
        )


def _faults(one: Standing) -> str:
    kinds = dict(one.faults)
    if one.forfeits:
        kinds["forfeit"] = one.forfeits
    return ", ".join(f"{number} {kind}" for kind, number in kinds.items()) or "–"


def to_json(table: Sequence[Standing]) -> list[dict[str, object]]:
    """A ladder as plain values."""
    return [one.to_json() for one in table]


def settings_json() -> dict[str, float]:
    """The parameters of the ratings."""
    return asdict(EloSettings())


def settings_words() -> str:
    """The parameters of the ratings for people."""
    s = EloSettings()
    return (
        f"Elo: K {s.k:g}, from {s.initial:g}; {2 * s.beta:g} points are odds of ten to one; "
        "mean is the mean score of a match, from 0 to 1"
    )
