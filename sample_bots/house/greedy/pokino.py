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
DIRECTIONS = {"right": (1, 0), "down": (0, 1), "left": (-1, 0), "up": (0, -1)}
OPPOSITE = {"right": "left", "left": "right", "up": "down", "down": "up"}
MAX_COORDINATE = 1000
"""Dominoes must be within this distance of the first one, in each direction."""
LONG_RUN = 7
"""A run of at least this many cards is worth its beads at any time."""
OPTIONAL_DRAW_CARDS = 7
"""With pokino_up, a seat with at least this many cards need not draw."""
FINISHING_CARDS = 4
"""With at most this many cards left, the next run may be the last."""
MAX_SEARCH_STEPS = 2500
"""Steps of the search for a run, shared equally by its starts."""
USEFUL_BORDER, CONTINUATION, HELD_NUMBER, PIP = 3.0, 0.5, 0.2, 0.02
"""Gains of a placement: for each border between numbers of the hand's cards, for each step that
continues from there, for each held number at another border, and with territory for each pip."""


def choose(turn: ActRequest) -> tuple[Action, str]:
    """Return the action and a short reason."""
    view = turn.view.pokino
    table = Table(view)
    best = RunSearch(table, list(view.hand), _payable_cards(view, turn.seat)).best()
    if best and _is_worth_it(view, turn.seat, len(best[1])):
        path, cards = best
        return _run(view, path, cards), f"a run of {len(cards)}"
    laid = _best_placement(view, table)
    if laid is None:
        return turn.legal[0], "nothing fits"
    domino, (x, y), direction = laid
    draw = _draws_after(view, 0)
    laid_domino = {"domino": domino, "x": x, "y": y, "direction": direction, "draw": draw}
    return Action(pokino={"domino": laid_domino}), "lies beside its cards' numbers"


def _run(view: PokinoView, path: list[Square], cards: list[str]) -> Action:
    squares = [{"x": x, "y": y} for x, y in path]
    draw = _draws_after(view, len(cards))
    return Action(pokino={"run": {"path": squares, "cards": cards, "draw": draw}})


def _draws_after(view: PokinoView, played: int) -> bool:
    """Return whether to draw after an action that plays so many cards: only if it must."""
    return not (view.pokino_up and len(view.hand) - played >= OPTIONAL_DRAW_CARDS)


def _payable_cards(view: PokinoView, seat: int) -> int:
    """Return the number of cards for which the seat has beads; with greed, all."""
    return len(view.hand) if view.greed else min(len(view.hand), view.beads[seat])


def _is_worth_it(view: PokinoView, seat: int, length: int) -> bool:
    """Return whether to play a run of this length now."""
    left = len(view.hand) - length
    if left == 0:
        return True
    last_chance = view.poke_size <= 2 * len(view.beads)
    if view.deck_size == 0:
        return left != 1 or last_chance  # a single card can never be played
    if view.greed or length >= LONG_RUN or last_chance:
        return True
    return left <= FINISHING_CARDS and view.beads[seat] - length > left


class Table:
    """Numbers, halves of dominoes, and closed borders."""

    def __init__(self, view: PokinoView) -> None:
        self.cross_middles = view.tear_down_the_walls
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
        for neighbour in around(square):
            if neighbour not in self.number or frozenset((square, neighbour)) in self.closed:
                continue
            if self.cross_middles or self.other_half[square] != neighbour:
                yield neighbour


def around(square: Square) -> list[Square]:
    """Return the four adjacent squares."""
    return [(square[0] + right, square[1] + down) for right, down in DIRECTIONS.values()]


@dataclass
class RunSearch:
    """A search for the longest run; of equally long runs, for the one with the most pips."""

    table: Table
    hand: list[str]
    max_length: int
    steps_left: int = MAX_SEARCH_STEPS
    best_rating: tuple[int, int] = (0, 0)
    path: list[Square] = field(default_factory=list)

    def best(self) -> tuple[list[Square], list[str]] | None:
        """Return the best path with its cards."""
        if self.max_length < 2:
            return None
        left = Counter(NUMBER[card[0]] for card in self.hand)
        starts = [square for square, number in self.table.number.items() if left[number]]
        for index, square in enumerate(starts):
            # Equal shares, rounded so that they add up to all steps.
            before = MAX_SEARCH_STEPS * index // len(starts)
            self.steps_left = MAX_SEARCH_STEPS * (index + 1) // len(starts) - before
            left[self.table.number[square]] -= 1
            self._extend([square], set(), left)
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

    def _extend(self, path: list[Square], crossed: set[Border], left: Counter[int]) -> None:
        rating = self._rating(path)
        if len(path) > 1 and rating > self.best_rating:
            self.best_rating, self.path = rating, list(path)
        if len(path) == self.max_length:
            return
        for neighbour in self.table.steps(path[-1]):
            number, border = self.table.number[neighbour], frozenset((path[-1], neighbour))
            if not left[number] or border in crossed or self.steps_left <= 0:
                continue
            self.steps_left -= 1
            left[number] -= 1
            self._extend([*path, neighbour], crossed | {border}, left)
            left[number] += 1

    def _rating(self, path: list[Square]) -> tuple[int, int]:
        """Return the length and the pips of a path.

        A path that leaves a single card counts as two cards shorter.
        """
        leaves_one_card = len(self.hand) - len(path) == 1
        return len(path) - 2 * leaves_one_card, sum(self.table.pips[square] for square in path)


def _best_placement(view: PokinoView, table: Table) -> tuple[str, Square, str] | None:
    """Return the placement with the highest gain: domino, start and direction.

    The start is the square of its smaller number. A later placement needs a higher gain.
    """
    held = Counter(NUMBER[card[0]] for card in view.hand)
    best: tuple[float, tuple[str, Square, str]] | None = None
    frontier = sorted({s for square in table.number for s in around(square)} - set(table.number))
    if not frontier:
        frontier = [(0, 0)]
    for domino in view.dominoes:
        low, high = map(int, domino.split("-"))
        for square in frontier:
            for direction, (right, down) in DIRECTIONS.items():
                ends = square, (square[0] + right, square[1] + down)
                if ends[1] in table.number or not _is_inside(*ends):
                    continue
                for first, laid_direction in ((low, direction), (high, OPPOSITE[direction])):
                    second = high if first == low else low
                    gain = _gain(table, held, ends, (first, second), view.territory)
                    if best is None or gain > best[0]:
                        start = ends[0] if laid_direction == direction else ends[1]
                        best = gain, (domino, start, laid_direction)
    return best[1] if best else None


def _is_inside(*squares: Square) -> bool:
    return all(abs(at) <= MAX_COORDINATE for square in squares for at in square)


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
        for neighbour in around(end):
            other = table.number.get(neighbour)
            if other is None:
                continue
            if held[number] and held[other] and (number != other or held[number] > 1):
                gain += USEFUL_BORDER + CONTINUATION * _continuations(table, held, neighbour)
            else:
                gain += HELD_NUMBER * (bool(held[number]) + bool(held[other]))
    return gain + (PIP * sum(numbers) if territory else 0.0)


def _continuations(table: Table, held: Counter[int], square: Square) -> int:
    """Count the steps from a square to numbers of the hand's cards."""
    return sum(1 for neighbour in table.steps(square) if held[table.number[neighbour]])
