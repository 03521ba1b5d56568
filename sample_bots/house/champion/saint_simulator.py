"""Plays many games of Saint Poker at once with a learned policy, as numpy arrays.

All games are in the same round and phase. The seats play by learned tables: the value of a hand is
a sum over its ranks and suits, see :class:`SaintWeights`. `train_saint_poker.py` fits it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from saint_hands import NO_CARD, RANK_OF, RANKS, SUIT_OF, SUITS, FloatArray, IntArray, pair_values

ROUNDS = 8
HAND_SIZE = 10
FUTURE_CARDS = {2: 3, 3: 2, 4: 1, 5: 0}
"""Number of cards in the future river, by the number of seats."""
AFTER_RIVER, AFTER_SHOW, AFTER_FIRST_PICK_UP, AFTER_SECOND_PICK_UP = range(4)
"""Moments of a round at which hands have learned values: after the named act of every seat."""
MOMENTS = 4
GAP_LIMITS = np.array([-0.6, -0.4, -0.25, -0.15, -0.08, -0.03, -0.0001, 0.0001, 0.03, 0.1, 0.3])
"""Limits of the classes of gaps.

A gap is the value of a shown hand minus the best value that another seat can show. Values are
percentiles, so a gap is between -1 and 1.
"""
LAST_ROUND_TIE_BREAK = 0.001
"""Weight of the value of a pair in the last round, where only winning the round counts."""
IMPOSSIBLE = -1e9
"""Rating of a choice with a missing card."""

# The counts of a hand are 17 numbers: cards of each rank (13), then of each suit (4).
COUNTS_OF_CARD = np.append(
    np.append(
        np.repeat(np.eye(RANKS, dtype=np.int8), SUITS, axis=0), np.zeros((1, RANKS), np.int8), 0
    ),
    np.append(np.tile(np.eye(SUITS, dtype=np.int8), (RANKS, 1)), np.zeros((1, SUITS), np.int8), 0),
    axis=1,
)
"""The counts of each card, shape (53, 17); NO_CARD has zeros."""
HELD_RANK_COUNTS, HELD_SUIT_COUNTS = 6, 11
"""Different numbers of cards of a rank or suit in a hand: 0 to 5 and 0 to 10.

