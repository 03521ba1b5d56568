"""Pouku: going out, its score, and the payments (docs/rules/pouku.md, U-2, U-4 to U-8)."""

from typing import Any

import pytest

from referee.games.pouku import Pouku
from referee.games.pouku.actions import PoukuCards
from referee.games.shared.cards import cards, deck_of
from tests.referee.action_texts import is_legal, play, pouku


def last(state: Any) -> Any:
    return state.deals[-1]


def ready_to_go_out(*turns: str, **more: Any) -> Any:
    """Return three seats; seat 0 draws the third eight, after everyone has had a turn."""
    hands = ("8C 3C", "2C 4C", "5C TC")
    state = pouku("AC", hands, ("KC JC", "8D 7C", "3D 7D"), "QD QH 6S 8H", **more)
    return play(state, *(turns or ("discard QD", "discard QH", "discard 6S")))


def test_going_out_needs_five_and_is_never_compulsory() -> None:
    """U-4.1."""
    state = ready_to_go_out()
    assert state.view(0).worth == 5  # 8 8 8, 3 3, 7 7
    assert is_legal(state, "go_out")
    assert is_legal(state, "discard 3C")
    less = pouku("AC", ("8C 3C", "2C 4C", "5C TC"), ("KC JC", "8D 7C", "9D 7D"), "8H")
    assert less.view(0).worth == 0  # 8 8 8, 7 7
    assert not is_legal(less, "go_out")


def test_the_field_of_the_seat_is_never_used() -> None:
    """U-4.2."""
    state = pouku("AC", ("8C 3C", "2C 4C", "5C TC"), ("8D 8S", "JC 9C", "KD 6H"), "3H")
    assert not is_legal(state, "go_out")


def test_the_bonus_of_the_first_turn_is_scored_but_does_not_help_to_go_out() -> None:
    """U-2.5, U-4.1, U-4.7."""
    four = pouku("AC", ("8C 3C", "2C 4C", "5C TC"), ("KC JC", "8D 7C", "9D 7D"), "8H")
    assert not is_legal(four, "go_out")
    five = pouku("AC", ("8C 3C", "2C 4C", "5C TC"), ("KC JC", "8D 7C", "3D 7D"), "8H")
    assert (five.view(0).worth, last(play(five, "go_out")).worth) == (6, 6)
    assert last(play(ready_to_go_out(), "go_out")).worth == 5


def test_every_seat_has_its_own_first_turn() -> None:
    """U-2.5."""
    hands = ("2C 4C", "5C TC", "8C 3C")
    state = pouku("AC", hands, ("8D 7C", "3D 7D", "KC JC"), "QD 6S 8H")
    state = play(state, "discard QD", "discard 6S", "go_out")
    assert (last(state).winner, last(state).worth) == (2, 6)


def test_eight_or_more_counts_twice() -> None:
    """U-4.7: the bonus of the first turn helps to come to eight."""
    state = pouku("AC", ("3C 3D", "2C 4C", "5C TC"), ("KC JC", "3H 7C", "9D 7D"), "3S")
    assert state.view(0).worth == 2 * 9
    hands = ("KD 9C", "2C 4C", "5C TC")
    state = pouku("AC", hands, ("KC JC", "8D 8H", "9D 8S"), "9H", straight=0, three=3)
    assert play(state, "go_out").totals[0] == 3 + 3 + 1  # not 8
    state = pouku("AC", hands, ("KC JC", "8D 8H", "9D 8S"), "9H", first_turn=2)
    assert play(state, "go_out").totals[0] == 2 * (3 + 3 + 2)


def test_four_of_a_kind_and_a_pair_give_sixteen() -> None:
    """U-4.7."""
    state = pouku(
        "AC", ("3C 3D", "2C 4C", "5C TC"), ("KC JC", "3H 7C", "9D 7D"), "3S", first_turn=0
    )
    assert play(state, "go_out").totals[0] == 16


def test_every_loser_pays_twice_the_cost_of_its_reference_fields() -> None:
    """U-6.1, U-6.2: not for the hand, not for the seat's own field."""
    state = play(ready_to_go_out(), "go_out")
    assert state.fields != ((), (), ())
    # seat 1 refers to 3D 7D 6S and KC JC QD, seat 2 to KC JC QD and 8D 7C QH
    assert last(state).points == (5, 0, -2)
    assert state.totals == (5, 0, -2)


