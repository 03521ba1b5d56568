"""Luck of chance events: unbiased for any bots, and close to what chance did."""

import numpy as np
import pytest
from numpy.typing import NDArray

from arena.ratings.control_variates import adjusted_results
from arena.ratings.scale import Z95
from arena.records.analysis.engine import engine_of
from arena.records.luck_adjustment.chance_luck import DEAL, EARLY, LATE, luck_of_game
from arena.records.luck_adjustment.rubber import rubber_values
from arena.records.luck_adjustment.values import values_of
from bench.luck_adjustment import OwnPlayouts, boards_of, factors, mover, played
from bench.luck_bias import chi_square_p, deviations_of_pair
from bench.mirroring import PAIRS
from bench.strength import MeasuredForm
from referee.games.registry import find
from referee.games.shared.dealing import Seeded

Floats = NDArray[np.float64]
FORMS = {"poke": 2, "saint_poker": 2, "pokex": 4, "pouku": 3}
POLICIES = ("policy", "policy")
WIDE = 45.31
"""The 99.9 % quantile of chi-square with 20 degrees of freedom."""


def measured(game: str, seats: int) -> MeasuredForm:
    return MeasuredForm(find(game), seats)


def luck_of(form: MeasuredForm, seed: bytes = bytes(32)) -> Floats:
    policy = mover(form, "policy")
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
    results, controls = boards_of(measured("poke", 2), POLICIES, range(25), 4)
    points, luck = results[:, 0, 1], controls[:, 0, 0, 1].sum(axis=1)
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


def test_playouts_by_the_bots_end_with_the_game() -> None:
    form = measured("saint_poker", 2)
    bots = [mover(form, "policy"), mover(form, "policy%50")]
    values = OwnPlayouts(form, bots).sample(form.game.start(Seeded(bytes(32)), form.seats, {}))
    assert values.shape == (2, 2)
    assert values[0, 0] - values[0, 1] in {-0.5, 0, 0.5}


@pytest.mark.long
def test_the_ceiling_of_the_factor_is_without_the_noise_of_playouts() -> None:
    normal = np.random.default_rng(0).standard_normal
    luck, choices = normal(20_000), normal(20_000) / 2
    results = np.repeat((luck + choices)[:, None, None], 2, axis=2)
    controls = np.zeros((20_000, 1, 2, 2, 1))
    for estimate in range(2):
        controls[:, 0, estimate, :, 0] = (luck + normal(20_000))[:, None]
    for own in (False, True):
        for mirrored, adjusted, ceiling in factors(results, controls, own):
            assert mirrored.value == pytest.approx(1)
            assert adjusted.value == pytest.approx(1.25 / (1.25 - 1 / 1.5), rel=0.05)
            assert ceiling.value == pytest.approx(1.25 / 0.25, rel=0.15)


def test_the_probability_of_chi_square_is_that_of_tables() -> None:
    assert chi_square_p([(WIDE / 20) ** 0.5] * 20) == pytest.approx(0.001, rel=0.01)
    assert chi_square_p([(43.82 / 19) ** 0.5] * 19) == pytest.approx(0.001, rel=0.01)
    assert chi_square_p([1.96]) == pytest.approx(0.05, rel=0.01)


@pytest.mark.long
def test_deviations_of_a_pair_are_those_of_luck_and_of_adjusted_results() -> None:
    deviations = deviations_of_pair(measured("saint_poker", 2), 19, 40)
    assert deviations.shape == (4,)
    assert np.abs(deviations).max() < 4


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("game", FORMS)
def test_luck_is_unbiased_for_twenty_pairs_of_bots(game: str) -> None:
    """The luck of a board is the paired difference of its raw and its adjusted result.

    The bots play at random in different shares of their decisions, the playouts never.
    """
    form = measured(game, FORMS[game])
    luck = []
    for number, (first, second) in enumerate(PAIRS):
        pair = (f"policy%{first}", f"policy%{second}")
        boards = range(2000 * number + 500, 2000 * number + 540)
        luck.append(boards_of(form, pair, boards, 1)[1].mean(axis=(1, 2)).sum(axis=2))
    pairs = np.array(luck)
    errors = pairs.std(axis=1, ddof=1) / pairs.shape[1] ** 0.5
    deviations = pairs.mean(axis=1) / errors
    assert np.abs(deviations).max() < 4
    assert np.square(deviations).sum(axis=0).max() < WIDE


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("game", FORMS)
def test_intervals_of_raw_and_adjusted_results_contain_the_mean(game: str) -> None:
    """Samples of 150 boards are drawn from 240 boards, whose mean is the truth."""
    form = measured(game, FORMS[game])
    results, controls = boards_of(form, ("policy%6", "policy%25"), range(240), 1)
    chance = np.random.default_rng(0)
    luck = controls.mean(axis=(1, 2)) - controls.mean(axis=(0, 1, 2))
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
