"""A game in numeric form, played decision by decision: the basis of both environments.

It does not generate random numbers; the caller passes the chance source.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from arena.presentation.encoding import NO_CHOICES, Buffer, Choices, Decision, Numbers
from arena.presentation.encodings import encoding_of
from referee.games.contract import Action, IllegalAction, State, View
from referee.games.registry import find_game
from referee.games.shared.coded_errors import InvalidValue
from referee.games.shared.dealing import Chance, Seeded
from referee.presentation.elements import Players
from referee.presentation.registry import presentation_of
from referee.presentation.text import lines

Observation = dict[str, Any]
"""Arrays ``observation`` (numbers from -1 to 1) and ``action_mask`` (1 for each legal action)."""


def observation_space(table: EncodedGame) -> spaces.Dict:
    """Return the observation space of a table's seats."""
    return spaces.Dict(
        {
            "observation": spaces.Box(-1, 1, (table.width,), np.float32),
            "action_mask": spaces.Box(0, 1, (table.encoding.size,), np.int8),
        }
    )


def action_space(table: EncodedGame) -> spaces.Discrete:
    """Return the action space of a table's seats."""
    return spaces.Discrete(table.encoding.size)


def observed(table: EncodedGame, seat: int) -> Observation:
    """Return the observation of a seat; its mask is all 0 unless the seat is to act."""
    return {"observation": table.observe(seat), "action_mask": table.mask(seat)}


def standing(reward: str) -> Standing:
    """Return the function whose change is the reward.

    Raises:
        ValueError: the reward is unknown.
    """
    if reward not in STANDINGS:
        raise InvalidValue(
            f'reward is "{reward}"; it must be {" or ".join(STANDINGS)}', code="reward"
        )
    return STANDINGS[reward]


def potential(shaping: str | Standing | None) -> Standing:
    """Return the potential function of a shaped reward; without shaping, it is always 0.

    Raises:
        ValueError: the name is unknown.
    """
    if shaping is None:
        return lambda table: (0.0,) * table.seats
    if callable(shaping):
        return shaping
    if shaping != "lead":
        raise InvalidValue(
            f'shaping is "{shaping}"; it must be "lead" or a function', code="shaping"
        )
    return by_points


Standing = Callable[["EncodedGame"], tuple[float, ...]]
"""The current value of the game for each seat, from -1 to 1; the sides' values sum to zero."""


Groups = Mapping[int, Sequence[Action]]
"""The actions that each legal number can lead to."""


