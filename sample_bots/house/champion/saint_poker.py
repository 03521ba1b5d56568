"""Saint Poker: many games at once with a learned policy, and learned values some rounds later."""

from pathlib import Path

import numpy as np
from saint_hands import NO_CARD, RANK_OF, RANKS, FloatArray, IntArray
from saint_simulator import (
    AFTER_SECOND_PICK_UP,
    HAND_SIZE,
    ROUNDS,
    SaintGames,
    SaintWeights,
    load,
)
from search_interface import DeadlineCheck, SearchResult

from referee.games.saint_poker.actions import PickUp, River, Show
from referee.games.saint_poker.state import SaintPokerState
from referee.games.shared.cards import DECK, Card

WEIGHTS = Path(__file__).with_name("saint_poker.npz")
NUMBER = {card: number for number, card in enumerate(DECK)}
SEARCH_STAGES = ((10, 16), (4, 40), (2, 80))
"""Candidates of each stage, at most, and the worlds in which each of them is played."""
MIN_WORLDS = 4
RANKING_WORLDS = 12
"""Worlds in which all pairs to show are rated by the policy, to order the candidates."""
ROUNDS_AHEAD = {2: 2, 3: 2, 4: 1, 5: 1}
"""Rounds that are played after the current one, by the number of seats."""
FINAL_SPREAD = 0.3
"""Scale of a lead at the end of the game, in points: a lead of one point counts almost as a win."""
LOGISTIC_SLOPE = 0.85
"""A lead of x standard deviations has the probability (1 + tanh(0.85 x)) / 2, which is close to the
normal distribution."""

CardChoice = tuple[int, ...]
"""The numbers of the cards of an action: two to show, otherwise one."""


class SaintPoker:
    """The search of Saint Poker for a number of seats."""

    def __init__(self, seats: int, nodes: float) -> None:
        self.weights = load(WEIGHTS, seats)
        self.nodes = nodes

    def choose(
        self, state: SaintPokerState, seat: int, seed: bytes, out_of_time: DeadlineCheck
    ) -> SearchResult:
        """Return the best action.

        The stages are like those of `search_stages`, but with a number of worlds per candidate.
        """
        rng = np.random.default_rng(list(seed))
        search = SaintPokerSearch(state, seat, self.weights, rng)
        alive = search.candidates()
        totals, worlds_of_best, playouts = np.zeros(0), 0, 0
        for max_candidates, stage_worlds in SEARCH_STAGES:
            if out_of_time() or len(alive) == 1:
                break
            alive = alive[:max_candidates]
            worlds = max(MIN_WORLDS, round(stage_worlds * self.nodes))
            values = search.sum_values(alive, worlds)
            worlds_of_best += worlds
            playouts += worlds * len(alive)
            totals = values if not len(totals) else totals[: len(alive)] + values
            order = np.argsort(-np.round(totals, 9), kind="stable")
            alive, totals = [alive[index] for index in order], totals[order]
        # The values are probabilities to end ahead of another seat.
        value = 2 * float(totals[0]) / worlds_of_best - 1 if len(totals) else 0.0
        cards = [DECK[card] for card in alive[0]]
        return SearchResult(_action(state.phase, cards), value, playouts)


def _action(phase: str, cards: list[Card]) -> River | Show | PickUp:
    if phase == "river":
        return River(cards[0])
    return Show((cards[0], cards[1])) if phase == "show" else PickUp(cards[0])


