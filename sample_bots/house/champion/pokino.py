"""Pokino: a race to play the whole hand.

With the default rules a seat has at least four cards more than beads until the deck is empty, and
each run costs a turn. So the bot lays dominoes until it can pay for its whole hand, and then plays
it with one run, or with two. `pokino_trails.py` finds these runs; `pokino_places.py` rates places.

With greed or pokino_up a hand stays small, and any action may decide: see `pokino_race.py`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from answer import Choice, Hurry
from pokino_places import Placement, counted, placements
from pokino_prospects import Numbers
from pokino_race import WEIGHTS, Race, adjusted, formula, load
from pokino_trails import Bits, HandTrails, Path, RunGraph

from referee.games.contract import Action
from referee.games.pokino.actions import Domino, PassTurn, Run
from referee.games.pokino.layout import SQUARES, STEPS, coordinates
from referee.games.pokino.legal import OPTIONAL_DRAW_CARDS
from referee.games.pokino.runs import NUMBER
from referee.games.pokino.state import PokinoState
from referee.games.shared.cards import Card

TRAILS = 20_000
"""Trails of each length in the search for runs, at most."""
COMPARED = 8
"""Placements that are compared by the runs that they allow."""
COMPARED_TRAILS = 6_000
"""Trails of each length in a comparison, at most."""
TRIED = 3
"""First of three runs that are tried for each length."""
PLACES, RUNS = 150, 60
"""Placements and runs that are compared in a race, at most."""
WORLDS = 2
"""Deals of the hidden cards in a race."""
NEAR = 4
"""Beads that may still lack for the comparison."""


class Pokino:
    """The search of Pokino."""

    def __init__(self, seats: int, nodes: float) -> None:
        self.nodes = nodes
        self.weights = load(WEIGHTS)

    def choose(self, state: PokinoState, seat: int, seed: bytes, hurry: Hurry) -> Choice:
        """Return the best action. It has no rating."""
        chance = np.random.default_rng(list(seed))
        search = PokinoSearch(state, seat, self.nodes, chance)
        name = formula(state.variants)
        return Choice(search.action(hurry, self.weights[name] if name else None), 0.0, 0)


class PokinoSearch:
    """A decision of a seat."""

    def __init__(
        self, state: PokinoState, seat: int, nodes: float, chance: np.random.Generator
    ) -> None:
        self.state, self.seat, self.nodes, self.chance = state, seat, nodes, chance
        self.hand = state.hands[seat]
        self.variants = state.variants
        self.beads = len(self.hand) if self.variants.greed else state.beads[seat]
        self.top = state.deck[:1] if self._draws(2) else ()

    def action(self, hurry: Hurry, weights: Numbers | None) -> Action:
        """Return the best action, in a race by the weights of the formula."""
        if not self.state.layout.ground.numbers:
            return self._laid([])
        if hurry():
            return self._laid(self._placements()[:1])
        if weights is None:
            return self._last_runs(hurry) or self._points() or self._domino(hurry)
        return self.sure_run() or self._best_of_race(weights)

    def sure_run(self) -> Run | None:
        """Return a run of all cards, or the longest run if the game is about to end."""
        return self._whole_run() or self._points()

    def race(self) -> Race:
        """Return the comparison of actions."""
        return Race(self.state, self.seat, max(1, round(WORLDS * self.nodes)), self.chance)

    def _best_of_race(self, weights: Numbers) -> Action:
        places, runs = (max(1, round(most * self.nodes)) for most in (PLACES, RUNS))
        actions = self.actions(places, runs)
        if len(actions) < 2:
            return actions[0]
        values = adjusted(self.race().compare(actions, weights))
        # Rounded, so that the last digits of sums do not decide.
        return actions[int(np.round(values, 9).argmax())]

    def actions(self, places: int, runs: int) -> list[Action]:
        """Return the actions that a race compares, with limits for placements and for runs."""
        laid = [self._laid([placement]) for placement in self._placements()[:places]]
        return [*self._different_runs()[:runs], *laid] or [PassTurn(self._draws(0))]

    def _different_runs(self) -> list[Run]:
        """Return a run of each set of cards but the whole hand, the longest first.

        Without greed, the seat must still be able to pay for its hand after the run.
        """
        size = len(self.hand)
        most = size - 1 if self.state.deck else size - 2
        if most < 2 or (not self.variants.greed and self.beads < size + bool(self.state.deck)):
            return []
        trails, runs = self._trails(self.state, self.hand, most, TRAILS), list[Run]()
        for length in range(len(trails.lengths), 1, -1):
            _, different = np.unique(trails.lengths[length - 1].left, return_index=True)
            runs += [self._run(trails.path(length, int(index))) for index in different]
        return runs

    def _draws(self, played: int) -> bool:
        """Return whether to draw: only if it is mandatory, because each card must be played."""
        return not self.variants.pokino_up or len(self.hand) - played < OPTIONAL_DRAW_CARDS

    def _trails(
        self, state: PokinoState, cards: Sequence[Card], longest: int, limit: int
    ) -> HandTrails:
        graph = RunGraph(state.layout.ground, self.variants.tear_down_the_walls)
        counts = np.array(counted(cards), dtype=np.int64)
        return HandTrails(graph, counts, longest, max(1, round(limit * self.nodes)), self.chance)

    def _last_runs(self, hurry: Hurry) -> Run | None:
        """Return a run of all cards, or the first of two or three runs that play all cards."""
        if len(self.hand) > self.beads:
            return None
        return self._whole_run() or self._first_of_two() or self._first_of_three(hurry)

    def _whole_run(self) -> Run | None:
        """Return a run of all cards."""
        size = len(self.hand)
        if size > self.beads:
            return None
        path = self._trails(self.state, self.hand, size - size // 2, TRAILS).whole_run()
        return self._run(path) if path else None

    def _first_of_two(self) -> Run | None:
        """Return the first of two runs that play the hand and the card drawn in between."""
        cards = (*self.hand, *self.top)
        if len(cards) > self.beads and not self.variants.greed:
            return None
        trails = self._trails(self.state, cards, len(cards) - 2, TRAILS)
        for split in trails.splits(self._keeps_top, len(self.hand)):
            run = self._run(split.first)
            # With tear_down_the_walls, the first run may remove squares of the second.
            if self._after(run).layout.ground.numbers.keys() >= set(split.second):
                return run
        return None

    def _first_of_three(self, hurry: Hurry) -> Run | None:
        """Return a long run after which two runs play the remaining cards."""
        size = len(self.hand)
        if self.state.deck or size < 6:
            return None
        trails = self._trails(self.state, self.hand, size - 4, COMPARED_TRAILS)
        for length in range(len(trails.lengths), 1, -1):
            _, different = np.unique(trails.lengths[length - 1].left, return_index=True)
            for index in different[:TRIED]:
                if hurry():
                    return None
                run = self._run(trails.path(length, int(index)))
                after = self._after(run)
                left = after.hands[self.seat]
                more = self._trails(after, left, len(left) - 2, COMPARED_TRAILS)
                if more.whole_run() or next(more.splits(_any, len(left)), None):
                    return run
        return None

    def _after(self, action: Action) -> PokinoState:
        """Return the position after an action of the seat."""
        return self.state.after({self.seat: action})

    def _keeps_top(self, left: Bits) -> Any:
        """Return whether the card to draw is among the remaining cards."""
        if not self.top:
            return _any(left)
        return (left >> np.uint64(4 * NUMBER[self.top[0]])) & np.uint64(15) > 0

    def _points(self) -> Run | None:
        """Return the longest run if the game is about to end."""
        if len(self.state.poke) > len(self.state.hands):
            return None
        most = min(self.beads, len(self.hand))
        if most < 2:
            return None
        trails = self._trails(self.state, self.hand, most, TRAILS)
        longest = len(trails.lengths)
        return self._run(trails.path(longest, 0)) if longest > 1 else None

    def _placements(self) -> list[Placement]:
        draws = not (self.variants.greed or self.variants.pokino_up)
        return placements(self.state, self.seat, draws)

    def _domino(self, hurry: Hurry) -> Action:
        """Return the best placement: near the end, the one with the most runs of all cards."""
        rated = self._placements()
        cards = (*self.hand, *(self.state.deck[:1] if self._draws(0) else ()))
        if len(cards) > self.beads + NEAR:
            return self._laid(rated[:1])
        best, most = rated[:1], -1
        for placement in rated[:COMPARED]:
            if hurry():
                break
            after = self._after(self._laid([placement]))
            trails = self._trails(after, cards, len(cards) - len(cards) // 2, COMPARED_TRAILS)
            runs = len(trails.whole_runs())
            if runs > most:
                best, most = [placement], runs
        return self._laid(best)

    def _laid(self, best: list[Placement]) -> Action:
        """Return the action of a placement; without one, any placement or a pass."""
        draw = self._draws(0)
        if best:
            (placement,) = best
            first, step = placement.first, placement.second - placement.first
            way = next(word for word, size in STEPS.items() if size == step)
            return Domino(placement.domino, *coordinates(first), way, draw)
        if self.state.dominoes[self.seat] and not self.state.layout.ground.numbers:
            return Domino(self.state.dominoes[self.seat][0], 0, 0, "right", draw)
        return PassTurn(draw)

    def _run(self, path: Path) -> Run:
        """Return the action that plays cards along a path."""
        rest, cards = list(self.hand), []
        numbers = self.state.layout.ground.numbers
        for square in path:
            card = next(card for card in rest if NUMBER[card] == numbers[square])
            rest.remove(card)
            cards.append(card)
        squares = tuple([SQUARES[square] for square in path])
        return Run(squares, tuple(cards), self._draws(len(path)))


def _any(left: Bits) -> Any:
    """Return that a run may leave any cards."""
    return np.full(left.shape, True)