class EncodedGame:
    """A game with this number of seats and these options.

    Args:
        game: the game's id.
        seats: number of seats; by default the first number that the options allow.
        options: settings that differ from their defaults.

    Raises:
        SetupError: the game is unknown or cannot be played with these settings.
    """

    def __init__(
        self, game: str, seats: int | None = None, options: Mapping[str, object] | None = None
    ) -> None:
        self.game = find_game(game)
        self.options = self.game.settle(options or {})
        fitting = (n for n in self.game.seats if self.game.allows(n, self.options))
        self.seats = next(fitting, self.game.seats[0]) if seats is None else seats
        self.game.check_new(self.seats, self.options)
        self.sides = self.game.sides(self.seats, self.options)
        self.presentation = presentation_of(game)
        self.encoding = encoding_of(game, self.seats)
        self.width = self.encoding.layout.width
        self.deal(Seeded(bytes(32)))

    def deal(self, luck: Chance) -> None:
        """Begin another game."""
        self._follow(self.game.start(luck, self.seats, self.options))

    def _follow(self, state: State) -> None:
        self.state = state
        self._views: dict[int, View] = {}
        self._moves: dict[int, Action] = {}
        self._waiting = list(state.actors)
        self._ask()

    def _ask(self) -> None:
        """Determine the seat that acts now and its choices."""
        self.actor: int | None = self._waiting[0] if self._waiting else None
        """The first actor that has not chosen, or None at the end of the game."""
        self._choices: Choices | None = None

    @property
    def choices(self) -> Choices:
        """Return the choices of the seat to act; they are only computed when they are needed."""
        if self._choices is None:
            seat = self.actor
            if seat is None:
                return NO_CHOICES
            self._choices = self.encoding.choices(self.view(seat), self.state.legal(seat))
        return self._choices

    def view(self, seat: int) -> View:
        """Return the typed view of a seat, without the others' choices that are not yet played."""
        view = self._views.get(seat)
        if view is None:
            view = self._views[seat] = self.state.view(seat)
        return view

    def groups(self, seat: int) -> Groups:
        """Return the actions of each number for a seat; empty unless the seat is to act."""
        if seat != self.actor:
            return {}
        return {number: self.choices.actions(number) for number in self.choices.numbers}

    def mask(self, seat: int) -> NDArray[np.int8]:
        """Return 1 for each legal number of a seat; all 0 unless the seat is to act."""
        return np.frombuffer(self.written_mask(seat), np.int8)

    def written_mask(self, seat: int) -> bytearray:
        """Return the mask of a seat, as bytes."""
        mask = bytearray(self.encoding.size)
        if seat == self.actor:
            for number in self.choices.numbers:
                mask[number] = 1
        return mask

    def observe(self, seat: int) -> Numbers:
        """Return the observation of a seat, including the meaning of its numbers."""
        return np.frombuffer(self.written_observation(seat), np.float32)

    def written_observation(self, seat: int) -> Buffer:
        """Return the observation of a seat, as a buffer."""
        choices = self.choices if seat == self.actor else NO_CHOICES
        return self.encoding.written(self.view(seat), seat, choices)

    def choose(self, number: int) -> None:
        """Choose a number for the seat to act; if it determines the action, the action is played.

        Raises:
            IllegalAction: the number has no actions in this position.
        """
        choices = self.choices
        if number not in choices.numbers:
            known = ", ".join(map(str, sorted(choices.numbers)))
            raise IllegalAction(
                f"{number} stands for nothing here; the legal numbers are {known}",
                code="unknown-number",
            )
        chosen = choices.chosen(number)
        if isinstance(chosen, Decision):
            self._play(chosen.action)
        else:
            self._choices = chosen

    def make(self, action: Action) -> None:
        """Play a typed action, listed or not, for the seat to act.

        Raises:
            IllegalAction: the action is not legal.
        """
        seat = self.actor
        if seat is None or action not in self.state.legal(seat):
            raise IllegalAction(f"{action} is not legal for seat {seat}", code="not-legal")
        self._play(action)

    def _play(self, action: Action) -> None:
        """Play a legal action for the seat to act."""
        self._moves[self._waiting.pop(0)] = action
        if self._waiting:
            self._ask()
        else:
            self._follow(self.state.after(self._moves))

    def render(self, open_seats: Sequence[int]) -> str:
        """Return the position as lines of text, with the hands of these seats open."""
        names = tuple(f"seat {seat}" for seat in range(self.seats))
        actors = () if self.actor is None else (self.actor,)
        players = Players(names, self.sides, self.state.scores, actors)
        hands = {seat: self.view(seat) for seat in open_seats}
        return "\n".join(lines(self.presentation.render(self.state.public(), hands, players)))


def by_places(table: EncodedGame) -> tuple[float, ...]:
    """Return 0 for each seat before the end, then the mean result against the other sides.

    A result is 1, 0 or -1 for a better, the same, or a worse place.
    """
    if table.actor is not None:
        return (0.0,) * table.seats
    places = table.game.outcome(table.state, table.sides).places
    return _against_others(table.sides, tuple([-place for place in places]), 1)


def by_points(table: EncodedGame) -> tuple[float, ...]:
    """Return the mean over the other sides of the lead in points.

    Each lead is divided by the ladders' clip (``referee.presentation``) and limited to -1 to 1.
    """
    return _against_others(table.sides, table.state.scores, table.presentation.clip)


STANDINGS: Final[Mapping[str, Standing]] = {"places": by_places, "points": by_points}
"""Functions by the name of the reward, which is the change of the function's value."""


@lru_cache(1024)  # scores stay the same for many steps
def _against_others(
    sides: tuple[int, ...], values: tuple[float, ...], clip: float
) -> tuple[float, ...]:
    by_side = dict(zip(sides, values, strict=True))
    others = len(by_side) - 1
    leads = {
        side: math.fsum(max(-1.0, min(1.0, (score - value) / clip)) for value in by_side.values())
        / others
        for side, score in by_side.items()
    }
    return tuple(leads[side] for side in sides)
