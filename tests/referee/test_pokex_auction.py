"""Pokex: the set-up, the auction and the wild rank (docs/rules/pokex.md, X-1 to X-3)."""

from typing import Any

import pytest

from referee.games.contract import IllegalAction, SetupError
from referee.games.pokex import Pokex
from referee.games.pokex.actions import Bid, NameWild, PassBid
from referee.games.shared.cards import DECK_WITH_JOKERS, JOKERS, RANKS, deck_of
from referee.games.shared.dealing import Arranged, Seeded
from tests.errors import has_code
from tests.referee.action_texts import is_legal, listed, play, pokex

HANDS = [" ".join(DECK_WITH_JOKERS[12 * seat : 12 * seat + 12]) for seat in range(4)]
CENTRE = "X1 X2 AC AS AD AH"
"""Four hands and a centre; the ranks from 2 to K are dealt in order."""


def four(dealer: int = 3) -> Any:
    return pokex(*HANDS, centre=CENTRE, dealer=dealer)


def two(dealer: int = 1) -> Any:
    return pokex(*[" ".join(DECK_WITH_JOKERS[s : s + 18]) for s in (0, 18)], dealer=dealer)


def test_there_are_four_seats_or_two() -> None:
    """X-1.1."""
    assert Pokex().sides(4, {}) == (0, 1, 0, 1)
    assert Pokex().sides(2, {}) == (0, 1)
    for seats in (0, 1, 3, 5):
        with pytest.raises(SetupError, check=has_code("seats")):
            Pokex().start(Seeded(bytes(32)), seats)


def test_four_are_dealt_twelve_cards_each_and_six_to_the_centre() -> None:
    """X-1.3, X-1.5."""
    state = four()
    for seat, hand in enumerate(HANDS):
        assert " ".join(state.view(seat).hand) == hand
    assert all(" ".join(state.view(seat).centre) == CENTRE for seat in range(4))
    assert state.aside == ()


def test_two_are_dealt_eighteen_cards_each_and_twelve_to_the_centre() -> None:
    """X-1.4, X-1.5, X-8.3."""
    state = two()
    for seat in (0, 1):
        view = state.view(seat)
        assert view.hand == DECK_WITH_JOKERS[18 * seat : 18 * seat + 18]
        assert view.centre == DECK_WITH_JOKERS[36:48]
        assert not set(state.aside) & {*view.hand, *view.centre}
    assert state.aside == DECK_WITH_JOKERS[48:]


def test_cards_that_are_not_a_pack_are_refused() -> None:
    """X-1.3: a card twice, a joker too few."""
    twice = (*DECK_WITH_JOKERS[:-1], "AS")
    with pytest.raises(SetupError, check=has_code("thing-twice")):
        Pokex().start(Arranged(orders={("deck", 0): twice}))
    with pytest.raises(SetupError, check=has_code("thing-missing")):
        Pokex().start(Arranged(orders={("deck", 0): DECK_WITH_JOKERS[:-1]}))


@pytest.mark.parametrize("number", [2, 4])
def test_the_seed_draws_the_first_dealer_and_the_deal_goes_round(number: int) -> None:
    """X-1.2."""
    for dealer in range(number):
        state = Pokex().start(Arranged({("dealer", 0): dealer}), number)
        dealers: list[int] = []
        while state.actors and len(dealers) < 6:
            view: Any = state.view(0)
            if not view.auction and view.phase == "bid":
                dealers.append(view.dealer)
                assert state.actors == ((view.dealer + 1) % number,)
            state = state.play({state.actors[0]: next(iter(state.legal(state.actors[0])))})
        assert dealers == [(dealer + k) % number for k in range(len(dealers))]
        assert len(dealers) > 1
    drawn = {Pokex().start(Seeded(bytes([b]) * 32), number).view(0).dealer for b in range(40)}
    assert drawn == set(range(number))


def test_every_deal_has_its_own_pack() -> None:
    """X-1.3."""
    second = deck_of(JOKERS, deck=DECK_WITH_JOKERS)
    state = pokex(*HANDS, centre=CENTRE, later={1: second})
    while state.view(0).deal == 0:
        state = state.play({state.actors[0]: next(iter(state.legal(state.actors[0])))})
    assert state.view(0).hand == (*DECK_WITH_JOKERS[:10], "X1", "X2")


