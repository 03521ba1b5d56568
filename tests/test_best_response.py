"""Test the responses to `champion`: the dealt cards, the learned weights, the same play."""

from typing import Any

import numpy as np
import pytest

from bench.best_response import (
    Clairvoyant,
    Examples,
    Reader,
    Sampler,
    Table,
    Weights,
    features,
    fitted,
    learned,
    response,
)
from bench.hidden_cards import HIDDEN_CARDS, RANKS, Clue, counted, numbers_of
from bench.strength import SEED, MeasuredForm, load, loaded, played_on
from referee.game_codec import GameCodec
from referee.games.contract import State
from referee.games.poke.state import PokeState
from referee.games.registry import find
from referee.games.shared.dealing import Seeded, board_seed

FORMS = (
    MeasuredForm(find("poke"), 2),
    MeasuredForm(find("saint_poker"), 2),
    MeasuredForm(find("pouku"), 4),
    MeasuredForm(find("pokex"), 4),
    MeasuredForm(find("pokex"), 2),
)
FAST = "champion:0.02"
every_form = pytest.mark.parametrize("form", FORMS, ids=str)


def play_some(form: MeasuredForm, seating: list[Any], table: Table, positions: int) -> None:
    """Play the first positions of a game."""
    state = form.game.start(Seeded(board_seed(SEED, 3)), form.seats, form.given)
    left = positions

    def done(state: State) -> bool:
        nonlocal left
        table.watch(3, state)
        left -= 1
        return left < 0

    played_on(state, GameCodec(form.game), 3, seating, done)


class Checked(Clairvoyant):
    """Compares the dealt hands with those of the position."""

    checked = 0

    def __call__(self, search: Any, number: int, sampler: Sampler) -> Any:
        sample = super().__call__(search, number, sampler)
        for seat, hand in enumerate(self.table.state.hands):
            if seat != search.seat:
                held = counted(numbers_of(hand))
                dealt = self.cards.hands(search, sample, seat)
                assert (dealt >= held).all()  # Poke adds the cards played
                assert (dealt[0] - held).sum() in (0, 5 - len(hand))
                self.checked += 1
        if self.stock and isinstance(search.state, PokeState):
            assert (sample[1] == numbers_of(self.table.state.stock)).all()
        return sample


@pytest.mark.long
@pytest.mark.parametrize("stock", [False, True])
@every_form
def test_the_clairvoyant_deals_the_true_hands(form: MeasuredForm, stock: bool) -> None:
    table = Table()
    dealing = Checked(HIDDEN_CARDS[form.game.id], table, stock)
    seating = [response(form, seat, dealing, FAST) for seat in range(form.seats)]
    play_some(form, seating, table, 10)
    assert dealing.checked >= 8


@pytest.mark.long
@every_form
def test_a_reader_without_weights_plays_as_champion(form: MeasuredForm) -> None:
    table = Table()
    reader = Reader(HIDDEN_CARDS[form.game.id], table)
    usual = [loaded(FAST, form.start(seat)) for seat in range(form.seats)]
    copies = [response(form, seat, reader, FAST) for seat in range(form.seats)]

    def both(seat: int) -> Any:
        def choose(question: Any) -> Any:
            expected = usual[seat](question)
            assert copies[seat](question) == expected
            return expected

        return choose

    play_some(form, [both(seat) for seat in range(form.seats)], table, 8)
    assert len(reader.examples.rows) > 1


def test_a_reader_prefers_worlds_with_the_expected_hands() -> None:
    form, table = FORMS[2], Table()
    cards = HIDDEN_CARDS["pouku"]
    no_cards = np.zeros((1, RANKS), dtype=np.int64)
    fives = features(no_cards, Clue((), None))[0]
    fives[3] = 2.0  # at least one five
    shares: dict[bool, list[float]] = {True: [], False: []}

    class Counting(Reader):
        def __call__(self, search: Any, number: int, sampler: Sampler) -> Any:
            sample = super().__call__(search, number, sampler)
            hands = self.cards.hands(search, sample, (search.seat + 1) % 4)
            shares[bool(self.weights)].append(float((hands[:, 3] > 0).mean()))
            return sample

    learned_weights: Weights = {(0, False): fives}
    for weights in ({}, learned_weights):
        reader = Counting(cards, table, weights)
        play_some(form, [response(form, seat, reader) for seat in range(4)], table, 1)
    assert shares[True][0] > shares[False][0] + 0.1


def test_weights_are_found_again() -> None:
    chance, weights = np.random.default_rng(1), np.array([1.0, -0.5, 0.0])
    rows = chance.normal(size=(4000, 8, 3))
    rated = rows @ weights + chance.gumbel(size=(4000, 8))
    held = rated.argmax(axis=1)
    rows[np.arange(4000), held], rows[:, 0] = rows[:, 0].copy(), rows[np.arange(4000), held]
    assert fitted(rows, 1.0) == pytest.approx(weights, abs=0.1)


def test_hands_without_a_pattern_give_no_gain_on_other_boards() -> None:
    chance, examples = np.random.default_rng(1), Examples()
    for board in range(40):
        for _ in range(5):
            examples.add(board, ("a",), chance.normal(size=(9, 6)))
    assert examples.best_ridge() == 300.0
    odd, even = examples.half(odd=True), examples.half(odd=False)
    mean, _ = odd.gain(odd.fitted(3.0))
    assert mean > 0
    mean, half = even.gain(odd.fitted(300.0))
    assert mean < half


@pytest.mark.long
def test_examples_of_games_are_the_hands_of_other_seats() -> None:
    examples = learned(MeasuredForm(find("pouku"), 3), range(1))
    rows = np.concatenate([np.array(rows) for rows in examples.rows.values()])
    pairs = rows[:, :, RANKS : 3 * RANKS].sum(axis=2)
    assert (rows[:, :, :RANKS].sum(axis=2) + pairs <= 3).all()
    assert (rows[:, 1:].std(axis=1).sum(axis=1) > 0).all()


def test_a_number_after_the_name_sets_the_nodes() -> None:
    form = FORMS[0]
    choose: Any = loaded("champion:4", form.start(0))
    assert choose.__self__.search.nodes == 4.0
    assert load("champion", form.start(0)).__self__.search.nodes == 1.0  # type: ignore[attr-defined]
