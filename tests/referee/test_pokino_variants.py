"""Pokino: greed, pokino_up, tear_down_the_walls, territory (docs/rules/pokino.md, K-8 to K-11)."""

from typing import Any

import pytest

from referee.games.pokino import Pokino
from referee.games.pokino.actions import Domino, PassTurn, Run
from tests.referee.pokino_table import (
    action,
    is_legal,
    listed,
    numbers,
    play,
    rich,
    started,
    with_table,
)

FIVE = "6S 4S AC QH 9C"
TWO = "2D 3D 4D 5D 7D"
SEVEN = "6S 4S AC QH 9C TC JC"
SEVEN_TWO = "2D 3D 4D 5D 7D 8D 9D"


def test_greedy_runs_cost_nothing_and_beads_are_points() -> None:
    """K-8.1, K-8.2."""
    state = started(FIVE, TWO, greed=True)
    assert is_legal(state, "run 6S 4S AC along 0,0 1,0 1,1")
    assert state.scores == (5, 5)
    after = play(state, "run 6S 4S AC along 0,0 1,0 1,1", "lay 0-3 at 2,0 right")
    assert after.beads == (1, 2)
    assert after.scores == (10, 10)


def test_without_greed_beads_are_no_points() -> None:
    """K-7.2."""
    assert rich(started(FIVE, TWO)).scores == (0, 0)


def test_every_seat_starts_with_seven_cards() -> None:
    """K-9.1."""
    state = started(SEVEN, SEVEN_TWO, pokino_up=True)
    assert [len(hand) for hand in state.hands] == [7, 7]
    assert len(state.deck) == 52 - 14
    with_six: Any = Pokino().start(state.luck, 6, {"pokino_up": True})
    assert len(with_six.deck) == 10


def test_with_seven_cards_the_draw_is_a_choice() -> None:
    """K-9.2, K-13.5."""
    state = started(SEVEN, SEVEN_TWO, pokino_up=True, deck="AS KS")
    assert listed(state)[:2] == [PassTurn(True), PassTurn(False)]
    drawn, not_drawn = play(state, "pass"), play(state, "pass no draw")
    assert (len(drawn.hands[0]), len(not_drawn.hands[0])) == (8, 7)
    assert not_drawn.deck == state.deck
    assert PassTurn() == PassTurn(True)
    laid = play(state, "lay 0-0 at 2,0 right no draw")
    assert (laid.beads, laid.deck) == ((2, 1), state.deck)


def test_the_cards_are_counted_after_a_run_has_left_the_hand() -> None:
    """K-9.2."""
    state = rich(started(SEVEN, SEVEN_TWO, pokino_up=True))
    run = "run 6S 4S along 0,0 1,0"
    assert is_legal(state, run)
    assert not is_legal(state, f"{run} no draw")
    more = state.but(hands=((*state.hands[0], "2S", "3S"), state.hands[1]))
    assert is_legal(more, f"{run} no draw")
    assert not is_legal(more, "run 6S 4S AC along 0,0 1,0 1,1 no draw")
    draws = {(len(a.cards), a.draw) for a in listed(more, Run)}
    assert (2, False) in draws
    assert (3, False) not in draws


def test_below_seven_cards_the_draw_is_compulsory() -> None:
    """K-9.2."""
    state = started(SEVEN, SEVEN_TWO, pokino_up=True)
    six = state.but(hands=(state.hands[0][:6], state.hands[1]))
    assert not is_legal(six, "pass no draw")
    assert not is_legal(six, "lay 0-0 at 2,0 right no draw")
    assert not is_legal(six.but(deck=()), "pass no draw")
    assert all(a.draw for a in listed(six))


def test_with_an_empty_deck_either_is_legal_and_nothing_is_drawn() -> None:
    """K-9.3."""
    state = started(SEVEN, SEVEN_TWO, pokino_up=True).but(deck=())
    assert play(state, "pass") == play(state, "pass no draw")
    assert play(state, "pass").hands == state.hands


def test_passing_without_a_card_by_choice_counts_for_the_end() -> None:
    """K-9.4, K-6.3."""
    state = started(SEVEN, SEVEN_TWO, pokino_up=True)
    assert play(state, "pass no draw", "pass no draw").over
    assert not play(state, "pass no draw", "pass").over


