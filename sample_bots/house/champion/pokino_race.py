"""Pokino with small hands (options greed and pokino_up): a race, searched one action ahead.

All sensible actions are compared by the prospects of all hands after them. A learned formula
(logistic regression) turns these prospects into the probability to win.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pokino_placements import CARDS_PER_NUMBER, counts_by_number
from pokino_prospects import FloatArray, HandOnTable, Prospects, prospects

from referee.games.contract import Action
from referee.games.pokino.state import PokinoState, Variants
from referee.games.shared.cards import Card
from referee.games.shared.dealing import Seeded

WEIGHTS = Path(__file__).with_name("pokino.npz")
GREED, POKINO_UP = "greed", "pokino_up"
FORMULAS = (GREED, POKINO_UP)
"""Names of the learned formulas, which are those of the options."""
FEATURES = 15
"""Features of a seat, see :func:`features`."""
CARDS_LEFT_COLUMN, MISSING_BEADS_COLUMN, LONGEST_RUNS_COLUMN = 6, 10, 14
"""Columns of :func:`features`: cards that the longest run leaves; missing beads; runs of the
longest length."""
FORMULA_INPUTS = 2 * FEATURES + 1
"""The features of the seat that acts, those of another seat, and a constant."""
PHASES = 2
"""Phase 0: the seat will draw a card after its next action. Phase 1: it will not."""
CARDS_LEFT_PENALTY = 4.0
"""Additional weight against cards outside the longest run, while beads are missing."""
LONGEST_RUNS_BONUS = 1.5
"""Additional weight for the number of longest runs, while beads are missing."""


def formula(variants: Variants) -> str | None:
    """Return the name of the learned formula for the variants, if there is one."""
    if variants.greed:
        return GREED
    return POKINO_UP if variants.pokino_up else None


def load(path: Path) -> dict[str, FloatArray]:
    """Read the formulas: arrays of weights by phase and input, shape (PHASES, FORMULA_INPUTS)."""
    with np.load(path) as stored:
        return {name: stored[name].astype(np.float64) for name in FORMULAS}


def features(outlook: Prospects, sizes: FloatArray, beads: FloatArray) -> FloatArray:
    """Return the features of seats, shape (rows, FEATURES).

    Args:
        outlook: the prospects of the hands.
        sizes: their numbers of cards.
        beads: the beads of the seats; infinite if runs cost nothing.
    """
    missing_beads = np.maximum(0, sizes - beads)
    missing_after_draw = np.maximum(0, sizes + 1 - beads)
    whole = outlook.whole * 1.0
    cards_left = sizes - outlook.longest_run
    next_turn = outlook.next_turn * (1 - whole)
    columns = [
        whole * (missing_beads == 0),
        whole * (missing_beads == 1),
        whole * (missing_beads > 1),
        whole / (1 + missing_beads),
        next_turn * (missing_after_draw == 0),
        next_turn / (1 + missing_after_draw),
        cards_left / 4,
        cards_left == 1,
        cards_left > 2,
        sizes / 8,
        missing_beads / 8,
        missing_beads == 0,
        (sizes == 2) * (1 - whole),
        outlook.log_trails / 4,
        outlook.log_longest_runs / 4,
    ]
    return np.stack(columns, axis=1)


@dataclass(frozen=True)
class RaceEvaluation:
    """The evaluation of actions, as arrays with a row per action."""

    win_probability: FloatArray
    phase: int
    own_features: FloatArray
    """Features of the seat that acts, shape (actions, FEATURES)."""
    rival_features: FloatArray
    """Mean over the worlds of the features of the most dangerous other seat; the same shape."""


def action_scores(evaluation: RaceEvaluation) -> FloatArray:
    """Return scores that order actions: log odds, with more weight on long runs.

    The additional weight counts while beads are missing. The formula gives long runs too little
    weight: in self-play, both seats reach them late.
    """
    features = evaluation.own_features
    probability = np.clip(evaluation.win_probability, 1e-6, 1 - 1e-6)
    log_odds = np.log(probability / (1 - probability))
    long_runs = (
        LONGEST_RUNS_BONUS * features[:, LONGEST_RUNS_COLUMN]
        - CARDS_LEFT_PENALTY * features[:, CARDS_LEFT_COLUMN]
    )
    return np.asarray(log_odds + (features[:, MISSING_BEADS_COLUMN] > 0) * long_runs)


class RaceEvaluator:
    """Evaluates actions of a seat in a number of worlds (deals of the hidden cards)."""

    def __init__(
        self, state: PokinoState, seat: int, worlds: int, rng: np.random.Generator
    ) -> None:
        self.state, self.seat = state, seat
        self.others = [other for other in range(len(state.hands)) if other != seat]
        deals = [state.redeal(seat, Seeded(rng.bytes(32))) for _ in range(worlds)]
        self.hands_by_world = [deal.hands for deal in deals]
        self.will_draw = len(state.deck) > len(self.others)

    def evaluate(self, actions: Sequence[Action], weights: FloatArray) -> RaceEvaluation:
        """Evaluate actions with a formula.

        In each world the other seat counts that lowers the probability to win most.

        Args:
            actions: the actions.
            weights: the formula, see :func:`load`.
        """
        positions = [self.state.after({self.seat: action}) for action in actions]
        phase = int(not self.will_draw)
        own_weights, rival_weights, constant = np.split(weights[phase], [FEATURES, 2 * FEATURES])
        own_hands = [position.hands[self.seat] for position in positions]
        own_features = self._features(positions, own_hands, self.seat)
        probability, mean_rival = np.zeros(len(positions)), np.zeros_like(own_features)
        rows, worlds = np.arange(len(positions)), len(self.hands_by_world)
        for hands in self.hands_by_world:
            rivals = np.stack(  # shape (other seats, actions, FEATURES)
                [
                    self._features(positions, [hands[other]] * len(positions), other)
                    for other in self.others
                ]
            )
            scores = rivals @ rival_weights
            worst = scores.argmin(axis=0)
            logits = own_features @ own_weights + scores[worst, rows] + constant
            probability += 1 / (1 + np.exp(-logits)) / worlds
            mean_rival += rivals[worst, rows] / worlds
        return RaceEvaluation(probability, phase, own_features, mean_rival)

    def _features(
        self, positions: Sequence[PokinoState], hands: Sequence[Sequence[Card]], seat: int
    ) -> FloatArray:
        """Return the features of a seat with a hand in each position."""
        variants = self.state.variants
        problems = [
            HandOnTable(position.layout.ground, counts_by_number(hand))
            for position, hand in zip(positions, hands, strict=True)
        ]
        drawn = self._drawn_numbers() if self.will_draw else None
        outlook = prospects(problems, variants.tear_down_the_walls, drawn)
        beads = [np.inf if variants.greed else position.beads[seat] for position in positions]
        return features(outlook, np.array(list(map(len, hands)), dtype=float), np.array(beads))

    def _drawn_numbers(self) -> FloatArray:
        """Return the probability of each number of a card that will be drawn, shape (13,)."""
        state = self.state
        known = [card for other in self.others for card in state.known[other]]
        played = [card for run in state.runs for card in run.cards]
        seen = counts_by_number((*state.hands[self.seat], *known, *played, *state.deck[:1]))
        unseen = CARDS_PER_NUMBER - np.array(seen)
        return np.asarray(unseen / max(1, unseen.sum()))
