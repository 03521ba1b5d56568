"""Pouku: set-up, turns, the end of a deal (docs/rules/pouku.md, U-1, U-3, U-7, U-10)."""

from typing import Any

import pytest

from referee.games.contract import IllegalAction, SetupError
from referee.games.pouku import Pouku
from referee.games.pouku.actions import Discard, GoOut
from referee.games.shared.cards import cards, deck_of
from referee.games.shared.dealing import Arranged, Seeded
from tests.errors import has_code
from tests.referee.action_texts import action, is_legal, listed, play, pouku

HANDS = ("2C 3C", "4C 5C", "6C 7C")
FIELDS = ("8C 9C", "TC JC", "QC KC")
FOUR_HANDS = (*HANDS, "2D 3D")
FOUR_FIELDS = (*FIELDS, "8D 9D")
TEAM_HANDS = ("2C 3C 4C", "5C 6C 7C", "2D 3D 4D", "5D 6D 7D")
TEAM_FIELDS = ("8C 9C", "TC JC", "QC KC", "8D 9D")


def three(stock: str = "AS", **more: Any) -> Any:
    return pouku("AC", HANDS, FIELDS, stock, **more)


def four(**more: Any) -> Any:
    return pouku("AC", FOUR_HANDS, FOUR_FIELDS, "AS", **more)


def team(**more: Any) -> Any:
    return pouku("AC", TEAM_HANDS, TEAM_FIELDS, "AS", teams=True, **more)


def harmless(state: Any) -> Any:
    deal = len(state.deals)
    while state.actors and len(state.deals) == deal:
        state = state.play({state.turn: listed(state)[0]})
    return state


@pytest.mark.parametrize("seats", [0, 2, 5])
def test_pouku_is_played_by_three_or_four(seats: int) -> None:
    """U-1.1."""
    with pytest.raises(SetupError, check=has_code("seats")):
        Pouku().start(Seeded(bytes(32)), seats)


def test_teams_are_of_four() -> None:
    """U-1.1."""
    with pytest.raises(SetupError, check=has_code("seats")):
        Pouku().start(Seeded(bytes(32)), 3, {"teams": True})
    with pytest.raises(SetupError, check=has_code("seats")):
        Pouku().start(Seeded(bytes(32)), 5, {"teams": True})


def test_everyone_is_an_entrant_and_two_of_a_team_are_one() -> None:
    """U-1.1, U-7.1."""
    game = Pouku()
    assert game.sides(3, game.settle({})) == (0, 1, 2)
    assert game.sides(4, game.settle({})) == (0, 1, 2, 3)
    assert game.sides(4, game.settle({"teams": True})) == (0, 1, 0, 1)


def test_invalid_options_are_refused() -> None:
    """U-1.3, U-1.4."""
    options: tuple[dict[str, object], ...] = ({"reference": "up"}, {"pair": -1})
    for wrong in options:
        with pytest.raises(SetupError, check=has_code("option-value")):
            Pouku().start(Seeded(bytes(32)), 3, wrong)


def test_cards_that_are_not_a_pack_are_refused() -> None:
    """U-3.1."""
    twice = ("2C", *deck_of(cards("2C"))[:51])
    with pytest.raises(SetupError, check=has_code("thing-twice")):
        Pouku().start(Arranged(orders={("deck", 0): twice}))


@pytest.mark.parametrize(("seats", "deals"), [(3, 6), (4, 8)])
def test_everyone_deals_twice(seats: int, deals: int) -> None:
    """U-1.2."""
    state: Any = Pouku().start(Seeded(bytes(32)), seats)
    dealers = []
    while state.actors:
        if not state.turns:
            dealers.append(state.dealer)
        state = state.play({state.turn: listed(state)[0]})
    assert len(dealers) == deals
    assert dealers == [(dealers[0] + n) % seats for n in range(deals)]
    assert [deal.dealer for deal in state.deals] == dealers


def test_the_seed_draws_the_first_dealer() -> None:
    """U-1.2."""
    first = {
        Pouku().start(Seeded(bytes([n]) * 32), 4).actors  # the dealer has the first turn
        for n in range(40)
    }
    assert first == {(0,), (1,), (2,), (3,)}
    assert Pouku().start(Arranged(numbers={("dealer", 0): 2}), 3).actors == (2,)


@pytest.mark.parametrize(
    ("state", "reference"),
    [
        (three(), [(1, 2), (2, 0), (0, 1)]),
        (three(reference="left"), [(1, 2), (2, 0), (0, 1)]),
        (four(), [(1, 2), (2, 3), (3, 0), (0, 1)]),
        (four(reference="left"), [(3, 2), (0, 3), (1, 0), (2, 1)]),
        (team(), [(1, 2), (2, 3), (3, 0), (0, 1)]),
        (team(reference="left"), [(3, 2), (0, 3), (1, 0), (2, 1)]),
    ],
)
def test_reference_fields_are_those_of_the_rules(
    state: Any, reference: list[tuple[int, int]]
) -> None:
    """U-1.3."""
    assert [state.view(seat).reference for seat in range(len(reference))] == reference


