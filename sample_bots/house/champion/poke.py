"""Poke: draws by simulated deals, tricks by the solution of many open deals.

The value of a result is the probability to win the rubber.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from poke_hands import (
    HAND_SIZE,
    ILLEGAL,
    MAX_PLAY_SIZE,
    RANKS,
    STAND,
    BoolArray,
    FloatArray,
    IntArray,
    TrickSolution,
    allowed_draws,
    bonuses,
    discarded,
    hand_kinds,
    hand_values,
    lead_values,
    misfit_positions,
    plays_of_subsets,
    solve_tricks,
    sorted_by_group,
)
from poke_simulator import (
    DEALER,
    NON_DEALER,
    PokeDeals,
    Rubber,
    draw_patterns,
    load,
    sweep_lead,
)
from search_interface import DeadlineCheck, SearchResult

from referee.games.poke.actions import Answer, Draw, Lead, Stand
from referee.games.poke.state import PokeState
from referee.games.shared.cards import DECK, Card

WEIGHTS = Path(__file__).with_name("poke.npz")
NUMBER = {card: number for number, card in enumerate(DECK)}
DRAW_WORLDS = 1000
"""Worlds (deals of the hidden cards) in which each draw is played; multiplied by --nodes."""
TRICK_WORLDS = 500
"""Worlds whose tricks are solved; multiplied by --nodes."""
MIN_WORLDS = 8
STOCK_CARDS = 18
"""Cards of the stock in simulated draws; both seats together draw fewer."""
SAMPLES_PER_WORLD = 4
"""Sampled hands of the other seat per world; the worlds are chosen among them by likelihood."""
DRAW_LIKELIHOOD_WEIGHT = 0.8
"""Exponent of the likelihood of a hand after the other seat's draws, which follow another policy
than that of the learned table."""
HIGHEST_RANK = RANKS - 1


class Poke:
    """The search of Poke."""

    def __init__(self, seats: int, nodes: float) -> None:
        self.tables = load(WEIGHTS)
        self.nodes = nodes

    def choose(
        self, state: PokeState, seat: int, seed: bytes, out_of_time: DeadlineCheck
    ) -> SearchResult:
        """Return the best action. If the time is used up, one world decides."""
        search = PokeSearch(self, state, seat, np.random.default_rng(list(seed)), out_of_time())
        if state.phase == "draw":
            return search.best_draw()
        return search.best_lead() if state.phase == "lead" else search.best_answer()


@dataclass(frozen=True)
class UnbeatenLead:
    """A lead of one seat that the other seat had to beat if it could, and did not."""

    rank: int
    size: int
    """Number of its cards."""
    later_ranks: IntArray
    """The ranks that the other seat has played in its answer and since."""


class PokeSearch:
    """A decision of a seat.

    Attributes:
        hand: the numbers of the seat's cards.
        role: NON_DEALER or DEALER.
        rubber: the rubber before this deal.
    """

    def __init__(
        self,
        bot: Poke,
        state: PokeState,
        seat: int,
        rng: np.random.Generator,
        is_late: bool,
    ) -> None:
        self.state, self.seat, self.rng = state, seat, rng
        self.tables, self.nodes, self.is_late = bot.tables, bot.nodes, is_late
        self.other = 1 - seat
        self.hand = card_numbers(state.hands[seat])
        self.role = DEALER if seat == state.dealer else NON_DEALER
        non_dealer, dealer = 1 - state.dealer, state.dealer
        self.rubber = Rubber(
            legs=(state.legs[non_dealer], state.legs[dealer]),
            below=(state.below[non_dealer], state.below[dealer]),
            above_lead=state.above[non_dealer] - state.above[dealer],
        )

    def _worlds(self, usual: int) -> int:
        """Return the number of worlds for this decision."""
        return 1 if self.is_late else max(MIN_WORLDS, round(usual * self.nodes))

    def _result(
        self, action: Draw | Stand | Lead | Answer, win_probability: float, playouts: int
    ) -> SearchResult:
        return SearchResult(action, 2 * win_probability - 1, 0 if self.is_late else playouts)

    def _win_probabilities(
        self, tricks: IntArray, bonus_lead: IntArray, multipliers: tuple[IntArray, IntArray]
    ) -> FloatArray:
        """Return the probabilities of this seat to win the rubber.

        Args:
            tricks: tricks of the non-dealer.
            bonus_lead: points of the non-dealer for the better hand, negative for the dealer's.
            multipliers: multipliers that the non-dealer and the dealer caused.
        """
        below = (tricks * multipliers[1], (HAND_SIZE - tricks) * multipliers[0])
        above_lead = bonus_lead + sweep_lead(tricks)
        of_non_dealer = self.rubber.win_probabilities(below, above_lead, self.tables.rubber)
        return of_non_dealer if self.role == NON_DEALER else 1 - of_non_dealer

    # Draws

    def best_draw(self) -> SearchResult:
        """Return the best draw.

        1. Deal the hidden cards in many worlds, and play every allowed draw in each of them.
        2. The seats make their later draws by the learned table.
        3. The value of a deal is the mean over its tricks, whose probabilities are learned.
        """
        grouped, sizes = sorted_by_group(self.hand[None])
        flush, straight = misfit_positions(grouped, sizes)
        choices = np.flatnonzero(allowed_draws(sizes, flush, straight)[0])
        worlds = self._worlds(DRAW_WORLDS)
        deals = self._deals_after_draws(choices, worlds)
        values = self._values_of_deals(deals)
        means = values.reshape(worlds, len(choices)).mean(axis=0)
        best = int(np.round(means, 9).argmax())
        is_discarded = discarded(choices[best : best + 1], flush, straight)[0]
        cards = tuple([DECK[card] for card in grouped[0][is_discarded]])
        action = Draw(cards) if cards else Stand()
        return self._result(action, float(means[best]), len(values))

    def _deals_after_draws(self, choices: IntArray, worlds: int) -> PokeDeals:
        """Return simulated deals at the end of the draws.

        The rows are all choices in the first world, then all in the second world, and so on.
        """
        no_cards = np.zeros(0, dtype=np.int64)
        other_hands, rest = self.sampled_hands(
            worlds, self._unseen(), HAND_SIZE, no_cards, HIGHEST_RANK
        )
        hands = np.zeros((worlds, len(choices), 2, HAND_SIZE), dtype=np.int64)
        hands[:, :, self.role] = self.hand
        hands[:, :, 1 - self.role] = other_hands[:, None]
        stock = np.repeat(rest[:, :STOCK_CARDS], len(choices), axis=0)
        deals = PokeDeals(self.tables, hands.reshape(-1, 2, HAND_SIZE), stock)
        deals.draws[:], deals.last_draw[:] = self._draws_so_far()
        by_row = np.tile(choices, worlds)
        rows = np.flatnonzero(by_row != STAND)
        deals.draw(self.role, by_row[rows], rows)
        deals.draw_by_policy(self.role, rows)
        if self.role == NON_DEALER:
            deals.draw_by_policy(DEALER, np.arange(len(by_row)))
        return deals

    def _values_of_deals(self, deals: PokeDeals) -> FloatArray:
        """Return the expected probability to win the rubber before the tricks, by deal."""
        probabilities, bonus_lead = deals.trick_probabilities(), deals.bonus_lead()
        multipliers = deals.multipliers()
        values = np.zeros(len(bonus_lead))
        for tricks in range(HAND_SIZE + 1):
            taken = np.full(len(values), tricks)
            won = self._win_probabilities(taken, bonus_lead, multipliers)
            values += probabilities[:, tricks] * won
        return values

    def _draws_so_far(self) -> tuple[IntArray, IntArray]:
        """Return the draws and the cards of the last draw by role, shape (2,) each."""
        draws, last_draw = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)
        for drawn in self.state.drawn:
            if drawn.cards:
                role = int(drawn.seat == self.state.dealer)
                draws[role] += 1
                last_draw[role] = drawn.cards
        return draws, last_draw

    # Hidden cards

    def _unseen(self) -> IntArray:
        """Return the numbers of the cards that this seat has not seen, ascending."""
        state = self.state
        seen = {*state.hands[self.seat], *state.discards[self.seat], *state.led}
        for trick in state.tricks:
            seen.update(trick.lead, trick.answer)
        return card_numbers([card for card in DECK if card not in seen])

    def sampled_hands(
        self, worlds: int, unseen: IntArray, held: int, played: IntArray, max_rank: int
    ) -> tuple[IntArray, IntArray]:
        """Sample the other seat's hand in a number of worlds, by likelihood.

        Args:
            worlds: number of worlds.
            unseen: the hidden cards.
            held: number of cards in the other seat's hand.
            played: cards that it has played in this deal.
            max_rank: no card of the hand has a higher rank (0 to 12).

        Returns:
            The cards in its hand, shape (worlds, held), and the remaining cards, by world.
        """
        low, high = unseen[(unseen >> 2) <= max_rank], unseen[(unseen >> 2) > max_rank]
        samples = worlds * SAMPLES_PER_WORLD
        decks = self.rng.permuted(np.tile(low, (samples, 1)), axis=1)
        hands = decks[:, :held]
        whole_hands = np.concatenate([np.tile(played, (samples, 1)), hands], axis=1)
        likelihood = self._draw_likelihood(whole_hands) * self._is_possible(hands)
        cumulative = np.cumsum(likelihood)
        if not cumulative[-1]:
            cumulative = np.cumsum(np.ones(samples))
        # Systematic resampling: every sample is taken in proportion to its likelihood.
        positions = (np.arange(worlds) + 0.5) / worlds * cumulative[-1]
        chosen = np.minimum(np.searchsorted(cumulative, positions), samples - 1)
        chosen = self.rng.permuted(chosen)
        rest = np.concatenate([decks[chosen, held:], np.tile(high, (worlds, 1))], axis=1)
        return hands[chosen], rest

    def _draw_likelihood(self, hands: IntArray) -> FloatArray:
        """Return how likely the other seat's draws are with each hand, up to a factor.

        Args:
            hands: whole hands, shape (samples, HAND_SIZE).
        """
        role = 1 - self.role
        if role == DEALER and self.state.phase == "draw":
            # The dealer draws last, so its draws have not begun.
            return np.ones(len(hands))
        pattern = int(draw_patterns(*self._draws_so_far())[role])
        kinds = hand_kinds(hand_values(*sorted_by_group(hands)))
        return np.asarray(np.exp(DRAW_LIKELIHOOD_WEIGHT * self.tables.likely[role, pattern, kinds]))

    def _unbeaten_leads(self) -> list[UnbeatenLead]:
        """Return the leads of this seat that the other seat could not beat, the latest first."""
        state = self.state
        later_ranks = [NUMBER[c] >> 2 for c in state.led if state.turn == self.seat]
        unbeaten = []
        for trick in reversed(state.tricks):
            is_leader = trick.leader == self.seat
            other_cards = trick.answer if is_leader else trick.lead
            later_ranks += [NUMBER[c] >> 2 for c in other_cards]
            if is_leader and trick.winner == self.seat and state.must_beat:
                rank = NUMBER[trick.lead[0]] >> 2
                unbeaten.append(UnbeatenLead(rank, len(trick.lead), np.array(later_ranks)))
        return unbeaten

    def _is_possible(self, hands: IntArray) -> BoolArray:
        """Return whether the other seat could not beat those leads with each hand.

        Args:
            hands: its present cards, shape (samples, held).
        """
        is_possible = np.ones(len(hands), dtype=bool)
        for lead in self._unbeaten_leads():
            # Its cards before the answer, and for each card the cards of the same rank.
            later_ranks = np.tile(lead.later_ranks, (len(hands), 1))
            ranks = np.concatenate([hands >> 2, later_ranks], axis=1)
            counts = (ranks[:, :, None] == ranks[:, None, :]).sum(axis=2)
            beats = (ranks > lead.rank) & (counts >= lead.size)
            is_possible &= ~beats.any(axis=1)
        return is_possible

    # Tricks

    def _trick_worlds(self) -> tuple[IntArray, FloatArray]:
        """Sample worlds for a decision within the tricks.

        Returns:
            The other seat's cards, shape (worlds, held), and this seat's probability to win the
            rubber if it takes 0 to 5 tricks in the whole deal, shape (worlds, 6).
        """
        state = self.state
        single_leads = [lead.rank for lead in self._unbeaten_leads() if lead.size == 1]
        max_rank = min(single_leads, default=HIGHEST_RANK)
        own_played, other_played = self._played_cards()
        worlds = self._worlds(TRICK_WORLDS)
        held = HAND_SIZE - len(other_played)
        others, _ = self.sampled_hands(worlds, self._unseen(), held, other_played, max_rank)
        own_hand = np.concatenate([self.hand, own_played])[None]
        other_hands = np.concatenate([np.tile(other_played, (worlds, 1)), others], axis=1)
        bonus_lead = self._bonus_lead(own_hand, other_hands)
        non_dealer, dealer = 1 - state.dealer, state.dealer
        multipliers = (
            np.array(state.multipliers[non_dealer]),
            np.array(state.multipliers[dealer]),
        )
        tricks = np.arange(HAND_SIZE + 1)
        of_non_dealer = tricks if self.role == NON_DEALER else HAND_SIZE - tricks
        return others, self._win_probabilities(
            of_non_dealer[None], bonus_lead[:, None], multipliers
        )

    def _played_cards(self) -> tuple[IntArray, IntArray]:
        """Return the cards that this seat and the other seat have played in this deal."""
        state = self.state
        own_cards: list[Card] = []
        other = [card for card in state.led if state.turn == self.seat]
        for trick in state.tricks:
            is_leader = trick.leader == self.seat
            own_cards += trick.lead if is_leader else trick.answer
            other += trick.answer if is_leader else trick.lead
        return card_numbers(own_cards), card_numbers(other)

    def _bonus_lead(self, own_hand: IntArray, other_hands: IntArray) -> IntArray:
        """Return the non-dealer's points for the better hand, negative for the dealer's."""
        own_values = hand_values(*sorted_by_group(own_hand))
        other = hand_values(*sorted_by_group(other_hands))
        if_better = np.where(own_values > other, bonuses(own_values), 0)
        lead = np.where(own_values < other, -bonuses(other), if_better)
        return np.asarray(lead if self.role == NON_DEALER else -lead)

    def _tricks_taken(self) -> int:
        """Return the tricks of this seat so far."""
        return sum(len(t.lead) for t in self.state.tricks if t.winner == self.seat)

    def best_lead(self) -> SearchResult:
        """Return the best lead."""
        held = len(self.hand)
        if held == 1:
            return SearchResult(Lead((DECK[self.hand[0]],)), 0.0, 0)
        others, probabilities = self._trick_worlds()
        worlds = np.arange(len(others))
        own_ranks = np.repeat((self.hand >> 2)[:, None], len(others), axis=1)
        other_ranks = (others >> 2).T
        solution = solve_tricks(own_ranks, other_ranks, self.state.must_beat)
        leads: dict[tuple[int, int], tuple[Card, ...]] = {}
        values: dict[tuple[int, int], float] = {}
        for size in range(min(MAX_PLAY_SIZE, held), 0, -1):
            tricks = self._tricks_of_leads(own_ranks, other_ranks, size, solution)
            for number, positions in enumerate(plays_of_subsets(held, held, size)[0][0]):
                cards = self.hand[positions]
                key = size, int(cards[0] >> 2)
                if key in leads or tricks[number, 0] == -ILLEGAL:
                    continue
                leads[key] = tuple([DECK[card] for card in cards])
                taken = self._tricks_taken() + tricks[number]
                values[key] = float(probabilities[worlds, taken].mean())
        best = max(values, key=lambda key: round(values[key], 9))
        return self._result(Lead(leads[best]), values[best], len(worlds))

    def _tricks_of_leads(
        self, own_ranks: IntArray, other_ranks: IntArray, size: int, solution: TrickSolution
    ) -> IntArray:
        """Return the tricks from here on after each lead of ``size`` cards, by lead and world."""
        mine, theirs = own_ranks.astype(np.int8), other_ranks.astype(np.int8)
        held, must_beat = len(mine), self.state.must_beat
        values = lead_values(mine, theirs, held, size, solution, must_beat)
        return np.asarray(values[0, :, 0])  # Both seats have only one subset: their whole hands.

    def best_answer(self) -> SearchResult:
        """Return the best answer. Of answers with the same ranks, one is considered."""
        state = self.state
        answers: dict[str, Answer] = {}
        for action in state.legal(self.seat):
            answers.setdefault("".join(card[0] for card in action.cards), action)
        if len(answers) == 1:
            return SearchResult(next(iter(answers.values())), 0.0, 0)
        others, probabilities = self._trick_worlds()
        worlds = np.arange(len(others))
        best: tuple[float, Answer] | None = None
        for action in answers.values():
            taken = self._tricks_taken() + self._tricks_after_answer(action, (others >> 2).T)
            value = round(float(probabilities[worlds, taken].mean()), 9)
            if best is None or value > best[0]:
                best = value, action
        assert best is not None
        return self._result(best[1], best[0], len(answers) * len(worlds))

    def _tricks_after_answer(self, answer: Answer, other_ranks: IntArray) -> IntArray:
        """Return the tricks from here on after an answer, by world.

        Args:
            answer: the answer.
            other_ranks: the ranks of the other seat's cards, shape (cards, worlds).
        """
        led_rank, size = NUMBER[self.state.led[0]] >> 2, len(self.state.led)
        left = len(self.hand) - size
        ranks = [NUMBER[card] >> 2 for card in answer.cards]
        beats = min(ranks) > led_rank and len(set(ranks)) == 1
        rest = np.array([card >> 2 for card in self.hand if DECK[card] not in answer.cards])
        own_ranks = np.repeat(rest[:, None], other_ranks.shape[1], axis=1)
        solution = solve_tricks(own_ranks, other_ranks, self.state.must_beat)
        if_own_lead, if_other_lead = (tricks[0, 0] for tricks in solution[left])
        return np.asarray(size + if_own_lead if beats else left - if_other_lead)


def card_numbers(cards: list[Card] | tuple[Card, ...]) -> IntArray:
    """Return the numbers of cards, 4 * rank + suit."""
    return np.array([NUMBER[card] for card in cards], dtype=np.int64)
