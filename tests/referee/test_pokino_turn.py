"""Pokino: set-up, the turn, laying dominoes (docs/rules/pokino.md, K-1 to K-4, K-13)."""

from itertools import pairwise
from typing import Any

import pytest

from referee.games.contract import IllegalAction, SetupError
from referee.games.pokino import Pokino
from referee.games.pokino.actions import Domino, PassTurn, Run
from referee.games.shared.cards import DECK, cards, deck_of
from referee.games.shared.dealing import Arranged, Seeded
from referee.games.shared.dominoes import DOMINOES, pile_of
from tests.errors import has_code
from tests.referee.pokino_table import (
    action,
    is_legal,
    listed,
    numbers,
    play,
    started,
    with_table,
)

ONE = "2C 3C 4C 5C 7C"
TWO = "2D 3D 4D 5D 7D"
ANY = Seeded(bytes(32))


@pytest.mark.parametrize("seats", [0, 1, 7])
def test_pokino_is_played_by_two_to_six(seats: int) -> None:
    """K-1.1."""
    with pytest.raises(SetupError, check=has_code("seats")):
        Pokino().start(ANY, seats)


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_cards_and_dominoes_are_dealt_seat_by_seat_then_the_spoke(seats: int) -> None:
    """K-1.2, K-1.3, K-1.5: two players have 81 dominoes in the poke and 42 cards in the deck."""
    luck = Arranged(orders={("deck", 0): DECK, ("dominoes", 0): DOMINOES})
    state: Any = Pokino().start(luck, seats)
    for seat in range(seats):
        assert state.hands[seat] == DECK[5 * seat : 5 * seat + 5]
        assert state.dominoes[seat] == DOMINOES[3 * seat : 3 * seat + 3]
    assert state.deck == DECK[5 * seats :]
    assert [tile.domino for tile in state.layout.tiles] == list(DOMINOES[3 * seats :][:4])
    assert state.poke == DOMINOES[3 * seats + 4 :]
    assert state.beads == (1,) * seats
    if seats == 2:
        assert (len(state.poke), len(state.deck)) == (81, 42)


def test_the_spoke_is_a_pinwheel_and_luck_turns_its_dominoes() -> None:
    """K-1.4."""
    assert numbers(started(ONE, TWO, inside=(1, 0, 0, 1))) == {
        (0, 0): 6,
        (-1, 0): 0,
        (1, 0): 4,
        (1, -1): 5,
        (1, 1): 1,
        (2, 1): 7,
        (0, 1): 12,
        (0, 2): 8,
    }
    other = numbers(started(ONE, TWO, inside=(0, 0, 1, 1)))
    assert (other[0, 0], other[-1, 0]) == (0, 6)
    assert (other[1, 1], other[2, 1]) == (7, 1)


def test_the_seed_draws_the_first_seat_and_play_goes_left() -> None:
    """K-1.6."""
    state = started(ONE, TWO, "2H 3H 4H 5H 7H", first=1)
    turns = []
    for _ in range(5):
        turns += state.actors
        state = play(state, "pass")
    assert turns == [1, 2, 0, 1, 2]
    games: list[Any] = [Pokino().start(Seeded(bytes([n] * 32)), 6) for n in range(60)]
    firsts = {game.turn for game in games}
    assert firsts == set(range(6))


@pytest.mark.parametrize(
    ("orders", "code"),
    [
        ({("deck", 0): DECK[1:]}, "thing-missing"),
        ({("dominoes", 0): DOMINOES[1:]}, "thing-missing"),
        ({("dominoes", 0): (DOMINOES[1], *DOMINOES[1:])}, "thing-twice"),
        ({("deck", 0): (DECK[1], *DECK[1:])}, "thing-twice"),
    ],
)
def test_an_invalid_pack_or_pile_is_refused(orders: dict[object, object], code: str) -> None:
    with pytest.raises(SetupError, check=has_code(code)):
        Pokino().start(Arranged(orders=orders))  # type: ignore[arg-type]


def test_a_turn_is_to_pass_to_lay_or_to_run_and_each_draws_the_top_card() -> None:
    """K-3.1, K-3.2, K-13.6."""
    state = started("4C 6C 8C 9C TC", TWO, deck="AS KS QS", held="0-1")
    kinds = [type(a) for a in listed(state)]
    assert kinds[0] is PassTurn
    assert set(kinds[1:]) == {Domino}  # one bead does not pay a run
    state = state.but(beads=(2, 1))
    assert [type(a) for a in listed(state)][-1] is Run
    for turn in ("pass", "lay 0-1 at 2,0 right", "run 6C 4C along 0,0 1,0"):
        after = play(state, turn)
        assert "AS" in after.hands[0]
        assert after.deck[0] == "KS"
        assert after.turn == 1


