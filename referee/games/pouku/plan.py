"""Reconstruct the cards of each yaku from the choices of a packing."""

from collections.abc import Iterator

from referee.games.pouku.packing import (
    PLACES,
    Chains,
    end_of_low_straights,
    held_at,
    in_run,
    rank_at,
    runs_of,
    with_low_aces,
)
from referee.games.pouku.yaku import ACE, LOW_ACE, SHORTEST

Place = tuple[int, int, bool]
"""A card: its rank, its index among the cards of the rank, and whether it is a hand card."""
Cards = tuple[Place, ...]
Plan = tuple[int, tuple[int, int], Chains]
"""A set of yaku in three parts.

1. The code of the hand cards available to yaku with field cards.
2. The yaku of hand cards alone, as `PackingStart.alone`.
3. The choices of the packing.
"""


def yaku_of_plan(plan: Plan, hand: int, fields: int) -> list[Cards]:
    """Return the yaku of a plan."""
    _, alone, chains = plan
    return [*_hand_yaku(alone), *_PlanReplay(plan, hand, fields).yaku(chains)]


def _hand_yaku(alone: tuple[int, int]) -> Iterator[Cards]:
    """Yield the yaku of hand cards alone, if there is one."""
    top, size = alone
    if size:
        yield tuple((top, number, True) for number in range(size))
    elif top:
        yield tuple((rank_at(place), 0, True) for place in range(top - SHORTEST + 1, top + 1))


class _PlanReplay:
    """Replays the choices of a packing place by place, with actual cards."""

    def __init__(self, plan: Plan, hand: int, fields: int) -> None:
        self.others, (top, size), _ = plan
        self.hand, self.fields = hand, fields
        self.barrier = 0 if size else top
        self.taken = [0] * (ACE + 1)
        self.open: list[list[tuple[int, Place]]] = []
        self.done: list[Cards] = []

    def yaku(self, chains: Chains) -> list[Cards]:
        """Return the chosen yaku.

        1. Unroll the chains into the choices by place.
        2. At each place, close, extend or begin straights as the packing did.
        3. Form the chosen groups from the remaining field cards of the rank.
        """
        chosen: dict[int, tuple[int, int, int, tuple[tuple[int, int], ...]]] = {}
        for shift, chain in chains:
            while chain is not None:
                chain, place, long, lows, new, parts = chain  # type: ignore[assignment]
                chosen[place + shift] = (long, lows, new, parts)  # type: ignore[operator,assignment]
        low = chosen[LOW_ACE][2] if LOW_ACE in chosen else 0
        runs = runs_of(with_low_aces(self.hand + self.fields, low))
        for place in PLACES:
            long, lows, new, parts = chosen.get(place, (0, 0, 0, ()))
            if not in_run(runs, place) or place == self.barrier:
                self._close(self.open)
            elif held_at(self.hand, place):
                self._extend_with_hand_card(place)
            else:
                self._extend_with_field_cards(place, long, lows, new)
            for part in parts:
                self._group(rank_at(place), *part)
        self._close(self.open)
        return self.done

    def _close(self, straights: list[list[tuple[int, Place]]]) -> None:
        self.done += [tuple(card for _, card in cards) for cards in straights]
        self.open = [cards for cards in self.open if cards not in straights]

    def _is_low(self, cards: list[tuple[int, Place]]) -> bool:
        """Return whether a straight must not reach the high ace.

        Beside the hand's straight ``A 2 3 4``, only its own cards begin a straight at the two.
        """
        return cards[0][0] <= (2 if self.barrier == SHORTEST else LOW_ACE)

    def _extend_with_hand_card(self, place: int) -> None:
        if place == end_of_low_straights(self.barrier):
            self._close([cards for cards in self.open if self._is_low(cards)])
        for cards in self.open:
            cards.append((place, (rank_at(place), 0, True)))

    def _extend_with_field_cards(self, place: int, long: int, lows: int, new: int) -> None:
        ended = []
        for cards in self.open:
            if len(cards) < SHORTEST:
                continue
            began_low = self._is_low(cards)
            left = lows if began_low else long
            if not left:
                ended.append(cards)
            elif began_low:
                lows -= 1
            else:
                long -= 1
        self._close(ended)
        begun = [self._hand_cards_below(place) for _ in range(new)]
        self.open += begun
        for cards in self.open:
            cards.append((place, self._field_card(rank_at(place))))

    def _hand_cards_below(self, place: int) -> list[tuple[int, Place]]:
        """Return the consecutive hand cards just below, with which a new straight begins."""
        first = place
        floor = self.barrier - 2 if self.barrier and self.barrier < place else LOW_ACE
        while first > floor and held_at(self.hand, first - 1):
            first -= 1
        return [(at, (rank_at(at), 0, True)) for at in range(first, place)]

    def _field_card(self, rank: int) -> Place:
        self.taken[rank] += 1
        return rank, self.taken[rank] - 1, False

    def _group(self, rank: int, used: int, size: int) -> None:
        """Form a group; size 0 means the hand's straight with this card instead of the hand's."""
        cards = [self._field_card(rank) for _ in range(used)]
        if size:
            # a card of the yaku without field cards
            spared = held_at(self.hand, rank) - held_at(self.others, rank)
            cards += [(rank, spared + number, True) for number in range(size - used)]
        else:
            others = (r for r in range(2, ACE + 1) if r != rank and held_at(self.hand, r))
            cards += [(r, 0, True) for r in others]
        self.done.append(tuple(cards))
