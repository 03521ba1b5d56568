"""Measure what chance did in a game: chance events against other results of the same event. Pure.

The luck of an event is the mean value of the position after it, minus the mean value after
independent results of the same event in the same position. Both means are over playouts with fresh
unseen cards. So its expectation is zero whatever the values are, and whatever the bots do
(White and Bowling, "Learning a Value Analysis Tool for Agent Evaluation", 2009).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Final

import numpy as np

from arena.records.luck_adjustment.values import RATINGS, Floats, PositionValues
from referee.games.contract import Action, Game, Options, State
from referee.games.shared.dealing import Chance, Seeded, derive

Move = tuple[State, Mapping[int, Action]]
"""A position and the actions of all seats that act in it."""
KINDS: Final = 3
"""Kinds of chance events: a new deal, an early and a late event within a deal."""
DEAL, EARLY, LATE = range(KINDS)
_KINDS: Final = {"": None, "early": EARLY, "late": LATE}


def luck_of_game(
    game: Game,
    seats: int,
    options: Options,
    values: PositionValues,
    moves: Iterable[Move],
    seed: bytes,
    playouts: int,
) -> Floats:
    """Return the luck of each seat in a game, by kind of event, kind of value and seat.

    Args:
        game: the game.
        seats: number of seats.
        options: its options.
        values: values of its positions.
        moves: all positions in which seats acted, from the first, with their actions.
        seed: source of the playouts; independent of the cards of the game.
        playouts: playouts of a position, and other results of an event.
    """
    fresh = (Seeded(derive(seed, "world", number)) for number in count())
    luck = np.zeros((KINDS, RATINGS, seats))
    for event in _events(game, seats, options, moves):
        actual = [values.sample(event.after.deal_unseen(next(fresh))) for _ in range(playouts)]
        others = [values.sample(event.again(next(fresh))) for _ in range(playouts)]
        luck[event.kind] += np.mean(actual, axis=0) - np.mean(others, axis=0)
    return luck


@dataclass(frozen=True, slots=True)
class _Event:
    """A chance event of a game."""

    kind: int
    after: State
    """The position after it."""
    again: Callable[[Chance], State]
    """Returns another result of the event."""


def _events(game: Game, seats: int, options: Options, moves: Iterable[Move]) -> Iterator[_Event]:
    """Yield the chance events of a game."""
    earlier: Move | None = None
    for state, actions in moves:
        if earlier is None:
            yield _Event(DEAL, state, partial(game.start, seats=seats, options=options))
        elif (kind := _kind(earlier[0], state)) is not None:
            yield _Event(kind, state, partial(_again, *earlier))
        earlier = state, actions


def _again(before: State, actions: Mapping[int, Action], luck: Chance) -> State:
    return before.deal_unseen(luck).after(actions)


def _kind(before: State, after: State) -> int | None:
    """Return the kind of a chance event between two positions, if there was one."""
    if len(getattr(after, "deals", ())) > len(getattr(before, "deals", ())):
        return DEAL
    return _KINDS[after.chance_since(before)]
