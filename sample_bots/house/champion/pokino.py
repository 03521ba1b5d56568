"""Pokino: a race to play the whole hand.

With the default rules a seat has at least four cards more than beads until the deck is empty, and
each run costs a turn. So the bot lays dominoes until it has a bead for each card. Then it plays its
hand with one run, or else with two or three. `pokino_trails.py` finds these runs;
`pokino_placements.py` rates placements.

With greed or pokino_up a hand stays small, and any action may decide: see `pokino_race.py`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from pokino_placements import Placement, counts_by_number, placements
from pokino_prospects import FloatArray
from pokino_race import WEIGHTS, RaceEvaluator, action_scores, formula, load
from pokino_trails import COUNT_BITS, COUNT_MASK, BitArray, HandTrails, Path, RunGraph
from search_interface import DeadlineCheck, SearchResult

from referee.games.contract import Action
from referee.games.pokino.actions import Domino, PassTurn, Run
from referee.games.pokino.layout import SQUARES, STEPS, coordinates
from referee.games.pokino.legal import OPTIONAL_DRAW_CARDS
from referee.games.pokino.runs import NUMBER
from referee.games.pokino.state import PokinoState
from referee.games.shared.cards import Card

# The option --nodes multiplies the limits of trails, and those of a race.
MAX_TRAILS = 20_000
"""Trails of each length in the search for runs of the present position, at most."""
MAX_LOOKAHEAD_TRAILS = 6_000
"""Trails of each length in a search for runs after an action, at most."""
MAX_COMPARED_PLACEMENTS = 8
"""Best-rated placements that are compared by the runs of the whole hand that they allow."""
MAX_FIRST_RUNS = 3
"""Runs of each length that are tried as the first of three, at most."""
MAX_RACE_PLACEMENTS = 150
"""Placements that are evaluated in a race, at most."""
MAX_RACE_RUNS = 60
"""Runs that are evaluated in a race, at most."""
RACE_WORLDS = 2
"""Deals of the hidden cards in a race."""
MAX_MISSING_BEADS = 4
"""Placements are compared by runs if at most this many beads are missing for the whole hand."""


class Pokino:
    """The search of Pokino."""

    def __init__(self, seats: int, nodes: float) -> None:
        self.nodes = nodes
        self.weights = load(WEIGHTS)

    def choose(
        self, state: PokinoState, seat: int, seed: bytes, out_of_time: DeadlineCheck
    ) -> SearchResult:
        """Return the best action. It has no rating."""
        rng = np.random.default_rng(list(seed))
        search = PokinoSearch(state, seat, self.nodes, rng)
        name = formula(state.variants)
        action = search.action(out_of_time, self.weights[name] if name else None)
        return SearchResult(action, 0.0, 0)


class PokinoSearch:
    """A decision of a seat.

    Attributes:
        beads: cards that the seat can pay for; with greed, all.
        next_card: the card that the seat will draw after a run of two cards, as a tuple of one
            card; empty if it will draw none.
    """

    def __init__(
        self, state: PokinoState, seat: int, nodes: float, rng: np.random.Generator
    ) -> None:
        self.state, self.seat, self.nodes, self.rng = state, seat, nodes, rng
        self.hand = state.hands[seat]
        self.variants = state.variants
        self.beads = len(self.hand) if self.variants.greed else state.beads[seat]
        self.next_card = state.deck[:1] if self._draws_after(2) else ()

    def action(self, out_of_time: DeadlineCheck, weights: FloatArray | None) -> Action:
        """Return the best action; with weights of a formula, the best one in a race."""
        if not self.state.layout.ground.numbers:
            return self._opening_action()
        if out_of_time():
            return self._placement_action(self._placements()[:1])
        if weights is None:
            return (
                self._finishing_run(out_of_time)
                or self._longest_run_at_the_end()
                or self._best_placement(out_of_time)
            )
        return self.sure_run() or self._best_race_action(weights)

    # Races (greed or pokino_up)

    def sure_run(self) -> Run | None:
        """Return a run of all cards, or the longest run if the game is about to end."""
        return self._whole_run() or self._longest_run_at_the_end()

    def race_evaluator(self) -> RaceEvaluator:
        """Deal the hidden cards for the evaluation of actions."""
        worlds = max(1, round(RACE_WORLDS * self.nodes))
        return RaceEvaluator(self.state, self.seat, worlds, self.rng)

    def _best_race_action(self, weights: FloatArray) -> Action:
        max_placements = max(1, round(MAX_RACE_PLACEMENTS * self.nodes))
        max_runs = max(1, round(MAX_RACE_RUNS * self.nodes))
        actions = self.race_actions(max_placements, max_runs)
        if len(actions) < 2:
            return actions[0]
        scores = action_scores(self.race_evaluator().evaluate(actions, weights))
        # Rounding keeps the choice independent of the last digits of the sums.
        return actions[int(np.round(scores, 9).argmax())]

    def race_actions(self, max_placements: int, max_runs: int) -> list[Action]:
        """Return the actions to evaluate in a race; a pass if there is no other action."""
        rated = self._placements()[:max_placements]
        laid = [self._placement_action([placement]) for placement in rated]
        runs = self._runs_by_card_set()[:max_runs]
        return [*runs, *laid] or [PassTurn(self._draws_after(0))]

    def _runs_by_card_set(self) -> list[Run]:
        """Return one run for each set of cards but the whole hand, the longest runs first.

        Without greed, the list is empty if the seat could not pay for its hand after a run.
        """
        size, has_deck = len(self.hand), bool(self.state.deck)
        max_length = size - 1 if has_deck else size - 2
        can_pay_later = self.variants.greed or self.beads >= size + has_deck
        if max_length < 2 or not can_pay_later:
            return []
        trails = self._list_trails(self.state, self.hand, max_length, MAX_TRAILS)
        return [
            self._run(trails.path(length, row))
            for length in range(len(trails.by_length), 1, -1)
            for row in _rows_by_card_set(trails, length)
        ]

    # Runs of the whole hand

    def _finishing_run(self, out_of_time: DeadlineCheck) -> Run | None:
        """Return a run of all cards, or the first of two or three runs that play all cards."""
        if len(self.hand) > self.beads:
            return None
        return self._whole_run() or self._first_of_two() or self._first_of_three(out_of_time)

    def _whole_run(self) -> Run | None:
        """Return a run of all cards."""
        size = len(self.hand)
        if size > self.beads:
            return None
        longer_half = size - size // 2
        path = self._list_trails(self.state, self.hand, longer_half, MAX_TRAILS).whole_run()
        return self._run(path) if path else None

    def _first_of_two(self) -> Run | None:
        """Return the first of two runs that play the hand and the card drawn in between."""
        cards = (*self.hand, *self.next_card)
        if len(cards) > self.beads and not self.variants.greed:
            return None
        trails = self._list_trails(self.state, cards, len(cards) - 2, MAX_TRAILS)
        for pair in trails.run_pairs(self._keeps_next_card, len(self.hand)):
            run = self._run(pair.first)
            # With tear_down_the_walls, the first run may remove squares of the second.
            if self._after(run).layout.ground.numbers.keys() >= set(pair.second):
                return run
        return None

    def _first_of_three(self, out_of_time: DeadlineCheck) -> Run | None:
        """Return a long run after which one or two runs play the remaining cards."""
        size = len(self.hand)
        if self.state.deck or size < 6:
            return None
        trails = self._list_trails(self.state, self.hand, size - 4, MAX_LOOKAHEAD_TRAILS)
        for length in range(len(trails.by_length), 1, -1):
            for row in _rows_by_card_set(trails, length)[:MAX_FIRST_RUNS]:
                if out_of_time():
                    return None
                run = self._run(trails.path(length, row))
                if self._can_finish_in_two(self._after(run)):
                    return run
        return None

    def _can_finish_in_two(self, after: PokinoState) -> bool:
        """Return whether at most two runs play the seat's hand in a later position."""
        hand = after.hands[self.seat]
        trails = self._list_trails(after, hand, len(hand) - 2, MAX_LOOKAHEAD_TRAILS)
        pairs = trails.run_pairs(_keeps_any_cards, len(hand))
        return bool(trails.whole_run() or next(pairs, None))

    def _longest_run_at_the_end(self) -> Run | None:
        """Return the longest run if the game is about to end."""
        if len(self.state.poke) > len(self.state.hands):
            return None
        max_length = min(self.beads, len(self.hand))
        if max_length < 2:
            return None
        trails = self._list_trails(self.state, self.hand, max_length, MAX_TRAILS)
        longest = len(trails.by_length)
        return self._run(trails.path(longest, 0)) if longest > 1 else None

    def _list_trails(
        self, state: PokinoState, cards: Sequence[Card], max_length: int, max_trails: int
    ) -> HandTrails:
        """List the trails of cards on the table of a position."""
        graph = RunGraph(state.layout.ground, self.variants.tear_down_the_walls)
        counts = np.array(counts_by_number(cards), dtype=np.int64)
        limit = max(1, round(max_trails * self.nodes))
        return HandTrails(graph, counts, max_length, limit, self.rng)

    def _keeps_next_card(self, rest: BitArray) -> Any:
        """Return whether packed counts contain the card to draw, which no run can play before."""
        if not self.next_card:
            return _keeps_any_cards(rest)
        number = NUMBER[self.next_card[0]]
        return (rest >> np.uint64(COUNT_BITS * number)) & COUNT_MASK > 0

    # Placements

    def _placements(self) -> list[Placement]:
        draws_to_the_end = not (self.variants.greed or self.variants.pokino_up)
        return placements(self.state, self.seat, draws_to_the_end)

    def _best_placement(self, out_of_time: DeadlineCheck) -> Action:
        """Return the best placement.

        If few beads are missing, it is the one with the most runs of all cards after it.
        """
        rated = self._placements()
        drawn = self.state.deck[:1] if self._draws_after(0) else ()
        cards = (*self.hand, *drawn)
        if len(cards) > self.beads + MAX_MISSING_BEADS:
            return self._placement_action(rated[:1])
        longer_half = len(cards) - len(cards) // 2
        best, most_runs = rated[:1], -1
        for placement in rated[:MAX_COMPARED_PLACEMENTS]:
            if out_of_time():
                break
            after = self._after(self._placement_action([placement]))
            trails = self._list_trails(after, cards, longer_half, MAX_LOOKAHEAD_TRAILS)
            runs = len(trails.whole_run_halves())
            if runs > most_runs:
                best, most_runs = [placement], runs
        return self._placement_action(best)

    # Actions

    def _draws_after(self, played: int) -> bool:
        """Return whether to draw after an action that plays this number of cards.

        The bot draws only if it must, because each drawn card must be played later.
        """
        return not self.variants.pokino_up or len(self.hand) - played < OPTIONAL_DRAW_CARDS

    def _after(self, action: Action) -> PokinoState:
        """Return the position after an action of the seat."""
        return self.state.after({self.seat: action})

    def _opening_action(self) -> Action:
        """Return the action on an empty table: lay the first domino in the middle, or pass."""
        dominoes, draw = self.state.dominoes[self.seat], self._draws_after(0)
        return Domino(dominoes[0], 0, 0, "right", draw) if dominoes else PassTurn(draw)

    def _placement_action(self, placement: list[Placement]) -> Action:
        """Return the action of a placement (a list of one); a pass if the list is empty."""
        draw = self._draws_after(0)
        if not placement:
            return PassTurn(draw)
        (best,) = placement
        difference = best.second - best.first
        direction = next(word for word, step in STEPS.items() if step == difference)
        return Domino(best.domino, *coordinates(best.first), direction, draw)

    def _run(self, path: Path) -> Run:
        """Return the action that plays cards of the hand along a path."""
        rest, cards = list(self.hand), []
        numbers = self.state.layout.ground.numbers
        for square in path:
            card = next(card for card in rest if NUMBER[card] == numbers[square])
            rest.remove(card)
            cards.append(card)
        squares = tuple([SQUARES[square] for square in path])
        return Run(squares, tuple(cards), self._draws_after(len(path)))


def _rows_by_card_set(trails: HandTrails, length: int) -> list[int]:
    """Return the row of one trail of a length for each set of cards that it can leave."""
    _, rows = np.unique(trails.by_length[length - 1].rest, return_index=True)
    return rows.tolist()  # type: ignore[no-any-return]


def _keeps_any_cards(rest: BitArray) -> Any:
    """Return True for all packed counts: a run may leave any cards."""
    return np.full(rest.shape, True)