class SaintPokerSearch:
    """A decision of a seat.

    Attributes:
        unseen: the numbers of the cards that the seat does not see, ascending.
    """

    def __init__(
        self, state: SaintPokerState, seat: int, weights: SaintWeights, rng: np.random.Generator
    ) -> None:
        self.state, self.seat, self.weights, self.rng = state, seat, weights, rng
        self.others = [other for other in range(state.seats) if other != seat]
        unseen = [*state.stock]
        for other in self.others:
            unseen += [c for c in state.hands[other] if c not in state.known[other]]
        self.unseen = np.array(sorted(NUMBER[c] for c in unseen))

    def sampled_games(self, worlds: int) -> SaintGames:
        """Return games at this position, with the hidden cards dealt again in each world."""
        state = self.state
        games = SaintGames(state.seats, worlds, self.weights, self.rng)
        games.hands, games.stock = self._sampled_cards(worlds)
        games.round = state.round
        games.points = np.tile(np.array(state.points, dtype=np.float64), (worlds, 1))
        games.river = _tiled(state.river, worlds)
        games.future = _tiled(state.future, worlds)
        if state.phase == "pick_up":
            games.order = np.tile(np.array(state.order[::-1]), (worlds, 1))
            games.picked = len(state.picked)
            games.on_table = _tiled(state.lying, worlds)
        return games

    def _sampled_cards(self, worlds: int) -> tuple[IntArray, IntArray]:
        """Deal the hidden cards: return hands, shape (worlds, seats, HAND_SIZE), and stocks.

        A hidden card of a hand is one that was not played yet, so it is more often high. The cards
        of all hidden hands are drawn together, without replacement, with the learned odds that
        such a card is still held (Gumbel-top-k sampling). Then they are dealt to the seats.
        """
        state = self.state
        log_odds = self.weights.keeps[state.round] if state.round > 1 else np.zeros(RANKS)
        noise = self.rng.gumbel(size=(worlds, len(self.unseen)))
        keys = log_odds[RANK_OF[self.unseen]] + noise
        drawn = self.unseen[np.argsort(-keys, axis=1)]
        hands = np.full((worlds, state.seats, HAND_SIZE), NO_CARD)
        own_cards = [NUMBER[c] for c in state.hands[self.seat]]
        hands[:, self.seat, : len(own_cards)] = own_cards
        hidden = [len(state.hands[other]) - len(state.known[other]) for other in self.others]
        dealt = self.rng.permuted(drawn[:, : sum(hidden)], axis=1)
        start = 0
        for other, size in zip(self.others, hidden, strict=True):
            known = [NUMBER[c] for c in state.known[other]]
            hands[:, other, : len(known)] = known
            hands[:, other, len(known) : len(known) + size] = dealt[:, start : start + size]
            start += size
        return hands, self.rng.permuted(drawn[:, start:], axis=1)

    def candidates(self) -> list[CardChoice]:
        """Return all choices, the best by the policy first."""
        state, seat = self.state, self.seat
        if state.phase == "show":
            games = self.sampled_games(RANKING_WORLDS)
            firsts, seconds, ratings, _ = games.pair_ratings()
            mean_ratings = ratings[:, seat].mean(axis=0)
            order = np.argsort(-np.round(mean_ratings, 9), kind="stable")
            first, second = firsts[0, seat], seconds[0, seat]
            return [(int(first[index]), int(second[index])) for index in order]
        games = self.sampled_games(1)
        if state.phase == "river":
            cards, card_ratings = games.hands[0, seat], games.river_ratings()[0, seat]
        else:
            cards, card_ratings = games.on_table[0], games.pick_up_ratings()[0]
        order = np.argsort(-np.round(card_ratings, 9), kind="stable")
        return [(int(cards[index]),) for index in order if cards[index] != NO_CARD]

    def sum_values(self, candidates: list[CardChoice], worlds: int) -> FloatArray:
        """Return for each candidate the sum of its values over new worlds.

        The simulated games are all candidates in the first world, then all in the second world, and
        so on.
        """
        games = self.sampled_games(worlds)
        state, seat, count = self.state, self.seat, len(candidates)
        choices = np.tile(np.array(candidates), (worlds, 1))
        games.repeat(count)
        if state.phase == "river":
            cards = games.river_choices()
            cards[:, seat] = choices[:, 0]
            games.play_river(cards)
        if state.phase in ("river", "show"):
            pairs = games.show_choices()
            if state.phase == "show":
                pairs[:, seat] = choices
            games.play_show(pairs)
        else:
            games.play_pick_up(choices[:, 0])
        last_round = min(ROUNDS, state.round + ROUNDS_AHEAD[state.seats])
        games.play_remaining_pick_ups()
        for _ in range(last_round - state.round):
            games.play_round()
        values = self._final_values(games, last_round)
        return np.asarray(values.reshape(worlds, count).sum(axis=0))

    def _final_values(self, games: SaintGames, last_round: int) -> FloatArray:
        """Return the value of each game after its last simulated round.

        It is the probability to end the game ahead of another seat, as a mean over the others.
        """
        points, spread = games.points, FINAL_SPREAD
        if last_round < ROUNDS:
            # The games have begun the next round, but the values of hands belong to the end of the
            # last one. So go back for a moment.
            games.round -= 1
            future, games.future = games.future, games.river
            points = points + games.expected_points(AFTER_SECOND_PICK_UP)
            spread = float(self.weights.spread[last_round, AFTER_SECOND_PICK_UP])
            games.future = future
            games.round += 1
        lead = points[:, self.seat, None] - np.delete(points, self.seat, axis=1)
        return np.asarray((np.tanh(LOGISTIC_SLOPE * lead / spread) / 2 + 0.5).mean(axis=1))


def _tiled(cards: tuple[Card, ...], worlds: int) -> IntArray:
    """Return the numbers of cards once for each world, shape (worlds, cards)."""
    return np.tile(np.array([NUMBER[c] for c in cards], dtype=np.int64), (worlds, 1))
