"""Standings of a tournament in the order of its format, and the winners of closed tournaments."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Lock

from sqlalchemy import Engine, func, select

from arena.formats.contract import FormatMatch as Fixed
from arena.formats.contract import FormatOver, Ranking, Step, ranked
from arena.formats.knockout import KnockoutFormat, Tie
from arena.formats.round_robin import GauntletFormat
from arena.formats.swiss import RankingKey, SwissFormat
from arena.ladders import ladder_key, ladder_rows
from arena.ladders.ladder_columns import EntrantLine, ranks
from arena.presentation import wording
from arena.ratings import standings
from arena.ratings.closed_match import means
from arena.ratings.standings import Standings
from arena.ratings.strength.kept_strengths import KnownStrengths
from arena.store import schema
from arena.store.database import reading
from arena.store.schema import TournamentState
from arena.store.tournaments.format_history import FormatHistory
from arena.store.tournaments.tournaments import Tournament, TournamentProgress
from arena.tournaments import scheduler, tournament_outcome
from arena.tournaments.tournament_outcome import RANKED_AT_END, FirstPlace

_DETAILS_AT_END_MATCHES, _NO_DETAILS_MATCHES = 3000, 20_000
"""Numbers of matches above which the format's details are shown only at the end, or never."""
_WINNER_MATCHES = 2000
"""Maximum number of matches of a tournament whose winner appears in lists."""
_CACHE_SIZE = 1000
_SECONDS = 0.3
"""Time limit of a call; tournaments that remain are left to the next call."""


