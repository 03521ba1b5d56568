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
- A straight contains all four if it passes the *barrier*, the top place of the hand's straight. Two
  straights of 13 ranks contain all four without passing it, because they have the ace at the other
  end: ``A 2 ... K`` beside ``J Q K A``, and ``2 3 ... A`` beside ``A 2 3 4``. Therefore straights
  with the low ace end before the king in the first case. In the second one, straights that begin
  with the hand's ``2 3 4`` belong to those that do not reach the high ace.

Straights need runs of at least four available ranks, so the runs of a position are independent.
With the usual points, only the best score of each run matters. The search caches it: positions of
many games share their runs, and a run above the low ace is as good at any ranks.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from referee.games.pouku.group_choices import (
    NO_GROUPS,
    POINT_UNIT,
    GroupChoices,
    best_group_choices,
)
from referee.games.pouku.yaku import ACE, LOW_ACE, SHORTEST, Values
from referee.games.shared.cards import RANK, Card

PLACES = range(LOW_ACE, ACE + 1)
"""The ranks from the low ace to the high ace."""

# Cards as one number, their *code*, because only the number of cards of each rank matters. It has
# six bits per place: the lower three count the cards of the hand, the upper three the field cards.
# A hand's ace counts at both of its places. A field's ace counts at the high place, and moves to
# the low one if it is used there.
_BITS = 6
_ONE_HELD, _ONE_LYING = 1, 1 << 3
_EACH = sum(1 << _BITS * place for place in PLACES)
"""The lowest bit of every place."""
_WHOLE_PLACE = (1 << _BITS) - 1
_LOWEST_BIT = 1 << _BITS * LOW_ACE
_MOVED_ACE = (_ONE_LYING << _BITS * LOW_ACE) - (_ONE_LYING << _BITS * ACE)
"""Change of a code when a field's ace moves to the low place."""
_UNSHIFTED = LOW_ACE + 1
"""The place to which runs above the low ace are shifted, so that they share a code."""

HELD_CODE: dict[Card, int] = {
    card: _ONE_HELD << _BITS * rank | (_LOWEST_BIT if rank == ACE else 0)
    for card, rank in RANK.items()
}
"""The code of a hand card."""
LYING_CODE: dict[Card, int] = {card: _ONE_LYING << _BITS * rank for card, rank in RANK.items()}
"""The code of a field card."""

Chain = tuple[object, ...] | None
"""Linked list of choices, last first: (previous choices, place, long, low, new, parts)."""
Chains = tuple[tuple[int, Chain], ...]
"""The choices of independent runs, each with the difference to its real places."""
Open = tuple[int, int, int, int, int, int]
"""State of the search.

The number of open straights with one, two, three and at least four cards; of those with at least
four that must not reach the high ace, because they have the low one or the barrier demands it; and
the number of yaku, as far as it matters.
"""
Layer = dict[Open, tuple[int, Chain]]

Step = tuple[Open, int, tuple[int, int, int, tuple[tuple[int, int], ...]]]
"""A change of the state: the next state, the score, and the choices for :data:`Chain`."""

NO_STRAIGHT = (0, 0, 0, 0, 0, 0)
BONUS_YAKU_COUNT = 4
"""Number of yaku required for the bonus."""


def rank_at(place: int) -> int:
    """Return the rank at a place; place 1 is the low ace."""
    return ACE if place == LOW_ACE else place


def held_at(code: int, place: int) -> int:
    """Return the number of hand cards at a place."""
    return code >> _BITS * place & 7


def lying_at(code: int, place: int) -> int:
    """Return the number of field cards at a place."""
    return code >> _BITS * place + 3 & 7


def without_one_held(code: int, rank: int) -> int:
    """Return the code without one of the hand's cards of a rank."""
    return code - ((_ONE_HELD << _BITS * rank) + (_LOWEST_BIT if rank == ACE else 0))


