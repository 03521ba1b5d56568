"""Pokino: the end of a game, the winner (K-6, K-7), and the information of a seat."""

from typing import Any

import pytest

from referee.games.pokino import Pokino
from referee.games.pokino.actions import PokinoRun, PokinoTurn
from referee.games.shared.cards import cards
from referee.games.shared.dealing import Seeded
from tests.referee.pokino_table import play, rich, started

ONE = "2C 3C 4C 5C 7C"
TWO = "2D 3D 4D 5D 7D"
THREE = "2H 3H 4H 5H 7H"


def two_cards_left(**options: bool) -> Any:
    """Seat 0 has two cards that match an open border; seat 1 has 90 points, seat 2 has 5."""
    state = started("6S 4C AC QH 9C", TWO, THREE) if not options.get("pokino_up") else None
    if state is None:
        state = started("6S 4C AC QH 9C TC JC", TWO + " 8D 9D", THREE + " 8H 9H", pokino_up=True)
    far = tuple(c for c in state.deck[:10])
    runs = (PokinoRun(1, far), PokinoRun(2, state.deck[10:12]))
    hands = (("4C", "6S"), *state.hands[1:])
    return state.but(hands=hands, runs=runs, deck=state.deck[12:], beads=(2, 0, 0))


def test_playing_the_last_cards_wins_at_once() -> None:
    """K-6.1, K-7.4: before the draw; the others are ranked by points below."""
    state = two_cards_left()
    after = play(state, "run 6S 4C along 0,0 1,0")
    assert after.actors == ()
    assert after.hands[0] == ()
    assert after.deck == state.deck
    outcome = Pokino().outcome(after, (0, 1, 2))
    assert outcome.scores == (5, 90, 5)
    assert outcome.places == (1, 2, 3)
    assert after.view(1).pokino


def test_equal_others_share_a_place_below_the_caller() -> None:
    """K-7.4, K-7.3."""
    state = two_cards_left()
    after = play(
        state.but(runs=(*state.runs[1:], PokinoRun(1, state.runs[1].cards))),
        "run 6S 4C along 0,0 1,0",
    )
    assert Pokino().outcome(after, (0, 1, 2)).places == (1, 2, 2)


def test_an_empty_hand_needs_the_beads() -> None:
    """K-5.5, K-6.1."""
    assert two_cards_left().but(beads=(1, 0, 0)).legal(0).complete
    assert not any(hasattr(a, "path") for a in two_cards_left().but(beads=(1, 0, 0)).legal(0))


def test_a_turn_is_finished_after_the_last_domino_is_drawn() -> None:
    """K-6.2: bead and card, then the game ends."""
    state = started(ONE, TWO, held="0-0 0-1 0-2", deck="AS KS").but(poke=("9-9",))
    after = play(state, "lay 0-0 at 2,0 right")
    assert after.over
    assert after.actors == ()
    assert after.beads == (2, 1)
    assert after.dominoes[0] == ("0-1", "0-2", "9-9")
    assert "AS" in after.hands[0]
    assert not play(state, "pass").over


def test_a_round_of_passes_without_a_card_ends_the_game() -> None:
    """K-6.3."""
    state = started(ONE, TWO, THREE).but(deck=())
    state = play(state, "lay 0-0 at 2,0 right", "pass", "pass")
    assert not state.over
    assert state.idle == 2
    assert play(state, "pass").over
    other = play(state, "lay 0-1 at 3,-1 up")
    assert other.idle == 0
    assert not play(other, "pass", "pass").over
    assert play(other, "pass", "pass", "pass").over


def test_passing_with_a_card_does_not_count() -> None:
    """K-6.3."""
    state = started(ONE, TWO).but(deck=("AS", "KS", "QS"))
    state = play(state, "pass", "pass", "pass")
    assert state.idle == 0
    state = play(state, "pass")
    assert not state.over
    assert play(state, "pass").over


