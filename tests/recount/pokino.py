"""Recount Pokino from its rules page."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from referee.games.shared.dealing import Seeded
from tests.recount.five_cards import PACK
from tests.recount.recount_contract import GameResult, Plain, Recount, Word

Square = tuple[int, int]
Border = frozenset[Square]
"""Two squares that share an edge."""

DOMINOES = [f"{low}-{high}" for low in range(13) for high in range(low, 13)]
NUMBERS = "KA23456789TJQ"
"""The rank that matches each number."""
INSIDE = [(0, 0), (1, 0), (1, 1), (0, 1)]
OUTSIDE = [(-1, 0), (1, -1), (2, 1), (0, 2)]
RUNS = [0, 0, 5, 5, 5, 10, 15, 20, 35, 55]
LONGEST = 90
FAR = 1000
DIRECTIONS = {"right": (1, 0), "down": (0, 1), "left": (-1, 0), "up": (0, -1)}
TOO_MANY = 3000
"""Above this number, runs are not enumerated."""


@dataclass
class PokinoTable:
    greed: bool
    pokino_up: bool
    tear_down_the_walls: bool
    territory: bool
    hands: list[list[str]]
    dominoes: list[list[str]]
    beads: list[int]
    deck: list[str]
    poke: list[str]
    numbers: dict[Square, int] = field(default_factory=dict)
    of: dict[Square, str] = field(default_factory=dict)
    """The domino on each square."""
    tokens: dict[Border, int] = field(default_factory=dict)
    """The owner of the token on each border."""
    runs: list[list[int]] = field(default_factory=list)
    """The lengths of each seat's runs."""

    def lay(self, domino: str, low: Square, high: Square) -> None:
        """Put a domino on two squares, with its smaller number on the first."""
        assert not {low, high} & set(self.of)
        for square, number in zip((low, high), domino.split("-"), strict=True):
            self.numbers[square] = int(number)
            self.of[square] = domino

    def tear(self, domino: str) -> None:
        gone = {square for square, name in self.of.items() if name == domino}
        self.tokens = {b: owner for b, owner in self.tokens.items() if not b & gone}
        for square in gone:
            del self.of[square], self.numbers[square]

    def points(self) -> list[int]:
        """Return the score of every seat if the game ends now."""
        if self.territory:
            return self.land()
        points = [sum(map(run_points, runs)) for runs in self.runs]
        return [
            p + 5 * beads if self.greed else p for p, beads in zip(points, self.beads, strict=True)
        ]

    def land(self) -> list[int]:
        """Return each seat's pips on the dominoes where it has more tokens than any other seat."""
        pips = [0] * len(self.hands)
        for domino in set(self.of.values()):
            mine = Counter(
                owner
                for border, owner in self.tokens.items()
                if domino in {self.of[square] for square in border}
            )
            most = max(mine.values(), default=0)
            if list(mine.values()).count(most) == 1:
                (owner,) = (seat for seat in mine if mine[seat] == most)
                pips[owner] += sum(map(int, domino.split("-")))
        return pips


def run_points(length: int) -> int:
    return RUNS[length] if length < len(RUNS) else LONGEST


def recount(luck: Seeded, seats: int, options: Mapping[str, Any]) -> Recount:
    table = set_up(luck, seats, options)
    turn = luck.below("first", 0, seats)
    idle = 0
    while idle < seats:
        answers = yield {turn: Turn(table, turn)}
        kind, values = answers[turn]
        if kind == "domino":
            low, high = squares(values)
            table.lay(values["domino"], low, high)
            table.dominoes[turn].remove(values["domino"])
            table.dominoes[turn].append(table.poke.pop(0))
            table.beads[turn] += 1
        elif kind == "run":
            play_run(table, turn, values)
            if not table.hands[turn]:
                return GameResult(table.points(), winner=turn)
        drawn = table.deck[:1] if values.get("draw", True) else []
        table.hands[turn] += drawn
        table.deck = table.deck[len(drawn) :]
        if not table.poke:
            break
        idle = idle + 1 if kind == "passTurn" and not drawn else 0
        turn = (turn + 1) % seats
    return GameResult(table.points())


def set_up(luck: Seeded, seats: int, options: Mapping[str, Any]) -> PokinoTable:
    deck = list(luck.shuffled("deck", 0, PACK))
    poke = list(luck.shuffled("dominoes", 0, DOMINOES))
    size = 7 if options["pokino_up"] else 5
    hands = [[deck.pop(0) for _ in range(size)] for _ in range(seats)]
    dominoes = [[poke.pop(0) for _ in range(3)] for _ in range(seats)]
    table = PokinoTable(
        hands=hands, dominoes=dominoes, beads=[1] * seats, deck=deck, poke=poke, **options
    )
    table.runs = [[] for _ in range(seats)]
    for number, ends in enumerate(zip(INSIDE, OUTSIDE, strict=True)):
        inside, outside = ends
        smaller_inside = luck.below("spoke", number, 2) == 0
        low, high = (inside, outside) if smaller_inside else (outside, inside)
        table.lay(table.poke.pop(0), low, high)
    return table


def squares(values: Mapping[str, Any]) -> tuple[Square, Square]:
    """Return the squares of a domino's smaller and larger number."""
    x, y = values.get("x", 0), values.get("y", 0)
    right, down = DIRECTIONS[values["direction"]]
    return (x, y), (x + right, y + down)