def with_low_aces(code: int, low: int) -> int:
    """Return the code with a number of field aces below the two."""
    return code + low * _MOVED_ACE


def runs_of(code: int) -> int:
    """Return all bits of the places in runs of at least four available ranks."""
    pool = (code | code >> 1 | code >> 2 | code >> 3 | code >> 4 | code >> 5) & _EACH
    starts = pool & pool >> _BITS & pool >> 2 * _BITS & pool >> 3 * _BITS
    return _WHOLE_PLACE * (starts | starts << _BITS | starts << 2 * _BITS | starts << 3 * _BITS)


def in_run(runs: int, place: int) -> bool:
    """Return whether a place is in one of these runs."""
    return runs >> _BITS * place & 1 == 1


def _separate(runs: int) -> Iterator[int]:
    """Yield the bits of each run, lowest first."""
    while runs:
        # The sum carries through the lowest run, so the intersection holds only the others.
        others = runs & runs + (runs & -runs)
        yield runs ^ others
        runs = others


def end_of_low_straights(barrier: int) -> int:
    """Return the first place that straights with a low ace must not contain.

    If the hand's straight ``J Q K A`` counts, one from the low ace to the king would contain it.
    """
    return ACE - 1 if barrier == ACE else ACE


def straight_of(hand: int) -> int:
    """Return the top place of the straight formed by a hand of four; 0 if it is not one."""
    ranks = [rank for rank in range(2, ACE + 1) if held_at(hand, rank)]
    if sum(held_at(hand, rank) for rank in ranks) != SHORTEST or len(ranks) < SHORTEST:
        return 0
    if ranks == [2, 3, 4, ACE]:
        return SHORTEST
    return ranks[3] if ranks[3] - ranks[0] == 3 else 0