@pytest.mark.parametrize("variant", ["greed", "tear_down_the_walls", "territory"])
def test_without_pokino_up_the_draw_is_never_a_choice(variant: str) -> None:
    """K-13.5."""
    state = started(FIVE, TWO, **{variant: True})  # type: ignore[arg-type]
    state = state.but(hands=((*state.hands[0], "2S", "3S", "4H"), state.hands[1]))
    assert not is_legal(state, "pass no draw")
    assert not is_legal(state, "lay 0-0 at 2,0 right no draw")
    assert all(a.draw for a in listed(state))


def walls(*laid: str, hand: str = FIVE, **options: Any) -> Any:
    """Return a table of tear_down_the_walls with enough beads."""
    state = rich(started(hand, TWO, tear_down_the_walls=True, **options))
    return with_table(state, *laid) if laid else state


def test_a_middle_may_be_crossed_and_the_domino_is_removed() -> None:
    """K-10.1, K-10.2, K-10.3: it costs as any step and leaves no token; its tokens go with it."""
    state = walls(hand="KS 6S 4S AC 9C")
    after = play(state, "run KS 6S 4S AC along -1,0 0,0 1,0 1,1")
    assert after.removed == ("0-6",)
    assert after.beads == (16, 20)
    assert (0, 0) not in numbers(after)
    assert [(t.x, t.y, t.second_x, t.second_y) for t in after.layout.tokens] == [(1, 0, 1, 1)]
    assert after.scores == (5, 0)


def test_a_run_may_be_one_middle_alone() -> None:
    """K-10.1."""
    after = play(walls(hand="KS 6S 4S AC 9C"), "run KS 6S along -1,0 0,0")
    assert after.removed == ("0-6",)
    assert after.layout.tokens == ()


def test_each_middle_once_and_any_number_of_middles() -> None:
    """K-10.1."""
    state = walls("2-3 at 0,0 right", "4-5 at 2,0 right", hand="2S 3S 4S 5C 2C")
    assert not is_legal(state, "run 2S 3S 2C along 0,0 1,0 0,0")
    assert is_legal(state, "run 2S 3S 4S 5C along 0,0 1,0 2,0 3,0")
    after = play(state, "run 2S 3S 4S 5C along 0,0 1,0 2,0 3,0")
    assert after.removed == ("2-3", "4-5")
    assert after.layout.tiles == ()


def test_a_middle_may_be_crossed_between_borders_of_one_domino() -> None:
    """K-10.1, K-5.4."""
    state = walls("2-3 at 0,0 right", "4-5 at 0,1 right", hand="2S 3S 4S 5C 2C")
    assert is_legal(state, "run 4S 2S 3S 5C along 0,1 0,0 1,0 1,1")
    assert is_legal(state, "run 2S 3S 5C 4S 2C along 0,0 1,0 1,1 0,1 0,0")


def test_without_the_variant_walls_stand() -> None:
    """K-5.3."""
    assert not is_legal(rich(started("KS 6S 4S AC 9C", TWO)), "run KS 6S along -1,0 0,0")


def test_a_new_domino_makes_new_open_borders() -> None:
    """K-10.4."""
    laid = ("2-3 at 0,0 right", "4-5 at 2,0 right", "6-7 at 0,1 right")
    state = walls(*laid, hand="2S 3S 4S 5C 9C")
    state = play(state, "run 3S 4S along 1,0 2,0")
    assert len(state.layout.tokens) == 1
    state = state.but(hands=(("2C", "3C", "3H", "4C"), ("2D", "3D", "9D")))
    state = play(state, "run 2D 3D along 0,0 1,0")
    assert state.layout.tokens == ()
    state = state.but(dominoes=(("3-12", "0-0", "0-1"), state.dominoes[1]))
    state = play(state, "lay 3-12 at 1,0 left", "pass")
    assert is_legal(state, "run 3C 4C along 1,0 2,0")