@dataclass(frozen=True, slots=True)
class FormatState:
    """State of the tournament according to its format."""

    step: Step | None = None
    scores: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """What decided each closed match, by (round, number)."""
    worth: dict[str, RankingKey] | None = None
    points: Mapping[str, int] = field(default_factory=dict)
    """Match points by entrant, if the entrants are ranked by them."""
    stages: tuple[tuple[Tie, ...], ...] = ()
    series: KnockoutFormat | None = None
    """The rules of a knockout, which limit the matches of a tie."""
    byes: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Entrants with a bye of a Swiss tournament, by round."""
    ranking: Ranking = ()
    """The final ranking, or that by the points so far; empty if there is neither."""


def format_state(engine: Engine, tournament: Tournament, matches: int) -> FormatState:
    """Return the state of a tournament according to its format; empty if it has many matches."""
    if matches > (_DETAILS_AT_END_MATCHES if tournament.ended is None else _NO_DETAILS_MATCHES):
        return FormatState()
    history = FormatHistory(engine, tournament.id).matches()
    step = tournament_outcome.next_step(engine, tournament)
    state = FormatState(
        step,
        {match.place: _score(match) for match in history},
        ranking=step.ranking if isinstance(step, FormatOver) else (),
    )
    # The tournament's step reports errors.
    with suppress(ValueError):
        rules = scheduler.format_of(tournament.plan)
        if isinstance(rules, SwissFormat):
            worth = rules.worth(tournament.entries, history)
            return replace(
                state,
                worth=worth,
                ranking=state.ranking or ranked((key, name) for name, key in worth.items()),
                points={name: key.points for name, key in worth.items()},
                byes=rules.byes(tournament.entries, history),
            )
        if isinstance(rules, KnockoutFormat):
            stages = rules.bracket(tournament.entries, history)
            return replace(state, stages=stages, series=rules)
        if isinstance(rules, RANKED_AT_END) and (state.ranking or tournament.ended is None):
            ended = [match for match in history if not match.is_open]
            if ranking := rules.ranking(tournament.entries, ended):
                points = rules.points(tournament.entries, ended)
                return replace(state, points=points, ranking=ranking)
    return state


def bracket_of(engine: Engine, tournament: Tournament) -> tuple[tuple[Tie, ...], ...]:
    """Return the ties of a knockout, as far as they are determined; empty for other formats."""
    with suppress(ValueError):
        rules = scheduler.format_of(tournament.plan)
        if isinstance(rules, KnockoutFormat):
            history = FormatHistory(engine, tournament.id).matches()
            return rules.bracket(tournament.entries, history)
    return ()


def challengers_of(tournament: Tournament) -> tuple[str, ...]:
    """Return the challengers of a gauntlet; empty for other formats."""
    with suppress(ValueError):
        rules = scheduler.format_of(tournament.plan)
        if isinstance(rules, GauntletFormat):
            return tournament.entrants[: rules.challengers]
    return ()


def _score(match: Fixed) -> str:
    """Return the games won by each of two entrants, "2–1, 1 drawn", or the score of each."""
    if not match.games:
        return ""
    if len(match.entrants) > 2:
        return " · ".join(map(wording.percent, means(match.scores)))
    wins = [sum(game.is_won(at) for game in match.games) for at in range(len(match.entrants))]
    drawn = len(match.games) - sum(wins)
    return "–".join(map(str, wins)) + (f", {drawn} drawn" if drawn else "")


def lines_of(tournament: Tournament, table: Standings, state: FormatState) -> list[EntrantLine]:
    """Return the standings of a tournament in the order of its format."""
    by_name = {line.entrant: line for line in table.lines}
    entries = {entry.name: entry for entry in tournament.entries}
    challengers = challengers_of(tournament)
    if not state.ranking:
        return [
            EntrantLine(ranks(line), line, entries[line.entrant], None, place)
            if line.matches and not challengers
            else EntrantLine("", line, entries[line.entrant])
            for place, line in table.ranked
            if line.entrant in entries
        ]
    lines, rank = [], 1
    for group in state.ranking:
        last = rank + len(group) - 1
        words_of_rank = str(rank) if last == rank else f"{rank}–{last}"
        for name in sorted(group, key=lambda name: -by_name[name].strength.value):
            worth = state.worth.get(name) if state.worth else None
            points = state.points.get(name)
            is_ranked = by_name[name].matches and name in (challengers or entries)
            words = words_of_rank if is_ranked else ""
            lines.append(EntrantLine(words, by_name[name], entries[name], worth, points=points))
        rank = last + 1
    return lines


def standings_of(engine: Engine, tournament: Tournament) -> Standings:
    """Return the stored standings of a tournament, with entrants that nobody has rated yet."""
    key = ladder_key.of_standings(engine, tournament)
    table = ladder_rows.read_ladder(engine, key).table
    missing = {*tournament.entrants} - {*table.entrants}
    if not missing:
        return table
    unplayed = standings.of_matches(
        (), key.clip, missing, key.strength, known=KnownStrengths()
    ).table
    if not table.lines:
        return unplayed
    return replace(table, lines=table.lines + unplayed.lines, groups=table.groups + unplayed.groups)


def are_current(engine: Engine, tournament: Tournament) -> bool:
    """Return whether the stored standings of a tournament have all its events."""
    events, fits = schema.closings, schema.ladder_fits
    newest = select(func.max(events.c.seq)).where(events.c.tournament == tournament.id)
    query = select(fits.c.seq >= newest.scalar_subquery()).where(fits.c.ladder == tournament.id)
    with reading(engine) as connection:
        return bool(connection.execute(query).scalar_one_or_none())


class ChampionsCache:
    """The champions of closed tournaments for lists. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: OrderedDict[tuple[str, int, int], FirstPlace | None] = OrderedDict()
        self._lock = Lock()

    def of(self, held: Sequence[tuple[Tournament, TournamentProgress]]) -> dict[str, FirstPlace]:
        """Return the champions by tournament ID, without open and very large tournaments."""
        until = time.monotonic() + _SECONDS
        by_tournament: dict[str, FirstPlace] = {}
        for tournament, progress in held:
            if tournament.state is not TournamentState.CLOSED or progress.matches > _WINNER_MATCHES:
                continue
            # A correction by the organiser voids matches.
            key = tournament.id, progress.closed, progress.void
            with self._lock:
                known = self._known.get(key)
            if known is None and time.monotonic() < until:
                if not are_current(self._engine, tournament):
                    continue
                known = self._read(tournament, progress)
                with self._lock:
                    self._known[key] = known
                    while len(self._known) > _CACHE_SIZE:
                        self._known.popitem(last=False)
            if known is not None:
                by_tournament[tournament.id] = known
        return by_tournament

    def _read(self, tournament: Tournament, progress: TournamentProgress) -> FirstPlace | None:
        state = format_state(self._engine, tournament, progress.matches)
        table = standings_of(self._engine, tournament)
        return tournament_outcome.first_place(tournament, state.step, table)