def test_most_points_win_and_equal_scores_share_a_place() -> None:
    """K-7.3."""
    state = rich(started("6S 4S AC QH 9C", "6D 4D AD QD 9D", THREE)).but(deck=())
    state = play(state, "run 6S 4S along 0,0 1,0", "run AD QD along 1,1 0,1", "pass", "pass")
    state = play(state, "pass")
    assert state.over
    assert Pokino().outcome(state, (0, 1, 2)).places == (1, 1, 3)


@pytest.mark.parametrize("options", [{}, {"pokino_up": True}])
def test_passing_only_ends_a_game(options: dict[str, bool]) -> None:
    """K-6.3, K-13.1, K-13.6: the first listed action is chosen until the end."""
    state: Any = Pokino().start(Seeded(bytes(32)), 6, options)
    turns = 0
    while state.actors:
        state = state.play({state.turn: next(iter(state.legal(state.turn)))})
        turns += 1
    assert turns == 52 - len((options and "7777777") or "55555") * 6 + 6
    assert state.scores == (0,) * 6


def test_public_information_is_in_every_view() -> None:
    """K-12.1, K-12.4."""
    state = rich(started("6S 4S AC QH 9C", TWO, THREE, deck="AS KS"))
    state = play(state, "run 6S 4S along 0,0 1,0", "lay 0-3 at 2,0 right")
    views = [state.view(seat) for seat in range(3)]
    for view in views:
        assert view.layout == state.layout.tiles
        assert view.runs == state.runs
        assert view.beads == (18, 21, 20)
        assert view.hand_sizes == (4, 6, 5)
        assert view.domino_counts == (3, 3, 3)
        assert (view.deck_top, view.deck_size) == (state.deck[0], len(state.deck))
        assert view.poke_size == len(state.poke)
        assert [token.owner for token in view.tokens] == [0]
        assert view.turn == 2
        assert view.turns == (
            PokinoTurn(0, "", cards("6S 4S"), "AS"),
            PokinoTurn(1, "0-3", (), "KS"),
        )
    assert play(state, "pass").view(0).turns[2] == PokinoTurn(2, "", (), state.deck[0])
    assert not play(started(ONE, TWO).but(deck=("AS",)), "pass").view(0).deck_top


def test_a_token_does_not_show_its_owner() -> None:
    """K-12.4."""
    hands = ("6S 4S AC QH 9C", "6D 4D AD QD 9D")
    first = play(rich(started(*hands)), "run 6S 4S along 0,0 1,0")
    second = play(rich(started(*hands, first=1)), "run 6D 4D along 0,0 1,0")
    assert first.view(0).tokens == second.view(0).tokens


def test_a_card_from_the_deck_is_known_until_it_is_played() -> None:
    """K-12.2."""
    state = rich(started("6S 4S AC QH 9C", TWO, deck="QS KS"))
    state = play(state, "pass")
    assert [known.cards for known in state.view(1).known] == [("QS",), ()]
    state = play(state, "pass", "run AC QS along 1,1 0,1")
    assert "QS" not in state.view(1).known[0].cards


def test_private_information_is_only_in_the_view_of_its_seat() -> None:
    """K-12.3."""
    state = started("6S 4S AC QH 9C", TWO, deck="QS KS", held="3-12 0-0 0-1 9-9 9-10 9-11")
    view = state.view(1)
    assert view.hand == state.hands[1]
    assert view.dominoes == ("9-9", "9-10", "9-11")
    for number in range(20):
        dealt = state.redeal(1, Seeded(bytes([number] * 32)))
        assert dealt.view(1) == view
        assert dealt.deck[0] == "QS"
        assert dealt.hands[1] == state.hands[1]
        assert dealt.hands[0] != state.hands[0]
        assert dealt.dominoes[0] != state.dominoes[0]
        assert dealt.deck != state.deck
        assert dealt.poke != state.poke
