"""What a deal, a leg and a rubber of Poke are worth (docs/rules/poke.md, *Score*)."""

from referee.cards import Card
from referee.games.poke.words import Pair, PokeTrick
from referee.poker import Category, HandValue, best_hand

BONUS = {
    Category.HIGH_CARD: 0,
    Category.PAIR: 50,
    Category.TWO_PAIRS: 100,
    Category.THREE_OF_A_KIND: 200,
    Category.STRAIGHT: 300,
    Category.FLUSH: 400,
    Category.FULL_HOUSE: 500,
    Category.FOUR_OF_A_KIND: 600,
    Category.STRAIGHT_FLUSH: 750,
}
ROYAL_FLUSH = 1000
SWEEP = 250
LEG = 100
LEG_POINTS = 20
LEGS_TO_WIN = 2
RUBBER = {0: 750, 1: 500}
"""What the second leg won is worth, by the legs of the opponent."""


def score_deal(tricks: tuple[PokeTrick, ...], multipliers: Pair) -> tuple[list[int], list[int]]:
    """What a deal gives below and above the line, by seat (docs/rules/poke.md, *Score*)."""
    taken = [0, 0]
    held: tuple[list[Card], list[Card]] = ([], [])
    for trick in tricks:
        taken[trick.winner] += len(trick.lead)
        held[trick.leader].extend(trick.lead)
        held[1 - trick.leader].extend(trick.answer)
    below = [taken[0] * multipliers[1], taken[1] * multipliers[0]]
    above = [SWEEP if tricks_taken == 5 else 0 for tricks_taken in taken]
    values = [best_hand(held[0]), best_hand(held[1])]
    if values[0] != values[1]:
        better = 0 if values[0] > values[1] else 1
        above[better] += bonus(values[better])
    return below, above


def bonus(value: HandValue) -> int:
    """What the better hand scores above the line."""
    if value.category is Category.STRAIGHT_FLUSH and value.ranks[0] == 14:
        return ROYAL_FLUSH
    return BONUS[value.category]
