"""Measure the luck of every game of a match; the stored form has no names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, Final

import numpy as np

from arena.records.analysis.engine import engine_of
from arena.records.luck_adjustment.values import RATINGS, Floats, PositionValues, values_of
from referee.games.contract import Action, Game, Options, State
from referee.games.registry import find_game
from referee.games.shared.dealing import Chance, Seeded, derive
from referee.record import GameRecord, MatchRecord
from referee.replay import codec_of, steps

PLAYOUTS: Final = 16
"""Playouts of a position after a chance event, and other results of each event."""
_DECIMALS: Final = 6
"""Decimals of stored luck; its standard error is above 0.01."""


@dataclass(frozen=True, slots=True)
class GameLuck:
    """The luck of the seats in one game.

    Attributes:
        game: number of the game in the match.
        board: number of its board.
        entrants: the entrant of each seat, as a place in the match's list of entrants.
        luck: by kind of event, kind of value and seat (`luck_of_game`).
    """

    game: int
    board: int
    entrants: tuple[int, ...]
    luck: Floats

    def difference(self, first: int, others: tuple[int, ...]) -> Floats:
        """Return the luck of an entrant minus the mean of others, by kind of value and event."""
        mine = [seat for seat, entrant in enumerate(self.entrants) if entrant == first]
        theirs = [seat for seat, entrant in enumerate(self.entrants) if entrant in others]
        return luck_difference(self.luck, mine, theirs)


@dataclass(frozen=True, slots=True)
class MatchLuck:
    """The luck of all games of a match, and how it was measured."""

    method: str
    games: tuple[GameLuck, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the stored form."""
        games = [
            [each.game, each.board, list(each.entrants), each.luck.tolist()] for each in self.games
        ]
        return {"method": self.method, "games": games}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> MatchLuck:
        """Read the stored form."""
        games = [
            GameLuck(game, board, tuple(entrants), np.array(luck))
            for game, board, entrants, luck in stored["games"]
        ]
        return cls(stored["method"], tuple(games))


def luck_difference(luck: Floats, mine: list[int], theirs: list[int]) -> Floats:
    """Return the luck of some seats minus that of others, by kind of value and of event."""
    return np.asarray((luck[..., mine].mean(axis=-1) - luck[..., theirs].mean(axis=-1)).T)


def method_of(game: str) -> str:
    """Describe how luck is measured in a game; luck of another method is not comparable.

    Raises:
        NoEngine: no engine plays the game.
    """
    engine = engine_of(game)
    return f"{PLAYOUTS} playouts of {engine.name} {engine.version}"


def luck_of_match(record: MatchRecord, pause: Callable[[], None] = lambda: None) -> MatchLuck:
    """Measure the luck of every game of a match.

    Args:
        record: the record with the seed.
        pause: called before each position; returns when the work may continue.

    Raises:
        NoEngine: no engine plays the game.
        Mismatch: the record does not follow the rules.
    """
    names = [str(name) for name, _ in record.match["entrants"]]
    games = [
        GameLuck(
            game.number,
            int(game.game["board"]),
            tuple(names.index(str(name)) for name in game.game["seating"]),
            np.round(_luck_of(record, game, pause), _DECIMALS),
        )
        for game in record.games
    ]
    return MatchLuck(method_of(record.match["game"]), tuple(games))


def _luck_of(record: MatchRecord, game: GameRecord, pause: Callable[[], None]) -> Floats:
    rules, match = find_game(record.match["game"]), record.match
    assert record.seed is not None
    options = rules.settle(match["options"])
    values = values_of(rules.id, rules.sides(match["seats"], options))
    seed = derive(record.seed, "luck-adjustment", game.number)
    moves = _moves(record, game, record.seed, pause)
    return luck_of_game(rules, match["seats"], options, values, moves, seed, PLAYOUTS)


def _moves(
    record: MatchRecord, game: GameRecord, seed: bytes, pause: Callable[[], None]
) -> Iterator[Move]:
    """Yield the positions of a game; after a fault, the last one may lack actions.

    The position after a chance event is included in any case: whether a bot fails in it may depend
    on the cards, so that leaving it out would make the luck of the others biased.
    """
    codec = codec_of(find_game(record.match["game"]))
    for step in steps(record.match, game, seed):
        pause()
        actions = {line["seat"]: codec.decode_json(line["action"]) for line in step.lines}
        if step.state.actors:
            yield step.state, actions


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
