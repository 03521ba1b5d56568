"""Pokex: plays many deals to their ends with a learned policy, for every call and every play."""

from collections.abc import Sequence
from math import comb
from pathlib import Path

import numpy as np
from pokex_auction import SIDES, Auctions, best_calls, chances, deal_points
from pokex_hands import WILD, Cards, Numbers, numbers_of, rank_number
from pokex_table import TRICKS, PokexTables, Weights, best_ranks, load, strength, tricks_of
from search_interface import DeadlineCheck, SearchResult
from search_stages import best_in_stages

from referee.games.contract import Action
from referee.games.pokex.actions import Bid, NameWild, PassBid, PlayCard, PlayPair
from referee.games.pokex.legal import HIGHEST_BID
from referee.games.pokex.state import PokexState, score_deal
from referee.games.shared.cards import DECK_WITH_JOKERS, RANKS, in_order

WEIGHTS = Path(__file__).with_name("pokex.npz")
AUCTION_DEALS = 160
"""Sampled deals for a call."""
STAGES = ((24, 800), (8, 800), (3, 800))
"""The stages of the search (`search_stages.Stages`)."""
NAMED = {4: (0.002, 0.01, 0.1, 0.7, 1.0), 2: (0.001, 0.002, 0.02, 0.5, 1.0)}
"""Relative probability that a declarer names a rank, by the number of its cards in the hand."""


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
            return search.call(max(8, round(AUCTION_DEALS * self.nodes)), out_of_time)
        candidates = search.ranks() if state.phase == "name" else search.plays()
        best, value, playouts = best_in_stages(
            candidates, STAGES, self.nodes, out_of_time, search.values
        )
        return SearchResult(search.action(best), value, playouts)


