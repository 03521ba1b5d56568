"""Poke: draws by simulated deals, tricks by the solution of many open deals.

The value of a result is the probability to win the rubber.
"""

from pathlib import Path

import numpy as np
from poke_hands import (
    ILLEGAL,
    STAND,
    Cards,
    Flags,
    Numbers,
    allowed_ways,
    bonuses,
    discarded,
    hand_values,
    in_groups,
    kinds,
    lead_values,
    odd_cards,
    solve,
    steps,
)
from poke_table import NON_DEALER, SWEEP, Deals, Rubber, load, pattern
from search_interface import DeadlineCheck, SearchResult

from referee.games.poke.actions import Answer, Draw, Lead, Stand
from referee.games.poke.state import PokeState
from referee.games.shared.cards import DECK, Card

WEIGHTS = Path(__file__).with_name("poke.npz")
NUMBER = {card: number for number, card in enumerate(DECK)}
DRAW_WORLDS = 1000
"""Deals in which each way to draw is played."""
TRICK_WORLDS = 500
"""Deals whose tricks are solved."""
SPARE = 4
"""Hands from which one is drawn by its likelihood."""
TRUST = 0.8
"""Weight of what the draws of the other seat imply."""


class Poke:
    """The search of Poke."""

    def __init__(self, seats: int, nodes: float) -> None:
        self.tables = load(WEIGHTS)
        self.nodes = nodes

    def choose(
        self, state: PokeState, seat: int, seed: bytes, out_of_time: DeadlineCheck
    ) -> SearchResult:
        """Return the best action."""
        rng = np.random.default_rng(list(seed))
        search = _Search(self, state, seat, rng)
        is_late = out_of_time()
        if state.phase == "draw":
            return search.draw(is_late)
        return search.lead(is_late) if state.phase == "lead" else search.answer(is_late)

    def worlds(self, usual: int, is_late: bool) -> int:
        """Return the number of worlds for a decision."""
        return 1 if is_late else max(8, round(usual * self.nodes))