A hand has at most four cards of a rank; five is the computed effect of picking up another one.
"""
SEEN_RANK_COUNTS, SEEN_SUIT_COUNTS = 3, 4
"""Different numbers of cards of a rank or suit in the next river; larger ones are cut off."""
RANK_FEATURES = RANKS * HELD_RANK_COUNTS * SEEN_RANK_COUNTS
"""Features by rank, count in the hand, count in the next river."""
FEATURES = RANK_FEATURES + HELD_SUIT_COUNTS * SEEN_SUIT_COUNTS
"""Then the features by counts of a suit; all suits share them."""
_RANK_OFFSETS = np.arange(RANKS) * HELD_RANK_COUNTS * SEEN_RANK_COUNTS


@dataclass(frozen=True)
class SaintWeights:
    """The learned tables for a number of seats. The names are those in `saint_poker.npz`."""

    hands: FloatArray
    """Points to come, shape (ROUNDS + 1, MOMENTS, FEATURES); the first index is the round."""
    wins: FloatArray
    """Probability to win a round, by round and class of the gap."""
    spread: FloatArray
    """Standard deviation of the lead still to come, by round and moment."""
    keeps: FloatArray
    """Logarithm of the odds that a card of the first hand is still held, by round and rank."""


def load(path: Path, seats: int) -> SaintWeights:
    """Read the weights for a number of seats."""
    with np.load(path) as stored:
        names = ("hands", "wins", "spread", "keeps")
        return SaintWeights(*(stored[f"{name}{seats}"].astype(np.float64) for name in names))


def card_counts(cards: IntArray) -> IntArray:
    """Count cards in the last axis by rank (13) and suit (4)."""
    return np.asarray(COUNTS_OF_CARD[cards].sum(axis=-2, dtype=np.int64))


def features(held: IntArray, seen: IntArray) -> IntArray:
    """Return the indices of the 17 features of hands: one for each rank and each suit.

    Args:
        held: the counts of each hand, 17 in the last axis.
        seen: the counts of the next river, which must be broadcastable to the hands.
    """
    held_ranks, held_suits = held[..., :RANKS], held[..., RANKS:]
    seen_ranks = np.minimum(seen[..., :RANKS], SEEN_RANK_COUNTS - 1)
    seen_suits = np.minimum(seen[..., RANKS:], SEEN_SUIT_COUNTS - 1)
    ranks = _RANK_OFFSETS + held_ranks * SEEN_RANK_COUNTS + seen_ranks
    suits = RANK_FEATURES + held_suits * SEEN_SUIT_COUNTS + seen_suits
    return np.concatenate([ranks, suits], axis=-1)


def value_changes(weights: FloatArray, held: IntArray, seen: IntArray, change: int) -> FloatArray:
    """Return by how much the value of a hand changes if one count changes, for each rank and suit.

    Args:
        weights: the value of each feature, shape (FEATURES,).
        held: the counts of each hand, as for :func:`features`.
        seen: the counts of the next river.
        change: the change of the count, for example -1 for a card that is played.
    """
    before = features(held, seen)
    after = features(np.clip(held + change, 0, HELD_SUIT_COUNTS - 1), seen)
    return np.asarray(weights[after] - weights[before])


def _best_cards(cards: IntArray, ratings: FloatArray) -> IntArray:
    """Return the card with the highest rating in the last axis."""
    best = ratings.argmax(axis=-1)[..., None]
    return np.asarray(np.take_along_axis(cards, best, -1)[..., 0])


class SaintGames:
    """Many games in the same round and phase.

    Attributes:
        count: number of games.
        rows: the numbers of the games, shape (count,).
        round: the current round, from 1.
        noise: scale of Gumbel noise that is added to all ratings; for training.
        hands: cards, shape (count, seats, HAND_SIZE), with NO_CARD for a free place.
        stock: the cards to come, by game.
        river: the river, by game.
        previous_river: the river before the seats added cards to it, by game.
        future: the next river, by game.
        points: points, shape (count, seats).
        on_table: cards that can be picked up, by game; NO_CARD where one was picked up.
        order: seats from the worst shown hand to the best, shape (count, seats).
        shown: the shown pairs, shape (count, seats, 2).
        gap_classes: the class of the gap of each shown pair, shape (count, seats).
        picked: pick-ups in this round so far.
        watch: called at each moment of a round; for training.
    """

    def __init__(
        self, seats: int, count: int, weights: SaintWeights, rng: np.random.Generator
    ) -> None:
        self.seats, self.count, self.weights, self.rng = seats, count, weights, rng
        self.rows = np.arange(count)
        self.round = 1
        self.noise = 0.0
        self.points = np.zeros((count, seats))
        self.hands = np.full((count, seats, HAND_SIZE), NO_CARD)
        no_cards = np.zeros((count, 0), int)
        self.stock = self.river = self.previous_river = self.future = self.on_table = no_cards
        self.order = np.tile(np.arange(seats), (count, 1))
        self.shown = self.gap_classes = self.order
        self.picked = 0
        self.watch: Callable[[SaintGames, int], None] = lambda games, moment: None

    # The river

    def river_choices(self) -> IntArray:
        """Return the policy's cards for the river, shape (count, seats)."""
        return _best_cards(self.hands, self.river_ratings())

    def river_ratings(self) -> FloatArray:
        """Rate every card of every hand for the river, shape (count, seats, HAND_SIZE)."""
        weights = self.weights.hands[self.round, AFTER_RIVER]
        seen = card_counts(self.river)[:, None]
        changes = value_changes(weights, card_counts(self.hands), seen, -1)
        return self._card_ratings(changes, self.hands)

    def play_river(self, cards: IntArray) -> None:
        """Add a card of every seat to the river; ``cards`` has the shape (count, seats)."""
        self.hands = np.where(self.hands == cards[..., None], NO_CARD, self.hands)
        self.previous_river = self.river
        self.river = np.concatenate([self.river, cards], axis=1)
        self.watch(self, AFTER_RIVER)

    # The show

    def show_choices(self) -> IntArray:
        """Return the policy's pairs, shape (count, seats, 2); store the classes of their gaps."""
        firsts, seconds, ratings, gap_classes = self.pair_ratings()
        best = ratings.argmax(axis=2)[..., None]
        self.gap_classes = np.take_along_axis(gap_classes, best, 2)[..., 0]
        return np.concatenate(
            [np.take_along_axis(firsts, best, 2), np.take_along_axis(seconds, best, 2)], axis=2
        )

    def pair_ratings(self) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
        """Rate all pairs of every hand.

        The rating is the expected points of the round plus the value of the remaining hand.

        Returns:
            First card, second card, rating, and class of the gap: shape (count, seats, pairs) each.
        """
        firsts, seconds, values = self.pairs()
        best = values.max(axis=2)
        win_probability = self.weights.wins[self.round]
        ratings = np.empty(values.shape)
        gap_classes = np.empty(values.shape, dtype=np.int64)
        for seat in range(self.seats):
            best_other = np.delete(best, seat, axis=1).max(axis=1)
            gap = values[:, seat] - best_other[:, None]
            gap_classes[:, seat] = np.searchsorted(GAP_LIMITS, gap)
            # The winner of a round gets as many points as the number of the round.
            ratings[:, seat] = self.round * win_probability[gap_classes[:, seat]]
        if self.round < ROUNDS:
            ratings += self._value_changes_of_pairs(firsts, seconds)
        else:
            ratings += LAST_ROUND_TIE_BREAK * values
        ratings[seconds == NO_CARD] = IMPOSSIBLE
        if self.noise:
            ratings += self.rng.gumbel(0, self.noise, ratings.shape)
        return firsts, seconds, ratings, gap_classes

    def pairs(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return all pairs of every hand and their values, shape (count, seats, pairs) each.

        Hands of fewer cards have pairs with NO_CARD, which have the value -1.
        """
        hands = np.sort(self.hands, axis=2)
        most_cards = int((hands != NO_CARD).sum(axis=2).max())
        positions = zip(*combinations(range(most_cards), 2), strict=True)
        left, right = (np.array(column) for column in positions)
        firsts, seconds = hands[..., left], hands[..., right]
        shape = firsts.shape
        flat_shape = (shape[0] * shape[1], shape[2])
        rivers = np.repeat(self.river, self.seats, axis=0)
        values = pair_values(rivers, firsts.reshape(flat_shape), seconds.reshape(flat_shape))
        values = values.reshape(shape)
        values[seconds == NO_CARD] = -1
        return firsts, seconds, values

    def _value_changes_of_pairs(self, firsts: IntArray, seconds: IntArray) -> FloatArray:
        """Return by how much the value of each hand changes without a pair.

        The changes of ranks and suits are added. Two cards of the same rank (or suit) change one
        count by two; others change two counts by one.
        """
        weights = self.weights.hands[self.round, AFTER_SHOW]
        held, seen = card_counts(self.hands), card_counts(self.future)[:, None]
        one_less = value_changes(weights, held, seen, -1)
        two_less = value_changes(weights, held, seen, -2)
        rank_columns = RANK_OF[firsts], RANK_OF[seconds]
        suit_columns = _suit_columns(firsts), _suit_columns(seconds)
        total = np.zeros(firsts.shape)
        for first, second in (rank_columns, suit_columns):
            different = np.take_along_axis(one_less, first, 2) + np.take_along_axis(
                one_less, second, 2
            )
            total += np.where(first == second, np.take_along_axis(two_less, first, 2), different)
        return total

    def play_show(self, pairs: IntArray) -> None:
        """Show two cards of every seat, and compare; ``pairs`` has the shape (count, seats, 2)."""
        is_shown = (self.hands == pairs[..., :1]) | (self.hands == pairs[..., 1:])
        self.hands = np.where(is_shown, NO_CARD, self.hands)
        self.shown = pairs
        values = np.stack(
            [
                pair_values(self.river, pairs[:, seat, :1], pairs[:, seat, 1:])[:, 0]
                for seat in range(self.seats)
            ],
            axis=1,
        )
        values += self.rng.random(values.shape) * 1e-9  # Equal hands are ordered at random.
        self.order = values.argsort(axis=1)
        self.points[self.rows, self.order[:, -1]] += self.round
        self.on_table = np.concatenate([self.river, pairs.reshape(self.count, -1)], axis=1)
        self.picked = 0
        self.watch(self, AFTER_SHOW)

    # The pick-ups

    def picker(self) -> IntArray:
        """Return the seat that picks up, by game; the worst hand is first."""
        return np.asarray(self.order[:, self.picked % self.seats])

    def pick_up_choices(self) -> IntArray:
        """Return the policy's cards to pick up, by game."""
        return _best_cards(self.on_table, self.pick_up_ratings())

    def pick_up_ratings(self) -> FloatArray:
        """Rate every card on the table for the seat that picks up, shape of `on_table`."""
        is_first = self.picked < self.seats
        moment = AFTER_FIRST_PICK_UP if is_first else AFTER_SECOND_PICK_UP
        weights = self.weights.hands[self.round, moment]
        hands = self.hands[self.rows, self.picker()]
        changes = value_changes(weights, card_counts(hands), card_counts(self.future), 1)
        return self._card_ratings(changes, self.on_table)

    def play_pick_up(self, cards: IntArray) -> None:
        """Pick up a card in every game; after the last pick-up of a round, begin the next one."""
        seat = self.picker()
        hands = self.hands[self.rows, seat]
        free_place = (hands == NO_CARD).argmax(axis=1)
        hands[self.rows, free_place] = cards
        self.hands[self.rows, seat] = hands
        self.on_table = np.where(self.on_table == cards[:, None], NO_CARD, self.on_table)
        self.picked += 1
        if self.picked == self.seats:
            self.watch(self, AFTER_FIRST_PICK_UP)
        if self.picked == 2 * self.seats:
            self.watch(self, AFTER_SECOND_PICK_UP)
            turned = FUTURE_CARDS[self.seats]
            self.river, self.future = self.future, self.stock[:, :turned]
            self.stock = self.stock[:, turned:]
            self.round += 1

    def _card_ratings(self, changes: FloatArray, cards: IntArray) -> FloatArray:
        """Return the change of a hand's value for single cards.

        Args:
            changes: the changes by rank and suit, 17 in the last axis.
            cards: the cards, in the last axis.
        """
        ratings = np.take_along_axis(changes, RANK_OF[cards], -1)
        ratings = ratings + np.take_along_axis(changes, _suit_columns(cards), -1)
        if self.noise:
            ratings += self.rng.gumbel(0, self.noise, ratings.shape)
        ratings[cards == NO_CARD] = IMPOSSIBLE
        return ratings

    # Whole rounds

    def expected_points(self, moment: int) -> FloatArray:
        """Return the expected points to come, shape (count, seats), up to a constant per game."""
        weights = self.weights.hands[self.round, moment]
        seen = card_counts(self.future)[:, None]
        return np.asarray(weights[features(card_counts(self.hands), seen)].sum(axis=-1))

    def play_round(self) -> None:
        """Play a round from its beginning."""
        self.play_river(self.river_choices())
        self.play_show(self.show_choices())
        self.play_remaining_pick_ups()

    def play_remaining_pick_ups(self) -> None:
        """Play the rest of the pick-ups of a round; the last round has no pick-ups."""
        if self.round < ROUNDS:
            while self.picked < 2 * self.seats:
                self.play_pick_up(self.pick_up_choices())

    def repeat(self, copies: int) -> None:
        """Replace each game by this many copies, which are consecutive."""
        for name in ("hands", "stock", "points", "river", "future", "order", "on_table"):
            setattr(self, name, np.repeat(getattr(self, name), copies, axis=0))
        self.count *= copies
        self.rows = np.arange(self.count)


def _suit_columns(cards: IntArray) -> IntArray:
    """Return the index of each card's suit among the 17 counts; any suit for NO_CARD."""
    return np.asarray(RANKS + SUIT_OF[cards] % SUITS)
