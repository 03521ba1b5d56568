"""Plays many deals of Pokex at once with a learned policy, as arrays with a row per deal.

Seats are numbered by their *role*, the order of play in a trick: the declarer has role 1. Roles
with equal parity are partners and form *side* 0 or 1. Without a declarer, role 0 leads.

A trick consists of *stages*, one per play: four plays of two cards with four seats, or six plays of
one card with two seats. The hand of a side is the centre cards of the trick and the cards that the
side has played. A play is worth the learned chance to win the trick, minus the price of its cards,
which is their value in later tricks.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from pokex_hands import (
    MAX_CLASSES,
    TYPES,
    WILD,
    AnyArray,
    Codes,
    IntArray,
    card_codes,
    card_types,
    class_table,
    table_index,
    value_table,
)

TRICKS = 6
HAND_SIZE = 5
"""Cards of a side at the end of a trick."""
HELD_COUNTS = 7
"""Cards of one type in a hand: 0 to 6."""
COMING_COUNTS = 3
"""Cards of one type among the coming centre cards: 0, 1, or 2 and more."""
PLAYS_PER_TRICK = {4: 4, 2: 6}
"""By the number of seats."""
CARDS_PER_PLAY = {4: 2, 2: 1}
"""By the number of seats."""
NO_SIDE = -1
Watch = Callable[["PokexDeals", int, IntArray], None]
"""Receives the deals before a play, the role that plays, and the number of its play by row."""
HELD_PRIORITY, CENTRE_PRIORITY = 1000, 50
"""Weights of a card in the hand and in the centre for the rank to name; a rank weighs at most 12,
so it decides only between equal counts."""


@dataclass
class PokexWeights:
    """Learned tables for a number of seats. The names are those in `pokex.npz`."""

    chances: AnyArray
    """Value of a play in tricks, without the price of its cards.

    Shape (stages, MAX_CLASSES, MAX_CLASSES), by stage, by the class of the other side's cards, and
    by the class of the cards of the playing side after the play.
    """
    worth: AnyArray
    """Value in tricks of the cards of one type in a hand.

    Shape (TRICKS + 1, TYPES * HELD_COUNTS * COMING_COUNTS), by the number of tricks left, and by
    type, number of cards held, and number of coming centre cards of this type.
    """
    strengths: AnyArray
    """Limits between the classes of strength of a hand in the auction, ascending."""
    calls: AnyArray
    """Value of each call in points, by situation (`pokex_auction.SITUATIONS`), strength class, and
    call."""
    results: AnyArray
    """Probability to win the game before a deal, by the points of the side that bids first and of
    the other side."""


def load(path: Path, seats: int) -> PokexWeights:
    """Read the weights for a number of seats."""
    with np.load(path) as stored:
        return PokexWeights(**{f.name: stored[f"{f.name}_{seats}"] for f in fields(PokexWeights)})


@cache
def pair_positions(size: int) -> tuple[IntArray, IntArray]:
    """Return the positions of the first and of the second card of every pair of a hand."""
    pairs = np.array(list(combinations(range(size), 2)), dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


class PokexDeals:
    """Deals in play.

    Attributes:
        types: for each role the types of its cards, shape (rows, cards).
        codes: for each role the codes of its cards, shape (rows, cards).
        counts: for each role its number of cards by type, shape (rows, TYPES).
        centre_codes: summed code of the centre cards of each trick, shape (rows, TRICKS).
        coming: for each trick the centre cards after it by type, shape (TRICKS, rows, TYPES).
        side_codes: for each side the summed code of its hand in the current trick, shape (rows,).
        taken: tricks of the sides, shape (rows, 2).
        tie_winner: the side that wins equal hands; NO_SIDE for none.
        noise: returns noise that is added to the values of plays of this shape; for training.
        watch: called before each play; for training.
        paid: the price of the cards of the last play, by row.
        chance_index: flat indices of all plays in `PokexWeights.chances` of this stage, shape
            (rows, plays). The last play of a trick has none.
    """

    def __init__(
        self, weights: PokexWeights, hands: list[IntArray], centre: IntArray, wild: IntArray
    ) -> None:
        """Begin deals.

        Args:
            weights: the learned tables.
            hands: the numbers of the cards of each role, shape (rows, cards) each.
            centre: the centre cards of each trick, shape (rows, TRICKS, cards).
            wild: the number of the wild rank, by row.
        """
        self.weights, self.seats, self.rows = weights, len(hands), len(centre)
        self.wild = wild
        types, codes = card_types(), card_codes()
        self.types = [types[wild[:, None], hand] for hand in hands]
        self.codes = [codes[wild[:, None], hand] for hand in hands]
        self.counts = [type_counts(held) for held in self.types]
        self.centre_codes: Codes = codes[wild[:, None, None], centre].sum(axis=2, dtype=np.uint32)
        centre_types = types[wild[:, None, None], centre]
        by_trick = np.stack([type_counts(centre_types[:, trick]) for trick in range(TRICKS)])
        after_trick = np.cumsum(by_trick[::-1], axis=0)[::-1] - by_trick
        self.coming = np.minimum(after_trick, COMING_COUNTS - 1)
        self.centre_cards = centre.shape[2]
        self.play_size = CARDS_PER_PLAY[self.seats]
        self.trick = self.stage = 0
        self.side_codes = [self.centre_codes[:, 0].copy() for _ in range(2)]
        self.taken = np.zeros((self.rows, 2), dtype=np.int64)
        self.tie_winner = 1
        self.noise: Callable[[tuple[int, ...]], AnyArray] | None = None
        self.watch: Watch | None = None
        self.paid: AnyArray = np.zeros(self.rows)
        self.chance_index: IntArray = np.zeros((0, 0), dtype=np.int64)

    def resume(self, trick: int, played: list[IntArray]) -> None:
        """Continue within a trick after plays that are the same in all rows.

        Args:
            trick: the number of the trick, from 0.
            played: the numbers of the cards of each play.
        """
        self.trick, self.stage = trick, len(played)
        codes = card_codes()
        self.side_codes = [self.centre_codes[:, trick].copy() for _ in range(2)]
        for stage, cards in enumerate(played):
            play_codes = codes[self.wild[:, None], cards].sum(axis=1, dtype=np.uint32)
            self.side_codes[stage % 2] = self.side_codes[stage % 2] + play_codes

    # Values of plays

    def worth_index(self, role: int) -> IntArray:
        """Return the indices of a hand in `PokexWeights.worth`, per type: shape (rows, TYPES)."""
        held = np.arange(TYPES) * HELD_COUNTS + self.counts[role]
        return np.asarray(held * COMING_COUNTS + self.coming[self.trick])

    def prices(self, role: int) -> tuple[AnyArray, AnyArray]:
        """Return the prices of a hand's cards.

        Returns:
            The price of each card, shape (rows, cards), and the extra price of two cards of each
            type, shape (rows, TYPES).
        """
        single, extra = price_tables(self.weights, TRICKS - 1 - self.trick)
        index = self.worth_index(role)
        return np.take_along_axis(single[index], self.types[role], axis=1), extra[index]

    def plays(self, role: int) -> tuple[IntArray, ...]:
        """Return the positions in the hand of the first (and second) card of every play."""
        size = self.types[role].shape[1]
        return pair_positions(size) if self.play_size == 2 else (np.arange(size),)

    def gains(self, role: int) -> tuple[AnyArray, AnyArray]:
        """Return the value of each play in tricks, and the price of its cards.

        Both have the shape (rows, plays).
        """
        side = role % 2
        play_codes, price = self._play_codes_and_prices(role)
        codes = self.side_codes[side][:, None] + play_codes
        if self.stage == PLAYS_PER_TRICK[self.seats] - 1:
            # The last play decides the trick: compare the hands.
            own_value = value_table()[table_index(codes, HAND_SIZE)]
            other_value = value_table()[table_index(self.side_codes[1 - side], HAND_SIZE)][:, None]
            chance: AnyArray = (
                own_value >= other_value if self.tie_winner == side else own_value > other_value
            )
        else:
            self.chance_index = self._chance_indices(codes, side)
            chance = self.weights.chances[self.stage].take(self.chance_index)
        return chance - price, price

    def _play_codes_and_prices(self, role: int) -> tuple[Codes, AnyArray]:
        """Return the summed code and the price of the cards of each play."""
        codes, types = self.codes[role], self.types[role]
        single, extra = self.prices(role)
        if self.play_size == 1:
            return codes, single
        first, second = pair_positions(codes.shape[1])
        price = single[:, first] + single[:, second]
        same_type = types[:, first] == types[:, second]
        price += same_type * np.take_along_axis(extra, types[:, first], axis=1)
        return codes[:, first] + codes[:, second], price

    def _chance_indices(self, codes: Codes, side: int) -> IntArray:
        """Return :attr:`chance_index` for the summed codes of a side after each play."""
        own_size = self.centre_cards + self.play_size * (self.stage // 2 + 1)
        other_size = self.centre_cards + self.play_size * ((self.stage + 1) // 2)
        other_index = table_index(self.side_codes[1 - side], other_size)
        other_class = class_table(other_size)[other_index].astype(np.int32)
        own_class = class_table(own_size)[table_index(codes, own_size)]
        return np.asarray(own_class + other_class[:, None] * MAX_CLASSES)

    # Play

    def play(self) -> IntArray:
        """Play to the end of the deals; return the tricks of the two sides, shape (rows, 2)."""
        while self.trick < TRICKS:
            role = self.stage % self.seats
            gains, price = self.gains(role)
            if self.noise:
                gains = gains + self.noise(gains.shape)
            choice = gains.argmax(axis=1)
            self.paid = price[np.arange(self.rows), choice]
            if self.watch:
                self.watch(self, role, choice)
            self.make(role, choice)
        return self.taken

    def make(self, role: int, choice: IntArray) -> None:
        """Make a play, given by its number in each row."""
        rows, side = np.arange(self.rows), role % 2
        keep = np.ones(self.types[role].shape, dtype=bool)
        for positions in self.plays(role):
            position = positions[choice]
            keep[rows, position] = False
            self.side_codes[side] = self.side_codes[side] + self.codes[role][rows, position]
            self.counts[role][rows, self.types[role][rows, position]] -= 1
        left = self.types[role].shape[1] - self.play_size
        self.types[role] = self.types[role][keep].reshape(self.rows, left)
        self.codes[role] = self.codes[role][keep].reshape(self.rows, left)
        self.stage += 1
        if self.stage == PLAYS_PER_TRICK[self.seats]:
            self.end_trick()

    def end_trick(self) -> None:
        """Award the trick and turn the next centre cards."""
        first, second = (value_table()[table_index(c, HAND_SIZE)] for c in self.side_codes)
        self.taken[:, 0] += first > second
        self.taken[:, 1] += first < second
        if self.tie_winner != NO_SIDE:
            self.taken[:, self.tie_winner] += first == second
        self.trick, self.stage = self.trick + 1, 0
        if self.trick < TRICKS:
            self.side_codes = [self.centre_codes[:, self.trick].copy() for _ in range(2)]


def type_counts(types: IntArray) -> IntArray:
    """Count the cards of each type, by row: shape (rows, cards) to (rows, TYPES)."""
    rows = len(types)
    flat = types + TYPES * np.arange(rows)[:, None]
    return np.bincount(flat.ravel(), minlength=TYPES * rows).reshape(rows, TYPES)


def price_tables(weights: PokexWeights, tricks_left: int) -> tuple[AnyArray, AnyArray]:
    """Return prices by the flat index of :meth:`PokexDeals.worth_index`.

    The worth of n cards of a type is w(n). So one card costs w(n) - w(n - 1). Two cards cost
    w(n) - w(n - 2), which is twice the price of one plus 2 * w(n - 1) - w(n - 2) - w(n).

    Args:
        weights: the learned tables.
        tricks_left: tricks after the current one.

    Returns:
        The price of one card, and the extra price of two cards of the same type.
    """
    worth = weights.worth[tricks_left].reshape(TYPES, HELD_COUNTS, COMING_COUNTS)
    single, extra = np.zeros_like(worth), np.zeros_like(worth)
    single[:, 1:] = worth[:, 1:] - worth[:, :-1]
    extra[:, 2:] = 2 * worth[:, 1:-1] - worth[:, :-2] - worth[:, 2:]
    return single.ravel(), extra.ravel()


def simulated_tricks(
    weights: PokexWeights,
    hands: list[IntArray],
    centre: IntArray,
    ranks: list[IntArray],
    declarer: int,
) -> IntArray:
    """Play deals and return the tricks of the declarer's side, by row.

    Args:
        weights: the learned tables.
        hands: the hands by seat.
        centre: the centre cards of each trick, shape (rows, TRICKS, cards).
        ranks: the wild rank that each seat names as declarer, by row.
        declarer: the seat; -1 without a declarer. Then seat 0 leads, and its side's tricks are
            returned.
    """
    if declarer < 0:
        deals = PokexDeals(weights, hands, centre, np.full(len(centre), WILD))
        deals.tie_winner = NO_SIDE
        return np.asarray(deals.play()[:, 0])
    by_role = [hands[(declarer - 1 + role) % len(hands)] for role in range(len(hands))]
    return np.asarray(PokexDeals(weights, by_role, centre, ranks[declarer]).play()[:, 1])


def hand_strength(
    weights: PokexWeights, hands: IntArray, centre: IntArray, wild: IntArray
) -> AnyArray:
    """Return the worth of hands in tricks at the beginning of play, by row.

    Args:
        weights: the learned tables.
        hands: numbers of cards, shape (rows, cards).
        centre: all centre cards, shape (rows, cards).
        wild: the wild rank, by row.
    """
    types, wild_column = card_types(), wild[:, None]
    coming = np.minimum(type_counts(types[wild_column, centre]), COMING_COUNTS - 1)
    held = np.arange(TYPES) * HELD_COUNTS + type_counts(types[wild_column, hands])
    return np.asarray(weights.worth[TRICKS][held * COMING_COUNTS + coming].sum(axis=1))


def usual_wild_ranks(hands: IntArray, centre: IntArray) -> IntArray:
    """Return the rank that a declarer names in a playout, by row.

    It is the most frequent rank of the hand, then of the centre, then the lowest one.
    """
    natural_types = card_types()[WILD]
    held, in_centre = (type_counts(natural_types[cards])[:, :WILD] for cards in (hands, centre))
    priority = held * HELD_PRIORITY + in_centre * CENTRE_PRIORITY - np.arange(WILD)
    return np.asarray(priority.argmax(axis=1))
