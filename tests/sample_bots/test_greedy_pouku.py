"""Test the house bot `greedy` at Pouku: every form, and a few positions."""

from typing import Any

import pytest
from pokearena.v1 import bot_pb2

from bench.strength import MeasuredForm, load, measure
from referee.game_codec import GameCodec
from referee.games.pouku import Pouku
from tests.referee.action_texts import action, pouku

GAME = Pouku()
FORMS = [
    MeasuredForm(GAME, 3),
    MeasuredForm(GAME, 4),
    MeasuredForm(GAME, 4, {"reference": "left"}),
    MeasuredForm(GAME, 4, {"teams": True}),
    MeasuredForm(GAME, 4, {"teams": True, "reference": "left"}),
    MeasuredForm(GAME, 3, {"pair": 0, "straight": 5, "four_yaku": 4, "point": 0}),
]


def chosen(state: Any) -> Any:
    seat = state.turn
    head = bot_pb2.ActRequest(seat=seat)
    data = GameCodec(GAME).question(head, state.view(seat), state.legal(seat))
    move, _ = load("greedy")(bot_pb2.ActRequest.FromString(data))
    return GameCodec(GAME).decode(move)


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_greedy_beats_random_in_every_form(form: MeasuredForm) -> None:
    result = measure(form, "greedy", "random", 8)
    assert result.mean - result.half > 0.75


@pytest.mark.parametrize(
    "form",
    [pytest.param(f, marks=() if f in (FORMS[0], FORMS[-1]) else pytest.mark.long) for f in FORMS],
    ids=str,
)
def test_greedy_plays_every_form_legally(form: MeasuredForm) -> None:
    state: Any = pouku(
        "AC",
        ("2C 3C", "4C 5C", "6C 7C", "8C 9C")[: form.seats],
        ("TC JC", "QC KC", "2D 3D", "4D 5D")[: form.seats],
        **(form.given if not form.given.get("teams") else {}),
    )
    while state.actors:
        move = chosen(state)
        assert move in state.legal(state.turn)
        state = state.play({state.turn: move})


def test_greedy_goes_out_as_soon_as_possible() -> None:
    state = pouku("AC", ("8C 3C", "2C 4C", "5C TC"), ("KC JC", "8D 7C", "3D 7D"), "8H")
    assert chosen(state) == action("go_out")


def test_greedy_discards_useless_cards() -> None:
    state = pouku("AC", ("8C 3C", "2C 4C", "5C TC"), ("KC JC", "8D 7C", "3D QD"), "5H")
    assert chosen(state) == action("discard 5H")


def test_greedy_keeps_cards_outside_its_reference_fields() -> None:
    hands = ("7C 2C", "QD KD", "9C TC", "3S 5S")
    state = pouku("AC", hands, ("KC JC", "2D 4S", "9H QC", "7D 7S"), "2H")
    move = chosen(state)
    assert set(move.keep) == {"7C", "7D", "7S"}


def test_in_teams_greedy_can_discard_to_its_reference_field() -> None:
    hands = ("8C 8D 3C", "2C 4C 9S", "5C TC QS", "KD KH 6S")
    state = pouku("AC", hands, ("KC JC", "2D 7C", "3D 7D", "AD 9H"), "8H", teams=True)
    moves = set()
    while state.actors and len(state.deals) < 4:
        move = chosen(state)
        moves.add(type(move).__name__)
        state = state.play({state.turn: move})
    assert {"Give", "GoOut"} <= moves
