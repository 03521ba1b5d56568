"""Plays many deals of Poke at once with learned tables; see :class:`PokeTables`."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from poke_hands import (
    STAND,
    Cards,
    Numbers,
    allowed_ways,
    bonuses,
    discarded,
    hand_values,
    in_groups,
    kinds,
    numbers_of_ranks,
    odd_cards,
)

NON_DEALER, DEALER = 0, 1
DRAWS = (2, 3)
"""Draws allowed to the non-dealer and the dealer."""
CONTEXTS = 11
"""Situations of a draw: the non-dealer's draws before it (2); the dealer's draws before it (3) with
the non-dealer's draws (3)."""
PATTERNS = 10
"""Draws of a seat as one number: 3 * (draws - 1) + cards of the last draw; 0 for none."""
GAPS = 24
"""Classes of the difference between the hands before the tricks."""
LEG_POINTS = 20
LEG, SWEEP = 100, 250
RUBBER = (750, 500)
STEP = 50
"""All points above the line are multiples of this."""
REACH = 60
"""Largest stored lead above the line, in steps."""


@dataclass
class PokeTables:
    """The learned tables."""

    ways: Numbers
    """Value of each way to draw, by context and kind of hand (with what it lacks), in points."""
    leading: Numbers
    """Mean tricks of a hand that leads, by its ranks."""
    following: Numbers
    """Mean tricks of a hand that does not lead, by its ranks."""
    gaps: Numbers
    """Limits of the classes of ``leading`` minus the other hand's ``following``."""
    tricks: Numbers
    """Probability of 0 to 5 tricks of the leading hand, by class of the difference."""
    likely: Numbers
    """Logarithm of how much likelier a kind of hand is than before the draws, by role and
    pattern of draws."""
    rubber: Numbers
    """Probability that the next dealer wins, by his legs, the other's legs, his points below the
    line, the other's, and his lead above the line in steps."""


NAMES = ("ways", "leading", "following", "gaps", "tricks", "likely", "rubber")


def load(path: Path) -> PokeTables:
    """Read the tables."""
    with np.load(path) as stored:
        return PokeTables(*(stored[name].astype(np.float64) for name in NAMES))


def lacking(values: Cards, flush: Cards, straight: Cards) -> Cards:
    """Return the kind of a hand and whether it lacks a card to a flush or a straight."""
    return np.asarray(kinds(values) * 4 + (flush >= 0) * 2 + (straight >= 0))


def context(role: int, done: Cards, others: Cards) -> Cards:
    """Return the situations of draws.

    Args:
        role: NON_DEALER or DEALER.
        done: the seat's draws before.
        others: draws of the non-dealer, if the seat is the dealer.
    """
    return done if role == NON_DEALER else 2 + 3 * others + done