def path_of(values: Mapping[str, Any]) -> list[Square]:
    return [(square.get("x", 0), square.get("y", 0)) for square in values.get("path", [])]


def play_run(table: PokinoTable, seat: int, values: Mapping[str, Any]) -> None:
    path = path_of(values)
    if not table.greed:
        table.beads[seat] -= len(path)
    table.hands[seat] = [card for card in table.hands[seat] if card not in values["cards"]]
    table.runs[seat].append(len(path))
    torn = []
    for first, second in pairwise(path):
        if table.of[first] == table.of[second]:
            torn.append(table.of[first])
        else:
            table.tokens[frozenset((first, second))] = seat
    for domino in torn:
        table.tear(domino)


def beside(square: Square) -> list[Square]:
    """Return the four squares that share an edge with a square."""
    return [(square[0] + x, square[1] + y) for x, y in DIRECTIONS.values()]


@dataclass(frozen=True)
class Turn:
    table: PokinoTable
    seat: int

    def allows(self, word: Word) -> bool:
        kind, values = word
        left = len(self.table.hands[self.seat]) - len(values.get("cards", []))
        if not values.get("draw", True) and not (self.table.pokino_up and left >= 7):
            return False
        if kind == "domino":
            held = values.get("domino") in self.table.dominoes[self.seat]
            return held and values.get("direction") in DIRECTIONS and self.fits(*squares(values))
        return kind == "passTurn" or self.runs_by(path_of(values), values.get("cards", []))

    def fits(self, low: Square, high: Square) -> bool:
        """Return whether a domino may lie on two adjacent squares."""
        taken = self.table.of
        free = not {low, high} & set(taken)
        within = all(-FAR <= at <= FAR for square in (low, high) for at in square)
        touches = any(square in taken for end in (low, high) for square in beside(end))
        return free and within and (touches or not taken)

    def runs_by(self, path: list[Square], cards: list[str]) -> bool:
        table = self.table
        held = len(set(cards)) == len(cards) and set(cards) <= set(table.hands[self.seat])
        paid = table.greed or len(cards) <= table.beads[self.seat]
        lying = set(path) <= set(table.of)
        if not (held and paid and lying and len(path) == len(cards) >= 2):
            return False
        fits = all(NUMBERS[table.numbers[s]] == c[0] for s, c in zip(path, cards, strict=True))
        steps = [frozenset(step) for step in pairwise(path)]
        return fits and len(set(steps)) == len(steps) and all(map(self.open, pairwise(path)))

    def open(self, step: tuple[Square, Square]) -> bool:
        first, second = step
        if second not in beside(first):
            return False
        if self.table.of[first] == self.table.of[second]:
            return self.table.tear_down_the_walls
        return frozenset(step) not in self.table.tokens

    def every(self) -> set[Plain] | None:
        """Return the normal forms of all turns that a complete list must contain.

        None means that there are too many.
        """
        words: list[Word] = [("passTurn", {})]
        for domino in self.table.dominoes[self.seat]:
            for low in self.places():
                words += [
                    ("domino", {"domino": domino, "x": low[0], "y": low[1], "direction": direction})
                    for direction in DIRECTIONS
                ]
        for number, (path, cards) in enumerate(self.paths()):
            if number > TOO_MANY:
                return None
            spelt = [{"x": x, "y": y} for x, y in path]
            words.append(("run", {"path": spelt, "cards": cards}))
        words += [(kind, {**values, "draw": False}) for kind, values in words]
        return {self.plain(word) for word in words if self.allows(word)}

    def places(self) -> set[Square]:
        """Return squares on which the smaller number of a domino may be possible."""
        near = {side for square in self.table.of for side in beside(square)}
        return near | {side for square in near for side in beside(square)} or {(0, 0)}

    def paths(self) -> Iterator[tuple[list[Square], list[str]]]:
        """Yield every path of at least two squares with its cards.

        The search extends each path by one square and one matching card at a time, and never
        crosses the same border twice.
        """
        most = len(PACK) if self.table.greed else self.table.beads[self.seat]
        growing: list[tuple[list[Square], list[str]]] = [
            ([square], [card]) for square in self.table.of for card in self.matching(square)
        ]
        while growing:
            path, cards = growing.pop()
            crossed = {frozenset(step) for step in pairwise(path)}
            for square in beside(path[-1]) if len(path) < most else ():
                step = (path[-1], square)
                if square not in self.table.of or frozenset(step) in crossed or not self.open(step):
                    continue
                for card in self.matching(square):
                    if card not in cards:
                        growing.append(([*path, square], [*cards, card]))
                        yield growing[-1]

    def matching(self, square: Square) -> list[str]:
        rank = NUMBERS[self.table.numbers[square]]
        return [card for card in self.table.hands[self.seat] if card[0] == rank]

    def plain(self, word: Word) -> Plain:
        """Return the normal form of a turn, which is the same for both directions of a double."""
        kind, values = word
        draw = values.get("draw", True)
        if kind == "domino":
            ends = zip(squares(values), values["domino"].split("-"), strict=True)
            return kind, values["domino"], frozenset(ends), draw
        if kind == "run":
            return kind, tuple(path_of(values)), tuple(values["cards"]), draw
        return kind, draw