def test_point_cards_in_the_reference_fields_are_paid_for() -> None:
    """U-6.2: but a hand's are not."""
    hands = ("8C 3C", "2C AD", "5C TC")
    state = pouku("AC", hands, ("KC AS", "8D 7C", "3D 7D"), "8H")
    assert last(play(state, "go_out")).points == (6, -4, -4)


def test_a_kept_yaku_is_paid_for_once_with_four_seats() -> None:
    """U-6.3."""
    hands = ("JC QH", "3C 9C", "KD KH", "2C TC")
    fields = ("KC 5D", "9D 4S", "3D 3H", "3S 6D")
    state = pouku("AC", hands, fields, "JD 2D KS TD JH 7D 2H 8D")
    state = play(state, "discard JD", "discard 2D keep 3C 3D 3H 3S", "discard KS", "discard TD")
    state = play(state, "discard JH", "discard 7D", "discard 2H")
    assert state.kept[1] == cards("3C 3D 3H 3S")
    # the reference fields of seat 1, those of 2 and 3, become 5 6 7 8
    lying = (state.fields[0], state.fields[1], cards("5D 6D"), cards("7D 8D"))
    state = state.but(fields=lying)
    assert state.pays(1) == 7 + 2 * 2


def test_a_kept_yaku_is_paid_for_twice_with_three_seats() -> None:
    """U-6.3."""
    state = pouku("AC", ("JC QH", "3C 9C", "KD KH"), ("3H 3D", "9D 4S", "3S KC"), "JD 2D")
    state = play(state, "discard JD", "discard 2D keep 3C 3D 3H 3S")
    state = state.but(fields=(cards("5D 6D"), cards("9D 4S"), cards("7D 8D")))
    assert state.pays(1) == 14 + 4


def test_point_cards_in_a_kept_yaku_are_paid_with_it() -> None:
    """U-6.3."""
    state = pouku("3S", ("JC QH", "3C 9C", "KD KH"), ("3H 3D", "9D 4S", "4D KC"), "JD 2D")
    state = play(state, "discard JD", "discard 2D keep 3C 3D 3H")
    state = state.but(fields=(cards("5D 6D"), cards("9D 4S"), cards("7D 9H")))
    assert state.pays(1) == 2 * (3 + 6)


def test_a_kept_yaku_counts_but_another_yaku_is_required() -> None:
    """U-5.3, U-5.4, U-5.5."""
    hands = ("3C 9C", "JC QH", "KD KH")
    state = pouku("9S", hands, ("8D TD", "3D 3H", "3S 6D"), "2D JD 2S 9D TC KS 6H")
    assert is_legal(state, "discard 2D keep 3C 3D 3H 3S")
    state = play(state, "discard 2D keep 3C 3D 3H 3S", "discard JD", "discard 2S")
    assert state.hands[0] == cards("9C 9D")
    assert state.view(0).worth == 2 * (7 + 1 + 4)
    other = play(state, "discard 9D", "discard TC", "discard KS")
    assert other.hands[0] == cards("6H 9C")
    after = play(other, "go_out")  # 6 6, and the kept one, and the point card
    assert [yaku.name for yaku in last(after).yaku] == ["pair", "four"]
    assert last(after).worth == 1 + 7 + 2
    without = other.but(fields=(other.fields[0], cards("JD TC"), cards("2S KS")))
    assert not is_legal(without, "go_out")


def test_only_the_hand_and_set_of_the_winner_are_shown() -> None:
    """U-9.2, U-9.3, U-4.6."""
    state = play(ready_to_go_out(four_yaku=0), "go_out")
    for seat in range(3):
        (deal,) = state.view(seat).deals
        assert (deal.dealer, deal.point_card, deal.void, deal.winner) == (0, "AC", False, 0)
        assert deal.hand == cards("3C 8C 8H")
        assert {(yaku.name, yaku.cards, yaku.worth) for yaku in deal.yaku} == {
            ("three", cards("8C 8D 8H"), 3),
            ("pair", cards("3C 3D"), 1),
            ("pair", cards("7C 7D"), 1),
        }
        assert (deal.worth, deal.points) == (5, (5, 0, -2))
        assert deal.fields == tuple(map(PoukuCards, ready_to_go_out().fields))
        assert deal.turns == ready_to_go_out().turns


