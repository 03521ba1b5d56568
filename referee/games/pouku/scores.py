"""Score going out and compute payments (docs/rules/pouku.md, U-4 and U-6)."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from referee.games.pouku.actions import PoukuYaku
from referee.games.pouku.group_choices import POINT_UNIT
from referee.games.pouku.packing import (
    BONUS_YAKU_COUNT,
    HELD_CODE,
    LYING_CODE,
    Packing,
    held_at,
    straight_of,
    without_one_held,
)
from referee.games.pouku.plan import Plan, yaku_of_plan
from referee.games.pouku.yaku import (
    ACE,
    GROUPS,
    Values,
    in_sequence,
    name_of,
)
from referee.games.shared.cards import RANK, Card, Hand, in_order
from referee.games.shared.fast_values import fast_value

_REMEMBERED = 1 << 11


@dataclass(frozen=True, slots=True)
class PackingStart:
    """Initial choice: at most one yaku of hand cards alone."""

    score: int
    hand: int
    """Code of the hand cards that other yaku may use."""
    alone: tuple[int, int]
    """(rank, size) of a group; (place of the top card, 0) of a straight; (0, 0) for none."""
    barrier: int
    """The place that other straights must not pass; 0 for none."""
    whole: bool
    """Whether the hand is a straight of four."""


def held_code(cards: Iterable[Card]) -> int:
    """Return the code of hand cards."""
    return sum(map(HELD_CODE.__getitem__, cards))


def lying_code(cards: Iterable[Card]) -> int:
    """Return the code of field cards."""
    return sum(map(LYING_CODE.__getitem__, cards))


@lru_cache(64)
def packing_of(values: Values, grouping: bool) -> Packing:
    """Return the cached packing for a table of points."""
    return Packing(values, grouping)


@lru_cache(_REMEMBERED)
def starts(packing: Packing, hand: int) -> tuple[PackingStart, ...]:
    """Return the possible yaku of hand cards alone, starting with none."""
    values = packing.values
    top = straight_of(hand)
    whole = top > 0
    beginnings = [PackingStart(0, hand, (0, 0), 0, whole)]
    for rank in range(2, ACE + 1):
        held = held_at(hand, rank)
        if held > 1:
            size = max((size for size in GROUPS if size <= held), key=values.group)
            # otherwise another yaku could contain this one
            others = without_one_held(hand, rank)
            score = POINT_UNIT * values.group(size) + 1
            beginnings.append(PackingStart(score, others, (rank, size), 0, whole))
    if whole:
        score = POINT_UNIT * values.straight + 1
        beginnings.append(PackingStart(score, hand, (top, 0), top, whole))
    return tuple(beginnings)


@lru_cache(_REMEMBERED)
def best(packing: Packing, hand: int, fields: int, laid: int) -> tuple[int, int, Plan]:
    """Find the best set of yaku.

    Args:
        packing: the packing for the table of points.
        hand: the code of the hand.
        fields: the code of the reference fields.
        laid: number of kept yaku that count towards the bonus.

    Returns:
        Its points with the bonus, its number of yaku, and the set.
    """
    bonus = packing.values.four_yaku
    highest = (-1, 0)
    plan: Plan | None = None
    for start in starts(packing, hand):
        for score, chains in packing.sets(start.hand + fields, start.barrier, start.whole):
            points, made = divmod(score + start.score, POINT_UNIT)
            value = (points + (bonus if made + laid >= BONUS_YAKU_COUNT else 0), made)
            if value > highest:
                highest, plan = value, (start.hand, start.alone, chains)
    assert plan is not None
    return *highest, plan


def groups_reach(packing: Packing, hand: int, fields: int, laid: int, needed: int) -> bool:
    """Return whether groups suffice for ``needed`` points and one yaku besides the kept ones.

    The arguments are those of :func:`best`. In most positions with enough points this avoids the
    search for straights.
    """
    for start in starts(packing, hand):
        score, _ = packing.groups(start.hand + fields, start.whole)
        points, made = divmod(score + start.score, POINT_UNIT)
        if made + laid >= BONUS_YAKU_COUNT:
            points += packing.values.four_yaku
        if points >= needed and made >= laid:
            return True
    return False


@fast_value
@dataclass(frozen=True, slots=True)
class GoingOut:
    """The cards with which a seat could go out."""

    values: Values
    hand: Hand
    fields: Hand
    """The cards of the reference fields."""
    kept: Hand
    """The kept yaku of the seat's side."""
    point_card: str

    def _best(self) -> tuple[int, int, Plan]:
        """Return the points of the best set, its number of yaku, and the set."""
        packing = packing_of(self.values, True)
        laid = 1 if self.kept else 0
        return best(packing, held_code(self.hand), lying_code(self.fields), laid)

    def _fixed(self) -> int:
        """Return the points that do not depend on the set: point cards and kept yaku."""
        # No letter stands for both a rank and a suit, so this counts cards.
        points = "".join(self.hand + self.fields + self.kept).count(self.point_card[0])
        return points * self.values.point + kept_worth(self.values, self.kept)

    def reaches(self, needed: int) -> bool:
        """Return whether the points are sufficient to go out.

        With a kept yaku, the set must also contain at least one further yaku.
        """
        packing = packing_of(self.values, True)
        hand, fields = held_code(self.hand), lying_code(self.fields)
        missing = needed - self._fixed()
        laid = 1 if self.kept else 0
        if groups_reach(packing, hand, fields, laid, missing):
            return True
        if packing.forms_only_groups(hand + fields):
            return False
        points, made, _ = best(packing, hand, fields, laid)
        return points >= missing and made >= laid

    def worth(self) -> int:
        """Return the points, without the bonus for the first turn."""
        points, _, _ = self._best()
        return points + self._fixed()

    def yaku(self) -> tuple[PoukuYaku, ...]:
        """Return the best set, with the kept yaku last."""
        _, _, plan = self._best()
        chosen = yaku_of_plan(plan, held_code(self.hand), lying_code(self.fields))
        hand, fields = by_rank(self.hand), by_rank(self.fields)
        made = [
            tuple([(hand if held else fields)[rank][n] for rank, n, held in places])
            for places in chosen
        ]
        return tuple(self._shown(cards) for cards in (*made, *([self.kept] if self.kept else [])))

    def _shown(self, cards: Hand) -> PoukuYaku:
        name = name_of(cards) or ""
        return PoukuYaku(name, in_sequence(cards), self.values.of(name, cards))


