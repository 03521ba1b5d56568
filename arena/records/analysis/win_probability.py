"""Win probability of a game for each side: playouts by the policy of an engine. Pure.

The win probability of a side is its probability of the first place. A shared first place counts as
an equal share for each of its sides, so the probabilities of all sides add up to 1. With two sides
it equals the win expectation, in which a draw counts half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from math import exp
from typing import Final

from arena.records.analysis.engine import Engine, engine_of
from arena.records.analysis.match_analysis import Estimate, estimate
from referee.games.contract import Game, Options, PlaceKey, State, View, places_of
from referee.games.pokex import Pokex
from referee.games.pokino import Pokino
from referee.games.registry import find_game
from referee.games.saint_poker import SaintPoker
from referee.games.shared.dealing import Seeded, derive
from referee.record import MatchRecord
from referee.replay import ReplayStep, steps

PLAYOUTS: Final[Mapping[str, int]] = {Pokex.id: 30, Pokino.id: 30}
"""Playouts of a position by game, at most about 0.2 s of CPU time."""
USUAL_PLAYOUTS: Final = 60
_RATED: Final[Mapping[str, float]] = {Pokino.id: 2.0}
"""Games whose playouts end where the engine rates them, because its policy does not end a game
well, and the weight of a rating in the logarithm of the odds (`bench.calibration`)."""

_CERTAINTY: Final[Mapping[str, tuple[float, float]]] = {SaintPoker.id: (0.5, 0.3)}
"""Exponents of the probabilities of a game: with hidden hands, and with the hands as they were.

Below 1 they are nearer to each other: players often leave the policy's line, which decides a game
of Saint Poker with known hands. Fitted to games of two house bots (`bench.calibration`).
"""
_OF_A_MATCH: Final[Mapping[str, int]] = {Pokex.id: 1_500, Pokino.id: 2_500}
_USUAL_OF_A_MATCH: Final = 6_000
"""Playouts of a recorded match by game with the hands as they were, about 5 s of CPU time. The
knowledge of all seats together gets as many again."""
_MOST_POSITIONS, _FEWEST_POSITIONS = 24, 3
"""Limits of the rated positions of a recorded game."""
_FEWEST_PLAYOUTS, _MOST_PLAYOUTS = 8, 200


@dataclass(frozen=True, slots=True)
class RatedPosition:
    """The win probability of each seat's side before a decision of a recorded game.

    Args:
        by_seat: with the hands as they were.
        known_to: from the knowledge of each seat.
    """

    game: int
    decision: int
    by_seat: tuple[Estimate, ...]
    known_to: tuple[tuple[Estimate, ...], ...]


class WinProbabilityRater:
    """Rates positions of a game by the shares of the first place in playouts.

    Args:
        sides: the side of each seat.
        open_hands: whether the positions have the hands as they were.
    """

    def __init__(
        self, game: str, engine: Engine, sides: Sequence[int], *, open_hands: bool = False
    ) -> None:
        self._engine = engine
        self._sides = sides
        self._weight = _RATED.get(game)
        self._certainty = _CERTAINTY.get(game, (1.0, 1.0))[open_hands]
        self.usual_playouts = PLAYOUTS.get(game, USUAL_PLAYOUTS)

    def rate(self, worlds: Iterable[State]) -> tuple[Estimate, ...]:
        """Return the probability of each seat's side, from one playout of each world.

        One playout that all sides share is added, so that no side has 0 or 1 before the end.
        """
        shares = []
        for world in worlds:
            if not world.actors:
                return tuple(Estimate(share, 0.0) for share in self._first_places(world))
            shares.append(self._playout(world))
        sides = len(set(self._sides))
        shares.append(tuple(1 / sides for _ in self._sides))
        return self._flattened([estimate(values) for values in zip(*shares, strict=True)])

    def _flattened(self, estimates: Sequence[Estimate]) -> tuple[Estimate, ...]:
        """Move the probabilities nearer to each other."""
        powers = [each.mean**self._certainty for each in estimates]
        total = sum(dict(zip(self._sides, powers, strict=True)).values())
        means = [power / total for power in powers]
        # The derivative of the logarithm of the odds is that exponent.
        return tuple(
            Estimate(mean, self._certainty * each.error * mean * (1 - mean) / _variance(each.mean))
            for mean, each in zip(means, estimates, strict=True)
        )

    def _playout(self, root: State) -> tuple[float, ...]:
        engine, state = self._engine, root
        while actors := state.actors:
            if self._weight and state is not root and engine.over(root, state):
                return self._shares_of_ratings(state, self._weight)
            state = state.after({seat: engine.move(state, seat) for seat in actors})
        return self._first_places(state)

    def _first_places(self, state: State) -> tuple[float, ...]:
        return first_place_shares(state.place_keys, self._sides)

    def _shares_of_ratings(self, state: State, weight: float) -> tuple[float, ...]:
        """Convert the engine's ratings to probabilities: a softmax over the sides."""
        seats = range(len(self._sides))
        odds = {
            self._sides[seat]: exp(weight * self._engine.rating(state, seat, self._sides))
            for seat in seats
        }
        total = sum(odds.values())
        return tuple(odds[side] / total for side in self._sides)