class _Search:
    """A decision of a seat."""

    def __init__(self, bot: Poke, state: PokeState, seat: int, rng: np.random.Generator) -> None:
        self.bot, self.state, self.seat, self.rng = bot, state, seat, rng
        self.other = 1 - seat
        self.tables = bot.tables
        self.mine = np.array([NUMBER[c] for c in state.hands[seat]])
        self.role = int(seat == state.dealer)
        first = 1 - state.dealer
        self.rubber = Rubber(
            (state.legs[first], state.legs[1 - first]),
            (state.below[first], state.below[1 - first]),
            state.above[first] - state.above[1 - first],
        )

    def chances(self, tricks: Cards, lead: Cards, caused: tuple[Cards, Cards]) -> Numbers:
        """Return the probabilities to win the rubber.

        Args:
            tricks: tricks of the non-dealer.
            lead: points of the non-dealer for the better hand, negative for the dealer's.
            caused: multipliers that the non-dealer and the dealer caused.
        """
        below = (tricks * caused[1], (5 - tricks) * caused[0])
        swept = SWEEP * ((tricks == 5) * 1 - (tricks == 0) * 1)
        won = self.rubber.chances(below, lead + swept, self.tables.rubber)
        return won if self.role == NON_DEALER else 1 - won

    # Draws

    def draw(self, is_late: bool) -> SearchResult:
        """Return the best draw."""
        grouped, sizes = in_groups(self.mine[None])
        flush, straight = odd_cards(grouped, sizes)
        allowed = allowed_ways(sizes, flush, straight)[0]
        ways = np.flatnonzero(allowed)
        drawn = self._drawn()
        worlds = self.bot.worlds(DRAW_WORLDS, is_late)
        unseen = self._unseen()
        others, rest = self._others(worlds, unseen, 5, np.zeros(0, dtype=np.int64), 12)
        number = len(ways)
        hands = np.zeros((worlds, number, 2, 5), dtype=np.int64)
        hands[:, :, self.role] = self.mine
        hands[:, :, 1 - self.role] = others[:, None]
        stock = np.repeat(rest[:, :18], number, axis=0)
        deals = Deals(self.tables, hands.reshape(-1, 2, 5), stock)
        deals.draws[:] = drawn[0]
        deals.last[:] = drawn[1]
        every = np.tile(ways, worlds)
        rows = np.flatnonzero(every != STAND)
        deals.draw(self.role, every[rows], rows)
        deals.draw_on(self.role, rows)
        if self.role == NON_DEALER:
            deals.draw_on(1, np.arange(len(every)))
        shares, lead = deals.tricks(), deals.lead()
        caused = deals.multipliers()
        values = np.zeros(len(every))
        for tricks in range(6):
            taken = np.full(len(every), tricks)
            values += shares[:, tricks] * self.chances(taken, lead, caused)
        means = values.reshape(worlds, number).mean(axis=0)
        best = int(np.round(means, 9).argmax())
        gone = discarded(ways[best : best + 1], flush, straight)[0]
        cards = tuple([DECK[c] for c in grouped[0][gone]])
        action = Draw(cards) if cards else Stand()
        return self._choice(action, float(means[best]), len(every), is_late)

    def _drawn(self) -> tuple[Cards, Cards]:
        """Return the draws and the cards of the last draw of both roles."""
        draws, last = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)
        for drawn in self.state.drawn:
            if drawn.cards:
                role = int(drawn.seat == self.state.dealer)
                draws[role] += 1
                last[role] = drawn.cards
        return draws, last

    def _unseen(self) -> Cards:
        """Return the cards that this seat has not seen."""
        state = self.state
        seen = {*state.hands[self.seat], *state.discards[self.seat], *state.led}
        for trick in state.tricks:
            seen.update(trick.lead, trick.answer)
        return np.array([NUMBER[c] for c in DECK if c not in seen])

    def _others(
        self, worlds: int, unseen: Cards, held: int, played: Cards, highest: int
    ) -> tuple[Cards, Cards]:
        """Return the other seat's hidden cards in many worlds, and the remaining cards.

        Args:
            worlds: number of worlds.
            unseen: the hidden cards.
            held: number of cards in the other seat's hand.
            played: cards that it has played in this deal.
            highest: no card of the hand has a higher rank, 0 to 12.
        """
        low = unseen[(unseen >> 2) <= highest]
        high = unseen[(unseen >> 2) > highest]
        tries = worlds * SPARE
        decks = self.rng.permuted(np.tile(low, (tries, 1)), axis=1)
        hands = decks[:, :held]
        full = np.concatenate([np.tile(played, (tries, 1)), hands], axis=1)
        weights = np.zeros(tries)
        draws, last = self._drawn()
        role = 1 - self.role
        if role == NON_DEALER or self.state.phase != "draw":
            number = int(pattern(draws, last)[role])
            kind = kinds(hand_values(*in_groups(full)))
            weights = TRUST * self.tables.likely[role, number, kind]
        weights = np.exp(weights) * self._possible(hands)
        total = np.cumsum(weights)
        if not total[-1]:
            total = np.cumsum(np.ones(tries))
        picks = (np.arange(worlds) + 0.5) / worlds * total[-1]
        chosen = np.minimum(np.searchsorted(total, picks), tries - 1)
        chosen = self.rng.permuted(chosen)
        rest = decks[chosen, held:]
        return hands[chosen], np.concatenate([rest, np.tile(high, (worlds, 1))], axis=1)

    # Tricks

    def _lost(self) -> list[tuple[int, int, Cards]]:
        """Return the leads that the other seat had to beat but lost to.

        Each is the rank and the number of its cards, and the ranks that the seat has played since.
        """
        state = self.state
        since = [NUMBER[c] >> 2 for c in state.led if state.turn == self.seat]
        lost = []
        for trick in reversed(state.tricks):
            mine = trick.leader == self.seat
            since += [NUMBER[c] >> 2 for c in (trick.answer if mine else trick.lead)]
            if mine and trick.winner == self.seat and state.must_beat:
                lost.append((NUMBER[trick.lead[0]] >> 2, len(trick.lead), np.array(since)))
        return lost

    def _possible(self, hands: Cards) -> Flags:
        """Return whether the other seat can hold each hand after the leads that it lost to."""
        possible = np.ones(len(hands), dtype=bool)
        for rank, size, since in self._lost():
            ranks = np.concatenate([hands >> 2, np.tile(since, (len(hands), 1))], axis=1)
            counts = (ranks[:, :, None] == ranks[:, None, :]).sum(axis=2)
            possible &= ~((ranks > rank) & (counts >= size)).any(axis=1)
        return possible

    def _worlds(self, is_late: bool) -> tuple[Cards, Numbers]:
        """Return hidden hands, and the probability to win for 0 to 5 tricks of this seat."""
        state = self.state
        highest = min([rank for rank, size, _ in self._lost() if size == 1], default=12)
        played = [c for c in state.led if state.turn == self.seat]
        laid: list[Card] = []
        for trick in state.tricks:
            mine = trick.leader == self.seat
            played += trick.answer if mine else trick.lead
            laid += trick.lead if mine else trick.answer
        worlds = self.bot.worlds(TRICK_WORLDS, is_late)
        seen = np.array([NUMBER[c] for c in played], dtype=np.int64)
        held = 5 - len(played)
        others, _ = self._others(worlds, self._unseen(), held, seen, highest)
        theirs = np.concatenate([np.tile(seen, (worlds, 1)), others], axis=1)
        whole = np.array([[*self.mine, *(NUMBER[c] for c in laid)]])
        lead = self._lead(whole, theirs)
        first = 1 - state.dealer
        caused = np.array(state.multipliers[first]), np.array(state.multipliers[1 - first])
        tricks = np.arange(6)
        firsts = tricks if self.role == NON_DEALER else 5 - tricks
        return others, self.chances(firsts[None], lead[:, None], caused)

    def _lead(self, mine: Cards, theirs: Cards) -> Cards:
        """Return the non-dealer's points for the better hand, negative for the dealer's."""
        first, second = hand_values(*in_groups(mine)), hand_values(*in_groups(theirs))
        won = np.where(first > second, bonuses(first), 0)
        lead = np.where(first < second, -bonuses(second), won)
        return np.asarray(lead if self.role == NON_DEALER else -lead)

    def _taken(self) -> int:
        return sum(len(t.lead) for t in self.state.tricks if t.winner == self.seat)

    def lead(self, is_late: bool) -> SearchResult:
        """Return the best lead."""
        held = len(self.mine)
        if held == 1:
            return SearchResult(Lead((DECK[self.mine[0]],)), 0.0, 0)
        leads: dict[tuple[int, int], tuple[Card, ...]] = {}
        others, chances = self._worlds(is_late)
        worlds = np.arange(len(others))
        ranks = np.repeat((self.mine >> 2)[:, None], len(others), axis=1)
        solved = solve(ranks, (others >> 2).T, self.state.must_beat)
        mine, theirs = ranks.astype(np.int8), (others >> 2).T.astype(np.int8)
        values: dict[tuple[int, int], float] = {}
        for size in range(min(4, held), 0, -1):
            tricks = lead_values(mine, theirs, held, size, solved, self.state.must_beat)[0, :, 0]
            for choice, places in enumerate(steps(held, held, size)[0][0]):
                cards = self.mine[places]
                key = (size, int(cards[0] >> 2))
                if key in leads or tricks[choice, 0] == -ILLEGAL:
                    continue
                leads[key] = tuple([DECK[c] for c in cards])
                values[key] = float(chances[worlds, self._taken() + tricks[choice]].mean())
        best = max(values, key=lambda key: round(values[key], 9))
        return self._choice(Lead(leads[best]), values[best], len(worlds), is_late)

    def answer(self, is_late: bool) -> SearchResult:
        """Return the best answer."""
        state, held = self.state, len(self.mine)
        answers: dict[str, Answer] = {}
        for action in state.legal(self.seat):
            answers.setdefault("".join(c[0] for c in action.cards), action)
        if len(answers) == 1:
            return SearchResult(next(iter(answers.values())), 0.0, 0)
        others, chances = self._worlds(is_late)
        worlds = np.arange(len(others))
        theirs = (others >> 2).T
        rank, size = NUMBER[state.led[0]] >> 2, len(state.led)
        left = held - size
        best: tuple[float, Answer] | None = None
        for action in answers.values():
            ranks = [NUMBER[c] >> 2 for c in action.cards]
            wins = min(ranks) > rank and len(set(ranks)) == 1
            rest = np.array([c >> 2 for c in self.mine if DECK[c] not in action.cards])
            solved = solve(np.repeat(rest[:, None], len(others), axis=1), theirs, state.must_beat)
            leads, replies = (tricks[0, 0] for tricks in solved[left])
            tricks = size + leads if wins else left - replies
            value = round(float(chances[worlds, self._taken() + tricks].mean()), 9)
            if best is None or value > best[0]:
                best = value, action
        assert best is not None
        return self._choice(best[1], best[0], len(answers) * len(worlds), is_late)

    def _choice(
        self,
        action: Draw | Stand | Lead | Answer,
        win_probability: float,
        played: int,
        is_late: bool,
    ) -> SearchResult:
        return SearchResult(action, 2 * win_probability - 1, 0 if is_late else played)
