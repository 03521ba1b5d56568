"""Plays many deals of Poke at once with learned tables; see :class:`PokeTables`.

Seats are numbered by their *role*: 0 for the non-dealer, who draws and leads first, 1 for the
dealer. Points above and below the line count as in the rules of Poke.
"""

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from poke_hands import (
    HAND_SIZE,
    STAND,
    FloatArray,
    IntArray,
    allowed_draws,
    bonuses,
    discarded,
    hand_kinds,
    hand_values,
    misfit_positions,
    rank_hand_numbers,
    sorted_by_group,
)

from referee.games.poke.state import LEG, LEG_POINTS, LEGS_TO_WIN, RUBBER, SWEEP

NON_DEALER, DEALER = 0, 1
MAX_DRAWS = (2, 3)
"""Draws allowed to the non-dealer and the dealer."""
MAX_DRAWN_CARDS = 3
"""Cards of one draw, at most."""
DRAW_CONTEXTS = 11
"""Situations of a draw: 2 of the non-dealer, by its draws before; then 9 of the dealer, by the
non-dealer's draws (0 to 2) and its own draws before (0 to 2)."""
MISFIT_KINDS = 4
"""Whether a hand lacks one card to a flush, and one card to an open straight: 2 * 2."""
DRAW_PATTERNS = 10
"""All draws of a seat as one number: 3 * (draws - 1) + cards of the last draw; 0 for no draw."""
GAP_CLASSES = 24
"""Classes of the gap between both hands before the tricks."""
LEAD_UNIT = 50
"""All points above the line are multiples of this."""
MAX_LEAD = 60
"""Largest stored lead above the line, in units of LEAD_UNIT."""


@dataclass
class PokeTables:
    """The learned tables. The names are those in `poke.npz`."""

    ways: FloatArray
    """Value of each draw in points, shape (DRAW_CONTEXTS, kinds, DRAW_CHOICES); the kind of a hand
    is that of :func:`draw_kinds`."""
    leading: FloatArray
    """Mean tricks of a hand that leads, by its ranks: shape (RANK_HANDS,)."""
    following: FloatArray
    """Mean tricks of a hand that does not lead, by its ranks: shape (RANK_HANDS,)."""
    gaps: FloatArray
    """Limits of the classes of gaps. A gap is ``leading`` of the leading hand minus ``following``
    of the other hand."""
    tricks: FloatArray
    """Probability of 0 to 5 tricks of the leading hand, shape (GAP_CLASSES, 6)."""
    likely: FloatArray
    """Logarithm of how much likelier a kind of hand is than before the draws, shape (2,
    DRAW_PATTERNS, HAND_KINDS); the first index is the role."""
    rubber: FloatArray
    """Probability that the next dealer wins the rubber.

    The indices are its legs, the other's legs, its points below the line, the other's, and its lead
    above the line in units of LEAD_UNIT plus MAX_LEAD.
    """


TABLE_NAMES = tuple(field.name for field in fields(PokeTables))


def load(path: Path) -> PokeTables:
    """Read the tables."""
    with np.load(path) as stored:
        return PokeTables(*(stored[name].astype(np.float64) for name in TABLE_NAMES))


def draw_kinds(values: IntArray, flush: IntArray, straight: IntArray) -> IntArray:
    """Return the kind of a hand, and whether it lacks a card to a flush or a straight, as a number.

    Args:
        values: the values of hands.
        flush: positions from `poke_hands.misfit_positions`.
        straight: positions from `poke_hands.misfit_positions`.
    """
    return np.asarray(hand_kinds(values) * MISFIT_KINDS + (flush >= 0) * 2 + (straight >= 0))


def draw_contexts(role: int, own_draws: IntArray, non_dealer_draws: IntArray) -> IntArray:
    """Return the situations of draws as numbers below DRAW_CONTEXTS.

    Args:
        role: NON_DEALER or DEALER.
        own_draws: the seat's draws before.
        non_dealer_draws: all draws of the non-dealer; ignored for the non-dealer itself.
    """
    return own_draws if role == NON_DEALER else 2 + 3 * non_dealer_draws + own_draws


