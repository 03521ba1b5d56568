"""Encode Pokino for reinforcement learning."""

from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np

from arena.presentation.encoding import Encoding, Groups, Numbers, Vector, squashed
from referee.games.contract import Action
from referee.games.pokino.actions import Domino, PassTurn, PokinoTile, PokinoView, Run
from referee.games.pokino.layout import STEPS
from referee.games.pokino.runs import LISTED, points
from referee.games.shared.cards import DECK
from referee.games.shared.dominoes import HIGHEST, NUMBERS

TILES = 3
RUNS = 1 + TILES
DRAW = RUNS + LISTED
PLACES = DRAW + 2
MOST_PLACES = 1024
"""Maximum number of encoded placements (position and direction) of one domino.

If there are more, an evenly spread subset is used. Random games had at most 500.
"""
RADIUS: Final = 16
WIDTH = 2 * RADIUS + 1
"""Width of the grid in squares.

Elements outside it are omitted; coordinates in lists extend to 32.
"""
FAR = 2.0 * RADIUS
DIRECTIONS = tuple(STEPS)
RUN = len(DECK) + 6
PLACE = 2 + len(DIRECTIONS)


class PokinoEncoding(Encoding):
    """Encodes an action in up to three steps; steps without a choice are skipped.

    1. Pass (0), a domino of the hand to lay, or one of the listed runs to play.
    2. The placement of the domino, from a list.
    3. Whether to draw.

    Lists are used because the table is unbounded; the observation contains the listed items.
    """

    size = PLACES + MOST_PLACES

    def groups(self, view: PokinoView, actions: Sequence[Action]) -> Groups:
        runs = dict.fromkeys((a.path, a.cards) for a in actions if isinstance(a, Run))
        numbers: dict[Hashable, int] = {run: RUNS + n for n, run in enumerate(runs)}
        groups: dict[int, list[Action]] = {}
        for action in actions:
            groups.setdefault(_first(action, view, numbers), []).append(action)
        if len(groups) != 1 or len(actions) == 1:
            return groups
        places = list(dict.fromkeys(map(_place, actions)))
        if len(places) > 1:
            return _by_place(actions, places)
        return {DRAW + action.draw: (action,) for action in actions}

    def observe(self, view: PokinoView, seat: int, groups: Groups) -> Numbers:
        vector, eyes = Vector(), self.from_here(seat)
        vector.numbers(not view.over, view.pokino, view.idle / self.seats)
        vector.numbers(view.deck_size / 52, view.poke_size / len(NUMBERS))
        vector.cards(view.hand)
        vector.places((view.deck_top,), 1)
        for place in range(TILES):
            held = view.dominoes[place : place + 1]
            for half in range(2):
                vector.one_of(NUMBERS[held[0]][half] if held else None, HIGHEST + 1)
        for who in eyes:
            vector.numbers(view.turn == who, view.hand_sizes[who] / 52)
            vector.numbers(squashed(view.beads[who], 10), squashed(view.scores[who], 50))
            vector.cards(view.known[who].cards)
        vector.cards(card for run in view.runs for card in run.cards)
        vector.array(self._grid(view, seat))
        self._listed(vector, view, groups)
        return vector.done()

    def _grid(self, view: PokinoView, seat: int) -> Numbers:
        """Return four planes of squares around the centre of the layout.

        The planes contain each square's number, the direction to the domino's other half, the token
        on its right border and the token on its lower border. A token is 1 if it has no owner;
        otherwise its value depends on the owner's position relative to this seat.
        """
        grid = np.zeros((4, WIDTH, WIDTH), np.float32)
        for tile in view.layout:
            for number, (x, y), way in _halves(tile):
                if abs(x) <= RADIUS and abs(y) <= RADIUS:
                    grid[0, y + RADIUS, x + RADIUS] = (number + 1) / (HIGHEST + 1)
                    grid[1, y + RADIUS, x + RADIUS] = (way + 1) / len(DIRECTIONS)
        for token in view.tokens:
            owner = (token.owner - seat) % self.seats if view.territory else 0
            if abs(token.x) <= RADIUS and abs(token.y) <= RADIUS:
                plane = 3 if token.second_y > token.y else 2
                grid[plane, token.y + RADIUS, token.x + RADIUS] = 1 - owner / self.seats
        return grid

    def _listed(self, vector: Vector, view: PokinoView, groups: Groups) -> None:
        """Append the listed runs and placements, and the choices of the previous steps."""
        runs = np.zeros((LISTED, RUN), np.float32)
        places = np.zeros((MOST_PLACES, PLACE), np.float32)
        chosen: Action = None
        for number, actions in groups.items():
            if number >= PLACES:
                places[number - PLACES] = _encoded_place(actions[0])
            elif RUNS <= number < DRAW:
                runs[number - RUNS] = _encoded_run(actions[0])
            if number >= DRAW:
                chosen = actions[0]
        vector.array(runs)
        vector.array(places)
        laid = view.dominoes.index(chosen.domino) if isinstance(chosen, Domino) else None
        vector.one_of(laid, TILES)
        vector.array(_encoded_run(chosen) if isinstance(chosen, Run) else np.zeros(RUN, np.float32))


def _first(action: Action, view: PokinoView, runs: dict[Hashable, int]) -> int:
    match action:
        case PassTurn():
            return 0
        case Domino(domino):
            return 1 + view.dominoes.index(domino)
    return runs[action.path, action.cards]


def _place(action: Action) -> Hashable:
    return (action.x, action.y, action.direction) if isinstance(action, Domino) else None


def _by_place(actions: Sequence[Action], places: Sequence[Hashable]) -> Groups:
    """Group the actions by placement, each numbered by its index in the list."""
    number = min(len(places), MOST_PLACES)
    numbers = {places[n * len(places) // number]: PLACES + n for n in range(number)}
    groups: dict[int, list[Action]] = {}
    for action in actions:
        place = _place(action)
        if place in numbers:
            groups.setdefault(numbers[place], []).append(action)
    return groups


def _halves(tile: PokinoTile) -> tuple[tuple[int, tuple[int, int], int], ...]:
    """Return each half of a domino: its number, its square, the direction to the other half."""
    low, high = NUMBERS[tile.domino]
    first, second = (tile.x, tile.y), (tile.second_x, tile.second_y)
    return (low, first, _way(first, second)), (high, second, _way(second, first))


def _way(first: tuple[int, int], second: tuple[int, int]) -> int:
    step = (second[0] - first[0], second[1] - first[1])
    return ((1, 0), (0, 1), (-1, 0), (0, -1)).index(step)


def _encoded_place(action: Domino) -> Numbers:
    row = np.zeros(PLACE, np.float32)
    row[0], row[1] = _near(action.x), _near(action.y)
    row[2 + DIRECTIONS.index(action.direction)] = 1
    return row


def _encoded_run(run: Run) -> Numbers:
    row = np.zeros(RUN, np.float32)
    row[[DECK.index(card) for card in run.cards]] = 1
    first, last = run.path[0], run.path[-1]
    ends = (_near(first.x), _near(first.y), _near(last.x), _near(last.y))
    row[len(DECK) :] = (len(run.cards) / len(DECK), points(len(run.cards)) / 90, *ends)
    return row


def _near(coordinate: int) -> float:
    return max(-1.0, min(1.0, coordinate / FAR))
