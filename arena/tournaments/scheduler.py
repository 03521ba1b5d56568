"""The scheduler: asks the formats of running tournaments what comes next, and has it stored.

It keeps nothing: any number of schedulers may work on one store, and what one of them has
concluded from an older state is not taken (`arena.store.tournaments.lifecycle.extend`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from arena.formats import registry
from arena.formats.contract import Entrant, Fixture, Format, Over, Play, Step
from arena.formats.sprt_match import PairCounts
from arena.ratings.duel import pentanomial
from arena.ratings.sprt import Sprt, log_likelihood_ratio
from arena.store.bots import versions
from arena.store.matches.spec import Plan
from arena.store.schema import TournamentState
from arena.store.tournaments import lifecycle, tournaments
from arena.store.tournaments.format_history import History
from arena.store.tournaments.lifecycle import Marks
from arena.store.tournaments.tournaments import Tournament
from referee.games.registry import find as game_of

if TYPE_CHECKING:
    from sqlalchemy import Engine

log = logging.getLogger("arena.scheduler")


def format_of(plan: Plan) -> Format:
    """The format of a tournament.

    Raises ValueError, in a sentence, if there is no such format or its settings do not fit.
    """
    sides = game_of(plan.game).side_count(plan.seats, plan.options)
    return registry.make(plan.format, sides, plan.settings, _ratio)


def opening(plan: Plan, entries: Sequence[Entrant]) -> tuple[Fixture, ...]:
    """The matches with which a tournament begins.

    Raises ValueError, in a sentence, if these cannot play its format.
    """
    step = format_of(plan).next(entries, ())
    return step.fixtures if isinstance(step, Play) else ()


def begin(
    engine: Engine,
    plan: Plan,
    entrants: Sequence[str],
    seed: bytes | None = None,
    owners: Mapping[str, str] | None = None,
) -> Tournament:
    """Makes a tournament; the matches with which it begins are due at once.

    entrants: versions as "name@number" in the order of their seeds, the best first.
    owners: of entrants whose bots' known owners do not hold here.

    Raises ValueError if they cannot play the format, and what `tournaments.create` raises.
    """
    entries = enrol(engine, entrants, owners)
    return tournaments.create(engine, plan, entries, opening(plan, entries), seed)


def enrol(
    engine: Engine, entrants: Sequence[str], owners: Mapping[str, str] | None = None
) -> list[Entrant]:
    """Versions as entrants, with their owners.

    Raises NotFound if there is no such version.
    """
    return [
        Entrant(name, (owners or {}).get(name) or versions.find(engine, name).owner)
        for name in entrants
    ]


def standing(engine: Engine, tournament: Tournament) -> Step:
    """What the format says of a tournament as it is now."""
    history = History(engine, tournament.id).matches()
    return format_of(tournament.plan).next(tournament.entries, history)


class Scheduler:
    """Advances tournaments; looks closer only at those in which something has happened.

    tell: hears of each tournament that is new, has got more matches or another state.
    """

    def __init__(
        self, engine: Engine, tell: Callable[[str, TournamentState], None] = lambda *_: None
    ) -> None:
        self._engine = engine
        self._tell = tell
        self._told: dict[str, TournamentState] = {}
        self._histories: dict[str, History] = {}
        self._seen: dict[str, tuple[TournamentState, Marks]] = {}

    def advance(self) -> int:
        """Stores what comes next in every tournament that runs, and closes those that are over.

        Returns how many new matches there are.

        Raises SQLAlchemyError or StoreError.
        """
        going_on = tournaments.listing(self._engine, over=False)
        for gone in self._seen.keys() - {found.id for found in going_on}:
            del self._seen[gone]
            self._histories.pop(gone, None)
        self._tell_states(going_on)
        return sum(self._advance(found) for found in going_on)

    def _tell_states(self, going_on: Sequence[Tournament]) -> None:
        before, self._told = self._told, {found.id: found.state for found in going_on}
        for name, state in self._told.items():
            if before.get(name) != state:
                self._tell(name, state)
        for name in before.keys() - self._told.keys():
            self._tell(name, tournaments.find(self._engine, name).state)

    def _advance(self, tournament: Tournament) -> int:
        name = tournament.id
        marks = lifecycle.marks(self._engine, name)
        if self._seen.get(name) == (tournament.state, marks):
            return 0
        history = self._histories.setdefault(name, History(self._engine, name))
        # Entrants are read after the marks: if they differ by now, nothing is stored.
        tournament = tournaments.find(self._engine, name)
        try:
            step = format_of(tournament.plan).next(tournament.entries, history.matches())
        except ValueError as error:
            log.warning("tournament %s cannot go on: %s", name, error)
            self._seen[name] = tournament.state, marks
            return 0
        made = 0
        match step:
            case Play(fixtures=fixtures) if tournament.state is TournamentState.RUNNING:
                made = lifecycle.extend(self._engine, tournament, marks, fixtures)
            case Over(why=why):
                if lifecycle.close(self._engine, name, marks):
                    log.info("tournament %s is over: %s", name, why)
        if made:
            self._tell(name, tournament.state)
        else:
            # Nothing was to be done, or it has changed meanwhile and its marks tell so.
            self._seen[name] = tournament.state, marks
        return made


def _ratio(counts: PairCounts, low: float, high: float) -> float:
    return log_likelihood_ratio(Sprt(low, high), pentanomial(*counts))
