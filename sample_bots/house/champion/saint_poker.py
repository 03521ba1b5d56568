"""Saint Poker: many games at once with a learned policy, and learned values some rounds later."""

from pathlib import Path

import numpy as np
from saint_hands import NONE, RANK_OF, Cards, Numbers
from saint_table import ROUNDS, SECOND, WIDTH, Tables, Weights, load
from search_interface import DeadlineCheck, SearchResult

from referee.games.saint_poker.actions import PickUp, River, Show
from referee.games.saint_poker.state import SaintPokerState
from referee.games.shared.cards import DECK, Card

WEIGHTS = Path(__file__).with_name("saint_poker.npz")
NUMBER = {card: number for number, card in enumerate(DECK)}
STAGES = ((10, 16), (4, 40), (2, 80))
"""Candidates of each stage, at most, and the deals in which each of them is played."""
AHEAD = {2: 2, 3: 2, 4: 1, 5: 1}
"""Rounds that are played after the current one, by the number of seats."""


class SaintPoker:
    """The search of Saint Poker for a number of seats."""

    def __init__(self, seats: int, nodes: float) -> None:
        self.weights = load(WEIGHTS, seats)
        self.nodes = nodes

    def choose(
        self, state: SaintPokerState, seat: int, seed: bytes, out_of_time: DeadlineCheck
    ) -> SearchResult:
        """Return the best action."""
        rng = np.random.default_rng(list(seed))
        search = _Search(state, seat, self.weights, rng)
        alive = search.candidates()
        totals, played = np.zeros(0), 0
        for most, worlds in STAGES:
            if out_of_time() or len(alive) == 1:
                break
            alive = alive[:most]
            number = max(4, round(worlds * self.nodes))
            values = search.values(alive, number)
            played += number * len(alive)
            totals = values if not len(totals) else totals[: len(alive)] + values
            order = np.argsort(-np.round(totals, 9), kind="stable")
            alive, totals = [alive[at] for at in order], totals[order]
        value = float(totals[0]) / max(1, played) if len(totals) else 0.0
        cards = [DECK[card] for card in alive[0]]
        return SearchResult(_action(state.phase, cards), value, played)


def _action(phase: str, cards: list[Card]) -> River | Show | PickUp:
    if phase == "river":
        return River(cards[0])
    return Show((cards[0], cards[1])) if phase == "show" else PickUp(cards[0])


class _Search:
    """A decision of a seat."""

    def __init__(
        self, state: SaintPokerState, seat: int, weights: Weights, rng: np.random.Generator
    ) -> None:
        self.state, self.seat, self.weights, self.rng = state, seat, weights, rng
        self.others = [other for other in range(state.seats) if other != seat]
        unseen = [*state.stock]
        for other in self.others:
            unseen += [c for c in state.hands[other] if c not in state.known[other]]
        self.unseen = np.array(sorted(NUMBER[c] for c in unseen))

    def tables(self, worlds: int) -> Tables:
        """Deal the hidden cards again in many worlds.

        The first cards of a hand that were not played yet are more often high: cards are drawn
        with the odds by which such a card is still held (Gumbel-top-k sampling).
        """
        state = self.state
        tables = Tables(state.seats, worlds, self.weights, self.rng)
        odds = self.weights.keeps[state.round] if state.round > 1 else np.zeros(13)
        keys = odds[RANK_OF[self.unseen]] + self.rng.gumbel(size=(worlds, len(self.unseen)))
        drawn = self.unseen[np.argsort(-keys, axis=1)]
        hands = np.full((worlds, state.seats, WIDTH), NONE)
        mine = [NUMBER[c] for c in state.hands[self.seat]]
        hands[:, self.seat, : len(mine)] = mine
        start = 0
        sizes = [len(state.hands[other]) - len(state.known[other]) for other in self.others]
        taken = self.rng.permuted(drawn[:, : sum(sizes)], axis=1)
        for other, size in zip(self.others, sizes, strict=True):
            known = [NUMBER[c] for c in state.known[other]]
            hands[:, other, : len(known)] = known
            hands[:, other, len(known) : len(known) + size] = taken[:, start : start + size]
            start += size
        tables.hands = hands
        tables.stock = self.rng.permuted(drawn[:, start:], axis=1)
        tables.round = state.round
        tables.points = np.tile(np.array(state.points, dtype=np.float64), (worlds, 1))
        tables.river = _tiled(state.river, worlds)
        tables.future = _tiled(state.future, worlds)
        if state.phase == "pick_up":
            tables.order = np.tile(np.array(state.order[::-1]), (worlds, 1))
            tables.picked = len(state.picked)
            tables.lying = _tiled(state.lying, worlds)
        return tables

    def candidates(self) -> list[tuple[int, ...]]:
        """Return the choices, the best by the policy first."""
        state = self.state
        if state.phase == "show":
            tables = self.tables(12)
            firsts, seconds, worth, _ = tables.rated_pairs()
            rated = worth[:, self.seat].mean(axis=0)
            order = np.argsort(-np.round(rated, 9), kind="stable")
            first, second = firsts[0, self.seat], seconds[0, self.seat]
            return [(int(first[at]), int(second[at])) for at in order]
        tables = self.tables(1)
        if state.phase == "river":
            cards, rated = tables.hands[0, self.seat], tables.rated_rivers()[0, self.seat]
        else:
            cards, rated = tables.lying[0], tables.rated_pick_ups()[0]
        order = np.argsort(-np.round(rated, 9), kind="stable")
        return [(int(cards[at]),) for at in order if cards[at] != NONE]

    def values(self, alive: list[tuple[int, ...]], worlds: int) -> Numbers:
        """Return the sum over worlds of the value of each choice."""
        tables = self.tables(worlds)
        state, seat, number = self.state, self.seat, len(alive)
        choices = np.tile(np.array(alive), (worlds, 1))
        tables.repeat(number)
        if state.phase == "river":
            cards = tables.rivers()
            cards[:, seat] = choices[:, 0]
            tables.play_rivers(cards)
        if state.phase in ("river", "show"):
            pairs = tables.shows()
            if state.phase == "show":
                pairs[:, seat] = choices
            tables.play_shows(pairs)
        else:
            tables.play_pick_ups(choices[:, 0])
        last = min(ROUNDS, state.round + AHEAD[state.seats])
        tables.play_all_pick_ups()
        for _ in range(last - state.round):
            tables.play_round()
        rated = self._rated(tables, last)
        return np.asarray(rated.reshape(worlds, number).sum(axis=0))

    def _rated(self, tables: Tables, last: int) -> Numbers:
        """Return the probability to be ahead of another seat, as a mean over the others."""
        worth, spread = tables.points, 0.3
        if last < ROUNDS:
            tables.round -= 1
            future, tables.future = tables.future, tables.river
            worth = worth + tables.lead(SECOND)
            spread = float(self.weights.spread[last, SECOND])
            tables.future = future
            tables.round += 1
        lead = worth[:, self.seat, None] - np.delete(worth, self.seat, axis=1)
        return np.asarray((np.tanh(0.85 * lead / spread) / 2 + 0.5).mean(axis=1))


def _tiled(cards: tuple[Card, ...], worlds: int) -> Cards:
    return np.tile(np.array([NUMBER[c] for c in cards], dtype=np.int64), (worlds, 1))
