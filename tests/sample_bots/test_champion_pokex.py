"""Test the parts of `champion` that play Pokex against the referee's rules."""

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest

from referee.games.pokex.actions import (
    Bid,
    NameWild,
    PassBid,
    PlayCard,
    PlayPair,
    PokexPlayed,
    PokexTrick,
)
from referee.games.pokex.state import PokexState, score_deal
from referee.games.registry import GAMES
from referee.games.shared.cards import DECK_WITH_JOKERS, RANKS, Card, Hand, in_order
from referee.games.shared.dealing import Seeded, board_seed
from referee.games.shared.wild_cards import wild_hand
from tests.examples import quick_cases
from tests.sample_bots.champion_modules import champion_modules

MODULES = ("search_interface", "pokex_hands", "pokex_simulator", "pokex_auction", "pokex")
every_number_of_seats = pytest.mark.parametrize("seats", quick_cases([4, 2], 1))


class Modules(NamedTuple):
    hands: Any
    simulator: Any
    auction: Any
    pokex: Any


@pytest.fixture
def modules() -> Iterator[Modules]:
    with champion_modules(MODULES) as imported:
        yield Modules(*imported[1:])


def start(seats: int, board: int) -> PokexState:
    state = GAMES["pokex"].start(Seeded(board_seed(bytes(32), board)), seats, {})
    assert isinstance(state, PokexState)
    return state


def play(state: PokexState, action: Any) -> PokexState:
    """Return the position after an action of the seat whose turn it is."""
    after = state.play({state.turn: action})
    assert isinstance(after, PokexState)
    return after


def bid(state: PokexState, tricks: int) -> PokexState:
    """Return the position after a bid that all others pass; 0 if all pass."""
    if tricks:
        state = play(state, Bid(tricks))
    while state.phase == "bid":
        state = play(state, PassBid())
    return state


def positions(seats: int, boards: int) -> Iterator[PokexState]:
    chance = random.Random(seats)
    for board in range(boards):
        state = start(seats, board)
        while not state.deals:
            yield state
            state = play(state, state.legal(state.turn).any(chance))


def of(modules: Modules, state: PokexState) -> Any:
    weights = modules.simulator.load(modules.pokex.WEIGHTS, state.seats)
    return modules.pokex.PokexSearch(state, state.turn, weights, np.random.default_rng(1))


@pytest.mark.parametrize("wild_rank", ["", "2", "7", "A"])
def test_values_of_hands_order_them_like_the_referee(wild_rank: str, modules: Modules) -> None:
    hands, chance = modules.hands, random.Random(wild_rank)
    packs = [DECK_WITH_JOKERS, [c for c in DECK_WITH_JOKERS if c[1] == "C" or c[0] in "7AX"]]
    dealt: list[Hand] = [tuple(chance.sample(pack, 5)) for pack in packs for _ in range(600)]
    codes = hands.card_codes()[hands.rank_number(wild_rank)]
    sums = np.array([codes[hands.card_numbers(cards)].sum() for cards in dealt], dtype=np.uint32)
    values = hands.value_table()[hands.table_index(sums, 5)]
    expected = [wild_hand(cards, wild_rank) for cards in dealt]
    for lower, higher in pairwise(np.argsort(values, kind="stable")):
        assert expected[lower] <= expected[higher]
        assert (values[lower] == values[higher]) == (expected[lower] == expected[higher])


@pytest.mark.long
@pytest.mark.parametrize("tricks", quick_cases([3, 0], 1))
@every_number_of_seats
def test_deals_are_played_by_the_rules(seats: int, tricks: int, modules: Modules) -> None:
    for board in range(6):
        state = bid(start(seats, board), tricks)
        leader = (state.declarer - 1 if tricks else state.dealer + 1) % seats
        if tricks:
            state = play(state, NameWild(RANKS[board]))
        numbers = modules.hands.card_numbers
        hands = [numbers(state.hands[(leader + role) % seats])[None] for role in range(seats)]
        weights = modules.simulator.load(modules.pokex.WEIGHTS, seats)
        row = numbers(state.row).reshape(1, 6, -1)
        wild = np.array([modules.hands.rank_number(state.wild_rank)])
        deals = modules.simulator.PokexDeals(weights, hands, row, wild)
        if not tricks:
            deals.tie_winner = -1
        chance = np.random.default_rng(board)
        deals.noise = lambda shape, chance=chance: chance.normal(size=shape)
        made: list[tuple[int, list[int]]] = []

        def watch(now: Any, role: int, choice: Any, made: list[Any] = made) -> None:
            made.append((role, [int(at[choice[0]]) for at in now.plays(role)]))

        deals.watch = watch
        taken = deals.play()[0]
        for role, at in made:
            assert state.turn == (leader + role) % seats
            cards = [state.hands[state.turn][position] for position in at]
            state = play(state, PlayPair(in_order(cards)) if seats == 4 else PlayCard(cards[0]))
        (deal,) = state.deals
        assert taken.tolist() == [deal.taken[leader % 2], deal.taken[1 - leader % 2]]


