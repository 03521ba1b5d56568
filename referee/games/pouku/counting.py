"""Going out and paying: what the referee counts (docs/rules/pouku.md, U-4 and U-6)."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from referee.cards import RANK, in_order
from referee.games.pouku.drawing import Plan, drawn_up
from referee.games.pouku.groups import ONE
from referee.games.pouku.packing import ENOUGH, Chain, Counts, Packing, runs_of, straight_of
from referee.games.pouku.words import Hand, PoukuYaku
from referee.games.pouku.yaku import ACE, GROUPS, Values, in_sequence, name_of

_REMEMBERED = 1 << 11


@dataclass(frozen=True, slots=True)
class Start:
    """What a set of yaku begins with: the one of hand cards alone, if there is one."""

    score: int
    hand: Counts
    """The cards that the others may use of each rank."""
    alone: tuple[int, int]
    """Rank and size of a group; place of the top card and 0 for a straight; (0, 0) for none."""


def counts(cards: Iterable[str]) -> Counts:
    """How many cards of each rank there are."""
    found = [0] * (ACE + 1)
    for card in cards:
        found[RANK[card]] += 1  # type: ignore[index]
    return tuple(found)


@lru_cache(64)
def packing_of(values: Values, grouping: bool) -> Packing:
    """The packing by a table of points."""
    return Packing(values, grouping)


@lru_cache(_REMEMBERED)
def starts(packing: Packing, hand: Counts) -> tuple[Start, ...]:
    """All that can be made of hand cards alone; nothing first."""
    values = packing.values
    found = [Start(0, hand, (0, 0))]
    for rank, held in enumerate(hand):
        if held > 1:
            size = max((size for size in GROUPS if size <= held), key=values.group)
            others = (*hand[:rank], held - 1, *hand[rank + 1 :])  # else they might contain it
            found.append(Start(ONE * values.group(size) + 1, others, (rank, size)))
    if top := straight_of(hand):
        found.append(Start(ONE * values.straight + 1, hand, (top, 0)))
    return tuple(found)


@lru_cache(_REMEMBERED)
def best(packing: Packing, hand: Counts, fields: Counts, laid: int) -> tuple[int, int, Plan]:
    """The points of the best set of yaku, the bonus among them; how many it has; the set.

    Args:
        packing: by which table of points.
        hand: the hand.
        fields: the reference fields.
        laid: how many kept yaku count towards the bonus.
    """
    bonus = packing.values.four_yaku
    whole = straight_of(hand) > 0
    found: tuple[tuple[int, int], Start, Chain] | None = None
    for start in starts(packing, hand):
        top, size = start.alone
        for layer in packing.layers(start.hand, fields, 0 if size else top, whole):
            for score, chain in layer.values():
                points, made = divmod(score + start.score, ONE)
                value = (points + (bonus if made + laid >= ENOUGH else 0), made)
                if found is None or found[0] < value:
                    found = value, start, chain
    assert found is not None
    (worth, made), start, chain = found
    return worth, made, (start.hand, start.alone, chain)


@lru_cache(_REMEMBERED)
def reaches(packing: Packing, hand: Counts, fields: Counts, laid: int, needed: int) -> bool:
    """Whether the best set is worth so many points, and has a yaku if others are laid aside."""
    if not packing.several:
        most = 0
        for start in starts(packing, hand):
            score = start.score
            for rank, lying in enumerate(fields):
                if lying:
                    score += packing.ways(start.hand[rank], lying, False)[0][1]
            most = max(most, score)
        points, made = divmod(most, ONE)
        if made + laid >= ENOUGH:
            points += packing.values.four_yaku
        if points >= needed and (made or not laid):
            return True
        if not any(runs_of(hand, fields, low) for low in {0, min(1, fields[ACE])}):
            return False
    points, made, _ = best(packing, hand, fields, laid)
    return points >= needed and (made > 0 or not laid)


@dataclass(frozen=True, slots=True)
class Offer:
    """What a seat can go out with."""

    values: Values
    hand: Hand
    fields: Hand
    """The cards of the reference fields."""
    kept: Hand
    """The own kept yaku."""
    point_card: str

    def _fixed(self) -> int:
        """What counts whatever the set is: the point cards, the kept yaku."""
        rank = self.point_card[0]
        points = [c[0] for c in self.hand + self.fields + self.kept].count(rank)
        return points * self.values.point + kept_worth(self.values, self.kept)

    def reaches(self, needed: int) -> bool:
        """Whether it is worth so much that the seat may go out."""
        packing = packing_of(self.values, True)
        missing = needed - self._fixed()
        if missing <= 0 and not self.kept:
            return True
        laid = 1 if self.kept else 0
        return reaches(packing, counts(self.hand), counts(self.fields), laid, max(0, missing))

    def worth(self) -> int:
        """What it is worth, without the bonus for the first turn."""
        packing = packing_of(self.values, True)
        laid = 1 if self.kept else 0
        points, _, _ = best(packing, counts(self.hand), counts(self.fields), laid)
        return points + self._fixed()

    def yaku(self) -> tuple[PoukuYaku, ...]:
        """The best set, the kept yaku last."""
        packing = packing_of(self.values, True)
        laid = 1 if self.kept else 0
        hand, fields = counts(self.hand), counts(self.fields)
        _, _, plan = best(packing, hand, fields, laid)
        drawn = drawn_up(plan, hand, fields)
        made = [cards_of(places, self.hand, self.fields) for places in drawn]
        return tuple(self._shown(cards) for cards in (*made, *([self.kept] if laid else [])))

    def _shown(self, cards: Hand) -> PoukuYaku:
        name = name_of(cards) or ""
        return PoukuYaku(name, in_sequence(cards), self.values.of(name, cards))


def cards_of(places: Iterable[tuple[int, int, bool]], hand: Hand, fields: Hand) -> Hand:
    """The cards meant by (rank, number among those of the rank, whether of the hand)."""
    return tuple(_of_rank(hand if held else fields, rank)[n] for rank, n, held in places)


def _of_rank(cards: Hand, rank: int) -> Hand:
    return in_order(c for c in cards if RANK[c] == rank)


def kept_worth(values: Values, kept: Hand) -> int:
    """What a kept yaku is worth; 0 if there is none."""
    return values.of(name_of(kept) or "", kept) if kept else 0


def owed(values: Values, fields: Hand, point_card: str) -> int:
    """What a seat pays for its reference fields, before doubling (U-6)."""
    lying = counts(fields)
    groups = sum(dearest_groups(values, number) for number in lying)
    straights = _straights(packing_of(values, False), lying) if groups or any(lying) else 0
    return groups + straights + values.point * sum(c[0] == point_card[0] for c in fields)


@lru_cache(_REMEMBERED)
def _straights(packing: Packing, lying: Counts) -> int:
    """The points of the dearest straights of which no two share a card."""
    nobody = (0,) * (ACE + 1)
    return max(
        score // ONE
        for layer in packing.layers(nobody, lying, 0, False)
        for score, _ in layer.values()
    )


def dearest_groups(values: Values, lying: int) -> int:
    """The dearest groups of so many cards of one rank, no two of one name sharing a card.

    Of four cards, a three and the pair of the fourth card with one of them are not contained in
    each other; of three cards everything else is contained in the three.
    """
    if lying < 2:
        return 0
    if lying == 2:
        return values.pair
    if lying == 3:
        return max(values.pair, values.three)
    return max(2 * values.pair, values.pair + values.three, values.four)
