"""Search of Pokino: one action ahead, rated by how soon each seat could play its last card.

The seat that plays its last card wins, so Pokino is a race. A seat needs a bead for every card that
it has or will draw, a turn to lay a domino for each bead, and a turn for every run: few long runs
win. Each world deals the hidden cards again.
"""

from math import tanh

from plan import Position
from pokino_paths import Path, counts_by_number, cover, run_action

from referee.games.contract import Action
from referee.games.pokino.actions import Domino, PassTurn
from referee.games.pokino.layout import STEPS, around, coordinates, ends
from referee.games.pokino.legal import OPTIONAL_DRAW_CARDS
from referee.games.pokino.runs import points
from referee.games.pokino.state import PokinoState
from referee.games.shared.dominoes import NUMBERS, Tile

PLAYOUTS = 28
MAX_SEARCHED_PLACEMENTS = 10
MAX_SEARCHED_PATHS = 2
"""Paths of runs that are searched, at most; each with up to three lengths."""

# Estimated turns until a seat plays its last card.
CARDS_PER_RUN = 10.0
"""Cards that one run plays on average, while more cards will come."""
TURNS_PER_UNPLAYED_CARD = 0.8
"""Cost of a card outside of all runs."""
TURNS_PER_MISSING_CARD = 1.5
"""Cost of each card by which the last run must be longer, in forms with small hands."""
TURNS_PER_MISSING_CARD_ALWAYS = 0.1
"""The same, in addition to the turns for missing beads."""
TURNS_PER_HELD_CARD = 0.25
"""Cost of a card in hand, in forms with small hands."""
TURNS_SAVED_PER_RUN_CARD = 0.12
"""Turns that each card of the longest possible run saves, while more cards will come."""

RUN_PROBABILITY = 0.5
"""Probability that a run which is possible now will be played later."""
DECISIVE_TURNS = 2.5
"""A lead in turns that nearly decides a race."""
DECISIVE_POINTS = 15.0
"""A lead in points that nearly decides a game without a winner of the race."""
RACE_WEIGHTS = (0.95, 0.05)
"""Weights of the race and of the points, if a seat plays its last card first."""
NO_RACE_WEIGHTS = (0.1, 0.9)
"""Weights of the race and of the points, if the dominoes run out first."""
USELESS_BORDER_GAIN = 0.1
"""Gain of a border whose other number the seat cannot play, where a useful border has 1."""


class PokinoPlan:
    """Search plan of Pokino."""

    analysis_playouts = 12_000

    def playouts(self, state: PokinoState) -> int:
        return PLAYOUTS

    def candidates(self, state: PokinoState, seat: int) -> list[Action]:
        runs = _runs(state, seat)
        if runs and len(runs[0].cards) == len(state.hands[seat]):
            return runs[:1]
        placements = _best_placements(state, seat)
        return [*(placements or [PassTurn(_draws_after(state, seat, 0))]), *runs]

    def move(self, state: PokinoState, seat: int) -> Action:
        return self.candidates(state, seat)[0]

    def over(self, root: PokinoState, state: PokinoState) -> bool:
        return True

    def value(self, at: Position, state: PokinoState) -> float:
        if state.pokino:
            rating = at.rating(state.scores, DECISIVE_POINTS)
            return 1.0 if state.turn == at.seat else _rating_if_race_is_lost(state, rating)
        if state.over:
            return at.rating(state.scores, DECISIVE_POINTS)
        return _open_game_value(at, state)


# Value of a position


def _rating_if_race_is_lost(state: PokinoState, points_rating: float) -> float:
    """Return the rating if another seat wins the race.

    The winner is ahead of the seat; the points decide against the others.
    """
    others = len(state.hands) - 1
    return (points_rating * (others - 1) - 1) / others


def _open_game_value(at: Position, state: PokinoState) -> float:
    """Rate a position before the end: the probability to win the race, and the points."""
    seats = range(len(state.hands))
    outlooks = [_SeatOutlook(state, seat) for seat in seats]
    expected_scores = [
        score + outlook.points for score, outlook in zip(state.scores, outlooks, strict=True)
    ]
    points_rating = at.rating(expected_scores, DECISIVE_POINTS)
    turns = [outlook.turns for outlook in outlooks]
    soonest_other = min(turns[: at.seat] + turns[at.seat + 1 :])
    win_probability = 0.5 + 0.5 * tanh((soonest_other - turns[at.seat]) / DECISIVE_TURNS)
    # The probability that the dominoes run out before any seat plays its last card.
    turns_of_dominoes = len(state.poke) / len(turns)
    runs_out = 0.5 + 0.5 * tanh(min(turns) - turns_of_dominoes)
    # If the race is lost, the rating is that of `_rating_if_race_is_lost`.
    others = len(turns) - 1
    race = win_probability + (1 - win_probability) * (points_rating * (others - 1) - 1) / others
    if_race = RACE_WEIGHTS[0] * race + RACE_WEIGHTS[1] * points_rating
    if_runs_out = NO_RACE_WEIGHTS[1] * points_rating + NO_RACE_WEIGHTS[0] * race
    return (1 - runs_out) * if_race + runs_out * if_runs_out