def _variance(mean: float) -> float:
    return max(mean * (1 - mean), 1e-9)


def first_place_shares(place_keys: Sequence[PlaceKey], sides: Sequence[int]) -> tuple[float, ...]:
    """Return the share of the first place of each seat's side."""
    places = places_of(place_keys, sides)
    first = {side for side, place in zip(sides, places, strict=True) if place == 1}
    return tuple(1 / len(first) if side in first else 0.0 for side in sides)


def spectators_worlds(game: Game, view: View, options: Options, seed: bytes) -> Iterator[State]:
    """Return positions that fit a public view, without end; hidden cards are dealt at random."""
    state = game.from_view(view, None, options, Seeded(seed))
    return (state.redeal(None, Seeded(derive(seed, "world", n))) for n in count())


def rate_recorded_games(
    record: MatchRecord, progress: Callable[[], None] = lambda: None
) -> list[RatedPosition]:
    """Rate positions of a closed match, with the hands as they were and as each seat knows them.

    All chance that no seat has seen yet is dealt again, and for the knowledge of a seat all that is
    hidden from it. The positions are spread evenly over each game and include the first and the
    last one.

    Args:
        record: the record; its seed must be public.
        progress: called before each position.

    Raises:
        NoEngine: no engine plays the game.
        Mismatch: the record contradicts the rules.
    """
    assert record.seed is not None
    rules: Game = find_game(record.match["game"])
    sides = rules.sides(record.match["seats"], rules.settle(record.match["options"]))
    engine = engine_of(rules.id)
    open_hands = WinProbabilityRater(rules.id, engine, sides, open_hands=True)
    hidden_hands = WinProbabilityRater(rules.id, engine, sides)
    budget = _OF_A_MATCH.get(rules.id, _USUAL_OF_A_MATCH) // max(1, len(record.games))
    positions = min(_MOST_POSITIONS, max(_FEWEST_POSITIONS, budget // (2 * _FEWEST_PLAYOUTS)))
    playouts = min(_MOST_PLAYOUTS, max(_FEWEST_PLAYOUTS, budget // positions))
    of_a_seat = max(_FEWEST_PLAYOUTS, playouts // len(sides))
    rated = []
    for game in record.games:
        # The same worlds for all positions: neighbours differ by what happened, not by noise.
        seed = derive(record.seed, "win-probability", game.number)
        for step in _spread(list(steps(record.match, game, record.seed)), positions):
            progress()
            by_seat = open_hands.rate(islice(_worlds_of_hands(step.state, seed), playouts))
            known_to = tuple(
                hidden_hands.rate(islice(seats_worlds(step.state, seat, seed), of_a_seat))
                for seat in range(len(sides))
            )
            rated.append(RatedPosition(game.number, step.decision, by_seat, known_to))
    return rated


def seats_worlds(state: State, seat: int, seed: bytes) -> Iterator[State]:
    """Return positions that fit the knowledge of a seat, without end."""
    return (state.redeal(seat, Seeded(derive(seed, "world", n))) for n in count())


def _worlds_of_hands(state: State, seed: bytes) -> Iterator[State]:
    """Return a position with other chance to come, without end."""
    return (state.deal_unseen(Seeded(derive(seed, "world", n))) for n in count())


def _spread(played: Sequence[ReplayStep], most: int) -> list[ReplayStep]:
    """Return at most `most` positions, evenly spread, with the first and the last one."""
    last = len(played) - 1
    if last < most:
        return list(played)
    return [played[at * last // (most - 1)] for at in range(most)]
