"""Search of Pokino: one action ahead, rated by how soon each seat could play its last card.

The seat that plays its last card wins, so Pokino is a race. A seat needs a bead for every card that
it has or will draw, a turn to lay a domino for each bead, and a turn for every run: few long runs
win. Each world deals the hidden cards again.
"""

from math import tanh

from plan import Position
from pokino_paths import Path, counted, cover, run

from referee.games.contract import Action
from referee.games.pokino.actions import Domino, PassTurn
from referee.games.pokino.layout import STEPS, around, coordinates, ends
from referee.games.pokino.legal import OPTIONAL_DRAW_CARDS
from referee.games.pokino.runs import points
from referee.games.pokino.state import PokinoState
from referee.games.shared.dominoes import NUMBERS, Tile

THOUGHTS = 10
"""Number of placements that are searched."""
LONG = 10.0
"""Length of a run that is worth its turn while more cards will come."""
LEFT = 0.8
"""Cost of a card outside of all runs, in turns."""
MISSING = 1.5
"""Cost of each card by which the last run must be longer, in turns."""
HELD = 0.25
"""Cost of a card in hand, in turns."""
HOPE = 0.5
"""Probability that a run which is possible now will be played later."""
REACH = 0.12
"""Turns saved later by each card of the longest possible run."""
AHEAD = 2.5
"""A lead in turns that nearly decides a race."""
POINTS = 15.0
"""A lead in points that nearly decides a game without a winner of the race."""


class PokinoPlan:
    """Search plan of Pokino."""

    def playouts(self, state: PokinoState) -> int:
        return 28

    def candidates(self, state: PokinoState, seat: int) -> list[Action]:
        runs = _runs(state, seat)
        if runs and len(runs[0].cards) == len(state.hands[seat]):
            return runs[:1]
        return [*(_placements(state, seat) or [PassTurn(_draw(state, seat, 0))]), *runs]

    def move(self, state: PokinoState, seat: int) -> Action:
        return self.candidates(state, seat)[0]

    def over(self, root: PokinoState, state: PokinoState) -> bool:
        return True

    def value(self, at: Position, state: PokinoState) -> float:
        if state.pokino:
            others = len(state.hands) - 1
            ahead = at.against(state.scores, POINTS)
            return 1.0 if state.turn == at.seat else (ahead * (others - 1) - 1) / others
        if state.over:
            return at.against(state.scores, POINTS)
        return _standing(at, state)


def _standing(at: Position, state: PokinoState) -> float:
    """Rate a position before the end: the chance to win the race, and the points."""
    seats = range(len(state.hands))
    outlooks = [_Outlook(state, seat) for seat in seats]
    hopes = [score + outlook.points for score, outlook in zip(state.scores, outlooks, strict=True)]
    ahead = at.against(hopes, POINTS)
    finish = [outlook.finish for outlook in outlooks]
    soonest = min(finish[: at.seat] + finish[at.seat + 1 :])
    first = 0.5 + 0.5 * tanh((soonest - finish[at.seat]) / AHEAD)
    others = len(finish) - 1
    race = first + (1 - first) * (ahead * (others - 1) - 1) / others
    late = 0.5 + 0.5 * tanh(min(finish) - len(state.poke) / len(finish))
    return (1 - late) * (0.95 * race + 0.05 * ahead) + late * (0.9 * ahead + 0.1 * race)


def _draw(state: PokinoState, seat: int, played: int) -> bool:
    """Return whether to draw: only if it is mandatory, because each card must be played."""
    return not state.variants.pokino_up or len(state.hands[seat]) - played < OPTIONAL_DRAW_CARDS


def _runs(state: PokinoState, seat: int) -> list[Action]:
    """Return the longest run that the seat can pay for, and shorter ones on the same path."""
    hand, variants, ground = state.hands[seat], state.variants, state.layout.ground
    most = len(hand) if variants.greed else state.beads[seat]
    covering = cover(hand, ground, variants.tear_down_the_walls, 2)
    paths: dict[Path, None] = {}
    for path in covering.runs:
        for length in (len(path), len(path) - 1, len(path) // 2):
            played = min(length, most)
            if played > 1 and (len(hand) - played != 1 or state.deck):
                paths[path[:played]] = None
    return [run(path, hand, ground, _draw(state, seat, len(path))) for path in paths]


def _placements(state: PokinoState, seat: int) -> list[Action]:
    """Return the placements with the most borders between numbers of the seat's cards."""
    ground = state.layout.ground
    draw = _draw(state, seat, 0)
    numbers = ground.numbers
    held = counted((*state.hands[seat], *(state.deck[:1] if draw else ())))
    if not numbers:
        return [Domino(domino, 0, 0, "right", draw) for domino in state.dominoes[seat]]
    squares = {square for place in ground.places for square in ends(place)}
    gains = {square: _gains(square, numbers, held) for square in sorted(squares)}
    placements: list[tuple[float, Tile, int, int]] = []
    for domino in state.dominoes[seat]:
        low, high = NUMBERS[domino]
        for place in ground.places:
            first, second = ends(place)
            placements.append((gains[first][low] + gains[second][high], domino, first, second))
            if low != high:
                placements.append((gains[second][low] + gains[first][high], domino, second, first))
    placements.sort(key=lambda placement: placement[0], reverse=True)
    best = placements[:THOUGHTS]
    return [_laid(domino, first, second, draw) for _, domino, first, second in best]


def _gains(square: int, numbers: dict[int, int], held: list[int]) -> list[float]:
    """Rate each number on a square: borders between numbers of the hand's cards."""
    beside = [numbers[other] for other, _ in around(square) if other in numbers]
    return [
        sum(
            1.0 if held[number] and held[other] > (number == other) else 0.1 * bool(held[number])
            for other in beside
        )
        for number in range(len(held))
    ]


def _laid(domino: Tile, first: int, second: int, draw: bool) -> Domino:
    """Return the action that lays a domino with its smaller number on the first square."""
    way = next(word for word, step in STEPS.items() if first + step == second)
    return Domino(domino, *coordinates(first), way, draw)


class _Outlook:
    """Estimated points and turns until the end of a seat."""

    def __init__(self, state: PokinoState, seat: int) -> None:
        hand, variants, beads = state.hands[seat], state.variants, state.beads[seat]
        covering = cover(hand, state.layout.ground, variants.tear_down_the_walls)
        reach = len(covering.runs[0]) if covering.runs else 0
        drawn = -(-len(state.deck) // len(state.hands))
        if variants.pokino_up:
            drawn = min(drawn, max(0, OPTIONAL_DRAW_CARDS - len(hand)))
        lays = 0 if variants.greed else max(0, len(hand) + drawn - beads)
        self.points = 0.0
        if not variants.territory:
            self.points = HOPE * points(reach if variants.greed else min(reach, beads))
        if state.deck and (variants.greed or variants.pokino_up):
            missing = len(hand) - reach  # after another run, the seat draws new cards
            self.finish = 1 + max(lays, MISSING * missing) + 0.1 * missing + HELD * len(hand)
        elif drawn:
            self.finish = lays + (len(hand) + drawn) / LONG - REACH * reach
        else:
            self.finish = lays + len(covering.runs) + LEFT * covering.left
