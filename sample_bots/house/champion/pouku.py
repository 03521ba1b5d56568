"""Pouku: plays many deals to their ends with a learned policy, for every action."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pouku_table import LONGEST, Numbers, PoukuTables, Weights, load
from pouku_worth import RANKS, Counts
from search_interface import DeadlineCheck, SearchResult
from search_stages import best_in_stages

from referee.games.contract import Action
from referee.games.pouku.actions import Discard, Give
from referee.games.pouku.state import DEALS, PoukuState
from referee.games.shared.cards import RANK, Card

WEIGHTS = Path(__file__).with_name("pouku.npz")
STAGES = ((20, 900), (5, 900), (2, 1400))
"""The stages of the search (`search_stages.Stages`)."""
SAMPLED = 3
"""Hidden hands are chosen from this many times as many."""
TEMPERATURE = 0.5
"""Points by which a discard must be better to be e times as likely for another seat."""
UNLIKELY = -4.0
"""Logarithm of the odds of a discard that the policy would not make."""


class Pouku:
    """The search of Pouku."""

    def __init__(self, seats: int, nodes: float) -> None:
        self.nodes = nodes
        self.weights: Weights | None = None
        self.wins: list[Numbers] = []

    def choose(
        self, state: PoukuState, seat: int, seed: bytes, out_of_time: DeadlineCheck
    ) -> SearchResult:
        """Return the best action."""
        if self.weights is None:  # the weights depend on options, which only the position has
            self.weights = load(WEIGHTS, state.form)
            self.wins = wins(self.weights.leads, DEALS * state.form.seats)
        rng = np.random.default_rng(list(seed))
        search = PoukuSearch(state, seat, self.weights, self.wins, rng)
        candidates = search.candidates()
        best, value, playouts = best_in_stages(
            candidates, STAGES, self.nodes, out_of_time, search.values
        )
        return SearchResult(best.action, value, playouts)


def wins(leads: Numbers, deals: int) -> list[Numbers]:
    """Return the score against a side by the lead, for every number of deals left.

    The middle of each array is no lead.
    """
    tables = []
    later = np.array([0.0, 1.0, 0.0])
    for _ in range(deals):
        below = np.cumsum(later) - later / 2
        tables.append(below)
        later = np.convolve(later, leads)
    return tables


@dataclass(frozen=True)
class Candidate:
    """An action and its changes of the position, in counts by rank."""

    action: Action
    rank: int
    """The rank of the discard; -1 for going out."""
    to: int
    """The seat whose field gets it."""
    shown: int
    """The rank of the hand's card in a keep; -1 without a keep."""
    taken: Counts
    """The cards taken from the fields, by seat and rank."""
    laid: int
    """The points of the kept yaku with its point cards."""


