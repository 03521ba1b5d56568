"""Test the parts of `champion` that play Poke against the referee's rules."""

import random
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from arena.bots.resolver import house_folder
from bench.strength import MeasuredForm
from referee.games.poke.legal import LegalAnswers, LegalLeads, beats, without
from referee.games.poke.state import PokeState, bonus
from referee.games.registry import GAMES
from referee.games.shared.cards import DECK, Hand, in_order
from referee.games.shared.dealing import Seeded, board_seed
from referee.games.shared.poker import best_hand
from tests.sample_bots.bot_questions import bot_answer
from tests.sample_bots.champion_modules import champion_modules

MODULES = ("poke_hands", "poke_simulator")
FORM = MeasuredForm(GAMES["poke"], 2)


@pytest.fixture
def modules() -> Iterator[list[Any]]:
    with champion_modules(MODULES) as imported:
        yield imported


def hand(cards: Any) -> Hand:
    return in_order([DECK[card] for card in cards])


def decks(number: int, cards: int = 52) -> Any:
    """Return shuffled cards with numbers below ``cards``; few of them give many pairs."""
    chance = np.random.default_rng(1)
    return chance.permuted(np.tile(np.arange(cards), (number, 1)), axis=1)


@cache
def tricks(leader: Hand, other: Hand, must_beat: bool) -> int:
    """Return the leader's tricks if both seats know all cards, by the rules of the referee."""
    best = 0
    for lead in LegalLeads(leader) if leader else ():
        kept = without(leader, lead.cards)
        least = 5
        for answer in LegalAnswers(other, lead.cards, must_beat):
            rest = without(other, answer.cards)
            won = (
                len(kept) - tricks(rest, kept, must_beat)
                if beats(answer.cards, lead.cards)
                else len(lead.cards) + tricks(kept, rest, must_beat)
            )
            least = min(least, won)
        best = max(best, least)
    return best


@pytest.mark.parametrize("must_beat", [True, False])
def test_tricks_of_open_hands_are_solved_by_the_rules(must_beat: bool, modules: list[Any]) -> None:
    hands, _ = modules
    dealt = decks(6, 24)[:, :10]
    ranks = dealt.T >> 2
    leads, replies = hands.solve_tricks(ranks[:5], ranks[5:], must_beat)[5]
    for world, cards in enumerate(dealt):
        first, second = hand(cards[:5]), hand(cards[5:])
        assert leads[0, 0, world] == tricks(first, second, must_beat)
        assert replies[0, 0, world] == tricks(second, first, must_beat)


def test_values_of_hands_order_them_like_the_referee(modules: list[Any]) -> None:
    hands, _ = modules
    royal = [[32, 36, 40, 44, 48], [0, 4, 8, 12, 48], [0, 4, 8, 13, 48], [0, 1, 2, 3, 51]]
    dealt = np.concatenate([decks(400)[:, :5], decks(400, 16)[:, :5], np.array(royal)])
    values = hands.hand_values(*hands.sorted_by_group(dealt))
    expected = [best_hand(hand(cards)) for cards in dealt]
    order = np.argsort(values, kind="stable")
    for lower, higher in pairwise(order):
        assert expected[lower] <= expected[higher]
        assert (values[lower] == values[higher]) == (expected[lower] == expected[higher])
    assert hands.bonuses(values).tolist() == [bonus(value) for value in expected]


def test_the_end_of_a_rubber_has_the_value_of_its_winner(modules: list[Any]) -> None:
    _, simulator = modules
    later = simulator.load(house_folder() / "champion" / "poke.npz").rubber
    decided = simulator.Rubber(legs=(1, 1), below=(18, 3), above_lead=-400)
    below = np.array([4, 1]), np.array([1, 4])
    won, open_leg = decided.win_probabilities(below, np.array([0, 0]), later)
    assert won == 1  # 100 for the leg and 500 for the rubber against 400
    assert 0.5 < open_leg < 1


def test_positions_of_both_seats_have_opposite_values(modules: list[Any]) -> None:
    """The table has values of the next dealer, whose advantage is small."""
    _, simulator = modules
    later = simulator.load(house_folder() / "champion" / "poke.npz").rubber
    middle = simulator.MAX_LEAD
    for legs in ((0, 0), (0, 1), (1, 1)):
        for mine, theirs in ((0, 0), (15, 4), (8, 12)):
            chance = later[legs[0], legs[1], mine, theirs, middle - 5]
            opposite = later[legs[1], legs[0], theirs, mine, middle + 5]
            assert chance + opposite == pytest.approx(1, abs=0.1)


def test_a_dealer_draws_three_cards_to_a_pair_for_free() -> None:
    state = FORM.game.start(Seeded(board_seed(bytes(32), 1)), 2, {})
    assert isinstance(state, PokeState)
    dealer = state.dealer
    hands = [("2C", "5D", "9S", "JH", "AC")] * 2
    hands[dealer] = ("2S", "3H", "5C", "8C", "8D")
    state = state.but(hands=tuple(hands), turn=dealer, drawn=())
    random.seed(0)
    action, note = bot_answer("champion", FORM, state, dealer, luck=3)
    assert set(action.discards) == {"2S", "3H", "5C"}
    assert "playouts" in note
