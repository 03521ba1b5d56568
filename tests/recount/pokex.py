"""Recount Pokex from its rules page."""

from collections.abc import Generator, Mapping, Sequence
from itertools import combinations
from typing import Any

from referee.games.shared.dealing import Seeded
from tests.recount.five_cards import JOKERS, PACK, RANKS, Worth, best_worth
from tests.recount.recount_contract import (
    Answers,
    Asked,
    GameResult,
    ListedActions,
    Plain,
    Recount,
    Word,
)

ENOUGH = 33


def recount(luck: Seeded, seats: int, options: Mapping[str, Any]) -> Recount:
    """Play a game to 33 points."""
    assert not options
    dealer = luck.below("dealer", 0, seats)
    points = [0, 0]
    number = 0
    while max(points) < ENOUGH or points[0] == points[1]:
        pack = list(luck.shuffled("deck", number, PACK + JOKERS))
        size, middle = (12, 6) if seats == 4 else (18, 12)
        hands = [pack[size * seat : size * (seat + 1)] for seat in range(seats)]
        centre = pack[size * seats : size * seats + middle]
        if seats == 2:
            in_order = sorted(centre, key=(PACK + JOKERS).index)
            centre = list(luck.shuffled("centre", number, in_order))
        gained = yield from deal(hands, centre, (dealer + number) % seats)
        points = [points[side] + gained[side] for side in (0, 1)]
        number += 1
    return GameResult([points[seat % 2] for seat in range(seats)])


def deal(
    hands: list[list[str]], centre: Sequence[str], dealer: int
) -> Generator[Asked, Answers, list[int]]:
    """Play one deal; return the points of each side."""
    seats = len(hands)
    bid, declarer = yield from auction(seats, dealer)
    wild = list(JOKERS)
    if bid:
        _, values = yield from ask(declarer, [("nameWild", rank) for rank in RANKS])
        wild += [values["rank"] + suit for suit in "CDHS"]
    first = (declarer - 1 if bid else dealer + 1) % seats
    tricks = [0, 0]
    for trick in range(6):
        share = len(centre) // 6
        turned = list(centre[share * trick : share * (trick + 1)])
        played = yield from lay(hands, first)
        worths = [full_worth(turned + played[side], wild) for side in (0, 1)]
        if worths[0] == worths[1] and not bid:
            continue
        if worths[0] == worths[1]:
            tricks[declarer % 2] += 1
        else:
            tricks[worths.index(max(worths))] += 1
    assert not any(hands)
    if not bid:
        return [sum(range(won + 1)) for won in tricks]
    points = [0, 0]
    points[declarer % 2] = declarers(bid, tricks[declarer % 2])
    points[1 - declarer % 2] = sum(range(tricks[1 - declarer % 2] + 1))
    return points


def declarers(bid: int, taken: int) -> int:
    return sum(range(bid + 1)) + bid * (taken - bid) if taken >= bid else 0


def full_worth(five: list[str], wild: Sequence[str]) -> tuple[Worth, int]:
    """Return the value of a side's five cards; of equal ones, fewer wild cards win."""
    held = [card for card in five if card in wild]
    return best_worth([card for card in five if card not in wild], held), -len(held)


def auction(seats: int, dealer: int) -> Generator[Asked, Answers, tuple[int, int]]:
    """Return the highest bid and its bidder; the bid is 0 if all seats pass."""
    bid, bidder, passes, turn = 0, dealer, 0, dealer
    while bid < 6 and passes < (seats - 1 if bid else seats):
        turn = (turn + 1) % seats
        higher = [("bid", tricks) for tricks in range(bid + 1, 7)]
        kind, values = yield from ask(turn, [("passBid",), *higher])
        if kind == "bid":
            bid, bidder, passes = values["tricks"], turn, 0
        else:
            passes += 1
    return bid, bidder


def lay(
    hands: list[list[str]], first: int
) -> Generator[Asked, Answers, tuple[list[str], list[str]]]:
    seats = len(hands)
    played: tuple[list[str], list[str]] = ([], [])
    for turn in range(4 if seats == 4 else 6):
        seat = (first + turn) % seats
        words: list[Plain] = [("playCard", card) for card in hands[seat]]
        if seats == 4:
            words = [("playPair", two) for two in combinations(sorted(hands[seat]), 2)]
        _, values = yield from ask(seat, words)
        cards = values["cards"] if seats == 4 else [values["card"]]
        for card in cards:
            hands[seat].remove(card)
        played[seat % 2].extend(cards)
    return played


def ask(seat: int, words: Sequence[Plain]) -> Generator[Asked, Answers, Word]:
    """Yield the legal actions of one seat; return its action."""
    answers = yield {seat: ListedActions(words)}
    return answers[seat]
