"""A game that is being played, decision by decision, in numbers: what both environments are made
of. It holds no random numbers of its own; luck is handed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from gymnasium import spaces

from arena.presentation import elements as scenes
from arena.presentation.clips import clip_of
from arena.presentation.games.encoding import Numbers
from arena.presentation.games.registry import ENCODINGS, Groups, draw
from arena.presentation.text import lines
from referee.dealing import Chance, Seeded
from referee.games.contract import Action, IllegalAction, State, View
from referee.games.registry import find

# The spaces of both environments, and how a table fills them.


Observation = dict[str, Any]
"""``observation``: numbers from -1 to 1; ``action_mask``: 1 for each action that is legal."""


def observation_space(table: Table) -> spaces.Dict:
    """The space of what a seat of a table observes."""
    return spaces.Dict(
        {
            "observation": spaces.Box(-1, 1, (table.width,), np.float32),
            "action_mask": spaces.Box(0, 1, (table.encoding.size,), np.int8),
        }
    )


def action_space(table: Table) -> spaces.Discrete:
    """The space of what a seat does."""
    return spaces.Discrete(table.encoding.size)


def observed(table: Table, seat: int) -> Observation:
    """What a seat observes; nothing is legal for one that is not asked."""
    mask = np.zeros(table.encoding.size, np.int8)
    mask[list(table.groups(seat))] = 1
    return {"observation": table.observe(seat), "action_mask": mask}


def standing(reward: str) -> Standing:
    """What is rewarded.

    Raises:
        ValueError: there is no such reward.
    """
    if reward not in STANDINGS:
        raise ValueError(f'reward is "{reward}"; it must be {" or ".join(STANDINGS)}')
    return STANDINGS[reward]


Standing = Callable[["Table"], tuple[float, ...]]
"""What the game is worth to each seat as it stands, from -1 to 1; zero for all sides together."""


class Table:
    """A game with so many seats and these options.

    Args:
        game: its id.
        seats: how many play; the usual number, or one that goes with the options, if left out.
        options: settings that differ from their defaults.

    Raises:
        SetupError: there is no such game, or it cannot be played like this.
    """

    def __init__(
        self, game: str, seats: int | None = None, options: Mapping[str, object] | None = None
    ) -> None:
        self.game = find(game)
        self.options = self.game.settle(options or {})
        fitting = (n for n in self.game.seats if self.game.allows(n, self.options))
        self.seats = next(fitting, self.game.seats[0]) if seats is None else seats
        self.game.check_seats(self.seats, self.options)
        self.sides = self.game.sides(self.seats, self.options)
        self.encoding = ENCODINGS[game](self.seats)
        self.deal(Seeded(bytes(32)))
        self.width = len(self.observe(0))

    def deal(self, luck: Chance) -> None:
        """Begins another game."""
        self._follow(self.game.start(luck, self.seats, self.options))

    def _follow(self, state: State) -> None:
        self.state = state
        self._moves: dict[int, Action] = {}
        self._left: Sequence[Action] = ()
        self._groups: Groups = {}
        self._ask()

    def _ask(self) -> None:
        """Lists what the seat that is asked now may do."""
        seat = self.asked
        if seat is None:
            return
        self._left = list(self.state.legal(seat))
        self._groups = self.encoding.groups(self.view(seat), self._left)

    @property
    def asked(self) -> int | None:
        """The seat that is asked now: the first of those that act and have not chosen; None at
        the end."""
        return next((seat for seat in self.state.actors if seat not in self._moves), None)

    def view(self, seat: int) -> View:
        """What a seat sees, typed; choices of others that are not played yet are not in it."""
        return self.state.view(seat)

    def groups(self, seat: int) -> Groups:
        """What each number stands for, for a seat; nothing unless it is asked."""
        return self._groups if seat == self.asked else {}

    def observe(self, seat: int) -> Numbers:
        """What a seat sees in numbers, and what its own numbers stand for."""
        return self.encoding.observe(self.view(seat), seat, self.groups(seat))

    def choose(self, number: int) -> None:
        """The seat that is asked chooses a group of actions; one action is made.

        Raises:
            IllegalAction: the number stands for nothing now.
        """
        if number not in self._groups:
            known = ", ".join(map(str, sorted(self._groups)))
            raise IllegalAction(f"{number} stands for nothing here; the legal numbers are {known}")
        chosen = self._groups[number]
        if len(chosen) == 1:
            self.make(chosen[0])
            return
        seat = self.asked
        assert seat is not None
        self._left = chosen
        self._groups = self.encoding.groups(self.view(seat), chosen)

    def make(self, action: Action) -> None:
        """The seat that is asked makes a typed action, listed or not.

        Raises:
            IllegalAction: it is not legal.
        """
        seat = self.asked
        if seat is None or action not in self.state.legal(seat):
            raise IllegalAction(f"{action} is not legal for seat {seat}")
        self._moves[seat] = action
        if len(self._moves) == len(self.state.actors):
            self._follow(self.state.after(self._moves))
        else:
            self._ask()

    def told(self, eyes: Sequence[int]) -> str:
        """The position in lines of text, the hands of these seats open."""
        names = tuple(f"seat {seat}" for seat in range(self.seats))
        asked = self.asked
        actors = () if asked is None else (asked,)
        table = scenes.Table(names, self.sides, self.state.scores, actors)
        hands = {seat: self.view(seat) for seat in eyes}
        return "\n".join(lines(draw(self.game.id, self.state.public(), hands, table)))


def by_places(table: Table) -> tuple[float, ...]:
    """Nothing before the end; then the mean over the other sides of 1, 0 or -1, for a better
    place than theirs, the same, or a worse one."""
    if table.state.actors:
        return (0.0,) * table.seats
    places = table.game.outcome(table.state, table.sides).places
    return _against_others(table.sides, [-place for place in places], 1)


def by_points(table: Table) -> tuple[float, ...]:
    """The mean over the other sides of the lead in points, as a part of the lead at which ladders
    clip (``arena.presentation.clips``), and clipped there."""
    return _against_others(table.sides, table.state.scores, clip_of(table.game.id))


STANDINGS: Final[Mapping[str, Standing]] = {"places": by_places, "points": by_points}
"""What is rewarded: the change of one of these."""


def _against_others(
    sides: Sequence[int], values: Sequence[float], clip: float
) -> tuple[float, ...]:
    by_side = dict(zip(sides, values, strict=True))
    others = len(by_side) - 1
    leads = {
        side: sum(max(-1.0, min(1.0, (mine - value) / clip)) for value in by_side.values()) / others
        for side, mine in by_side.items()
    }
    return tuple(leads[side] for side in sides)
