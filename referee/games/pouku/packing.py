"""Find the best set of yaku of a hand and of fields, by dynamic programming over the ranks.

Suits do not matter. The search is exact for these reasons (docs/rules/pouku.md, U-4):

- A yaku with a field card is never contained in another, because each field card is used once. Only
  the single yaku of hand cards alone could be contained, which is not allowed.
- Hand cards serve any number of yaku, so a straight uses the hand's card wherever there is one. A
  field card is used only for a rank that the hand lacks. At a rank of the hand, all straights
  continue at no cost, and a longer straight is never worse.
- Going up the ranks, the state therefore consists of the number of open straights by length, where
  all lengths from four are one class. The other field cards of each rank form groups.
- Four consecutive ranks in the hand, the whole hand of a team game, are a straight. Each field card
  of these ranks forms another one with them. If the straight of the hand alone counts, another
  straight must not contain all four. (Using a field card of these ranks to avoid that never pays:
  the card itself makes a straight of four, and the hand's could be omitted.)
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from referee.games.pouku.yaku import ACE, LOW_ACE, NOTHING, ONE, SHORTEST, Values, Ways, ways

Counts = tuple[int, ...]
"""Number of cards of each rank; the index is the rank, 2 to 14."""
Chain = tuple[object, ...] | None
"""Linked list of choices, last first: (previous choices, place, long, low, new, parts)."""
Open = tuple[int, int, int, int, int, int]
"""State of the search.

