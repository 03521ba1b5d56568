"""Pokino with small hands, which greed and pokino_up allow: a race, searched one action ahead.

All sensible actions are compared by the prospects of all hands after them. A learned formula turns
these prospects into the probability to win.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pokino_places import EACH, counted
from pokino_prospects import Numbers, Problem, Prospects, prospects

from referee.games.contract import Action
from referee.games.pokino.state import PokinoState, Variants
from referee.games.shared.cards import Card
from referee.games.shared.dealing import Seeded

WEIGHTS = Path(__file__).with_name("pokino.npz")
FEATURES = 15
MISSING, LACKING, LONGEST = 6, 10, 14
"""Columns of features."""
COLUMNS = 2 * FEATURES + 1
PHASES = 2
"""Whether the seat will draw a card after its next action, or not."""
GREED, POKINO_UP = "greed", "pokino_up"
FORMULAS = (GREED, POKINO_UP)
REACH, WAYS = 4.0, 1.5
"""Additional weights of the longest run and of the number of such runs while beads lack."""


def formula(variants: Variants) -> str | None:
    """Return the name of the learned formula for the variants, if there is one."""
    if variants.greed:
        return GREED
    return POKINO_UP if variants.pokino_up else None


def load(path: Path) -> dict[str, Numbers]:
    """Read the formulas: a row of weights for each phase.

    A row has the weights of the features of the seat that has just acted, then those of another
    seat, then a constant.
    """
    with np.load(path) as stored:
        return {name: stored[name].astype(np.float64) for name in FORMULAS}


def features(outlook: Prospects, sizes: Numbers, beads: Numbers) -> Numbers:
    """Return the features of seats.

    Args:
        outlook: the prospects of the hands.
        sizes: their numbers of cards.
        beads: the beads of the seats; infinite if runs cost nothing.
    """
    lack = np.maximum(0, sizes - beads)
    later = np.maximum(0, sizes + 1 - beads)
    whole = outlook.whole * 1.0
    missing = sizes - outlook.reach
    soon = outlook.soon * (1 - whole)
    columns = [
        whole * (lack == 0),
        whole * (lack == 1),
        whole * (lack > 1),
        whole / (1 + lack),
        soon * (later == 0),
        soon / (1 + later),
        missing / 4,
        missing == 1,
        missing > 2,
        sizes / 8,
        lack / 8,
        lack == 0,
        (sizes == 2) * (1 - whole),
        outlook.trails / 4,
        outlook.longest / 4,
    ]
    return np.stack(columns, axis=1)


@dataclass(frozen=True)
class Comparison:
    """The values of actions, and the inputs of the formula: mean features over the worlds."""

    values: Numbers
    phase: int
    mine: Numbers
    theirs: Numbers


def adjusted(comparison: Comparison) -> Numbers:
    """Return values that order actions, with more weight on long runs while beads lack.

    The formula gives these runs too little weight: in self-play, both seats reach them late.
    """
    chances = np.clip(comparison.values, 1e-6, 1 - 1e-6)
    reach = WAYS * comparison.mine[:, LONGEST] - REACH * comparison.mine[:, MISSING]
    return np.asarray(np.log(chances / (1 - chances)) + (comparison.mine[:, LACKING] > 0) * reach)


class Race:
    """The comparison of actions of a seat."""

    def __init__(
        self, state: PokinoState, seat: int, worlds: int, chance: np.random.Generator
    ) -> None:
        self.state, self.seat = state, seat
        self.others = [other for other in range(len(state.hands)) if other != seat]
        deals = [state.redeal(seat, Seeded(chance.bytes(32))) for _ in range(worlds)]
        self.worlds = [deal.hands for deal in deals]
        self.draws = len(state.deck) > len(self.others)

    def compare(self, actions: Sequence[Action], weights: Numbers) -> Comparison:
        """Compare actions; of the other seats, the most dangerous one counts in each world."""
        after = [self.state.after({self.seat: action}) for action in actions]
        phase = int(not self.draws)
        seat_weights, rival_weights, constant = np.split(weights[phase], [FEATURES, 2 * FEATURES])
        mine = self._features(after, [position.hands[self.seat] for position in after], self.seat)
        values, theirs = np.zeros(len(after)), np.zeros_like(mine)
        rows = np.arange(len(after))
        for hands in self.worlds:
            rivals = np.stack(
                [self._features(after, [hands[other]] * len(after), other) for other in self.others]
            )
            scores = rivals @ rival_weights
            worst = scores.argmin(axis=0)
            logits = mine @ seat_weights + scores[worst, rows] + constant
            values += 1 / (1 + np.exp(-logits)) / len(self.worlds)
            theirs += rivals[worst, rows] / len(self.worlds)
        return Comparison(values, phase, mine, theirs)

    def _features(
        self, after: Sequence[PokinoState], hands: Sequence[Sequence[Card]], seat: int
    ) -> Numbers:
        variants = self.state.variants
        counts = [counted(hand) for hand in hands]
        problems = [
            Problem(position.layout.ground, held)
            for position, held in zip(after, counts, strict=True)
        ]
        draws = self._drawn_numbers() if self.draws else None
        outlook = prospects(problems, variants.tear_down_the_walls, draws)
        beads = [np.inf if variants.greed else position.beads[seat] for position in after]
        return features(outlook, np.array(list(map(len, hands)), dtype=float), np.array(beads))

    def _drawn_numbers(self) -> Numbers:
        """Return the probability of each number of a card that will be drawn."""
        state = self.state
        known = [card for other in self.others for card in state.known[other]]
        played = [card for run in state.runs for card in run.cards]
        seen = counted((*state.hands[self.seat], *known, *played, *state.deck[:1]))
        unseen = EACH - np.array(seen)
        return np.asarray(unseen / max(1, unseen.sum()))