def test_the_hand_is_checked_after_the_dominoes_are_removed() -> None:
    """K-10.3, K-6.1."""
    state = walls(hand="KS 6S 4S AC 9C")
    state = state.but(hands=(("KS", "6S"), state.hands[1]))
    after = play(state, "run KS 6S along -1,0 0,0")
    assert after.over
    assert after.pokino
    assert after.removed == ("0-6",)


def test_on_an_empty_table_a_domino_may_lie_anywhere() -> None:
    """K-10.5: listed are those with the smaller number on (0, 0)."""
    state = play(walls("2-3 at 0,0 right", hand="2S 3S 4S 5C 9C"), "run 2S 3S along 0,0 1,0")
    assert state.layout.tiles == ()
    state = state.but(dominoes=(state.dominoes[0], ("3-12", "4-4", "5-6")))
    for legal in (
        "3-12 at 0,0 up",
        "3-12 at 1000,-1000 left",
        "4-4 at -77,5 down",
        "4-4 at 1,0 left",
    ):
        assert is_legal(state, f"lay {legal}"), legal
    for illegal in ("3-12 at 1000,0 right", "3-12 at 1001,0 left", "9-9 at 0,0 right"):
        assert not is_legal(state, f"lay {illegal}"), illegal
    for illegal in ("4-4 at -1000,0 left", "4-4 at 0,-1000 up", "4-4 at -1001,0 right"):
        assert not is_legal(state, f"lay {illegal}"), illegal
    lays = listed(state, Domino)
    assert len(lays) == 12
    assert {(a.x, a.y) for a in lays} == {(0, 0)}
    assert not state.legal(1).complete
    assert play(state, "lay 4-4 at 1,0 left") == play(state, "lay 4-4 at 0,0 right")
    assert set(numbers(play(state, "lay 3-12 at -5,7 down"))) == {(-5, 7), (-5, 8)}


def test_tokens_show_their_owners() -> None:
    """K-11.1."""
    state = rich(started(FIVE, "6D 4D AD QD 9D", territory=True))
    state = play(state, "run 6S 4S along 0,0 1,0", "run AD QD along 1,1 0,1")
    assert [token.owner for token in state.view(0).tokens] == [0, 1]


def test_a_domino_belongs_to_the_strict_majority_of_tokens() -> None:
    """K-11.2, K-11.3: a token touches both dominoes; a tie gives it to nobody."""
    state = rich(started(FIVE, "6D 4D AD QD 9D", territory=True))
    state = play(state, "run 6S 4S along 0,0 1,0")
    assert state.scores == (6 + 9, 0)  # 0-6 and 4-5
    state = play(state, "run AD QD along 1,1 0,1")
    assert state.scores == (15, 8 + 20)  # 1-7 and 8-12
    state = state.but(hands=(("4C", "9C", "AC"), state.hands[1]))
    state = play(state, "run 4C AC along 1,0 1,1")
    assert state.scores == (15, 20)  # 1-7 is a tie now


def test_territory_ignores_runs_and_beads() -> None:
    """K-11.3."""
    state = rich(started(FIVE, TWO, territory=True, greed=True))
    assert state.scores == (0, 0)
    assert play(state, "run 6S 4S along 0,0 1,0").scores == (15, 0)


def test_removed_dominoes_do_not_count() -> None:
    """K-11.2, K-10.3."""
    state = walls(hand="KS 6S 4S AC 9C", territory=True)
    after = play(state, "run KS 6S 4S along -1,0 0,0 1,0")
    assert after.scores == (0, 0)


def test_pokino_wins_in_territory_too() -> None:
    """K-11.4."""
    state = rich(started(FIVE, "6D 4D AD QD 9D", territory=True))
    state = play(state, "pass", "run AD QD along 1,1 0,1")
    state = state.but(hands=(("6S", "4S"), state.hands[1]))
    state = play(state, "run 6S 4S along 0,0 1,0")
    assert state.over
    assert state.scores == (15, 28)
    assert Pokino().outcome(state, (0, 1)).places == (1, 2)


def test_an_action_of_another_type_is_not_legal() -> None:
    """K-3.1."""
    assert action("pass") in started(FIVE, TWO).legal(0)
    assert "pass" not in started(FIVE, TWO).legal(0)