def fold(layer: Layer, options: GroupChoices, place: int, several: bool) -> Layer:
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
            key = (
                ones,
                twos,
                threes,
                fours,
                low,
                min(BONUS_YAKU_COUNT, count + more) if several else 0,
            )
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
        self._straight = POINT_UNIT * values.straight + 1
        self._group_choices: tuple[dict[int, GroupChoices], ...] = tuple(
            {
                held * _ONE_HELD + lying * _ONE_LYING: best_group_choices(
                    values, held, lying, whole and held == 1, self.several
                )
                if grouping
                else NO_GROUPS
                for held, lying in product(range(5), repeat=2)
                if held + lying <= 4
            }
            for whole in (False, True)
        )
        """The ways to use a rank's field cards, by whether the hand is a straight, and by code."""

    def forms_only_groups(self, code: int) -> bool:
        """Return whether the best groups are the best set, because straights are impossible."""
        return not self.several and not runs_of(code | with_low_aces(code, lying_at(code, ACE)))

    def sets(self, code: int, barrier: int, whole: bool) -> Iterator[tuple[int, Chains]]:
        """Yield sets of yaku with field cards, the best ones among them, as score and choices.

        Args:
            code: the cards of the hand and of the fields.
            barrier: the place that straights must not pass; 0 for none.
            whole: whether the hand is a straight of four.
        """
        for low in range(1 if held_at(code, ACE) else lying_at(code, ACE) + 1):
            moved = with_low_aces(code, low)
            if low and not in_run(runs_of(moved), LOW_ACE):
                continue
            if self.several:
                for score, chain in self.climb(moved, barrier, whole).values():
                    yield score, ((0, chain),)
            elif best_set := self._by_runs(moved, barrier, whole):
                yield best_set

    def _by_runs(self, code: int, barrier: int, whole: bool) -> tuple[int, Chains] | None:
        """Return the best set if only its score matters; None if the low aces are not usable.

        1. Form the best groups outside of the runs, where straights are impossible.
        2. Add the best yaku of every run. Shift a run above the low ace, to share its result.
        """
        runs = runs_of(code)
        score, chains = self.groups(code & ~runs, whole)
        for run in _separate(runs):
            first = (run & -run).bit_length() // _BITS
            shift = max(0, first - _UNSHIFTED)
            ceiling = barrier - shift if in_run(run, barrier) else 0
            best_of_run = _climbed(self, (code & run) >> _BITS * shift, ceiling, whole)
            if best_of_run is None:
                return None
            score += best_of_run[0]
            chains.append((shift, best_of_run[1]))
        return score, tuple(chains)

    def groups(self, code: int, whole: bool) -> tuple[int, list[tuple[int, Chain]]]:
        """Return the score and the choices of the best groups of every rank, without straights."""
        held = (code | code >> 1 | code >> 2) & _EACH
        two = (code >> 4 | code >> 5) & _EACH
        lying = code >> 3 & _EACH | two
        possible = two | lying & held  # places with a field card and another card
        score, ways_of = 0, self._group_choices[whole]
        chains: list[tuple[int, Chain]] = []
        while possible:
            at = (possible & -possible).bit_length() - 1
            _, worth, parts = ways_of[code >> at & _WHOLE_PLACE][0]
            score += worth
            chains.append((0, (None, at // _BITS, 0, 0, 0, parts)))
            possible &= possible - 1
        return score, chains

    def climb(self, code: int, barrier: int, whole: bool) -> Layer:
        """Return the final states of a search with these cards.

        The arguments are those of :meth:`sets`. Climb the places with one layer of states each:

        1. At the low ace, begin a straight with each of the field aces there.
        2. Outside of runs, straights are impossible: the field cards form groups.
        3. At a rank of the hand, extend all straights, then form groups.
        4. At any other rank, choose the straights that use the field cards.
        5. At the end of a run, close all straights.
        """
        runs = runs_of(code)
        low_end = end_of_low_straights(barrier)
        layer: Layer = {NO_STRAIGHT: (0, None)}
        behind = 0  # number of consecutive hand ranks just below, where a new straight begins
        for place in PLACES:
            here = code >> _BITS * place & _WHOLE_PLACE
            held, lying = here & 7, here >> 3
            if place == LOW_ACE:
                if lying:
                    layer = {(lying, 0, 0, 0, 0, 0): (0, (None, place, 0, 0, lying, ()))}
                behind = 1 if held and in_run(runs, place) else 0
                if behind or not lying:
                    continue
            elif not in_run(runs, place):
                if lying:
                    layer = fold(layer, self._group_choices[whole][here], place, self.several)
                behind = 0
                continue
            elif held:
                layer = (
                    closed(layer)
                    if place == barrier
                    else self._extend_with_hand_card(layer, place, place < low_end)
                )
                if lying:
                    layer = fold(layer, self._group_choices[whole][here], place, self.several)
                # A new straight may contain at most three of the four cards of the hand's straight.
                behind = 3 if place == barrier else behind + 1
            else:
                layer = self._extend_with_field_cards(layer, lying, (place, behind, runs, barrier))
                behind = 0
            if not in_run(runs, place + 1):
                layer = closed(layer)
        return closed(layer)

    def _extend_with_hand_card(self, layer: Layer, place: int, low_continues: bool) -> Layer:
        """Extend the open straights at no cost at a rank of the hand.

        Args:
            layer: the states before.
            place: the place.
            low_continues: whether straights with a low ace may contain the place.
        """
        after: Layer = {}
        for (ones, twos, threes, fours, low, count), (score, chain) in layer.items():
            gain = threes * self._straight + POINT_UNIT * fours
            if low_continues:
                gain += POINT_UNIT * low
            else:
                low = 0
            if self.several:
                count = min(BONUS_YAKU_COUNT, count + threes)
            if place == SHORTEST:  # three cards just below place 4 began with the low ace
                key = (0, ones, twos, fours, low + threes, count)
            else:
                key = (0, ones, twos, threes + fours, low, count)
            if key not in after or after[key][0] < score + gain:
                after[key] = (score + gain, chain)
        return after

    def _extend_with_field_cards(
        self, layer: Layer, lying: int, at: tuple[int, int, int, int]
    ) -> Layer:
        """Extend and begin straights at a rank that the hand lacks; each needs a field card.

        Args:
            layer: the states before.
            lying: the number of field cards of the rank.
            at: the place, the number of hand cards just below, the bits of the runs, and the
                barrier.
        """
        place, behind, runs, barrier = at
        length = behind + 1
        ahead = max(0, SHORTEST - length)
        beginning = Beginning(
            lying,
            length,
            all(in_run(runs, place + step) for step in range(1, ahead + 1)),
            length == place >= SHORTEST or (behind > 0 and barrier == SHORTEST == place - 1),
            place == SHORTEST,
            place == ACE,
        )
        after: Layer = {}
        for state, (score, chain) in layer.items():
            for key, gain, choice in _extended(self, state, beginning):
                if key not in after or after[key][0] < score + gain:
                    after[key] = (score + gain, (chain, place, *choice))
        return after

    def extended(self, state: Open, at: "Beginning") -> Iterator[Step]:
        """Yield the ways to use the field cards of a rank that the hand lacks.

        1. Straights of fewer than four cards must continue; those of three become complete.
        2. Try every number of straights of at least four cards, with and without low ace, that
           continue.
        3. Try every number of straights that begin with the hand cards just below.
        4. The remaining field cards form groups.
        """
        ones, twos, threes, fours, low, count = state
        # Each straight of fewer than four cards requires one of the field cards.
        room = at.lying - ones - twos - threes
        first = self._straight + POINT_UNIT * (at.length - SHORTEST) if at.length >= SHORTEST else 0
        began = 4 if at.low else min(at.length, SHORTEST) - 1
        for long in range(min(fours, room) + 1):
            for lows in range(min(0 if at.high_ace else low, room - long) + 1):
                free = room - long - lows
                for new in range(free + 1 if at.possible else 1):
                    opened = [0, ones, twos, long, lows]
                    opened[began] += new
                    # Three cards just below place 4 began with the low ace.
                    opened[4 if at.fourth else 3] += threes
                    gain = (threes * self._straight) + POINT_UNIT * (long + lows) + new * first
                    made = threes + (new if first else 0)
                    for more, worth, parts in self._group_choices[False][(free - new) * _ONE_LYING]:
                        total = min(BONUS_YAKU_COUNT, count + made + more) if self.several else 0
                        yield (*opened, total), gain + worth, (long, lows, new, parts)  # type: ignore[misc]


class Beginning(NamedTuple):
    """A place with field cards only, as far as straights that begin or continue there need it."""

    lying: int
    """Number of field cards."""
    length: int
    """Number of cards of a straight that begins here: hand cards just below, and one."""
    possible: bool
    """Whether enough ranks follow for a straight that begins here."""
    low: bool
    """Whether a straight that begins here has at least four cards and must not reach the high ace.
    """
    fourth: bool
    """Whether the place is the fourth, where straights with the low ace become complete."""
    high_ace: bool
    """Whether the place is the high ace, which straights with the low ace do not reach."""


@lru_cache(1 << 12)
def _extended(packing: Packing, state: Open, at: Beginning) -> tuple[Step, ...]:
    """Return the first of the best ways to each resulting state."""
    best: dict[Open, Step] = {}
    for step in packing.extended(state, at):
        if step[0] not in best or best[step[0]][1] < step[1]:
            best[step[0]] = step
    return tuple(best.values())


@lru_cache(1 << 13)
def _climbed(packing: Packing, code: int, barrier: int, whole: bool) -> tuple[int, Chain] | None:
    """Return the only final state of a search that does not count yaku, if it has one."""
    return next(iter(packing.climb(code, barrier, whole).values()), None)
