"""Test the house bot `greedy` at Pokex, with four seats and with two."""

import importlib.util
import random
from itertools import pairwise
from typing import Any

import pytest
from pokearena.v1 import bot_pb2

from bench.strength import HOUSE, MeasuredForm, load, measure
from referee.games.registry import GAMES
from referee.games.shared.cards import DECK_WITH_JOKERS, RANKS
from referee.games.shared.wild_cards import wild_hand

CENTRE = {4: "AS AC 3D AH KD KH", 2: "2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS"}


def make_question(hand: str, seats: int = 4, seat: int = 0, **fields: Any) -> bot_pb2.ActRequest:
    view = {"hand": hand.split(), "centre": CENTRE[seats].split(), **fields}
    return bot_pb2.ActRequest(view={"pokex": view}, seat=seat)


def answer(question: bot_pb2.ActRequest) -> Any:
    random.seed(7)
    action, why = load("greedy")(question)
    assert why
    return action.pokex


def trick(*played: str) -> list[dict[str, Any]]:
    """Return the plays of a trick; each argument is a seat and its cards."""
    return [{"seat": int(text[0]), "cards": text[1:].split()} for text in played]


def test_greedy_names_its_most_frequent_rank_then_that_of_the_centre() -> None:
    held = make_question("9C 9D 9H 4C 4D AD", phase="name", bid=3)
    assert answer(held).name_wild.rank == "9"
    even = make_question("9C 9D 4C 4D AD QC", phase="name", bid=3)
    assert answer(even).name_wild.rank == "4"
    with_centre = make_question("9C 9D KC KS 2D QC", phase="name", bid=3)
    assert answer(with_centre).name_wild.rank == "K"


def test_greedy_bids_and_does_not_outbid_its_partner() -> None:
    good = "9C 9D 9H X1 4C 4D AD QC QD 2S 3S 5S"
    assert answer(make_question(good, phase="bid")).bid.tricks >= 3
    assert answer(make_question(good, phase="bid", bid=5, declarer=2)).HasField("pass_bid")


def last_to_play(hand: str) -> Any:
    """Return the two cards that the last of four players plays after two kings of the partner."""
    played = trick("3 QC QD", "0 KC KS", "1 2C 5D")
    fields: dict[str, Any] = {
        "phase": "play",
        "turned": ["AS"],
        "bid": 3,
        "declarer": 0,
        "wild_rank": "9",
    }
    question = make_question(hand, seat=2, played=played, **fields)
    return list(answer(question).play_pair.cards)


def test_greedy_leaves_a_trick_to_its_winning_partner() -> None:
    assert last_to_play("9C 9D X1 AD 4H 6H") == ["4H", "6H"]


def test_greedy_wins_a_trick_as_the_last_seat_with_low_cards() -> None:
    played = trick("3 QC QD", "0 2H 7S", "1 2C 5D")
    fields: dict[str, Any] = {
        "phase": "play",
        "turned": ["AS"],
        "bid": 3,
        "declarer": 0,
        "wild_rank": "9",
    }
    hand = "9C 9D X1 AD 4H 6H 8D"
    cards = list(answer(make_question(hand, seat=2, played=played, **fields)).play_pair.cards)
    assert set(cards) == {"AD", "4H"}  # two aces win against two queens


def test_greedy_plays_single_cards_with_two_seats() -> None:
    played = trick("1 QC", "0 KC", "1 3D", "0 KD", "1 5D")
    fields: dict[str, Any] = {
        "phase": "play",
        "turned": ["KS", "2S"],
        "bid": 3,
        "declarer": 0,
        "wild_rank": "9",
    }
    question = make_question("9C X1 AD 4H 6H", seats=2, played=played, **fields)
    assert answer(question).play_card.card == "4H"


def test_greedy_orders_hands_as_in_the_rules() -> None:
    """The bot's evaluation orders hands as the rules do."""
    spec = importlib.util.spec_from_file_location("greedy_wild", HOUSE / "greedy" / "wild.py")
    assert spec is not None
    assert spec.loader is not None
    scale = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scale)
    chance = random.Random(33)
    for _ in range(40):
        wild_rank = chance.choice(["", *RANKS])
        few = chance.sample(DECK_WITH_JOKERS, 12)
        hands = [chance.sample(few, 5) for _ in range(40)]
        hands.sort(key=lambda hand: wild_hand(hand, wild_rank))
        for worse, better in pairwise(hands):
            low, high = scale.value(worse, wild_rank), scale.value(better, wild_rank)
            same = wild_hand(worse, wild_rank) == wild_hand(better, wild_rank)
            assert low == high if same else low < high


@pytest.mark.long
@pytest.mark.parametrize("seats", [4, 2])
@pytest.mark.parametrize("other", ["bold", "meek", "random"])
def test_greedy_beats_the_simple_bots_in_both_forms(seats: int, other: str) -> None:
    result = measure(MeasuredForm(GAMES["pokex"], seats), "greedy", other, 10)
    assert result.mean - result.half > 0.5
