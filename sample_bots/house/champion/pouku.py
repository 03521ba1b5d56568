"""Pouku: plays many deals to their ends with a learned policy, for every action."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pouku_points import RANKS, IntArray
from pouku_simulator import MAX_TURNS, FloatArray, PoukuDeals, PoukuWeights, load
from search_interface import DeadlineCheck, SearchResult
from search_stages import best_in_stages

from referee.games.contract import Action
from referee.games.pouku.actions import Discard, Give
from referee.games.pouku.state import DEALS, PoukuState
from referee.games.pouku.yaku import SHORTEST
from referee.games.shared.cards import RANK, Card

WEIGHTS = Path(__file__).with_name("pouku.npz")
SEARCH_STAGES = ((20, 900), (5, 900), (2, 1400))
"""The stages of the search, see `search_stages.Stages`."""
SAMPLES_PER_WORLD = 3
"""Sampled deals of the hidden cards per world; the worlds are chosen among them by likelihood."""
DISCARD_TEMPERATURE = 0.5
"""Points by which a discard must be better to be e times as likely for another seat."""
MIN_LOG_LIKELIHOOD = -4.0
"""Least logarithm of the likelihood of a discard; also added if the seat could have gone out."""
NONE = -1
"""Rank of a card that an action does not have."""


class Pouku:
    """The search of Pouku."""

    def __init__(self, seats: int, nodes: float) -> None:
        self.nodes = nodes
        self.weights: PoukuWeights | None = None
        self.expected_scores: list[FloatArray] = []

    def choose(
        self, state: PoukuState, seat: int, seed: bytes, out_of_time: DeadlineCheck
    ) -> SearchResult:
        """Return the best action."""
        if self.weights is None:  # the weights depend on options, which only the position has
            self.weights = load(WEIGHTS, state.form)
            # With starting points the number of deals is not known, but at least one follows.
            deals = DEALS * state.form.seats
            self.expected_scores = expected_score_tables(self.weights.leads, deals)
        rng = np.random.default_rng(list(seed))
        search = PoukuSearch(state, seat, self.weights, self.expected_scores, rng)
        candidates = search.candidates()
        best, value, playouts = best_in_stages(
            candidates, SEARCH_STAGES, self.nodes, out_of_time, search.sum_values
        )
        return SearchResult(best.action, value, playouts)


def expected_score_tables(leads: FloatArray, deals: int) -> list[FloatArray]:
    """Return the expected score against another side by the present lead.

    The score is the probability to be ahead at the end plus half the probability of equality. There
    is a table for 0, 1, ... ``deals - 1`` deals left. Its middle element is no lead.

    Args:
        leads: the distribution of the change of a lead in a deal, see `PoukuWeights.leads`.
        deals: number of tables.
    """
    tables = []
    later_change = np.array([0.0, 1.0, 0.0])  # distribution of the change in all deals left
    for _ in range(deals):
        # By symmetry, the score for a lead is the share of changes below it, plus half of those
        # that are equal.
        tables.append(np.cumsum(later_change) - later_change / 2)
        later_change = np.convolve(later_change, leads)
    return tables


@dataclass(frozen=True)
class PoukuCandidate:
    """An action and its changes of the position, in counts by rank."""

    action: Action
    rank: int
    """The rank of the discard; NONE for going out."""
    receiver: int
    """The seat whose field gets the discard."""
    shown_rank: int
    """The rank of the hand's card in a keep; NONE without a keep."""
    taken: IntArray
    """The cards taken from the fields in a keep, shape (seats, RANKS)."""
    kept_points: int
    """The points of the kept yaku with its point cards."""