def test_the_next_seat_deals_and_totals_go_on() -> None:
    """U-1.2, U-8.1."""
    again = deck_of(cards("AC"), *map(cards, ("2C 4C", "8C 3C", "5C TC", "3D 7D")))
    again = (*again[:7], *cards("3D 7D KC JC 8D 7C 8H"))
    again = (*again, *(c for c in deck_of() if c not in again))
    state = play(ready_to_go_out(later={1: again}), "go_out")
    assert (state.dealer, state.turn) == (1, 1)
    assert state.view(0).turns == ()
    state = play(state, "go_out")
    assert last(state).winner == 1
    assert state.totals == tuple(
        a + b for a, b in zip(state.deals[0].points, state.deals[1].points, strict=True)
    )


def team(stock: str = "8H", **more: Any) -> Any:
    """Return two teams; seat 0 has eights."""
    hands = ("8C 3C 2S", "2C 4C 9S", "5C TC QS", "KD KH 6S")
    fields = ("KC JC", "8D 7C", "3D 7D", "AD 9H")
    return pouku("AC", hands, fields, stock, teams=True, **more)


def test_in_teams_going_out_needs_eight_and_nothing_is_doubled() -> None:
    """U-7.2, U-7.3."""
    assert not is_legal(team(), "go_out")  # 5, and 1 for the first turn
    assert not is_legal(team(three=5), "go_out")  # 7 and 1
    state = play(team(three=6), "go_out")
    assert last(state).worth == 9
    assert last(state).points == (9, 0, 9, 0)


def test_points_belong_to_the_team_and_its_reference_fields_are_free() -> None:
    """U-7.1, U-7.3, U-8.1."""
    state = play(team(three=6), "go_out")
    assert state.totals == (9, 0, 9, 0)


def test_a_team_pays_for_its_keep_once() -> None:
    """U-7.3, U-7.4."""
    hands = ("2C 4C 9S", "8C 3C 2S", "5C TC QS", "KD KH 6S")
    fields = ("KC JC", "AD 9H", "8D 7C", "3D 7D")
    state = pouku("AC", hands, fields, "9D 8H JD", teams=True, three=6)
    state = play(state, "discard 2C keep 9D 9H")
    state = play(state, "go_out")
    assert last(state).winner == 1
    assert last(state).points[0] == last(state).points[2] == -1
    with_point = pouku("9C", hands, fields, "9D 8H JD", teams=True, three=6)
    with_point = play(with_point, "discard 2C keep 9D 9H", "go_out")
    assert last(with_point).points[0] == last(with_point).points[2] == -(1 + 4)


def test_the_keep_of_a_team_counts_but_another_yaku_is_required() -> None:
    """U-7.4."""
    hands = ("8C 3C 2S", "2C 4C 9S", "5C TC 4S", "KD KH 6S")
    fields = ("KC JC", "8D 8S", "4D 7D", "AD 9H")
    state = pouku("AC", hands, fields, "8H 9D TD 5S", teams=True)
    state = play(state, "discard 2S keep 8C 8D 8S", "discard 9D")
    assert state.turn == 2
    assert not is_legal(state, "go_out")  # a pair, a point card and the kept three: 6
    state = state.but(fields=(*state.fields[:3], cards("TH TS 9H")))
    assert state.view(2).worth == 7 + 3 + 1
    assert [yaku.name for yaku in last(play(state, "go_out")).yaku] == ["four", "three"]


@pytest.mark.parametrize(("totals", "places"), [((-4, 7, -4), (2, 1, 2)), ((0, 0, 0), (1, 1, 1))])
def test_the_highest_total_wins_and_equal_totals_share_a_place(
    totals: tuple[int, ...], places: tuple[int, ...]
) -> None:
    """U-8.1."""
    state = pouku("AC", ("8C 3C", "2C 4C", "5C TC"), ("KC JC", "8D 7C", "3D 7D"))
    assert Pouku().outcome(state.but(totals=totals), (0, 1, 2)).places == places