class PokexSearch:
    """A decision of a seat. A candidate is the number of a play or of a wild rank."""

    def __init__(
        self, state: PokexState, seat: int, weights: Weights, rng: np.random.Generator
    ) -> None:
        self.state, self.seat, self.weights, self.rng = state, seat, weights, rng
        self.seats = state.seats
        self.leader = (state.declarer - 1 if state.bid else state.dealer + 1) % self.seats
        self.hand = numbers_of(in_order(state.hands[seat]))
        others = [other for other in range(self.seats) if other != seat]
        self.others = sorted(others, key=lambda other: other != state.declarer)
        hidden = [*state.aside, *(c for other in others for c in state.hands[other])]
        self.unseen = np.sort(numbers_of(tuple(hidden)))
        self.centre = numbers_of(state.centre)
        self.wild = rank_number(state.wild_rank)

    def worlds(self, number: int) -> tuple[list[Cards], Cards]:
        """Deal the hidden cards again: return the hands by seat and the centre cards by trick."""
        state = self.state
        cards = np.tile(self.unseen, (number, 1))
        keys = self.rng.random(cards.shape)
        hands = [np.tile(self.hand, (number, 1))] * self.seats
        at = 0
        if state.wild_rank and state.declarer != self.seat:
            at = len(state.hands[state.declarer])
            cards = self._by_name(cards, keys, at)
            hands[state.declarer] = cards[:, :at]
            cards = self.rng.permuted(cards[:, at:], axis=1)
        else:
            cards = np.take_along_axis(cards, keys.argsort(axis=1), axis=1)
        start = 0
        for other in self.others[at > 0 :]:
            size = len(state.hands[other])
            hands[other] = cards[:, start : start + size]
            start += size
        return hands, self._rows(number)

    def _by_name(self, cards: Cards, keys: Numbers, size: int) -> Cards:
        """Order cards so that the declarer's come first.

        The declarer probably holds many cards of the rank that it named.
        """
        state = self.state
        named = np.flatnonzero(self.unseen // 4 == self.wild)
        plays = [*(play for trick in state.tricks for play in trick.played), *state.played]
        shown = sum(
            card[0] == state.wild_rank
            for play in plays
            if play.seat == state.declarer
            for card in play.cards
        )
        hidden, total = len(named), len(self.unseen)
        odds = [
            NAMED[self.seats][shown + held] * ways(hidden, held, total - hidden, size - held)
            for held in range(hidden + 1)
        ]
        share = np.cumsum(odds) / sum(odds)
        held = np.searchsorted(share, self.rng.random(len(cards)))
        order = keys[:, named].argsort(axis=1).argsort(axis=1)
        keys[:, named] = np.where(order < held[:, None], -1.0, 2.0)
        return np.take_along_axis(cards, keys.argsort(axis=1), axis=1)

    def _rows(self, number: int) -> Cards:
        """Return the centre cards in the order of the tricks; unknown ones are shuffled."""
        state = self.state
        known = numbers_of(state.row[: 2 * len(state.tricks) + len(state.turned)])
        row = numbers_of(state.row) if state.row else self.centre
        rows = np.tile(row, (number, 1))
        if self.seats == 2:
            rows[:, len(known) :] = self.rng.permuted(rows[:, len(known) :], axis=1)
        return rows.reshape(number, TRICKS, -1)

    def action(self, candidate: int) -> Action:
        """Return the action of a candidate."""
        if self.state.phase == "name":
            return NameWild(RANKS[candidate])
        table = self._table(*self.worlds(1))
        cards = [DECK_WITH_JOKERS[self.hand[at[candidate]]] for at in table.plays(self._role())]
        return PlayPair(in_order(cards)) if len(cards) == 2 else PlayCard(cards[0])

    def ranks(self) -> list[int]:
        """Return the wild ranks to search, the policy's choice first."""
        hands, centre = (np.tile(cards, (WILD, 1)) for cards in (self.hand, self.centre))
        rated = strength(self.weights, hands, centre, np.arange(WILD))
        first = int(best_ranks(hands[:1], centre[:1])[0])
        order = np.argsort(-np.round(rated, 9), kind="stable")[:5].tolist()
        return [first, *(rank for rank in order if rank != first)]

    def plays(self) -> list[int]:
        """Return the plays, the policy's choice first."""
        gains, _ = self._table(*self.worlds(1)).gains(self._role())
        return np.argsort(-np.round(gains[0], 6), kind="stable").tolist()  # type: ignore[no-any-return]

    def _role(self) -> int:
        return (self.seat - self.leader) % self.seats

    def _table(self, hands: list[Cards], row: Cards, wild: Cards | None = None) -> PokexTables:
        """Return deals at this position."""
        state = self.state
        if wild is None:
            wild = np.full(len(row), self.wild)
        roles = [hands[(self.leader + role) % self.seats] for role in range(self.seats)]
        tables = PokexTables(self.weights, roles, row, wild)
        if not state.bid:
            tables.ties = -1
        played = [numbers_of(play.cards) for play in state.played]
        tables.resume(len(state.tricks), played)
        tables.taken += [state.taken[self.leader % SIDES], state.taken[1 - self.leader % SIDES]]
        return tables

    def values(self, alive: Sequence[int], number: int) -> Numbers:
        """Return the sum over worlds of the value of each candidate."""
        hands, row = self.worlds(number)
        count = len(alive)
        hands, row = [np.repeat(h, count, axis=0) for h in hands], np.repeat(row, count, axis=0)
        candidates = np.tile(alive, number)
        if self.state.phase == "name":
            tables = self._table(hands, row, candidates)
        else:
            tables = self._table(hands, row)
            tables.make(self._role(), candidates)
        taken = tables.play()
        won = self._by_tricks()[taken[:, 0], taken[:, 1]]
        return np.asarray(won.reshape(number, count).sum(axis=0))

    def _by_tricks(self) -> Numbers:
        """Return the probability to win the game by the tricks of the two sides of the roles."""
        state, table = self.state, np.zeros((TRICKS + 1, TRICKS + 1))
        for first in range(TRICKS + 1):
            for second in range(TRICKS + 1):
                by_side = (first, second) if self.leader % SIDES == 0 else (second, first)
                points = np.array([score_deal(state.bid, state.declarer, by_side)])
                table[first, second] = self._won(points)[0]
        return table

    def _won(self, points: Cards) -> Numbers:
        """Return the probability to win the game by the points of the deal by side."""
        totals = points + self.state.points
        first = self.state.dealer % SIDES
        ordered = totals[:, ::-1] if first else totals
        return chances(self.weights.results, ordered, self.seat % SIDES == first)

    def call(self, number: int, out_of_time: DeadlineCheck) -> SearchResult:
        """Return the best call."""
        state, seats = self.state, self.seats
        calls: list[Action] = [PassBid(), *map(Bid, range(state.bid + 1, HIGHEST_BID + 1))]
        if out_of_time():
            return SearchResult(self._usual_call(), 0.0, 0)
        hands, row = self.worlds(number)
        start = (state.dealer + 1) % seats
        hands = [hands[(start + seat) % seats] for seat in range(seats)]  # in the order of bidding
        flat = np.tile(self.centre, (number, 1))
        ranks = [best_ranks(hand, flat) for hand in hands]
        rated = [strength(self.weights, h, flat, r) for h, r in zip(hands, ranks, strict=True)]
        classes = np.searchsorted(self.weights.strengths, np.stack(rated, axis=1))
        tricks = [tricks_of(self.weights, hands, row, ranks, seat) for seat in range(seats)]
        taken = np.stack(tricks, axis=1)
        passed = taken[:, 0]
        if not state.bid:
            passed = tricks_of(self.weights, hands, row, ranks, -1)
        values = []
        for call in calls:
            auctions = self._auctions(number)
            auctions.call(np.full(number, call.tricks if isinstance(call, Bid) else 0))
            auctions.play(self.weights, classes)
            points = deal_points(auctions, taken, passed)
            values.append(float(self._won(points[:, ::-1] if start % SIDES else points).mean()))
        best = int(np.argmax(np.round(values, 9)))
        return SearchResult(calls[best], 2 * values[best] - 1, number)

    def _usual_call(self) -> Action:
        """Return the call of the table."""
        start, seats = self.state.dealer + 1, self.seats
        auctions, hand, centre = self._auctions(1), self.hand[None], self.centre[None]
        rated = strength(self.weights, hand, centre, best_ranks(hand, centre))
        situation = auctions.situations((self.seat - start) % seats)
        values = self.weights.calls[situation, np.searchsorted(self.weights.strengths, rated)]
        tricks = int(best_calls(values, auctions.bid)[0])
        return Bid(tricks) if tricks else PassBid()

    def _auctions(self, number: int) -> Auctions:
        """Return auctions in this position; seats are numbered in the order of bidding."""
        state = self.state
        auctions = Auctions.begin(self.seats, number)
        for call in state.auction:
            auctions.call(np.full(number, call.tricks))
        return auctions


def ways(hidden: int, held: int, rest: int, other: int) -> int:
    """Return the number of hands with ``held`` of the hidden cards of a rank and other cards."""
    return comb(hidden, held) * comb(rest, other) if other >= 0 else 0