def draw_patterns(draws: IntArray, last_draw: IntArray) -> IntArray:
    """Return the draws of a seat as one number below DRAW_PATTERNS.

    Args:
        draws: number of draws.
        last_draw: number of cards of the last draw.
    """
    return np.asarray(np.where(draws > 0, MAX_DRAWN_CARDS * (draws - 1) + last_draw, 0))


@dataclass(frozen=True)
class DrawRatings:
    """The learned values of the draws of some hands."""

    best: IntArray
    """The draw with the highest value, by hand."""
    values: FloatArray
    """Values by hand and draw; minus infinity for a draw that is not allowed."""
    contexts: IntArray
    """See :func:`draw_contexts`."""
    kinds: IntArray
    """See :func:`draw_kinds`."""


class PokeDeals:
    """Deals with all hands open.

    Attributes:
        hands: cards, shape (deals, 2, HAND_SIZE).
        stock: the cards to be drawn, shape (deals, cards).
        drawn_cards: cards drawn from the stock so far, by deal.
        draws: number of draws, shape (deals, 2).
        last_draw: cards of the last draw, shape (deals, 2).
    """

    def __init__(self, tables: PokeTables, hands: IntArray, stock: IntArray) -> None:
        self.tables = tables
        self.hands, self.stock = hands, stock
        deals = len(hands)
        self.drawn_cards = np.zeros(deals, dtype=np.int64)
        self.draws = np.zeros((deals, 2), dtype=np.int64)
        self.last_draw = np.zeros((deals, 2), dtype=np.int64)

    def draw(self, role: int, choices: IntArray, rows: IntArray) -> None:
        """Let a seat draw in some deals.

        Args:
            role: the seat.
            choices: the number of the draw in each of these deals.
            rows: the deals.
        """
        hands, sizes = sorted_by_group(self.hands[rows, role])
        is_discarded = discarded(choices, *misfit_positions(hands, sizes))
        number = is_discarded.sum(axis=1)
        # The k-th discarded card of a hand is replaced by the k-th next card of the stock.
        stock_position = self.drawn_cards[rows, None] + np.cumsum(is_discarded, axis=1) - 1
        new_cards = np.take_along_axis(self.stock[rows], np.maximum(stock_position, 0), axis=1)
        self.hands[rows, role] = np.where(is_discarded, new_cards, hands)
        self.drawn_cards[rows] += number
        self.draws[rows, role] += number > 0
        self.last_draw[rows, role] = np.where(number > 0, number, self.last_draw[rows, role])

    def draw_ratings(self, role: int, rows: IntArray) -> DrawRatings:
        """Rate the draws of a seat in some deals."""
        hands, sizes = sorted_by_group(self.hands[rows, role])
        flush, straight = misfit_positions(hands, sizes)
        kinds = draw_kinds(hand_values(hands, sizes), flush, straight)
        contexts = draw_contexts(role, self.draws[rows, role], self.draws[rows, NON_DEALER])
        allowed = allowed_draws(sizes, flush, straight)
        values = np.where(allowed, self.tables.ways[contexts, kinds], -np.inf)
        return DrawRatings(values.argmax(axis=1), values, contexts, kinds)

    def draw_by_policy(self, role: int, rows: IntArray) -> None:
        """Let a seat make its remaining draws in some deals; it stops when it stands."""
        while len(rows):
            rows = rows[self.draws[rows, role] < MAX_DRAWS[role]]
            if not len(rows):
                return
            choices = self.draw_ratings(role, rows).best
            rows, choices = rows[choices != STAND], choices[choices != STAND]
            if len(rows):
                self.draw(role, choices, rows)

    def patterns(self, role: int) -> IntArray:
        """Return the pattern of a role's draws, by deal."""
        return draw_patterns(self.draws[:, role], self.last_draw[:, role])

    def multipliers(self) -> tuple[IntArray, IntArray]:
        """Return the multipliers that each role caused: every draw doubles the other's tricks.

        The first draw of the dealer is free.
        """
        return 1 << self.draws[:, 0], 1 << np.maximum(0, self.draws[:, 1] - 1)

    def bonus_lead(self) -> IntArray:
        """Return the non-dealer's points for the better hand, negative for the dealer's."""
        values = hand_values(*sorted_by_group(self.hands))
        points = bonuses(values)
        non_dealer, dealer = values[:, 0], values[:, 1]
        if_better = np.where(non_dealer > dealer, points[:, 0], 0)
        return np.asarray(np.where(non_dealer < dealer, -points[:, 1], if_better))

    def trick_probabilities(self) -> FloatArray:
        """Return the probabilities of 0 to 5 tricks of the non-dealer, shape (deals, 6)."""
        tables = self.tables
        ranks = rank_hand_numbers(self.hands)
        gap = tables.leading[ranks[:, 0]] - tables.following[ranks[:, 1]]
        return np.asarray(tables.tricks[np.searchsorted(tables.gaps, gap)])


