"""Who has seen which event of a game.

OpenSpiel has the history of a game, and no rule for which seat has seen which part of it. Each
function here returns, for every event of a history, the seats that have seen it; None stands for
everybody. `str(state)` is never used: it prints the hands of all seats.
"""

from collections.abc import Callable, Sequence
from typing import Final

Step = tuple[int, int]
"""The seat of an event, or `CHANCE`, and its action."""
Seers = list[frozenset[int] | None]
Knowledge = Callable[[Sequence[Step]], Seers]

CHANCE: Final = -1
_SEATS: Final = 4
_BRIDGE_PASS: Final = 52
_BRIDGE_FIRST_BID: Final = 55
_STRAINS: Final = 5
_CRIBBAGE_HAND: Final = 6
_CRIBBAGE_PASS: Final = 2756
_CARDS: Final = 52
_EUCHRE_CARDS: Final = 24
_EUCHRE_ALONE: Final = (29, 30)
_GIN_HAND: Final = 10
_PASSED: Final = 3


def everything(steps: Sequence[Step]) -> Seers:
    """Perfect information."""
    return [None] * len(steps)


def _dealt(steps: Sequence[Step], owner: Callable[[int, int], int | None]) -> Seers:
    """Return who has seen the events if only chance is hidden.

    Args:
        steps: the history.
        owner: the seat that sees a chance event, by its number among those of chance and the seat
            that acted before it; None if everybody sees it.
    """
    seers: Seers = []
    number, before = 0, CHANCE
    for seat, _ in steps:
        if seat != CHANCE:
            before = seat
            seers.append(None)
            continue
        one = owner(number, before)
        seers.append(None if one is None else frozenset((one,)))
        number += 1
    return seers


def first_two(steps: Sequence[Step]) -> Seers:
    """Each of two seats sees one chance event; the others are public."""
    return _dealt(steps, lambda number, _: number if number < 2 else None)


def four_hands(steps: Sequence[Step]) -> Seers:
    """Cards are dealt one by one to four seats."""
    return _dealt(steps, lambda number, _: number % _SEATS)


def bridge(steps: Sequence[Step]) -> Seers:
    """After the opening lead, everybody sees the hand of the dummy."""
    seers = four_hands(steps)
    calls = [step for step in steps if step[0] != CHANCE and step[1] >= _BRIDGE_PASS]
    bids = [(seat, call) for seat, call in calls if call >= _BRIDGE_FIRST_BID]
    is_led = any(seat != CHANCE and card < _BRIDGE_PASS for seat, card in steps)
    if not is_led:
        return seers
    last, contract = bids[-1]
    strain = (contract - _BRIDGE_FIRST_BID) % _STRAINS
    declarer = next(
        seat
        for seat, bid in bids
        if seat % 2 == last % 2 and (bid - _BRIDGE_FIRST_BID) % _STRAINS == strain
    )
    dummy = frozenset(((declarer + 2) % _SEATS,))
    return [None if each == dummy else each for each in seers]


def euchre(steps: Sequence[Step]) -> Seers:
    """Chance chooses the dealer, deals, and turns a card up; the dealer may discard in secret."""
    dealer = steps[0][1] if steps else 0
    last = 1 + 5 * _SEATS

    def owner(number: int, _: int) -> int | None:
        return (dealer + number - 1) % _SEATS if 0 < number < last else None

    seers = _dealt(steps, owner)
    for place, (seat, action) in enumerate(steps):
        if seat != CHANCE and action in _EUCHRE_ALONE:
            break
        if seat != CHANCE and action < _EUCHRE_CARDS:
            seers[place] = frozenset((seat,))
    return seers


def cribbage(steps: Sequence[Step]) -> Seers:
    """Each round six cards are dealt to each seat, each discards two, and a card is turned up."""

    def owner(number: int, _: int) -> int | None:
        place = number % (2 * _CRIBBAGE_HAND + 1)
        return place // _CRIBBAGE_HAND if place < 2 * _CRIBBAGE_HAND else None

    seers = _dealt(steps, owner)
    for place, (seat, action) in enumerate(steps):
        if seat != CHANCE and _CARDS <= action < _CRIBBAGE_PASS:
            seers[place] = frozenset((seat,))
    return seers


def gin_rummy(steps: Sequence[Step]) -> Seers:
    """Ten cards are dealt to each seat, then one is turned up; later ones are drawn by a seat."""

    def owner(number: int, before: int) -> int | None:
        return number // _GIN_HAND if number < 2 * _GIN_HAND else None if before < 0 else before

    return _dealt(steps, owner)


def hearts(steps: Sequence[Step]) -> Seers:
    """Chance chooses the direction and deals; three cards of each hand are passed in secret.

    The receiver sees them when all seats have passed.
    """
    seers = _dealt(steps, lambda number, _: (number - 1) % _SEATS if number else None)
    direction = steps[0][1] if steps else 0
    places = [place for place, (seat, _) in enumerate(steps) if seat != CHANCE]
    passes = places[: _SEATS * _PASSED] if direction else []
    for place in passes:
        giver = steps[place][0]
        seen_by = {giver}
        if len(passes) == _SEATS * _PASSED:
            seen_by.add((giver + direction) % _SEATS)
        seers[place] = frozenset(seen_by)
    return seers
