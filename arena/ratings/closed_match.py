"""Played games and closed matches as plain values by entrant, from which ratings are computed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from arena.ratings.decision_histogram import DecisionHistogram
from referee.games.shared.coded_errors import InvalidValue
from referee.numbering import game_text

# Why an entrant stopped playing, in the words of the record. The list duplicates `referee.faults`,
# because importing that module loads the protocol, and computing standings has to be fast.
FINISHED = "finished"
FAULTS = ("init", "timeout", "illegal", "protocol", "crash", "resources")
FORFEIT = "forfeit"
INFRASTRUCTURE = "infrastructure"
VERDICTS = frozenset((FINISHED, *FAULTS, FORFEIT, INFRASTRUCTURE))


@dataclass(frozen=True, slots=True)
class PlayedFault:
    """A fault of a bot in a game: a row of `faults`."""

    game: int
    decision: int
    seat: int
    version: str
    verdict: str
    sentence: str
    ended: str = ""
    """How the bot's process ended, as a clause; empty if it continued to run."""
    output: str = ""
    """The tail of the bot's output."""
    match: str = ""
    """The id of its match; empty unless it was read from the store."""
    tournament: str = ""
    """The id of its tournament; empty unless it was read from the store."""


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A finished game: a row of `games`. Tuples are in order of the match's entrants, not of seats.

    The fields from `table` on have their defaults if the caller did not read them.

    Attributes:
        places: 1 is the best; equal results share a place.
        scores: in the game's own points; None if a fault ended the game before it had scores.
        verdicts: why each entrant stopped playing.
        faults: number of faults counted against each entrant in this game.
        corrections: number of answers that each entrant corrected; empty if all are 0.
        defaults: number of default actions that each entrant played; empty if all are 0.
        record: the record's lines from ``game`` to ``result``.
        tally: the remaining fields of the result line, by seat: ``bank_ms``, ``faults``,
            ``crashes``, ``slowest_ms``, ``tags``.
        thinking: decision times of each entrant, without decisions that the referee made for it;
            empty if they were not counted.
        committed: when it was stored, in seconds since 1970.
        reasoning: the private line of each seat (`referee.reasoning`), in order of the seats; empty
            if no bot sent reasoning.

    Raises:
        ValueError: the tuples differ in length, or a verdict is unknown.
    """

    game: int
    places: tuple[int, ...]
    scores: tuple[int, ...] | None
    verdicts: tuple[str, ...]
    faults: tuple[int, ...]
    corrections: tuple[int, ...] = ()
    defaults: tuple[int, ...] = ()
    table: int = 0
    board: int = 0
    record: str = ""
    tally: Mapping[str, Sequence[Any]] = field(default_factory=dict, hash=False)
    faulted: tuple[PlayedFault, ...] = ()
    thinking: tuple[DecisionHistogram, ...] = ()
    committed: float = 0.0
    reasoning: tuple[str, ...] = field(default=(), compare=False)

    @property
    def slowest_ms(self) -> float:
        """The longest decision of any seat in milliseconds; infinite if not recorded."""
        return float(max(self.tally.get("slowest_ms", (math.inf,))))

    def is_won(self, entrant: int) -> bool:
        """Return whether an entrant has the first place alone."""
        return self.places[entrant] == 1 == self.places.count(1)

    def is_drawn(self, entrant: int) -> bool:
        """Return whether an entrant shares the first place."""
        return self.places[entrant] == 1 < self.places.count(1)

    def halves(self, first: int, second: int) -> int:
        """Return the half points of `first` against `second`: better place 2, shared place 1."""
        return (self.places[first] <= self.places[second]) + (
            self.places[first] < self.places[second]
        )

    def result_only(self) -> PlayedGame:
        """Return the game without the fields from `table` on, which ratings do not require."""
        return PlayedGame(
            self.game,
            self.places,
            self.scores,
            self.verdicts,
            self.faults,
            self.corrections,
            self.defaults,
        )

    def __post_init__(self) -> None:
        scores = self.places if self.scores is None else self.scores
        if not len(self.places) == len(scores) == len(self.verdicts) == len(self.faults):
            raise InvalidValue(
                f"{game_text(self.game)} lacks values for some entrants", code="values-missing"
            )
        if not VERDICTS.issuperset(self.verdicts):
            unknown = next(verdict for verdict in self.verdicts if verdict not in VERDICTS)
            raise InvalidValue(
                f"{game_text(self.game)} has the unknown verdict {unknown!r}",
                code="unknown-verdict",
            )


@dataclass(frozen=True, slots=True)
class ClosedMatch:
    """A match whose games are all over.

    Attributes:
        round: its round, from 0.
        number: its number within the round, from 0.
        entrants: versions as "name@version", each once.
        tournament: position of its tournament by age among the given tournaments, from 0. It
            separates the rounds of different tournaments.

    Raises:
        ValueError: it has fewer than two entrants, an entrant twice, no game, or a game with
            another number of entrants.
    """

    id: str
    round: int
    number: int
    entrants: tuple[str, ...]
    games: tuple[PlayedGame, ...]
    tournament: int = 0

    def __post_init__(self) -> None:
        if len(self.entrants) < 2 or len(set(self.entrants)) < len(self.entrants):
            raise InvalidValue(
                f"match {self.id} needs two or more different entrants", code="entrants"
            )
        if not self.games:
            raise InvalidValue(f"match {self.id} is closed but has no game", code="no-game")
        for game in self.games:
            if len(game.places) != len(self.entrants):
                raise InvalidValue(
                    f"{game_text(game.game)} of match {self.id} has {len(game.places)} entrants, "
                    f"the match has {len(self.entrants)}",
                    code="entrant-count",
                )

    @property
    def played(self) -> int:
        """The number of games."""
        return len(self.games)

    @property
    def halves(self) -> tuple[int, ...]:
        """For each two entrants the half points of the first against the second.

        In the order (0, 1), (0, 2), ... (1, 2), ...; a shared place counts one, a better place two.
        """
        return tuple(
            sum([game.halves(first, second) for game in self.games])
            for first, second in combinations(range(len(self.entrants)), 2)
        )


def canonical_order(match: ClosedMatch) -> tuple[int, int, int, str]:
    """Return the key that sorts matches into canonical order, in which floats are summed."""
    return match.tournament, match.round, match.number, match.id


def pairwise(match: ClosedMatch) -> tuple[tuple[float, ...], ...]:
    """Return the score of entrant i against entrant j as `pairwise(match)[i][j]`, from 0 to 1.

    It is the mean over the games of 1 for the better place, 0.5 for a shared one and 0 for the
    worse. [i][j] and [j][i] add up to 1; the diagonal is 0.5.
    """
    size, most = len(match.entrants), 2 * match.played
    table = [[0.5] * size for _ in range(size)]
    for (first, second), got in zip(combinations(range(size), 2), match.halves, strict=True):
        table[first][second], table[second][first] = got / most, (most - got) / most
    return tuple(map(tuple, table))


def means(of_pairs: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return the mean score of each entrant against the others, from the result of `pairwise`."""
    others = len(of_pairs) - 1
    # Subtract the diagonal.
    return tuple((sum(row) - 0.5) / others for row in of_pairs)


def winner(match: ClosedMatch) -> str:
    """Return the entrant with the highest mean score; "" if several entrants share it."""
    shares = means(pairwise(match))
    highest = max(shares) - 1e-9
    first = [name for name, share in zip(match.entrants, shares, strict=True) if share >= highest]
    return first[0] if len(first) == 1 else ""


def scores(games: Sequence[PlayedGame]) -> tuple[tuple[float, ...], ...]:
    """Return the result of `pairwise` for the games of a match (at least one)."""
    names = tuple(str(place) for place in range(len(games[0].places)))
    return pairwise(ClosedMatch("", 0, 0, names, tuple(games)))
