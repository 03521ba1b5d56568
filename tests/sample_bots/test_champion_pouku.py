"""Test the parts of `champion` that play Pouku against the referee's rules."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from bench.strength import MeasuredForm
from referee.games.pouku.actions import GoOut
from referee.games.pouku.scores import GoingOut, owed
from referee.games.pouku.state import PoukuState
from referee.games.pouku.yaku import Values
from referee.games.registry import GAMES
from referee.games.shared.cards import DECK, in_order
from referee.games.shared.dealing import Seeded, board_seed
from tests.examples import quick_cases
from tests.sample_bots.bot_questions import bot_answer
from tests.sample_bots.champion_modules import champion_modules

MODULES = ("search_interface", "pouku_points", "pouku_simulator", "pouku")
every_form = pytest.mark.parametrize(
    "form",
    quick_cases(
        [
            MeasuredForm(GAMES["pouku"], 3),
            MeasuredForm(GAMES["pouku"], 4, {"teams": True}),
            MeasuredForm(GAMES["pouku"], 4),
            MeasuredForm(GAMES["pouku"], 4, {"reference": "left"}),
        ],
        1,
    ),
    ids=str,
)


@pytest.fixture
def modules() -> Iterator[list[Any]]:
    with champion_modules(MODULES) as imported:
        yield imported


def positions(form: MeasuredForm, boards: int) -> Iterator[PoukuState]:
    """Yield all positions of games played at random, with many keeps."""
    chance = random.Random(str(form))
    for board in range(boards):
        state = form.game.start(Seeded(board_seed(bytes(32), board)), form.seats, form.given)
        while state.actors:
            assert isinstance(state, PoukuState)
            yield state
            legal = list(state.legal(state.turn))
            keeps = [action for action in legal if getattr(action, "keep", ())]
            state = state.play({state.turn: chance.choice(keeps or legal)})


def of(modules: list[Any], state: PoukuState) -> Any:
    _, _, simulator, pouku = modules
    weights = simulator.load(pouku.WEIGHTS, state.form)
    scores = pouku.expected_score_tables(weights.leads, 2 * state.form.seats)
    return pouku.PoukuSearch(state, state.turn, weights, scores, np.random.default_rng(1))


@pytest.mark.parametrize(("size", "least"), [(4, 0.99), (8, 0.96), (12, 0.8)])
def test_most_sets_have_the_points_of_the_best_set(
    size: int, least: float, modules: list[Any]
) -> None:
    _, points_module, _, pouku = modules
    values, chance = Values(), random.Random(size)
    dealt = [chance.sample(DECK, 3 + size) for _ in range(1000)]
    hands = np.array([pouku.rank_counts(tuple(cards[:3])) for cards in dealt])
    fields = np.array([pouku.rank_counts(tuple(cards[3:])) for cards in dealt])
    points, yaku = np.divmod(
        points_module.set_values(values, hands, fields), points_module.POINT_UNIT
    )
    points += values.four_yaku * (yaku >= points_module.BONUS_YAKU_COUNT)
    best = np.array(
        [
            GoingOut(values, in_order(cards[:3]), in_order(cards[3:]), (), "none").worth()
            for cards in dealt
        ]
    )
    assert (points == best).mean() >= least
    assert (points > best).mean() <= 0.005
    dearest = np.array([owed(values, tuple(cards[3:]), "2C") for cards in dealt])
    assert (points_module.payment(values, fields, 0) == dearest).mean() >= 0.97


@every_form
def test_deals_are_scored_by_the_rules(form: MeasuredForm, modules: list[Any]) -> None:
    same = total = 0
    for state in positions(form, 3):
        search = of(modules, state)
        hands = np.array([[search.hand] * form.seats])
        deals = search._deals(hands)
        points, out = deals.offers(state.turn)
        expected = state.offer(state.turn).worth()
        total += 1
        same += points[0] == expected
        if points[0] == expected:
            assert out[0] == state.offer(state.turn).reaches(state.needed)
            assert deals.score(state.turn, points)[0] == state.scored(state.turn)[1]
        for seat in range(form.seats):
            if sum(len(field) for field in state.fields) < 20:
                assert deals.payments(seat)[0] == state.pays(seat)
    assert same > 0.8 * total


@every_form
def test_hidden_cards_are_consistent_with_the_view(form: MeasuredForm, modules: list[Any]) -> None:
    for state in positions(form, 1):
        search = of(modules, state)
        hands, stock = search.worlds(50)
        assert (hands[:, state.turn] == search.hand).all()
        sizes = [len(hand) for hand in state.hands]
        assert (hands.sum(axis=2) == sizes).all()
        left = np.bincount(search.unseen, minlength=13)
        others = np.delete(hands, state.turn, axis=1).sum(axis=1)
        drawn = np.array([np.bincount(cards, minlength=13) for cards in stock])
        assert (others + drawn <= left).all()


@every_form
def test_all_deals_end_with_the_points_of_the_rules(form: MeasuredForm, modules: list[Any]) -> None:
    state = next(positions(form, 1))
    search = of(modules, state)
    hands, stock = search.worlds(200)
    deals = search._deals(hands)
    deals.stock, deals.seat = stock, (state.turn + 1) % form.seats
    deals.begin()
    points = deals.play()
    winners = (points >= (8 if form.given.get("teams") else 5)).sum(axis=1)
    assert (winners == (2 if form.given.get("teams") else 1)).all()
    assert deals.hands.min() >= 0
    assert deals.fields.min() >= 0


def test_a_sure_win_in_the_last_deal_is_taken() -> None:
    form = MeasuredForm(GAMES["pouku"], 3)
    last = next(
        state
        for state in positions(form, 60)
        if len(state.deals) == 5 and state.offer(state.turn).reaches(state.needed)
    )
    totals = tuple(30 if seat == last.turn else 0 for seat in range(3))
    state = last.but(totals=totals)
    action, note = bot_answer("champion", form, state, state.turn, luck=3)
    assert isinstance(action, GoOut)
    assert note.startswith("+1.00")