@every_number_of_seats
def test_a_trick_in_progress_has_the_hands_of_its_sides(seats: int, modules: Modules) -> None:
    codes = modules.hands.card_codes()
    for state in positions(seats, 2):
        if state.phase == "play" and state.played:
            search = of(modules, state)
            deals = search._deals(*search.worlds(3))
            for side, base in enumerate(deals.side_codes):
                plays = [play.cards for stage, play in enumerate(state.played) if stage % 2 == side]
                shown = modules.hands.card_numbers(tuple(c for cards in plays for c in cards))
                turned = modules.hands.card_numbers(state.turned)
                expected = codes[search.wild][[*turned, *shown]].sum()
                assert (base == expected).all()


@pytest.mark.long
@every_number_of_seats
def test_hidden_cards_are_consistent_with_the_view(seats: int, modules: Modules) -> None:
    for state in positions(seats, 2):
        search = of(modules, state)
        hands, row = search.worlds(20)
        numbers = modules.hands.card_numbers
        assert (hands[state.turn] == numbers(state.hands[state.turn])).all()
        assert [hand.shape[1] for hand in hands] == [len(hand) for hand in state.hands]
        hidden = np.concatenate([hands[other] for other in search.others], axis=1)
        for cards in hidden:
            assert len({*cards.tolist()}) == len(cards)
            assert {*cards.tolist()} <= {*search.unseen.tolist()}
        assert (np.sort(row.reshape(20, -1)) == np.sort(numbers(state.centre))).all()
        if state.phase == "play":
            assert (row[:, len(state.tricks)] == numbers(state.turned)).all()


def test_a_declarer_probably_holds_the_rank_that_it_named(modules: Modules) -> None:
    state = play(bid(start(4, 1), 5), NameWild("7"))
    search = of(modules, state)
    assert state.turn != state.declarer
    hands, _ = search.worlds(400)
    sevens = (hands[state.declarer] // 4 == 5).sum(axis=1)
    unseen = (search.unseen // 4 == 5).sum()
    assert sevens.mean() > min(unseen, 3) - 0.7


@every_number_of_seats
def test_auctions_follow_the_rules(seats: int, modules: Modules) -> None:
    chance = random.Random(seats)
    for board in range(30):
        state = start(seats, board)
        auctions = modules.auction.Auctions.begin(seats, 1)
        first = state.turn
        while state.phase == "bid":
            assert auctions.running()[0]
            call = chance.choice([PassBid(), *state.legal(state.turn)])
            auctions.call(np.array([getattr(call, "tricks", 0)]))
            state = play(state, call)
        assert not auctions.running()[0]
        assert auctions.bid[0] == state.bid
        if state.bid:
            assert (first + auctions.declarer[0]) % seats == state.declarer
        taken = np.array([[board % 7] * seats])
        points = modules.auction.deal_points(auctions, taken, taken[:, 0])[0]
        side = int(auctions.declarer[0]) % 2 if state.bid else 0
        by_side = (board % 7, 6 - board % 7) if side == 0 else (6 - board % 7, board % 7)
        assert tuple(points) == score_deal(state.bid, side, by_side)


@every_number_of_seats
def test_chances_to_win_the_game_follow_the_points(seats: int, modules: Modules) -> None:
    results = modules.simulator.load(modules.pokex.WEIGHTS, seats).results
    probabilities = modules.auction.win_probabilities
    assert results[0, 0] == pytest.approx(0.5, abs=0.05)
    assert results[30, 10] > 0.7 > 0.3 > results[10, 30]
    assert probabilities(results, np.array([[33, 20], [40, 35], [33, 33]]), True).tolist() == [
        1,
        1,
        0.5,
    ]
    assert probabilities(results, np.array([[33, 20], [35, 40]]), False).tolist() == [0, 1]


@pytest.mark.long
def test_the_last_seat_wins_a_trick_without_its_joker(modules: Modules) -> None:
    """Three nines win the fifth trick with any card, so the joker stays for the last trick."""
    state = play(bid(start(2, 0), 3), NameWild("2"))
    mine, other = state.declarer, 1 - state.declarer
    shown = [(other, "3C"), (mine, "9D"), (other, "4D"), (mine, "KC"), (other, "6S")]
    played = tuple(PokexPlayed(seat, (Card(card),)) for seat, card in shown)
    hands = {mine: ("3D", "4H", "JS", "X1"), other: ("5C", "8H", "QC")}
    centre = state.centre[:8]
    state = state.but(
        hands=tuple(hands[seat] for seat in range(2)),
        centre=(*centre, "9S", "9H", "TC", "KD"),
        row=(*centre, "9S", "9H", "TC", "KD"),
        aside=("5D", "6D", "7S", "8C", "JH", "AC"),
        tricks=(PokexTrick(centre[:2], (), (1, 1)),) * 4,
        taken=(2, 2),
        played=played,
    )
    assert state.turn == mine
    choice = modules.pokex.Pokex(2, 1.0).choose(state, mine, bytes(32), lambda: False)
    assert choice.action != PlayCard(Card("X1"))
    assert choice.playouts > 0