def test_an_empty_deck_gives_nothing() -> None:
    """K-3.2."""
    state = started(ONE, TWO).but(deck=())
    after = play(state, "lay 0-0 at 2,0 right") if is_legal(state, "lay 0-0 at 2,0 right") else None
    assert after is not None
    assert after.hands == state.hands
    assert after.deck == ()


def test_laying_draws_a_domino_and_a_bead() -> None:
    """K-4.3."""
    state = started(ONE, TWO, held="3-12 0-0 0-1", poke="9-9 9-10")
    after = play(state, "lay 3-12 at 2,0 up")
    assert after.dominoes[0] == ("0-0", "0-1", "9-9")
    assert after.poke[0] == "9-10"
    assert after.beads == (2, 1)
    assert numbers(after)[2, 0] == 3
    assert numbers(after)[2, -1] == 12


def test_a_domino_must_touch_an_edge_and_cover_free_squares() -> None:
    """K-4.1, K-4.2, K-2.2: a corner is not an edge; the numbers need not match."""
    state = with_table(started(ONE, TWO, held="3-12 0-0 0-1"), "8-9 at 0,0 right")
    for legal in ("at 2,0 right", "at 2,0 up", "at 3,0 left", "at 0,1 right", "at -1,0 down"):
        assert is_legal(state, f"lay 3-12 {legal}"), legal
    for illegal in (
        "at 1,0 right",
        "at 0,-1 down",
        "at 2,1 right",
        "at -1,-1 left",
        "at 5,0 right",
    ):
        assert not is_legal(state, f"lay 3-12 {illegal}"), illegal
        with pytest.raises(IllegalAction):
            play(state, f"lay 3-12 {illegal}")
    assert not is_legal(state, "lay 9-9 at 2,0 right")  # not held
    assert not is_legal(state, "lay 12-3 at 2,0 right")
    assert not is_legal(state, "lay 3-12 at 2,0 east")


def test_all_places_round_a_domino_are_listed_once() -> None:
    """K-4.1, K-13.2, K-13.7: 6 free neighbours, 16 pairs of squares; a double lies one way."""
    state = with_table(started(ONE, TWO, held="3-12 0-0 0-1"), "8-9 at 0,0 right")
    lays = listed(state, Domino)
    by_domino = {d: [a for a in lays if a.domino == d] for d in ("3-12", "0-0", "0-1")}
    assert {d: len(places) for d, places in by_domino.items()} == {"3-12": 32, "0-0": 16, "0-1": 32}
    assert state.legal(0).complete


def test_both_orientations_of_a_double_are_one_action() -> None:
    """K-13.2."""
    state = with_table(started(ONE, TWO, held="3-3 0-0 0-1"), "8-9 at 0,0 right")
    for first, second in (("2,0 right", "3,0 left"), ("2,0 down", "2,1 up")):
        both = [action(f"lay 3-3 at {first}"), action(f"lay 3-3 at {second}")]
        assert all(a in state.legal(0) for a in both)
        assert sum(a in listed(state) for a in both) == 1
        assert play(state, f"lay 3-3 at {first}") == play(state, f"lay 3-3 at {second}")
    assert play(state, "lay 0-1 at 2,0 right") != play(state, "lay 0-1 at 3,0 left")


@pytest.mark.parametrize("corner", [(1000, 1000), (-1000, -1000), (1000, -1000), (-1000, 1000)])
def test_nothing_lies_beyond_the_coordinates(corner: tuple[int, int]) -> None:
    """K-2.1."""
    x, y = corner
    inward = "left" if x > 0 else "right"
    state = with_table(started(ONE, TWO, held="3-12 0-0 0-1"), f"8-9 at {x},{y} {inward}")
    for lay in listed(state, Domino):
        after = state.play({0: lay})
        assert all(-1000 <= at <= 1000 for square in numbers(after) for at in square)
    assert len([a for a in listed(state, Domino) if a.domino == "0-0"]) == 6
    away = "right" if x > 0 else "left"
    assert not is_legal(state, f"lay 3-12 at {x + (1 if x > 0 else -1)},{y} {away}")


def test_placements_are_listed_row_by_row() -> None:
    """K-13.7."""
    laid = ["8-9 at 0,0 right", "1-2 at 2,0 down", "5-6 at 0,1 down", "7-7 at -1,0 up"]
    state = started(ONE, TWO, held="3-12 0-0 0-1")
    first, second = with_table(state, *laid), with_table(state, *laid[::-1])
    assert listed(first, Domino) == listed(second, Domino)
    places = first.layout.ground.places
    assert all(a < b for a, b in pairwise(places))


def test_a_game_can_be_set_up_from_given_cards_and_dominoes() -> None:
    """K-1.2, K-1.3."""
    orders = {("deck", 0): deck_of(cards("AS")), ("dominoes", 0): pile_of(("3-12",))}  # type: ignore[arg-type]
    state = Pokino().start(Arranged(orders=orders))
    assert "AS" in state.view(0).hand
    assert "3-12" in state.view(0).dominoes