class PoukuSearch:
    """A decision of a seat."""

    def __init__(
        self,
        state: PoukuState,
        seat: int,
        weights: Weights,
        later: list[Numbers],
        rng: np.random.Generator,
    ) -> None:
        self.state, self.seat, self.weights, self.rng = state, seat, weights, rng
        self.form = state.form
        self.others = [other for other in range(self.form.seats) if other != seat]
        hidden = [*state.stock, *(c for other in self.others for c in state.hands[other])]
        self.unseen = np.sort(ranks_of(hidden))
        self.point = RANK[state.point_card] - 2
        self.wins = later[DEALS * self.form.seats - len(state.deals) - 1]
        self.fields = np.array([counted(field) for field in state.fields])
        self.hand = counted(state.hands[seat])
        self.laid = np.array([self._laid(state.kept_by_side(s)) for s in range(self.form.seats)])

    def _laid(self, kept: tuple[Card, ...]) -> int:
        """Return the points of a kept yaku with its point cards."""
        values, ranks = self.form.values, ranks_of(kept)
        if not kept:
            return 0
        group = len(set(ranks.tolist())) == 1
        worth = values.group(len(kept)) if group else values.straight + len(kept) - 4
        return worth + values.point * int((ranks == self.point).sum())

    def candidates(self) -> list[Candidate]:
        """Return the actions that differ not only in suits, the policy's choice first."""
        state, seat = self.state, self.seat
        tables = self._tables(self.hand[None, None].repeat(self.form.seats, axis=1))
        rated = np.round(tables.ratings(seat)[0], 9)
        found: dict[tuple[object, ...], Candidate] = {}
        for action in state.legal(seat):
            candidate = self._candidate(action)
            key = (
                (candidate.rank, candidate.to),
                (candidate.shown, candidate.laid),
                candidate.taken.tobytes(),
            )
            found.setdefault(key, candidate)
        return sorted(
            found.values(),
            key=lambda c: (c.rank >= 0, c.shown >= 0, -c.laid, c.to != seat, -rated[c.rank]),
        )

    def _candidate(self, action: Action) -> Candidate:
        taken = np.zeros_like(self.fields)
        if not isinstance(action, Discard | Give):
            return Candidate(action, -1, self.seat, -1, taken, 0)
        shown = -1
        for card in action.keep:
            owner = next((s for s, field in enumerate(self.state.fields) if card in field), None)
            if owner is None:
                shown = RANK[card] - 2
            else:
                taken[owner, RANK[card] - 2] += 1
        to = self.form.side(self.seat)[1] if isinstance(action, Give) else self.seat
        laid = self._laid(action.keep)
        return Candidate(action, RANK[action.card] - 2, to, shown, taken, laid)

    def _tables(self, hands: Counts) -> PoukuTables:
        """Return deals with these hands."""
        tables = PoukuTables(self.form, self.point, self.weights)
        tables.hands = hands
        tables.fields = np.tile(self.fields, (len(hands), 1, 1))
        tables.laid = np.tile(self.laid, (len(hands), 1))
        tables.seat = self.seat
        moved = {turn.seat for turn in self.state.turns}
        tables.moved = [s in moved for s in range(self.form.seats)]
        return tables

    def worlds(self, number: int) -> tuple[Counts, Counts]:
        """Deal the hidden cards again: return the hands and the stocks.

        Hands with which a seat would have gone out, or would have discarded another card, are
        less likely.
        """
        cards = self.rng.permuted(np.tile(self.unseen, (SAMPLED * number, 1)), axis=1)
        hands = np.zeros((len(cards), self.form.seats, RANKS), dtype=np.int64)
        hands[:, self.seat] = self.hand
        rows, at = np.arange(len(cards)), 0
        for other in self.others:
            for _ in self.state.hands[other]:
                hands[rows, other, cards[:, at]] += 1
                at += 1
        odds = np.zeros(len(cards))
        for other in self.others:
            odds += self._odds(other, hands)
        odds = np.exp(odds - odds.max())
        # Systematic resampling: every sample is taken in proportion to its odds.
        steps = (np.arange(number) + self.rng.random()) / number
        rows = np.searchsorted(np.cumsum(odds) / odds.sum(), steps)
        rows = np.minimum(rows, len(cards) - 1)
        return hands[rows], cards[rows, at : at + LONGEST]

    def _odds(self, other: int, hands: Counts) -> Numbers:
        """Return the logarithm of the odds of the last discard of a seat with each hand."""
        turns = self.state.turns
        last = next((n for n in range(len(turns) - 1, -1, -1) if turns[n].seat == other), None)
        if last is None or any(turn.keep for turn in turns[last:]):
            return np.zeros(len(hands))
        tables = self._tables(hands.copy())
        for turn in turns[last:]:
            tables.fields[:, turn.field, RANK[turn.discard] - 2] -= 1
        rank = RANK[turns[last].discard] - 2
        tables.hands[:, other, rank] += 1
        _, out = tables.worth(other)
        rated = tables.ratings(other) / TEMPERATURE
        rated -= rated.max(axis=1, keepdims=True)
        log_share = rated[:, rank] - np.log(np.exp(rated).sum(axis=1))
        return np.asarray(np.where(out, UNLIKELY, 0.0) + np.maximum(log_share, UNLIKELY))

    def values(self, alive: list[Candidate], number: int) -> Numbers:
        """Return the sum over worlds of the value of each candidate."""
        playing = [candidate for candidate in alive if candidate.rank >= 0]
        result = np.zeros(len(alive))
        if len(playing) < len(alive):
            at = next(n for n, candidate in enumerate(alive) if candidate.rank < 0)
            result[at] = number * float(self._rated(self._won())[0])
        hands, stock = self.worlds(number)
        count = len(playing)
        tables = self._tables(np.repeat(hands, count, axis=0))
        tables.stock = np.repeat(stock, count, axis=0)
        for n, candidate in enumerate(playing):
            self._apply(tables, slice(n, None, count), candidate)
        tables.moved[self.seat] = True
        tables.seat = (self.seat + 1) % self.form.seats
        tables.begin()
        rated = self._rated(tables.play()).reshape(number, count).sum(axis=0)
        result[[n for n, candidate in enumerate(alive) if candidate.rank >= 0]] = rated
        return result

    def _apply(self, tables: PoukuTables, rows: slice, candidate: Candidate) -> None:
        """Do an action in some deals."""
        tables.hands[rows, self.seat, candidate.rank] -= 1
        tables.fields[rows, candidate.to, candidate.rank] += 1
        if candidate.shown >= 0:
            tables.hands[rows, self.seat, candidate.shown] -= 1
            tables.fields[rows] -= candidate.taken
            for seat in self.form.side(self.seat):
                tables.laid[rows, seat] = candidate.laid

    def _won(self) -> Counts:
        """Return the points of all seats if the seat goes out."""
        state, side = self.state, self.form.side(self.seat)
        scored = state.scored(self.seat)[1]
        return np.array([[scored if s in side else -state.pays(s) for s in range(self.form.seats)]])

    def _rated(self, points: Counts) -> Numbers:
        """Return the expected score of the game: the mean over the other sides."""
        totals = points + np.array(self.state.totals)
        side = self.form.side(self.seat)
        rivals = [other for other in self.others if other not in side]
        lead = totals[:, [self.seat]] - totals[:, rivals]
        middle = len(self.wins) // 2
        return np.asarray(self.wins[np.clip(lead + middle, 0, len(self.wins) - 1)].mean(axis=1))


def ranks_of(cards: tuple[Card, ...] | list[Card]) -> Counts:
    """Return the ranks of cards, 0 for a two."""
    return np.array([RANK[card] - 2 for card in cards], dtype=np.int64)


def counted(cards: tuple[Card, ...]) -> Counts:
    """Count cards by rank."""
    return np.bincount(ranks_of(cards), minlength=RANKS)