def test_a_bid_is_higher_than_the_one_before_and_may_skip_some() -> None:
    """X-2.1, X-2.2."""
    state = four(dealer=1)
    assert state.actors == (2,)
    assert not is_legal(state, "bid 0")
    state = play(state, "bid 2")
    assert state.actors == (3,)
    assert [is_legal(state, f"bid {n}") for n in range(8)] == [False] * 3 + [True] * 4 + [False]
    state = play(state, "bid 4")
    assert (state.bid, state.declarer) == (4, 3)
    with pytest.raises(IllegalAction, check=has_code("not-legal")):
        play(state, "bid 4")


def test_a_seat_can_outbid_its_partner() -> None:
    """X-2.2."""
    state = play(four(), "bid 1", "pass", "bid 3")
    assert (state.bid, state.declarer) == (3, 2)


def test_a_seat_that_passed_can_bid_later() -> None:
    """X-2.3."""
    state = play(four(), "pass", "bid 1", "pass", "pass", "bid 2")
    assert (state.bid, state.declarer, state.phase) == (2, 0, "bid")


@pytest.mark.parametrize(
    ("calls", "declarer"),
    [
        (["bid 1", "pass", "pass", "pass"], 0),
        (["pass", "pass", "pass", "bid 1", "pass", "pass", "pass"], 3),
        (["pass", "bid 1", "pass", "bid 2", "pass", "pass", "pass"], 3),
        (["bid 1", "pass", "pass", "bid 2", "pass", "pass", "bid 3", "pass", "pass", "pass"], 2),
    ],
)
def test_three_passes_after_a_bid_end_the_auction_of_four(calls: list[str], declarer: int) -> None:
    """X-2.4, X-2.6, X-3.1."""
    state = play(four(), *calls[:-1])
    assert state.phase == "bid"
    state = play(state, calls[-1])
    assert (state.phase, state.actors, state.declarer) == ("name", (declarer,), declarer)


def test_one_pass_after_a_bid_ends_the_auction_of_two() -> None:
    """X-2.4, X-2.6."""
    state = play(two(), "pass", "bid 2")
    assert state.phase == "bid"
    state = play(state, "pass")
    assert (state.phase, state.actors) == ("name", (1,))
    assert play(two(), "bid 1", "pass").actors == (0,)


def test_a_bid_of_six_ends_the_auction_at_once() -> None:
    """X-2.5."""
    assert play(four(), "pass", "bid 6").actors == (1,)
    assert play(four(), "pass", "bid 6").phase == "name"
    assert play(two(), "bid 6").phase == "name"


def test_the_auction_ends_when_all_have_passed() -> None:
    """X-2.5, X-2.6, X-3.2."""
    assert play(four(), "pass", "pass", "pass").phase == "bid"
    for state in (play(four(), "pass", "pass", "pass", "pass"), play(two(), "pass", "pass")):
        assert (state.phase, state.bid, state.wild_rank) == ("play", 0, "")


def test_the_declarer_names_one_of_the_thirteen_ranks() -> None:
    """X-3.1."""
    state = play(two(), "bid 6")
    assert listed(state) == [NameWild(rank) for rank in RANKS]
    for rank in ("", "X", "1", "10", "23", "a", "AS"):
        assert NameWild(rank) not in state.legal(0)
    assert not is_legal(state, "pass")
    state = play(state, "name T")
    assert (state.phase, state.wild_rank) == ("play", "T")


def test_pass_is_listed_first_then_the_lowest_bid() -> None:
    """X-9.4, X-9.1."""
    assert listed(four()) == [PassBid(), *map(Bid, range(1, 7))]
    assert listed(play(four(), "bid 5")) == [PassBid(), Bid(6)]


def test_the_auction_is_public() -> None:
    """X-8.1."""
    state = play(four(), "pass", "bid 3", "pass", "pass")
    for seat in range(4):
        view = state.view(seat)
        assert [(call.seat, call.tricks) for call in view.auction] == [
            (0, 0),
            (1, 3),
            (2, 0),
            (3, 0),
        ]
        assert (view.bid, view.declarer) == (3, 1)
