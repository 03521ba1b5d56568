"""Pokex: plays many deals to their ends with a learned policy, for every call and every play."""

from collections.abc import Sequence
from math import comb
from pathlib import Path

import numpy as np
from pokex_auction import SIDES, Auctions, best_calls, deal_points, win_probabilities
from pokex_hands import WILD, AnyArray, IntArray, card_numbers, rank_number
from pokex_simulator import (
    NO_SIDE,
    TRICKS,
    PokexDeals,
    PokexWeights,
    hand_strength,
    load,
    simulated_tricks,
    usual_wild_ranks,
)
from search_interface import DeadlineCheck, SearchResult
from search_stages import best_in_stages

from referee.games.contract import Action
from referee.games.pokex.actions import Bid, NameWild, PassBid, PlayCard, PlayPair
from referee.games.pokex.legal import HIGHEST_BID
from referee.games.pokex.state import PokexState, score_deal
from referee.games.shared.cards import DECK_WITH_JOKERS, RANKS, in_order

WEIGHTS = Path(__file__).with_name("pokex.npz")
AUCTION_DEALS = 160
"""Sampled deals for a call; multiplied by --nodes."""
MIN_AUCTION_DEALS = 8
SEARCH_STAGES = ((24, 800), (8, 800), (3, 800))
"""The stages for a play or a wild rank, see `search_stages.Stages`."""
MAX_RATED_WILD_RANKS = 5
"""Wild ranks with the strongest hands that are searched, beside the policy's choice."""
NAMED_RANK_LIKELIHOOD = {4: (0.002, 0.01, 0.1, 0.7, 1.0), 2: (0.001, 0.002, 0.02, 0.5, 1.0)}
"""Relative probability that a declarer names a rank.

The key is the number of seats, the index is the declarer's number of cards of this rank (0 to 4).
"""


class Pokex:
    """The search of Pokex."""

    def __init__(self, seats: int, nodes: float) -> None:
        self.nodes = nodes
        self.weights = load(WEIGHTS, seats)

    def choose(
        self, state: PokexState, seat: int, seed: bytes, out_of_time: DeadlineCheck
    ) -> SearchResult:
        """Return the best action."""
        search = PokexSearch(state, seat, self.weights, np.random.default_rng(list(seed)))
        if state.phase == "bid":
            deals = max(MIN_AUCTION_DEALS, round(AUCTION_DEALS * self.nodes))
            return search.best_call(deals, out_of_time)
        is_naming = state.phase == "name"
        candidates = search.wild_rank_candidates() if is_naming else search.play_candidates()
        best, value, playouts = best_in_stages(
            candidates, SEARCH_STAGES, self.nodes, out_of_time, search.sum_values
        )
        return SearchResult(search.action(best), value, playouts)


