"""Luck of chance events: unbiased for any bots, and close to what chance did."""

import numpy as np
import pytest
from numpy.typing import NDArray

from arena.ratings.control_variates import adjusted_results
from arena.ratings.scale import Z95
from arena.records.analysis.engine import engine_of
from arena.records.luck_adjustment.match_luck import DEAL, EARLY, LATE, luck_of_game
from arena.records.luck_adjustment.rubber import rubber_values
from arena.records.luck_adjustment.values import values_of
from bench.strength import MeasuredForm
from referee.games.registry import find_game
from referee.games.shared.dealing import Seeded
from tests.arena.records.luck_adjustment.played_boards import PAIRS, boards_of, mover, played
from tests.examples import examples

Floats = NDArray[np.float64]
FORMS = {"poke": 2, "saint_poker": 2, "pokex": 4, "pouku": 3}
TRIED = examples(len(PAIRS), 2)
"""Pairs of bots, evenly spaced; CI tries a tenth of them."""


def measured(game: str, seats: int) -> MeasuredForm:
    return MeasuredForm(find_game(game), seats)


def luck_of(form: MeasuredForm, seed: bytes = bytes(32)) -> Floats:
    policy = mover(form)
    moves = played(form, 0, [policy] * form.seats)[:-1]
    values = values_of(form.game.id, form.sides)
    return luck_of_game(form.game, form.seats, form.game.settle({}), values, moves, seed, 2)


@pytest.mark.long
def test_the_luck_of_a_game_depends_only_on_the_game_and_the_seed() -> None:
    form = measured("poke", 2)
    assert np.array_equal(luck_of(form), luck_of(form))
    assert not np.array_equal(luck_of(form), luck_of(form, bytes(31) + b"1"))


@pytest.mark.parametrize(
    ("game", "seats", "kinds"),
    [
        ("poke", 2, [DEAL, EARLY]),
        ("saint_poker", 2, [DEAL, EARLY, LATE]),
        ("pokex", 4, [DEAL]),
        ("pokex", 2, [DEAL, EARLY]),
        ("pouku", 3, [DEAL, EARLY]),
        ("pokino", 2, [DEAL]),
    ],
)
def test_chance_events_are_found(game: str, seats: int, kinds: list[int]) -> None:
    luck = luck_of(measured(game, seats))
    assert luck.shape[2] == seats
    assert [kind for kind in range(len(luck)) if luck[kind].any()] == kinds


def test_the_luck_of_two_seats_of_poke_adds_up_to_zero() -> None:
    luck = luck_of(measured("poke", 2))
    assert luck.sum(axis=2) == pytest.approx(0, abs=1e-9)


@pytest.mark.long
def test_luck_explains_most_of_the_results_between_equal_players_of_poke() -> None:
    results, controls = boards_of(measured("poke", 2), (0, 0), range(15), 3)
    points, luck = results[:, 0, 1], controls[:, 0, 1].sum(axis=1)
    assert np.corrcoef(points, luck)[0, 1] > 0.7


def test_the_expected_result_of_a_rubber_of_poke_is_that_of_played_rubbers() -> None:
    form, engine = measured("poke", 2), engine_of("poke")
    leads = []
    for number in range(150):
        state = begun = form.game.start(Seeded(number.to_bytes(32, "big")))
        while state.actors:
            state = state.after({seat: engine.move(state, seat) for seat in state.actors})
        leads.append(state.scores[0] - state.scores[1] - rubber_values().of(begun)[1])
        assert rubber_values().of(state)[1] == state.scores[0] - state.scores[1]
    assert abs(np.mean(leads)) < 4 * np.std(leads) / len(leads) ** 0.5


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("game", FORMS)
def test_luck_is_unbiased_for_pairs_of_bots(game: str) -> None:
    """The luck of a board is the paired difference of its raw and its adjusted result.

    The bots play at random in different shares of their decisions, the playouts never.
    """
    from scipy.stats import chi2

    form = measured(game, FORMS[game])
    luck = []
    for number in range(0, len(PAIRS), len(PAIRS) // TRIED):
        boards = range(2000 * number + 500, 2000 * number + 500 + examples(40, 24))
        pair = PAIRS[number]
        luck.append(boards_of(form, pair, boards, 1)[1].mean(axis=1).sum(axis=2))
    pairs = np.array(luck)
    errors = pairs.std(axis=1, ddof=1) / pairs.shape[1] ** 0.5
    deviations = pairs.mean(axis=1) / errors
    assert np.abs(deviations).max() < 4
    assert np.square(deviations).sum(axis=0).max() < chi2.ppf(0.999, TRIED)


@pytest.mark.long
@pytest.mark.repetition
@pytest.mark.timeout(600)
@pytest.mark.parametrize("game", FORMS)
def test_intervals_of_raw_and_adjusted_results_contain_the_mean(game: str) -> None:
    """Samples of 150 boards are drawn from 240 boards, whose mean is the truth."""
    form = measured(game, FORMS[game])
    results, controls = boards_of(form, (6, 25), range(240), 1)
    chance = np.random.default_rng(0)
    luck = controls.mean(axis=1) - controls.mean(axis=(0, 1))
    for kind in range(2):
        means = results[:, :, kind].mean(axis=1)
        for adjust in (False, True):
            covered = []
            for _ in range(4_000):
                drawn = chance.integers(len(means), size=150)
                sample = means[drawn]
                if adjust:
                    sample = adjusted_results(sample, luck[drawn][:, kind])
                half = Z95 * sample.std(ddof=1) / len(sample) ** 0.5
                covered.append(abs(sample.mean() - means.mean()) <= half)
            assert 0.93 <= np.mean(covered) <= 0.97, (kind, adjust)