The number of open straights with one, two, three and at least four cards; of those with at least
four and a low ace; and the number of yaku, as far as it matters.
"""
Layer = dict[Open, tuple[int, Chain]]

NO_STRAIGHT = (0, 0, 0, 0, 0, 0)
PLACES = range(LOW_ACE, ACE + 1)
"""The ranks from the low ace to the high ace."""
ENOUGH = 4
"""Number of yaku required for the bonus."""


def rank_at(place: int) -> int:
    """Return the rank at a place; place 1 is the low ace."""
    return ACE if place == LOW_ACE else place


def runs_of(hand: Counts, fields: Counts, low: int) -> int:
    """Return the places in runs of at least four available ranks, as bits.

    Args:
        hand: the cards of the hand.
        fields: the cards of the fields.
        low: number of field aces used below the two.
    """
    pool = 0
    for rank in range(2, ACE):
        if hand[rank] or fields[rank]:
            pool |= 1 << rank
    if hand[ACE] or low:
        pool |= 1 << LOW_ACE
    if hand[ACE] or fields[ACE] > low:
        pool |= 1 << ACE
    starts = pool & pool >> 1 & pool >> 2 & pool >> 3
    return starts | starts << 1 | starts << 2 | starts << 3


@lru_cache(1 << 12)
def straight_of(hand: Counts) -> int:
    """Return the top place of the straight formed by a hand of four; 0 if it is not one."""
    ranks = [rank for rank in range(2, ACE + 1) if hand[rank]]
    if sum(hand) != SHORTEST or len(ranks) < SHORTEST:
        return 0
    if ranks == [2, 3, 4, ACE]:
        return SHORTEST
    return ranks[3] if ranks[3] - ranks[0] == 3 else 0


def fold(layer: Layer, options: Ways, place: int, several: bool) -> Layer:
    """Add the groups that the field cards of a rank can form.

    Args:
        layer: the states before.
        options: the best ways to form groups.
        place: the place of the rank.
        several: whether states differ by the number of yaku.
    """
    after: Layer = {}
    for (ones, twos, threes, fours, low, count), (score, chain) in layer.items():
        for more, worth, parts in options:
            key = (ones, twos, threes, fours, low, min(ENOUGH, count + more) if several else 0)
            if key not in after or after[key][0] < score + worth:
                after[key] = (score + worth, (chain, place, 0, 0, 0, parts))
    return after


def closed(layer: Layer) -> Layer:
    """End all straights; drop states with straights of fewer than four cards."""
    after: Layer = {}
    for (ones, twos, threes, _, _, count), best in layer.items():
        if not ones and not twos and not threes:
            key = (0, 0, 0, 0, 0, count)
            if key not in after or after[key][0] < best[0]:
                after[key] = best
    return after


class Packing:
    """Finds the best yaku for one table of points."""

    def __init__(self, values: Values, grouping: bool = True) -> None:
        """Prepare the groups of each rank.

        Args:
            values: the table of points.
            grouping: whether to form groups, or only straights.
        """
        self.values = values
        self.several = grouping and values.four_yaku > 1
        """Whether fewer points with more yaku can be better because of the bonus."""
        self._straight = ONE * values.straight + 1
        self._ways = {
            (hand, fields, whole): ways(values, hand, fields, whole and hand == 1, self.several)
            if grouping
            else NOTHING
            for hand, fields in product(range(5), repeat=2)
            if hand + fields <= 4
            for whole in (False, True)
        }

    def ways(self, hand: int, fields: int, whole: bool) -> Ways:
        """Return the ways to use a rank's field cards; ``whole``: if the hand is a straight."""
        return self._ways[hand, fields, whole]

    def layers(self, hand: Counts, fields: Counts, sealed: int, whole: bool) -> Iterator[Layer]:
        """Yield the final states, for every number of field aces used below the two.

        Args:
            hand: the cards of the hand.
            fields: the cards of the fields.
            sealed: the place that straights must not pass; 0 for none.
            whole: whether the hand is a straight of four.
        """
        for low in range(fields[ACE] + 1 if not hand[ACE] else 1):
            runs = runs_of(hand, fields, low)
            if not low or runs & 1 << LOW_ACE:
                yield self._climb(hand, fields, (low, runs, sealed), whole)

    def _climb(self, hand: Counts, fields: Counts, way: tuple[int, int, int], whole: bool) -> Layer:
        # Climb the places with one layer of states each:
        # 1. At the low ace, begin a straight with each of the ``low`` field aces.
        # 2. Outside of runs, straights are impossible: the field cards form groups.
        # 3. At a rank of the hand, extend all straights, then form groups.
        # 4. At any other rank, choose the straights that use the field cards.
        # 5. At the end of a run, close all straights.
        low, runs, sealed = way
        layer: Layer = {NO_STRAIGHT: (0, None)}
        behind = 0  # number of consecutive hand ranks just below, where a new straight begins
        for place in PLACES:
            rank = rank_at(place)
            held, lying = hand[rank], fields[rank]
            if place == ACE:
                lying -= low
            if place == LOW_ACE:
                if low:
                    layer = {(low, 0, 0, 0, 0, 0): (0, (None, place, 0, 0, low, ()))}
                behind = 1 if held and runs & 1 << place else 0
                if behind or not low:
                    continue
            elif not runs >> place & 1:
                if lying:
                    layer = fold(layer, self.ways(held, lying, whole), place, self.several)
                behind = 0
                continue
            elif held:
                layer = closed(layer) if place == sealed else self._through(layer, place)
                if lying:
                    layer = fold(layer, self.ways(held, lying, whole), place, self.several)
                # A new straight may contain at most three of the sealed straight's four cards.
                behind = 3 if place == sealed else behind + 1
            else:
                layer = self._over(layer, lying, (place, behind, runs))
                behind = 0
            if not runs >> place + 1 & 1:
                layer = closed(layer)
        return closed(layer)

    def _through(self, layer: Layer, place: int) -> Layer:
        """Extend all open straights at no cost at a rank of the hand."""
        after: Layer = {}
        for (ones, twos, threes, fours, low, count), (score, chain) in layer.items():
            gain = threes * self._straight + ONE * fours
            if place < ACE:
                gain += ONE * low
            else:
                low = 0
            if self.several:
                count = min(ENOUGH, count + threes)
            if place == SHORTEST:  # three cards just below place 4 began with the low ace
                key = (0, ones, twos, fours, low + threes, count)
            else:
                key = (0, ones, twos, threes + fours, low, count)
            if key not in after or after[key][0] < score + gain:
                after[key] = (score + gain, chain)
        return after

    def _over(self, layer: Layer, lying: int, way: tuple[int, int, int]) -> Layer:
        """Extend and begin straights at a rank that the hand lacks; each needs a field card.

        1. Straights of fewer than four cards must continue; those of three become complete.
        2. Try every number of straights of at least four cards, with and without low ace, that
           continue.
        3. Try every number of straights that begin with the ``behind`` hand cards just below.
        4. The remaining field cards form groups; keep the best score of each resulting state.
        """
        place, behind, runs = way
        length = behind + 1
        ahead = max(0, SHORTEST - length)
        may_begin = all(runs >> place + step & 1 for step in range(1, ahead + 1))
        first = self._straight + ONE * (length - SHORTEST) if length >= SHORTEST else 0
        begun = [(0, 0, 0, 0, 0)] + [
            tuple(new if k == kind(length, place) else 0 for k in range(5))
            for new in range(1, lying + 1)
        ]
        after: Layer = {}
        for (ones, twos, threes, fours, low, count), (score, chain) in layer.items():
            # Each straight of fewer than four cards requires one of the field cards.
            room = lying - ones - twos - threes
            if room < 0:
                continue
            got = score + threes * self._straight
            for long in range(min(fours, room) + 1):
                for lows in range(min(low if place < ACE else 0, room - long) + 1):
                    free = room - long - lows
                    for new in range(free + 1 if may_begin else 1):
                        gain = got + ONE * (long + lows) + new * first
                        b = begun[new]
                        key4 = (b[0], ones + b[1], twos + b[2], long + b[3], lows + b[4])
                        if place == SHORTEST:
                            key4 = (*key4[:4], key4[4] + threes)
                        else:
                            key4 = (*key4[:3], key4[3] + threes, key4[4])
                        made = threes + (new if first else 0)
                        for more, worth, parts in self.ways(0, free - new, False):
                            total = min(ENOUGH, count + made + more) if self.several else 0
                            key = (*key4, total)
                            if key not in after or after[key][0] < gain + worth:
                                chosen = (chain, place, long, lows, new, parts)
                                after[key] = (gain + worth, chosen)
        return after


def kind(length: int, place: int) -> int:
    """Return the index of a straight's class in :data:`Open`.

    The classes are one, two, three and at least four cards, and at least four with a low ace.
    """
    if length < SHORTEST:
        return length - 1
    return 4 if length == place else 3