class PokexSearch:
    """A decision of a seat. A candidate is the number of a play or of a wild rank.

    Attributes:
        leader: the seat of role 0, see `pokex_simulator`.
        others: the other seats, the declarer first.
        unseen: the numbers of all cards that the seat does not see, ascending.
        centre: the numbers of the centre cards.
        wild: the number of the wild rank.
    """

    def __init__(
        self, state: PokexState, seat: int, weights: PokexWeights, rng: np.random.Generator
    ) -> None:
        self.state, self.seat, self.weights, self.rng = state, seat, weights, rng
        self.seats = state.seats
        self.leader = (state.declarer - 1 if state.bid else state.dealer + 1) % self.seats
        self.hand = card_numbers(in_order(state.hands[seat]))
        others = [other for other in range(self.seats) if other != seat]
        self.others = sorted(others, key=lambda other: other != state.declarer)
        hidden = [*state.aside, *(c for other in others for c in state.hands[other])]
        self.unseen = np.sort(card_numbers(tuple(hidden)))
        self.centre = card_numbers(state.centre)
        self.wild = rank_number(state.wild_rank)

    # Hidden cards

    def worlds(self, number: int) -> tuple[list[IntArray], IntArray]:
        """Deal the hidden cards again in a number of worlds.

        Returns:
            The hands by seat, shape (worlds, cards) each, and the centre cards by trick, shape
            (worlds, TRICKS, cards).
        """
        state = self.state
        cards = np.tile(self.unseen, (number, 1))
        keys = self.rng.random(cards.shape)
        hands = [np.tile(self.hand, (number, 1))] * self.seats
        uniform_seats = self.others
        if state.wild_rank and state.declarer != self.seat:
            declarer_size = len(state.hands[state.declarer])
            cards = self._with_declarer_first(cards, keys, declarer_size)
            hands[state.declarer] = cards[:, :declarer_size]
            cards = self.rng.permuted(cards[:, declarer_size:], axis=1)
            uniform_seats = self.others[1:]
        else:
            cards = np.take_along_axis(cards, keys.argsort(axis=1), axis=1)
        start = 0
        for other in uniform_seats:
            size = len(state.hands[other])
            hands[other] = cards[:, start : start + size]
            start += size
        return hands, self._centre_by_trick(number)

    def _with_declarer_first(self, cards: IntArray, keys: AnyArray, hand_size: int) -> IntArray:
        """Shuffle the unseen cards so that the declarer's hand comes first.

        The declarer probably holds many cards of the rank that it named. So the number of these
        cards in its hand is sampled first, by Bayes' rule.

        Args:
            cards: the unseen cards in each world, shape (worlds, cards).
            keys: random numbers of the same shape, which are overwritten.
            hand_size: number of cards in the declarer's hand.
        """
        named = np.flatnonzero(self.unseen // 4 == self.wild)  # columns of the named rank
        held = self._sampled_named_cards(len(named), hand_size, len(cards))
        # The `held` cards of the rank with the lowest keys come first, the others last.
        rank_of_key = keys[:, named].argsort(axis=1).argsort(axis=1)
        keys[:, named] = np.where(rank_of_key < held[:, None], -1.0, 2.0)
        return np.take_along_axis(cards, keys.argsort(axis=1), axis=1)

    def _sampled_named_cards(self, hidden: int, hand_size: int, worlds: int) -> IntArray:
        """Sample how many hidden cards of the named rank the declarer holds in each world.

        Args:
            hidden: unseen cards of the rank.
            hand_size: number of cards in the declarer's hand.
            worlds: number of worlds.
        """
        state, others = self.state, len(self.unseen) - hidden
        plays = [*(play for trick in state.tricks for play in trick.played), *state.played]
        shown = sum(
            card[0] == state.wild_rank
            for play in plays
            if play.seat == state.declarer
            for card in play.cards
        )
        likelihood = NAMED_RANK_LIKELIHOOD[self.seats]
        odds = [
            likelihood[shown + held] * number_of_hands(hidden, held, others, hand_size - held)
            for held in range(hidden + 1)
        ]
        cumulative = np.cumsum(odds) / sum(odds)
        return np.searchsorted(cumulative, self.rng.random(worlds))

    def _centre_by_trick(self, number: int) -> IntArray:
        """Return the centre cards of each trick; those with unknown order are shuffled."""
        state = self.state
        known = card_numbers(state.row[: 2 * len(state.tricks) + len(state.turned)])
        row = card_numbers(state.row) if state.row else self.centre
        rows = np.tile(row, (number, 1))
        if self.seats == 2:
            rows[:, len(known) :] = self.rng.permuted(rows[:, len(known) :], axis=1)
        return rows.reshape(number, TRICKS, -1)

    # Plays and wild ranks

    def action(self, candidate: int) -> Action:
        """Return the action of a candidate."""
        if self.state.phase == "name":
            return NameWild(RANKS[candidate])
        positions = self._deals(*self.worlds(1)).plays(self._role())
        cards = [DECK_WITH_JOKERS[self.hand[column[candidate]]] for column in positions]
        return PlayPair(in_order(cards)) if len(cards) == 2 else PlayCard(cards[0])

    def wild_rank_candidates(self) -> list[int]:
        """Return the wild ranks to search, the policy's choice first."""
        hands, centre = (np.tile(cards, (WILD, 1)) for cards in (self.hand, self.centre))
        rated = hand_strength(self.weights, hands, centre, np.arange(WILD))
        usual = int(usual_wild_ranks(hands[:1], centre[:1])[0])
        order = np.argsort(-np.round(rated, 9), kind="stable")[:MAX_RATED_WILD_RANKS].tolist()
        return [usual, *(rank for rank in order if rank != usual)]

    def play_candidates(self) -> list[int]:
        """Return the numbers of all plays, the policy's choice first."""
        gains, _ = self._deals(*self.worlds(1)).gains(self._role())
        return np.argsort(-np.round(gains[0], 6), kind="stable").tolist()  # type: ignore[no-any-return]

    def _role(self) -> int:
        return (self.seat - self.leader) % self.seats

    def _deals(
        self, hands: list[IntArray], centre: IntArray, wild: IntArray | None = None
    ) -> PokexDeals:
        """Return simulated deals at this position.

        Args:
            hands: the hands by seat, as of :meth:`worlds`.
            centre: the centre cards by trick, as of :meth:`worlds`.
            wild: the wild rank by row; by default that of the position.
        """
        state = self.state
        if wild is None:
            wild = np.full(len(centre), self.wild)
        by_role = [hands[(self.leader + role) % self.seats] for role in range(self.seats)]
        deals = PokexDeals(self.weights, by_role, centre, wild)
        if not state.bid:
            deals.tie_winner = NO_SIDE
        played = [card_numbers(play.cards) for play in state.played]
        deals.resume(len(state.tricks), played)
        deals.taken += [state.taken[self.leader % SIDES], state.taken[1 - self.leader % SIDES]]
        return deals

    def sum_values(self, candidates: Sequence[int], worlds: int) -> AnyArray:
        """Return for each candidate the sum over new worlds of the probability to win the game.

        The rows of the simulated deals are all candidates in the first world, then all in the
        second world, and so on.
        """
        hands, centre = self.worlds(worlds)
        count = len(candidates)
        hands = [np.repeat(hand, count, axis=0) for hand in hands]
        centre = np.repeat(centre, count, axis=0)
        by_row = np.tile(candidates, worlds)
        if self.state.phase == "name":
            deals = self._deals(hands, centre, by_row)
        else:
            deals = self._deals(hands, centre)
            deals.make(self._role(), by_row)
        taken = deals.play()
        values = self._win_probability_table()[taken[:, 0], taken[:, 1]]
        return np.asarray(values.reshape(worlds, count).sum(axis=0))

    def _win_probability_table(self) -> AnyArray:
        """Return the probability to win the game by the tricks of side 0 and of side 1.

        The shape is (TRICKS + 1, TRICKS + 1); the sides are those of the roles.
        """
        state, table = self.state, np.zeros((TRICKS + 1, TRICKS + 1))
        for first in range(TRICKS + 1):
            for second in range(TRICKS + 1):
                by_side = (first, second) if self.leader % SIDES == 0 else (second, first)
                points = np.array([score_deal(state.bid, state.declarer, by_side)])
                table[first, second] = self._win_probabilities(points)[0]
        return table

    def _win_probabilities(self, points: IntArray) -> AnyArray:
        """Return the probability to win the game, by row.

        Args:
            points: the points of the deal by side of the seats, shape (rows, 2).
        """
        totals = points + self.state.points
        # The side of this deal's dealer bids first in the next deal.
        next_first = self.state.dealer % SIDES
        ordered = totals[:, ::-1] if next_first else totals
        return win_probabilities(self.weights.results, ordered, self.seat % SIDES == next_first)

    # Auction

    def best_call(self, worlds: int, out_of_time: DeadlineCheck) -> SearchResult:
        """Return the best call.

        1. In each world, play out the tricks for every possible declarer.
        2. After each legal call, continue the auctions of all worlds by the learned values.
        3. Compare the mean probabilities to win the game.
        """
        state = self.state
        calls: list[Action] = [PassBid(), *map(Bid, range(state.bid + 1, HIGHEST_BID + 1))]
        if out_of_time():
            return SearchResult(self._usual_call(), 0.0, 0)
        first_seat = (state.dealer + 1) % self.seats
        classes, tricks, tricks_without_bid = self._auction_worlds(worlds, first_seat)
        values = []
        for call in calls:
            auctions = self._auctions(worlds)
            auctions.call(np.full(worlds, call.tricks if isinstance(call, Bid) else 0))
            auctions.play(self.weights, classes)
            points = deal_points(auctions, tricks, tricks_without_bid)
            by_side = points[:, ::-1] if first_seat % SIDES else points
            values.append(float(self._win_probabilities(by_side).mean()))
        best = int(np.argmax(np.round(values, 9)))
        return SearchResult(calls[best], 2 * values[best] - 1, worlds)

    def _auction_worlds(self, worlds: int, first_seat: int) -> tuple[IntArray, IntArray, IntArray]:
        """Deal worlds and play out their tricks; seats are numbered in the order of bidding.

        Returns:
            The strength classes of the hands, shape (worlds, seats). The tricks of each seat's side
            if it is the declarer, of the same shape. The tricks of side 0 without a bid, by world;
            not simulated if there is a bid.
        """
        hands, centre = self.worlds(worlds)
        hands = [hands[(first_seat + seat) % self.seats] for seat in range(self.seats)]
        flat_centre = np.tile(self.centre, (worlds, 1))
        ranks = [usual_wild_ranks(hand, flat_centre) for hand in hands]
        rated = [
            hand_strength(self.weights, hand, flat_centre, rank)
            for hand, rank in zip(hands, ranks, strict=True)
        ]
        classes = np.searchsorted(self.weights.strengths, np.stack(rated, axis=1))
        by_declarer = [
            simulated_tricks(self.weights, hands, centre, ranks, seat) for seat in range(self.seats)
        ]
        tricks = np.stack(by_declarer, axis=1)
        if self.state.bid:
            return classes, tricks, tricks[:, 0]
        return classes, tricks, simulated_tricks(self.weights, hands, centre, ranks, -1)

    def _usual_call(self) -> Action:
        """Return the call with the highest learned value, without simulation."""
        first_seat = self.state.dealer + 1
        auctions, hand, centre = self._auctions(1), self.hand[None], self.centre[None]
        rated = hand_strength(self.weights, hand, centre, usual_wild_ranks(hand, centre))
        situation = auctions.situations((self.seat - first_seat) % self.seats)
        values = self.weights.calls[situation, np.searchsorted(self.weights.strengths, rated)]
        tricks = int(best_calls(values, auctions.bid)[0])
        return Bid(tricks) if tricks else PassBid()

    def _auctions(self, number: int) -> Auctions:
        """Return auctions in this position; seats are numbered in the order of bidding."""
        auctions = Auctions.begin(self.seats, number)
        for call in self.state.auction:
            auctions.call(np.full(number, call.tricks))
        return auctions


def number_of_hands(hidden: int, held: int, others: int, other_cards: int) -> int:
    """Return the number of hands with ``held`` of ``hidden`` cards and some of the other cards.

    Args:
        hidden: cards of a rank.
        held: how many of them are in the hand.
        others: cards of other ranks.
        other_cards: how many of them are in the hand.
    """
    return comb(hidden, held) * comb(others, other_cards) if other_cards >= 0 else 0