def sweep_lead(tricks: IntArray) -> IntArray:
    """Return the non-dealer's points for all tricks, negative for the dealer's.

    Args:
        tricks: tricks of the non-dealer.
    """
    return np.asarray(SWEEP * ((tricks == HAND_SIZE) * 1 - (tricks == 0) * 1))


@dataclass(frozen=True)
class Rubber:
    """The rubber before a deal, for the non-dealer and the dealer of this deal."""

    legs: tuple[int, int]
    below: tuple[int, int]
    """Points below the line."""
    above_lead: int
    """Points above the line of the non-dealer minus those of the dealer."""

    def win_probabilities(
        self, below: tuple[IntArray, IntArray], above_lead: IntArray, table: FloatArray
    ) -> FloatArray:
        """Return the probabilities that the non-dealer wins after these results of the deal.

        Args:
            below: points below the line that the two gain.
            above_lead: points above the line that the non-dealer gains, minus the dealer's.
            table: :attr:`PokeTables.rubber`.
        """
        first, second = self.below[0] + below[0], self.below[1] + below[1]
        # 1. Close the leg.
        wins_leg = (first >= LEG_POINTS) & (first > second)
        loses_leg = (second >= LEG_POINTS) & (second > first)
        is_closed = wins_leg | loses_leg
        own_legs, other_legs = self.legs[0] + wins_leg, self.legs[1] + loses_leg
        # 2. Add the points above the line for the leg and for the rubber.
        rubber_bonus = np.array([RUBBER[legs] for legs in range(LEGS_TO_WIN)])
        own_bonus = rubber_bonus[np.minimum(other_legs, LEGS_TO_WIN - 1)]
        other_bonus = rubber_bonus[np.minimum(own_legs, LEGS_TO_WIN - 1)]
        lead = self.above_lead + above_lead + LEG * (wins_leg * 1 - loses_leg * 1)
        lead = lead + np.where(own_legs == LEGS_TO_WIN, own_bonus, 0)
        lead = lead - np.where(other_legs == LEGS_TO_WIN, other_bonus, 0)
        # 3. A finished rubber has a winner; another one is looked up. The non-dealer deals next.
        is_over = (own_legs == LEGS_TO_WIN) | (other_legs == LEGS_TO_WIN)
        first = np.where(is_closed, 0, np.minimum(first, LEG_POINTS - 1))
        second = np.where(is_closed, 0, np.minimum(second, LEG_POINTS - 1))
        lead_index = np.clip(lead // LEAD_UNIT, -MAX_LEAD, MAX_LEAD) + MAX_LEAD
        max_legs = LEGS_TO_WIN - 1
        later = table[
            np.minimum(own_legs, max_legs), np.minimum(other_legs, max_legs), first, second,
            lead_index,
        ]  # fmt: skip
        return np.asarray(np.where(is_over, 0.5 + 0.5 * np.sign(lead), later))