class _SeatOutlook:
    """Estimated further points of a seat, and turns until it plays its last card."""

    def __init__(self, state: PokinoState, seat: int) -> None:
        hand, variants, beads = state.hands[seat], state.variants, state.beads[seat]
        covering = cover(hand, state.layout.ground, variants.tear_down_the_walls)
        longest = len(covering.runs[0]) if covering.runs else 0
        draws = -(-len(state.deck) // len(state.hands))  # rounded up
        if variants.pokino_up:
            draws = min(draws, max(0, OPTIONAL_DRAW_CARDS - len(hand)))
        missing_beads = 0 if variants.greed else max(0, len(hand) + draws - beads)
        self.points = 0.0
        if not variants.territory:
            payable = longest if variants.greed else min(longest, beads)
            self.points = RUN_PROBABILITY * points(payable)
        if state.deck and (variants.greed or variants.pokino_up):
            missing_cards = len(hand) - longest  # after another run, the seat draws new cards
            waiting = max(missing_beads, TURNS_PER_MISSING_CARD * missing_cards)
            more = TURNS_PER_MISSING_CARD_ALWAYS * missing_cards
            self.turns = 1 + waiting + more + TURNS_PER_HELD_CARD * len(hand)
        elif draws:
            run_turns = (len(hand) + draws) / CARDS_PER_RUN
            self.turns = missing_beads + run_turns - TURNS_SAVED_PER_RUN_CARD * longest
        else:
            unplayed_turns = TURNS_PER_UNPLAYED_CARD * covering.cards_left
            self.turns = missing_beads + len(covering.runs) + unplayed_turns


# Actions


def _draws_after(state: PokinoState, seat: int, played: int) -> bool:
    """Return whether to draw after an action that plays so many cards.

    The bot draws only if it must, because each drawn card must be played later.
    """
    return not state.variants.pokino_up or len(state.hands[seat]) - played < OPTIONAL_DRAW_CARDS


def _runs(state: PokinoState, seat: int) -> list[Action]:
    """Return the longest run that the seat can pay for, and shorter ones on the same path."""
    hand, variants, ground = state.hands[seat], state.variants, state.layout.ground
    payable = len(hand) if variants.greed else state.beads[seat]
    covering = cover(hand, ground, variants.tear_down_the_walls, MAX_SEARCHED_PATHS)
    paths: dict[Path, None] = {}
    for path in covering.runs:
        for length in (len(path), len(path) - 1, len(path) // 2):
            played = min(length, payable)
            leaves_one_card = len(hand) - played == 1
            if played > 1 and (not leaves_one_card or state.deck):
                paths[path[:played]] = None
    return [run_action(path, hand, ground, _draws_after(state, seat, len(path))) for path in paths]


def _best_placements(state: PokinoState, seat: int) -> list[Action]:
    """Return the placements with the most borders between numbers of the seat's cards."""
    ground = state.layout.ground
    draw = _draws_after(state, seat, 0)
    if not ground.numbers:
        return [Domino(domino, 0, 0, "right", draw) for domino in state.dominoes[seat]]
    counts = counts_by_number((*state.hands[seat], *(state.deck[:1] if draw else ())))
    squares = {square for place in ground.places for square in ends(place)}
    gains = {square: _gains(square, ground.numbers, counts) for square in sorted(squares)}
    placements: list[tuple[float, Tile, int, int]] = []
    for domino in state.dominoes[seat]:
        low, high = NUMBERS[domino]
        for place in ground.places:
            first, second = ends(place)
            placements.append((gains[first][low] + gains[second][high], domino, first, second))
            if low != high:
                placements.append((gains[second][low] + gains[first][high], domino, second, first))
    placements.sort(key=lambda placement: placement[0], reverse=True)
    best = placements[:MAX_SEARCHED_PLACEMENTS]
    return [_placement_action(domino, first, second, draw) for _, domino, first, second in best]


def _gains(square: int, numbers: dict[int, int], counts: list[int]) -> list[float]:
    """Rate each number on a square by its borders to numbers of the seat's cards.

    Args:
        square: the square.
        numbers: the number of each square of the table.
        counts: cards of the seat by number.
    """
    neighbours = [numbers[other] for other, _ in around(square) if other in numbers]
    return [
        sum(
            # Two cards are needed if both numbers are the same.
            1.0
            if counts[number] and counts[neighbour] > (number == neighbour)
            else USELESS_BORDER_GAIN * bool(counts[number])
            for neighbour in neighbours
        )
        for number in range(len(counts))
    ]


def _placement_action(domino: Tile, first: int, second: int, draw: bool) -> Domino:
    """Return the action that lays a domino with its smaller number on the first square."""
    direction = next(word for word, step in STEPS.items() if first + step == second)
    return Domino(domino, *coordinates(first), direction, draw)