class PoukuSearch:
    """A decision of a seat.

    Attributes:
        unseen: the ranks of the cards that the seat does not see, ascending.
        point_rank: the rank of the point card.
        expected_scores: the table of :func:`expected_score_tables` for the deals after this one.
        fields: counts, shape (seats, RANKS).
        hand: counts, shape (RANKS,).
        kept_points: the points of each seat's kept yaku.
    """

    def __init__(
        self,
        state: PoukuState,
        seat: int,
        weights: PoukuWeights,
        expected_scores: list[FloatArray],
        rng: np.random.Generator,
    ) -> None:
        self.state, self.seat, self.weights, self.rng = state, seat, weights, rng
        self.form = state.form
        self.others = [other for other in range(self.form.seats) if other != seat]
        hidden = [*state.stock, *(c for other in self.others for c in state.hands[other])]
        self.unseen = np.sort(ranks_of(hidden))
        self.point_rank = RANK[state.point_card] - 2
        self.expected_scores = expected_scores[
            max(0, DEALS * self.form.seats - len(state.deals) - 1)
        ]
        self.fields = np.array([rank_counts(field) for field in state.fields])
        self.hand = rank_counts(state.hands[seat])
        self.kept_points = np.array(
            [self._points_of_kept(state.kept_by_side(s)) for s in range(self.form.seats)]
        )

    def _points_of_kept(self, cards: tuple[Card, ...]) -> int:
        """Return the points of a kept yaku with its point cards; 0 without cards."""
        values, ranks = self.form.values, ranks_of(cards)
        if not cards:
            return 0
        if len(set(ranks.tolist())) == 1:
            points = values.group(len(cards))
        else:
            points = values.straight + len(cards) - SHORTEST
        return points + values.point * int((ranks == self.point_rank).sum())

    # Candidates

    def candidates(self) -> list[PoukuCandidate]:
        """Return the actions that differ not only in suits, the policy's choice first.

        The order is: going out, discards with a keep (by points), other discards (by rating).
        """
        state, seat = self.state, self.seat
        own_hand = self.hand[None, None].repeat(self.form.seats, axis=1)
        ratings = np.round(self._deals(own_hand).ratings(seat)[0], 9)
        different: dict[tuple[object, ...], PoukuCandidate] = {}
        for action in state.legal(seat):
            candidate = self._candidate(action)
            key = (
                (candidate.rank, candidate.receiver),
                (candidate.shown_rank, candidate.kept_points),
                candidate.taken.tobytes(),
            )
            different.setdefault(key, candidate)
        return sorted(
            different.values(),
            key=lambda candidate: (
                candidate.rank >= 0,
                candidate.shown_rank >= 0,
                -candidate.kept_points,
                candidate.receiver != seat,
                -ratings[candidate.rank],
            ),
        )

    def _candidate(self, action: Action) -> PoukuCandidate:
        taken = np.zeros_like(self.fields)
        if not isinstance(action, Discard | Give):
            return PoukuCandidate(action, NONE, self.seat, NONE, taken, 0)
        shown_rank = NONE
        for card in action.keep:
            owner = next((s for s, field in enumerate(self.state.fields) if card in field), None)
            if owner is None:
                shown_rank = RANK[card] - 2
            else:
                taken[owner, RANK[card] - 2] += 1
        receiver = self.form.side(self.seat)[1] if isinstance(action, Give) else self.seat
        kept_points = self._points_of_kept(action.keep)
        return PoukuCandidate(
            action, RANK[action.card] - 2, receiver, shown_rank, taken, kept_points
        )

    # Hidden cards

    def worlds(self, number: int) -> tuple[IntArray, IntArray]:
        """Deal the hidden cards again in a number of worlds.

        Hands with which a seat would have gone out, or would have discarded another card, are less
        likely.

        Returns:
            The hands as counts, shape (worlds, seats, RANKS), and the ranks of the stock, shape
            (worlds, turns).
        """
        samples = SAMPLES_PER_WORLD * number
        cards = self.rng.permuted(np.tile(self.unseen, (samples, 1)), axis=1)
        hands = np.zeros((samples, self.form.seats, RANKS), dtype=np.int64)
        hands[:, self.seat] = self.hand
        rows, dealt = np.arange(samples), 0
        for other in self.others:
            for _ in self.state.hands[other]:
                hands[rows, other, cards[:, dealt]] += 1
                dealt += 1
        log_likelihood = np.zeros(samples)
        for other in self.others:
            log_likelihood += self._log_likelihood(other, hands)
        likelihood = np.exp(log_likelihood - log_likelihood.max())
        # Systematic resampling: every sample is taken in proportion to its likelihood.
        positions = (np.arange(number) + self.rng.random()) / number
        rows = np.searchsorted(np.cumsum(likelihood) / likelihood.sum(), positions)
        rows = np.minimum(rows, samples - 1)
        return hands[rows], cards[rows, dealt : dealt + MAX_TURNS]

    def _log_likelihood(self, other: int, hands: IntArray) -> FloatArray:
        """Return the logarithm of the likelihood of the last discard of a seat, by sampled deal.

        It is zero without a discard, and after a keep, because then the fields of that moment are
        not restored.

        Args:
            other: the seat.
            hands: the sampled hands, shape (samples, seats, RANKS).
        """
        turns = self.state.turns
        last = next((n for n in range(len(turns) - 1, -1, -1) if turns[n].seat == other), None)
        if last is None or any(turn.keep for turn in turns[last:]):
            return np.zeros(len(hands))
        # Restore the position before the discard: take back all discards since then.
        deals = self._deals(hands.copy())
        for turn in turns[last:]:
            deals.fields[:, turn.field, RANK[turn.discard] - 2] -= 1
        rank = RANK[turns[last].discard] - 2
        deals.hands[:, other, rank] += 1
        _, can_go_out = deals.offers(other)
        # Softmax of the ratings.
        logits = deals.ratings(other) / DISCARD_TEMPERATURE
        logits -= logits.max(axis=1, keepdims=True)
        log_share = logits[:, rank] - np.log(np.exp(logits).sum(axis=1))
        going_out = np.where(can_go_out, MIN_LOG_LIKELIHOOD, 0.0)
        return np.asarray(going_out + np.maximum(log_share, MIN_LOG_LIKELIHOOD))

    # Values

    def _deals(self, hands: IntArray) -> PoukuDeals:
        """Return simulated deals at this position with these hands, shape (deals, seats, RANKS)."""
        deals = PoukuDeals(self.form, self.point_rank, self.weights)
        deals.hands = hands
        deals.fields = np.tile(self.fields, (len(hands), 1, 1))
        deals.kept_points = np.tile(self.kept_points, (len(hands), 1))
        deals.seat = self.seat
        moved = {turn.seat for turn in self.state.turns}
        deals.moved = [seat in moved for seat in range(self.form.seats)]
        return deals

    def sum_values(self, candidates: list[PoukuCandidate], worlds: int) -> FloatArray:
        """Return for each candidate the sum of its expected scores over new worlds.

        The simulated deals are all candidates in the first world, then all in the second world, and
        so on. Going out ends the deal, so it needs no simulation.
        """
        is_discard = [candidate.rank >= 0 for candidate in candidates]
        discards = [candidate for candidate in candidates if candidate.rank >= 0]
        result = np.zeros(len(candidates))
        if not all(is_discard):
            score = float(self._expected_scores(self._points_for_going_out())[0])
            result[is_discard.index(False)] = worlds * score
        hands, stock = self.worlds(worlds)
        count = len(discards)
        deals = self._deals(np.repeat(hands, count, axis=0))
        deals.stock = np.repeat(stock, count, axis=0)
        for index, candidate in enumerate(discards):
            self._apply(deals, slice(index, None, count), candidate)
        deals.moved[self.seat] = True
        deals.seat = (self.seat + 1) % self.form.seats
        deals.begin()
        scores = self._expected_scores(deals.play())
        result[np.flatnonzero(is_discard)] = scores.reshape(worlds, count).sum(axis=0)
        return result

    def _apply(self, deals: PoukuDeals, rows: slice, candidate: PoukuCandidate) -> None:
        """Do an action in some deals."""
        deals.hands[rows, self.seat, candidate.rank] -= 1
        deals.fields[rows, candidate.receiver, candidate.rank] += 1
        if candidate.shown_rank >= 0:
            deals.hands[rows, self.seat, candidate.shown_rank] -= 1
            deals.fields[rows] -= candidate.taken
            for seat in self.form.side(self.seat):
                deals.kept_points[rows, seat] = candidate.kept_points

    def _points_for_going_out(self) -> IntArray:
        """Return the points of all seats if the seat goes out, shape (1, seats)."""
        state, side = self.state, self.form.side(self.seat)
        score = state.scored(self.seat)[1]
        seats = range(self.form.seats)
        return np.array([[score if seat in side else -state.pays(seat) for seat in seats]])

    def _expected_scores(self, points: IntArray) -> FloatArray:
        """Return the expected score of the game by deal, as a mean over the other sides.

        Args:
            points: the points of the seats in each deal, shape (deals, seats).
        """
        totals = points + np.array(self.state.totals)
        side = self.form.side(self.seat)
        rivals = [other for other in self.others if other not in side]
        lead = totals[:, [self.seat]] - totals[:, rivals]
        table = self.expected_scores
        index = np.clip(lead + len(table) // 2, 0, len(table) - 1)
        return np.asarray(table[index].mean(axis=1))


def ranks_of(cards: tuple[Card, ...] | list[Card]) -> IntArray:
    """Return the ranks of cards, 0 for a two."""
    return np.array([RANK[card] - 2 for card in cards], dtype=np.int64)


def rank_counts(cards: tuple[Card, ...]) -> IntArray:
    """Count cards by rank, shape (RANKS,)."""
    return np.bincount(ranks_of(cards), minlength=RANKS)