def test_point_values_are_options_and_in_the_view() -> None:
    """U-1.4."""
    view = three().view(0)
    assert (view.pair, view.three, view.straight, view.four) == (1, 3, 2, 7)
    assert (view.point, view.four_yaku, view.first_turn) == (2, 1, 1)
    view = three(pair=4, straight=0, first_turn=9).view(0)
    assert (view.pair, view.straight, view.first_turn) == (4, 0, 9)


def test_the_point_card_then_hands_then_fields_then_the_stock() -> None:
    """U-3.1, U-3.2: the dealer has drawn."""
    state = three("AS AD")
    assert state.point_card == "AC"
    assert state.hands == (cards("2C 3C AS"), cards("4C 5C"), cards("6C 7C"))
    assert state.fields == tuple(map(cards, FIELDS))
    assert state.stock[0] == "AD"
    assert len(state.stock) == 52 - 1 - 6 - 6 - 1
    assert [len(hand) for hand in team().hands] == [4, 3, 3, 3]
    assert len(team().stock) == 52 - 1 - 12 - 8 - 1


def test_turns_go_round_from_the_dealer_and_each_begins_with_a_card() -> None:
    """U-3.2, U-3.3."""
    state = three("AS AD AH KD", dealer=1)
    seen = []
    for _ in range(4):
        view = state.view(state.turn)
        assert view.drawn in view.hand
        assert len(view.hand) == 3
        seen.append((state.turn, view.drawn, view.stock))
        state = play(state, f"discard {view.drawn}")
    left = 52 - 1 - 6 - 6 - 1
    assert seen == [(1, "AS", left), (2, "AD", left - 1), (0, "AH", left - 2), (1, "KD", left - 3)]
    assert state.fields[1] == cards("TC JC AS KD")


def test_one_card_is_discarded_to_the_field_of_the_seat() -> None:
    """U-3.3, U-10.2."""
    state = three()
    assert listed(state)[:3] == [action(f"discard {card}") for card in ("2C", "3C", "AS")]
    after = play(state, "discard 3C")
    assert after.fields[0] == cards("8C 9C 3C")
    assert after.hands[0] == cards("2C AS")
    for wrong in ("discard 4C", "discard 8C", "give 3C", "discard ZZ"):
        assert not is_legal(state, wrong), wrong
        with pytest.raises(IllegalAction):
            play(state, wrong)


def test_an_empty_stock_makes_the_deal_void_and_it_is_not_played_again() -> None:
    """U-3.4, U-1.2."""
    state = three()
    after = harmless(state)
    (deal,) = after.deals
    assert (deal.void, deal.points, deal.yaku, deal.worth) == (True, (0, 0, 0), (), 0)
    assert deal.point_card == "AC"
    assert (after.dealer, after.totals) == (1, (0, 0, 0))
    for _ in range(5):
        after = harmless(after)
    assert len(after.deals) == 6
    assert after.actors == ()


def test_a_void_deal_has_used_all_cards() -> None:
    """U-3.4, U-9.3."""
    state = three()
    while len(state.stock) > 0:
        state = state.play({state.turn: listed(state)[0]})
    assert not state.deals
    (deal,) = play(state, f"discard {state.drawn}").deals
    assert deal.void
    assert [turn.seat for turn in deal.turns] == [turn % 3 for turn in range(39)]
    assert sum(len(field.cards) for field in deal.fields) == 3 * 2 + 39


def test_in_teams_a_card_may_go_to_the_teammates_field() -> None:
    """U-7.5, U-7.2."""
    state = team()
    after = play(state, "give 2C")
    assert after.fields[2] == cards("QC KC 2C")
    assert after.turns[0].field == 2
    assert play(state, "discard 2C").fields[0] == cards("8C 9C 2C")
    assert listed(state)[:8] == [
        action(f"{word} {card}")
        for word in ("discard", "give")
        for card in ("2C", "3C", "4C", "AS")
    ]


def test_harmless_actions_come_first_and_going_out_last() -> None:
    """U-10.3."""
    state = pouku("AC", ("7C 7D", "2C 3C", "4C 5C"), ("2D 2H", "7S 8S", "9S TS"), "7H")
    choices = listed(state)
    assert choices[:3] == [Discard(card) for card in cards("7C 7D 7H")]
    sizes = [len(choice.keep) for choice in choices[:-1]]
    assert sizes == [0, 0, 0] + [2] * 6 + [4] * 6
    assert choices[-1] == GoOut()
    assert state.legal(0).complete
