"""How Pokino is searched: one action ahead, by how soon each seat could play its last card.

Who plays the last card wins, so Pokino is a race. A seat needs a bead for every card that it has
or will draw, each a turn to lay a domino, and a turn for every run: few long runs win. What the
others hold is dealt again in every world.
"""

from math import tanh

from plan import Position
from pokino_paths import Path, counted, cover, run

from referee.games.contract import Action
from referee.games.pokino.actions import Domino, PassTurn
from referee.games.pokino.grid import STEPS, around, coordinates, ends
from referee.games.pokino.legal import ENOUGH
from referee.games.pokino.runs import points
from referee.games.pokino.state import PokinoState
from referee.games.shared.dominoes import NUMBERS, Tile

THOUGHTS = 10
"""How many placements are worth a thought."""
LONG = 10.0
"""Cards of a run that is worth its turn while there are more to come."""
LEFT = 0.8
"""Turns that a card costs which is in no run yet."""
MISSING = 1.5
"""Turns that it costs if the last run has to be longer by a card."""
HELD = 0.25
"""Turns that a card costs which is held."""
HOPE = 0.5
"""How likely a run that there is now will be played some time."""
REACH = 0.12
"""Turns that each card in the longest run there is now saves later."""
AHEAD = 2.5
"""Turns ahead that decide most of a race."""
POINTS = 15.0
"""Points ahead that decide most of a game without a winner of the race."""


class PokinoPlan:
    """What the search is told about Pokino."""

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
    """What a position is worth before the end: who wins the race, and who has points then."""
    seats = range(len(state.hands))
    outlooks = [_Outlook(state, seat) for seat in seats]
    hopes = [score + one.points for score, one in zip(state.scores, outlooks, strict=True)]
    ahead = at.against(hopes, POINTS)
    finish = [one.finish for one in outlooks]
    soonest = min(finish[: at.seat] + finish[at.seat + 1 :])
    first = 0.5 + 0.5 * tanh((soonest - finish[at.seat]) / AHEAD)
    others = len(finish) - 1
    race = first + (1 - first) * (ahead * (others - 1) - 1) / others
    late = 0.5 + 0.5 * tanh(min(finish) - len(state.poke) / len(finish))
    return (1 - late) * (0.95 * race + 0.05 * ahead) + late * (0.9 * ahead + 0.1 * race)


def _draw(state: PokinoState, seat: int, played: int) -> bool:
    """Draws only what must be drawn: each card has to be played again."""
    return not state.variants.pokino_up or len(state.hands[seat]) - played < ENOUGH


def _runs(state: PokinoState, seat: int) -> list[Action]:
    """The longest run the seat can pay for, and shorter ones on the same path."""
    hand, variants, ground = state.hands[seat], state.variants, state.layout.ground
    most = len(hand) if variants.greed else state.beads[seat]
    found = cover(hand, ground, variants.tear_down_the_walls, 2)
    paths: dict[Path, None] = {}
    for path in found.runs:
        for length in (len(path), len(path) - 1, len(path) // 2):
            played = min(length, most)
            if played > 1 and (len(hand) - played != 1 or state.deck):
                paths[path[:played]] = None
    return [run(path, hand, ground, _draw(state, seat, len(path))) for path in paths]


def _placements(state: PokinoState, seat: int) -> list[Action]:
    """The placements that make most borders between numbers of the seat's cards."""
    ground = state.layout.ground
    draw = _draw(state, seat, 0)
    numbers = ground.numbers
    held = counted((*state.hands[seat], *(state.deck[:1] if draw else ())))
    if not numbers:
        return [Domino(domino, 0, 0, "right", draw) for domino in state.dominoes[seat]]
    squares = {square for place in ground.places for square in ends(place)}
    gains = {square: _gains(square, numbers, held) for square in sorted(squares)}
    found: list[tuple[float, Tile, int, int]] = []
    for domino in state.dominoes[seat]:
        low, high = NUMBERS[domino]
        for place in ground.places:
            one, other = ends(place)
            found.append((gains[one][low] + gains[other][high], domino, one, other))
            if low != high:
                found.append((gains[other][low] + gains[one][high], domino, other, one))
    found.sort(key=lambda way: way[0], reverse=True)
    return [_laid(domino, one, other, draw) for _, domino, one, other in found[:THOUGHTS]]


def _gains(square: int, numbers: dict[int, int], held: list[int]) -> list[float]:
    """What each number is worth on a square: borders between numbers of the own cards."""
    beside = [numbers[other] for other, _ in around(square) if other in numbers]
    return [
        sum(
            1.0 if held[number] and held[other] > (number == other) else 0.1 * bool(held[number])
            for other in beside
        )
        for number in range(len(held))
    ]


def _laid(domino: Tile, first: int, second: int, draw: bool) -> Domino:
    """The domino with its smaller number on the first square."""
    way = next(word for word, step in STEPS.items() if first + step == second)
    return Domino(domino, *coordinates(first), way, draw)


class _Outlook:
    """What a seat may come to."""

    def __init__(self, state: PokinoState, seat: int) -> None:
        hand, variants, beads = state.hands[seat], state.variants, state.beads[seat]
        found = cover(hand, state.layout.ground, variants.tear_down_the_walls)
        reach = len(found.runs[0]) if found.runs else 0
        drawn = -(-len(state.deck) // len(state.hands))
        if variants.pokino_up:
            drawn = min(drawn, max(0, ENOUGH - len(hand)))
        lays = 0 if variants.greed else max(0, len(hand) + drawn - beads)
        self.points = 0.0
        if not variants.territory:
            self.points = HOPE * points(reach if variants.greed else min(reach, beads))
        if state.deck and (variants.greed or variants.pokino_up):
            missing = len(hand) - reach  # after another run there are new cards
            self.finish = 1 + max(lays, MISSING * missing) + 0.1 * missing + HELD * len(hand)
        elif drawn:
            self.finish = lays + (len(hand) + drawn) / LONG - REACH * reach
        else:
            self.finish = lays + len(found.runs) + LEFT * found.left
