"""Pokino by rules of thumb.

Each card of a run costs a bead, and the seat that plays its last card wins regardless of points. So
the bot lays dominoes beside the numbers of its cards and waits for long runs, until it can pay for
its whole hand.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from pokearena.v1.bot_pb2 import Action, ActRequest
from pokearena.v1.pokino_pb2 import PokinoView

Square = tuple[int, int]
Border = frozenset[Square]

NUMBER = {rank: number for number, rank in enumerate("KA23456789TJQ")}
WAYS = {"right": (1, 0), "down": (0, 1), "left": (-1, 0), "up": (0, -1)}
LONG = 7
"""A run of at least this many cards is worth its beads at any time."""
FINISH = 4
"""With at most this many cards left, the next run may be the last."""
EFFORT = 2500
"""Steps of the search for a run."""


def choose(turn: ActRequest) -> tuple[Action, str]:
    """Return the action and a short reason."""
    view = turn.view.pokino
    table = Table(view)
    best = Search(table, list(view.hand), _affordable(view, turn.seat)).best()
    if best and _is_worth_it(view, turn.seat, len(best[1])):
        path, cards = best
        return _run(view, path, cards), f"a run of {len(cards)}"
    laid = _best_placement(view, table)
    if laid is None:
        return turn.legal[0], "nothing fits"
    domino, (x, y), way = laid
    word = {"domino": domino, "x": x, "y": y, "direction": way, "draw": _draws(view, 0)}
    return Action(pokino={"domino": word}), "lies beside its cards' numbers"


def _run(view: PokinoView, path: list[Square], cards: list[str]) -> Action:
    squares = [{"x": x, "y": y} for x, y in path]
    draw = _draws(view, len(cards))
    return Action(pokino={"run": {"path": squares, "cards": cards, "draw": draw}})


def _draws(view: PokinoView, played: int) -> bool:
    """Return whether to draw: only if it is mandatory."""
    return not (view.pokino_up and len(view.hand) - played >= 7)


def _affordable(view: PokinoView, seat: int) -> int:
    return len(view.hand) if view.greed else min(len(view.hand), view.beads[seat])


def _is_worth_it(view: PokinoView, seat: int, length: int) -> bool:
    """Return whether to play a run of this length now."""
    left = len(view.hand) - length
    if left == 0:
        return True
    last_chance = view.poke_size <= 2 * len(view.beads)
    if view.deck_size == 0:
        return left != 1 or last_chance  # a single card can never be played
    if view.greed or length >= LONG or last_chance:
        return True
    return left <= FINISH and view.beads[seat] - length > left


class Table:
    """Numbers, halves of dominoes, and closed borders."""

    def __init__(self, view: PokinoView) -> None:
        self.walls = view.tear_down_the_walls
        self.number: dict[Square, int] = {}
        self.other_half: dict[Square, Square] = {}
        self.pips: dict[Square, int] = {}
        for tile in view.layout:
            low, high = map(int, tile.domino.split("-"))
            first, second = (tile.x, tile.y), (tile.second_x, tile.second_y)
            self.number[first], self.number[second] = low, high
            self.other_half[first], self.other_half[second] = second, first
            self.pips[first] = self.pips[second] = low + high
        self.closed = {frozenset(((t.x, t.y), (t.second_x, t.second_y))) for t in view.tokens}

    def steps(self, square: Square) -> Iterator[Square]:
        """Yield the squares to which a run may continue."""
        for beside in around(square):
            if beside not in self.number or frozenset((square, beside)) in self.closed:
                continue
            if self.walls or self.other_half[square] != beside:
                yield beside


def around(square: Square) -> list[Square]:
    """Return the four adjacent squares."""
    return [(square[0] + right, square[1] + down) for right, down in WAYS.values()]


@dataclass
class Search:
    """A search for the longest run; of equally long runs, for the one with the most pips."""

    table: Table
    hand: list[str]
    most: int
    effort: int = EFFORT
    best_run: tuple[int, int] = (0, 0)
    path: list[Square] = field(default_factory=list)

    def best(self) -> tuple[list[Square], list[str]] | None:
        """Return the best path with its cards."""
        if self.most < 2:
            return None
        left = Counter(NUMBER[card[0]] for card in self.hand)
        starts = [square for square, number in self.table.number.items() if left[number]]
        for turn, square in enumerate(starts):
            self.effort = EFFORT * (turn + 1) // len(starts) - EFFORT * turn // len(starts)
            left[self.table.number[square]] -= 1
            self._go_on([square], set(), left)
            left[self.table.number[square]] += 1
        if len(self.path) < 2:
            return None
        cards = sorted(self.hand)
        chosen = []
        for square in self.path:
            card = next(c for c in cards if NUMBER[c[0]] == self.table.number[square])
            cards.remove(card)
            chosen.append(card)
        return self.path, chosen

    def _go_on(self, path: list[Square], crossed: set[Border], left: Counter[int]) -> None:
        worth = self._worth(path)
        if len(path) > 1 and worth > self.best_run:
            self.best_run, self.path = worth, list(path)
        if len(path) == self.most:
            return
        for beside in self.table.steps(path[-1]):
            number, border = self.table.number[beside], frozenset((path[-1], beside))
            if not left[number] or border in crossed or self.effort <= 0:
                continue
            self.effort -= 1
            left[number] -= 1
            self._go_on([*path, beside], crossed | {border}, left)
            left[number] += 1

    def _worth(self, path: list[Square]) -> tuple[int, int]:
        single_left = len(self.hand) - len(path) == 1
        return len(path) - 2 * single_left, sum(self.table.pips[square] for square in path)


def _best_placement(view: PokinoView, table: Table) -> tuple[str, Square, str] | None:
    """The placement that makes the most borders between numbers of its own cards."""
    held = Counter(NUMBER[card[0]] for card in view.hand)
    best: tuple[float, tuple[str, Square, str]] | None = None
    frontier = sorted({s for square in table.number for s in around(square)} - set(table.number))
    if not frontier:
        frontier = [(0, 0)]
    for domino in view.dominoes:
        low, high = map(int, domino.split("-"))
        for square in frontier:
            for way, (right, down) in WAYS.items():
                ends = square, (square[0] + right, square[1] + down)
                if ends[1] in table.number or not _is_inside(*ends):
                    continue
                for first, turned in ((low, way), (high, _BACK[way])):
                    second = high if first == low else low
                    gain = _gain(table, held, ends, (first, second), view.territory)
                    if best is None or gain > best[0]:
                        start = ends[0] if turned == way else ends[1]
                        best = gain, (domino, start, turned)
    return best[1] if best else None


_BACK = {"right": "left", "left": "right", "up": "down", "down": "up"}


def _is_inside(*squares: Square) -> bool:
    return all(abs(at) <= 1000 for square in squares for at in square)


def _gain(
    table: Table,
    held: Counter[int],
    ends: tuple[Square, Square],
    numbers: tuple[int, int],
    territory: bool,
) -> float:
    """Rate the borders of a domino at this place."""
    gain = 0.0
    for end, number in zip(ends, numbers, strict=True):
        for beside in around(end):
            other = table.number.get(beside)
            if other is None:
                continue
            if held[number] and held[other] and (number != other or held[number] > 1):
                gain += 3.0 + 0.5 * _continuations(table, held, beside)
            else:
                gain += 0.2 * (bool(held[number]) + bool(held[other]))
    return gain + (0.02 * sum(numbers) if territory else 0.0)


def _continuations(table: Table, held: Counter[int], square: Square) -> int:
    """Count the steps from a square to numbers of the hand's cards."""
    return sum(1 for beside in table.steps(square) if held[table.number[beside]])