def by_rank(cards: Hand) -> dict[int, list[Card]]:
    """Return the cards of each rank in canonical order."""
    groups: dict[int, list[Card]] = {}
    for card in in_order(cards):
        groups.setdefault(RANK[card], []).append(card)
    return groups


def kept_worth(values: Values, kept: Hand) -> int:
    """Return the points of a kept yaku; 0 without one."""
    return values.of(name_of(kept) or "", kept) if kept else 0


def owed(values: Values, fields: Hand, point_card: str) -> int:
    """Return the payment for a seat's reference fields, before doubling (U-6)."""
    ranks = [card[0] for card in fields]
    groups = sum([max_group_points(values, number) for number in map(ranks.count, set(ranks))])
    points = values.point * ranks.count(point_card[0])
    return groups + _straights(values, lying_code(fields)) + points


@lru_cache(_REMEMBERED)
def payment(
    values: Values, seats: int, teams: bool, fields: Hand, kept: Hand, point_card: str
) -> int:
    """Return a seat's payment when another one goes out; a team pays for its keep once.

    Args:
        values: the table of points.
        seats: the number of seats.
        teams: whether the game is played in teams.
        fields: the cards of the seat's reference fields.
        kept: the kept yaku of the seat's side.
        point_card: the point card.
    """
    points = sum(card[0] == point_card[0] for card in kept)
    for_kept = kept_worth(values, kept) + values.point * points
    if teams:
        return for_kept
    return 2 * owed(values, fields, point_card) + (2 if seats == 3 else 1) * for_kept


def _straights(values: Values, lying: int) -> int:
    """Return the maximum points of disjoint straights of field cards."""
    packing = packing_of(values, False)
    return max(score // POINT_UNIT for score, _ in packing.sets(lying, 0, False))


def max_group_points(values: Values, lying: int) -> int:
    """Return the maximum points of groups from a number of cards of one rank.

    Groups of the same name must not share a card. With four cards, a three and a pair of the fourth
    card and one of them do not contain each other. With three cards, the three contains all others.
    """
    if lying < 2:
        return 0
    if lying == 2:
        return values.pair
    if lying == 3:
        return max(values.pair, values.three)
    return max(2 * values.pair, values.pair + values.three, values.four)
