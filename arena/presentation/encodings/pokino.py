"""Encode Pokino for reinforcement learning."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from arena.presentation.encoding import (
    Buffer,
    Choices,
    Decision,
    Encoding,
    Numbers,
    squashed,
    write_places,
    write_set,
)
from referee.games.contract import Action, Legal
from referee.games.pokino.actions import (
    PassTurn,
    PokinoTile,
    PokinoToken,
    PokinoView,
)
from referee.games.pokino.layout import DOWN, STEPS, ZERO, coordinates
from referee.games.pokino.legal import PokinoTurns
from referee.games.pokino.placements import count, placement
from referee.games.pokino.runs import LISTED, Found, listed, points
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


HALVES = HIGHEST + 1
_CARD = {card: number for number, card in enumerate(DECK)}


class FirstChoices(Choices):
    """Step 1: pass, a domino of the hand, or one of the listed runs."""

    def __init__(self, legal: PokinoTurns) -> None:
        self.legal = legal
        self.runs = legal.found_runs
        dominoes = len(legal.tiles) if _places(legal) else 0
        self.numbers = (*range(1 + dominoes), *range(RUNS, RUNS + len(self.runs)))

    def actions(self, number: int) -> Sequence[Action]:
        if 0 < number < RUNS:
            legal = self.legal
            domino = (legal.tiles[number - 1],)
            return [
                placement(domino, legal.ground, draw, place)
                for draw in legal.draws(0)
                for place in range(count(domino, legal.ground))
            ]
        return self._without_place(number).all_actions()

    def chosen(self, number: int) -> Choices | Decision:
        if 0 < number < RUNS:
            places = PlaceChoices(self.legal, number - 1)
            return places if len(places.numbers) > 1 else places.chosen(PLACES)
        return self._without_place(number).unless_single()

    def _without_place(self, number: int) -> "DrawChoices":
        if number == 0:
            return DrawChoices([PassTurn(draw) for draw in self.legal.draws(0)])
        run = self.runs[number - RUNS]
        actions = [listed((run, draw)) for draw in self.legal.draws(len(run[1]))]
        return DrawChoices(actions, run=run)


class PlaceChoices(Choices):
    """Step 2: the placement of a domino, from a list."""

    def __init__(self, legal: PokinoTurns, tile: int) -> None:
        self.legal = legal
        self.tile = tile
        self._domino = (legal.tiles[tile],)
        self._count = count(self._domino, legal.ground)
        self.numbers = range(PLACES, PLACES + min(self._count, MOST_PLACES))

    @property
    def listed(self) -> NDArray[np.int64]:
        """Return the index of each number in the list of placements."""
        number = len(self.numbers)
        listed: NDArray[np.int64] = np.arange(number) * self._count // number
        return listed

    def actions(self, number: int) -> Sequence[Action]:
        return self._draws(number).all_actions()

    def chosen(self, number: int) -> Choices | Decision:
        return self._draws(number).unless_single()

    def _draws(self, number: int) -> "DrawChoices":
        legal = self.legal
        place = (number - PLACES) * self._count // len(self.numbers)
        actions = [placement(self._domino, legal.ground, d, place) for d in legal.draws(0)]
        return DrawChoices(actions, tile=self.tile)


class DrawChoices(Choices):
    """Step 3: whether to draw."""

    def __init__(
        self, actions: Sequence[Action], tile: int | None = None, run: Found | None = None
    ) -> None:
        self._actions = {DRAW + action.draw: action for action in actions}
        self.numbers = tuple(self._actions)
        self.tile = tile
        self.run = run

    def all_actions(self) -> Sequence[Action]:
        """Return the actions of all numbers."""
        return tuple(self._actions.values())

    def unless_single(self) -> Choices | Decision:
        """Return the step, or the action if there is only one."""
        return self if len(self.numbers) > 1 else self.chosen(self.numbers[0])

    def actions(self, number: int) -> Sequence[Action]:
        return (self._actions[number],)

    def chosen(self, number: int) -> Decision:
        return Decision(self._actions[number])


def _places(legal: PokinoTurns) -> bool:
    """Return whether a domino can be placed anywhere."""
    return bool(legal.ground.places or not legal.ground.numbers)


@dataclass(slots=True)
class Grid:
    """The planes of squares that a seat saw last; a longer table is written incrementally."""

    tiles: tuple[PokinoTile, ...]
    tokens: tuple[PokinoToken, ...]
    planes: Numbers


class PokinoEncoding(Encoding):
    """Encodes an action in up to three steps; steps without a choice are skipped.

    1. Pass (0), a domino of the hand to lay, or one of the listed runs to play.
    2. The placement of the domino, from a list.
    3. Whether to draw.

    Lists are used because the table is unbounded; the observation contains the listed items.
    """

    size = PLACES + MOST_PLACES

    def __init__(self, seats: int) -> None:
        super().__init__(seats)
        self._grids: dict[int, Grid] = {}
        layout = self.layout
        self._running = layout.flag("running", "whether the game is not over")
        self._pokino = layout.flag("pokino", "whether a seat has played its last card")
        self._idle = layout.ratio("idle", "consecutive passes without a drawn card", seats)
        self._deck = layout.ratio("deck_size", "cards in the deck", 52)
        self._poke = layout.ratio("poke_size", "dominoes not yet drawn", len(NUMBERS))
        self._hand = layout.card_set("hand", "the hand")
        self._top = layout.places("deck_top", "the top card of the deck", 1)
        pair = "one-hot number of each half"
        self._tiles = layout.block(
            "dominoes", "the hand's dominoes", pair, (TILES, 2, HALVES)
        ).start
        with layout.repeated("seat", seats):
            self._turn = layout.flag("turn", "whether it is its turn")
            self._size = layout.ratio("hand_size", "cards in the hand", 52)
            self._beads = layout.squashed("beads", "beads", 10)
            self._score = layout.squashed("score", "points", 50)
            self._known = layout.card_set("known", "cards of the hand drawn from the deck")
        self._stride = layout.stride(self._known)
        self._played = layout.card_set("played", "cards of all runs")
        self._declare_table()

    def _declare_table(self) -> None:
        layout = self.layout
        self._grid = layout.block(
            "grid",
            f"squares with x and y from -{RADIUS} to {RADIUS}, row by row: the number; the "
            "direction to the other half; tokens to the right; tokens below",
            "(number + 1) / 13; (right 1, down 2, left 3, up 4) / 4; 1 - owner / seats, with "
            "territory the owner counted from the seat, otherwise 0",
            (4, WIDTH, WIDTH),
        ).start
        row = f"cards as a set; length / 52; points / 90; x and y of both ends / {FAR:g}"
        self._runs = layout.block("runs", "the listed runs", row, (LISTED, RUN)).start
        way = f"x / {FAR:g}; y / {FAR:g}; one-hot: {', '.join(DIRECTIONS)}"
        self._places = layout.block(
            "placements", "the listed placements", way, (MOST_PLACES, PLACE)
        ).start
        which = "one-hot by position"
        self._laid = layout.block("domino", "the domino chosen in step 1", which, (TILES,)).start
        self._run = layout.block("run", "the run chosen in step 1", row, (RUN,)).start

    def choices(self, view: PokinoView, legal: Legal) -> Choices:
        assert isinstance(legal, PokinoTurns)
        first = FirstChoices(legal)
        if len(first.numbers) == 1 and len(legal.draws(0)) > 1:
            return DrawChoices([PassTurn(draw) for draw in legal.draws(0)])
        return first

    def write(self, buffer: Buffer, view: PokinoView, seat: int, choices: Choices) -> None:
        buffer[self._running] = not view.over
        buffer[self._pokino] = view.pokino
        buffer[self._idle.start] = view.idle / self._idle.scale
        buffer[self._deck.start] = view.deck_size / self._deck.scale
        buffer[self._poke.start] = view.poke_size / self._poke.scale
        write_set(buffer, self._hand, view.hand)
        write_places(buffer, self._top, (view.deck_top,))
        for place, domino in enumerate(view.dominoes[:TILES]):
            low, high = NUMBERS[domino]
            buffer[self._tiles + 2 * HALVES * place + low] = 1
            buffer[self._tiles + 2 * HALVES * place + HALVES + high] = 1
        for step, who in enumerate(self.from_here(seat)):
            shift = self._stride * step
            buffer[self._turn + shift] = view.turn == who
            buffer[self._size.start + shift] = view.hand_sizes[who] / self._size.scale
            buffer[self._beads.start + shift] = squashed(view.beads[who], self._beads.scale)
            buffer[self._score.start + shift] = squashed(view.scores[who], self._score.scale)
            write_set(buffer, self._known + shift, view.known[who].cards)
        for run in view.runs:
            write_set(buffer, self._played, run.cards)
        planes = self._planes(view, seat)
        np.frombuffer(buffer, np.float32)[self._grid : self._grid + planes.size] = planes
        self._write_choices(buffer, choices)

    def _planes(self, view: PokinoView, seat: int) -> Numbers:
        """Return the planes of squares around the centre of the layout, as declared.

        Dominoes and tokens are only added, except with the variant tear_down_the_walls; so nearly
        always the new ones are added to what the seat saw last.
        """
        tiles, tokens = view.layout, view.tokens
        grid = self._grids.get(seat)
        if grid is None or not (_begins(tiles, grid.tiles) and _begins(tokens, grid.tokens)):
            grid = self._grids[seat] = Grid((), (), np.zeros(4 * WIDTH * WIDTH, np.float32))
        for tile in tiles[len(grid.tiles) :]:
            _write_tile(grid.planes, tile)
        for token in tokens[len(grid.tokens) :]:
            owner = (token.owner - seat) % self.seats if view.territory else 0
            if abs(token.x) <= RADIUS and abs(token.y) <= RADIUS:
                plane = 3 if token.second_y > token.y else 2
                grid.planes[_index(plane, token.x, token.y)] = 1 - owner / self.seats
        grid.tiles, grid.tokens = tiles, tokens
        return grid.planes

    def _write_choices(self, buffer: Buffer, choices: Choices) -> None:
        """Write the listed runs and placements, and the choices of the previous steps."""
        match choices:
            case FirstChoices(runs=runs):
                for number, run in enumerate(runs):
                    _write_run(buffer, self._runs + RUN * number, run)
            case PlaceChoices(tile=tile):
                rows = _encoded_places(choices).ravel()
                numbers = np.frombuffer(buffer, np.float32)
                numbers[self._places : self._places + rows.size] = rows
                buffer[self._laid + tile] = 1
            case DrawChoices(tile=None, run=None):
                pass
            case DrawChoices(tile=None, run=run):
                assert run is not None
                _write_run(buffer, self._run, run)
            case DrawChoices(tile=tile):
                assert tile is not None
                buffer[self._laid + tile] = 1


def _begins(whole: Sequence[object], part: Sequence[object]) -> bool:
    return whole[: len(part)] == part


def _index(plane: int, x: int, y: int) -> int:
    return (plane * WIDTH + y + RADIUS) * WIDTH + x + RADIUS


def _write_tile(planes: Numbers, tile: PokinoTile) -> None:
    """Write each half of a domino: its number and the direction to the other half."""
    low, high = NUMBERS[tile.domino]
    first, second = (tile.x, tile.y), (tile.second_x, tile.second_y)
    for number, (x, y), other in ((low, first, second), (high, second, first)):
        if abs(x) <= RADIUS and abs(y) <= RADIUS:
            way = ((1, 0), (0, 1), (-1, 0), (0, -1)).index((other[0] - x, other[1] - y))
            planes[_index(0, x, y)] = (number + 1) / HALVES
            planes[_index(1, x, y)] = (way + 1) / len(DIRECTIONS)


def _encoded_places(choices: PlaceChoices) -> Numbers:
    """Return the listed placements: the square of the smaller number and the direction.

    The list has all places for the first orientation, then all for the second.
    """
    ground, listed_places = choices.legal.ground, choices.listed
    rows = np.zeros((len(listed_places), PLACE), np.float32)
    if not ground.numbers:
        rows[listed_places, 2 + listed_places] = 1
        return rows
    places = np.array(ground.places)
    backwards, at = np.divmod(listed_places, len(places))
    two = places[at]
    down = two & 1
    first = (two >> 1) + backwards * np.where(down, DOWN, 1)
    rows[:, 0] = np.clip(((first & DOWN - 1) - ZERO) / FAR, -1, 1)
    rows[:, 1] = np.clip((first // DOWN - ZERO) / FAR, -1, 1)
    rows[np.arange(len(rows)), 2 + 2 * backwards + down] = 1
    return rows


def _write_run(buffer: Buffer, start: int, run: Found) -> None:
    path, cards, _ = run
    for card in cards:
        buffer[start + _CARD[card]] = 1
    start += len(DECK)
    ends = [_near(n) for square in (path[0], path[-1]) for n in coordinates(square)]
    numbers = (len(cards) / len(DECK), points(len(cards)) / 90, *ends)
    buffer[start : start + len(numbers)] = array("f", numbers)


def _near(coordinate: int) -> float:
    return max(-1.0, min(1.0, coordinate / FAR))


ENCODING = PokinoEncoding