class Deals:
    """Deals with all hands open: hands and draws by deal and role."""

    def __init__(self, tables: PokeTables, hands: Cards, stock: Cards) -> None:
        self.tables = tables
        self.hands, self.stock = hands, stock
        deals = len(hands)
        self.taken = np.zeros(deals, dtype=np.int64)
        """Cards drawn from the stock."""
        self.draws = np.zeros((deals, 2), dtype=np.int64)
        self.last = np.zeros((deals, 2), dtype=np.int64)
        """Cards of the last draw."""

    def draw(self, role: int, ways: Cards, rows: Cards) -> None:
        """Let a seat draw in some deals; its hand must be in groups."""
        hands, sizes = in_groups(self.hands[rows, role])
        gone = discarded(ways, *odd_cards(hands, sizes))
        number = gone.sum(axis=1)
        place = self.taken[rows, None] + np.cumsum(gone, axis=1) - 1
        new = np.take_along_axis(self.stock[rows], np.maximum(place, 0), axis=1)
        self.hands[rows, role] = np.where(gone, new, hands)
        self.taken[rows] += number
        self.draws[rows, role] += number > 0
        self.last[rows, role] = np.where(number > 0, number, self.last[rows, role])

    def ways(self, role: int, rows: Cards) -> tuple[Cards, Numbers, Cards, Cards]:
        """Return for some deals: the best ways to draw, the values of all, contexts and hands."""
        hands, sizes = in_groups(self.hands[rows, role])
        flush, straight = odd_cards(hands, sizes)
        kind = lacking(hand_values(hands, sizes), flush, straight)
        number = context(role, self.draws[rows, role], self.draws[rows, NON_DEALER])
        allowed = allowed_ways(sizes, flush, straight)
        values = np.where(allowed, self.tables.ways[number, kind], -np.inf)
        return values.argmax(axis=1), values, number, kind

    def draw_on(self, role: int, rows: Cards) -> None:
        """Let a seat make its remaining draws by the tables."""
        while len(rows):
            rows = rows[self.draws[rows, role] < DRAWS[role]]
            if not len(rows):
                return
            ways = self.ways(role, rows)[0]
            rows, ways = rows[ways != STAND], ways[ways != STAND]
            if len(rows):
                self.draw(role, ways, rows)

    def patterns(self, role: int) -> Cards:
        """Return the pattern of a role's draws."""
        return pattern(self.draws[:, role], self.last[:, role])

    def multipliers(self) -> tuple[Cards, Cards]:
        """Return the multipliers that each role caused."""
        return 1 << self.draws[:, 0], 1 << np.maximum(0, self.draws[:, 1] - 1)

    def lead(self) -> Cards:
        """Return the non-dealer's points for the better hand, negative for the dealer's."""
        values = hand_values(*in_groups(self.hands))
        worth = bonuses(values)
        mine, theirs = values[:, 0], values[:, 1]
        won = np.where(mine > theirs, worth[:, 0], 0)
        return np.asarray(np.where(mine < theirs, -worth[:, 1], won))

    def tricks(self) -> Numbers:
        """Return the probabilities of 0 to 5 tricks of the non-dealer, who leads."""
        tables = self.tables
        ranks = numbers_of_ranks(self.hands)
        gap = tables.leading[ranks[:, 0]] - tables.following[ranks[:, 1]]
        return np.asarray(tables.tricks[np.searchsorted(tables.gaps, gap)])


def pattern(draws: Cards, last: Cards) -> Cards:
    """Return draws as one number below PATTERNS."""
    return np.asarray(np.where(draws > 0, 3 * (draws - 1) + last, 0))


@dataclass(frozen=True)
class Rubber:
    """The rubber before a deal, for the non-dealer and the dealer of this deal."""

    legs: tuple[int, int]
    below: tuple[int, int]
    lead: int
    """Points above the line of the non-dealer minus those of the dealer."""

    def chances(self, below: tuple[Cards, Cards], lead: Cards, rubber: Numbers) -> Numbers:
        """Return the probabilities that the non-dealer wins after these results of the deal.

        Args:
            below: points below the line that the two gain.
            lead: points above the line that the non-dealer gains, minus the dealer's.
            rubber: the learned table.
        """
        first, second = self.below[0] + below[0], self.below[1] + below[1]
        lead = self.lead + lead
        wins = (first >= LEG_POINTS) & (first > second)
        loses = (second >= LEG_POINTS) & (second > first)
        mine = self.legs[0] + wins
        theirs = self.legs[1] + loses
        closed = wins | loses
        lead = lead + LEG * (wins * 1 - loses * 1)
        lead = lead + np.where(mine == 2, np.array(RUBBER)[np.minimum(theirs, 1)], 0)
        lead = lead - np.where(theirs == 2, np.array(RUBBER)[np.minimum(mine, 1)], 0)
        over = (mine == 2) | (theirs == 2)
        most = LEG_POINTS - 1
        first = np.where(closed, 0, np.minimum(first, most))
        second = np.where(closed, 0, np.minimum(second, most))
        steps = np.clip(lead // STEP, -REACH, REACH) + REACH
        later = rubber[np.minimum(mine, 1), np.minimum(theirs, 1), first, second, steps]
        return np.asarray(np.where(over, 0.5 + 0.5 * np.sign(lead), later))
