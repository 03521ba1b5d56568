"""Score going out and compute payments (docs/rules/pouku.md, U-4 and U-6)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from referee.games.pouku.actions import PoukuYaku
from referee.games.pouku.packing import (
    ENOUGH,
    HELD_CODE,
    LYING_CODE,
    PLACES,
    Chains,
    Packing,
    held_at,
    in_run,
    rank_at,
    runs_of,
    straight_of,
    with_low_aces,
    without_one_held,
)
from referee.games.pouku.yaku import (
    ACE,
    GROUPS,
    LOW_ACE,
    ONE,
    SHORTEST,
    Values,
    in_sequence,
    name_of,
)
from referee.games.shared.cards import RANK, Card, Hand, in_order
from referee.games.shared.fast_values import fast_value

# Reconstruction of the cards of each yaku in a packing.


Place = tuple[int, int, bool]
"""A card: its rank, its index among the cards of the rank, and whether it is a hand card."""
Cards = tuple[Place, ...]
Plan = tuple[int, tuple[int, int], Chains]
"""A set of yaku in three parts.

1. The code of the hand cards available to yaku with field cards.
2. The yaku of hand cards alone, as :attr:`PackingStart.alone`.
3. The choices of the packing.
"""


def drawn_up(plan: Plan, hand: int, fields: int) -> list[Cards]:
    """Return the yaku of a plan.

    Args:
        plan: the set of yaku.
        hand: the code of the hand.
        fields: the code of the reference fields.
    """
    _, alone, chains = plan
    return [*_alone(alone), *_Drawing(plan, hand, fields).yaku(chains)]


def _alone(alone: tuple[int, int]) -> Iterator[Cards]:
    """Yield the yaku of hand cards alone, if there is one."""
    top, size = alone
    if size:
        yield tuple((top, number, True) for number in range(size))
    elif top:
        yield tuple((rank_at(place), 0, True) for place in range(top - SHORTEST + 1, top + 1))


class _Drawing:
    """Replays the choices of a packing place by place, with actual cards."""

    def __init__(self, plan: Plan, hand: int, fields: int) -> None:
        self.others, (top, size), _ = plan
        self.hand, self.fields = hand, fields
        self.sealed = 0 if size else top
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
            if not in_run(runs, place) or place == self.sealed:
                self._close(self.open)
            elif held_at(self.hand, place):
                self._through(place)
            else:
                self._over(place, long, lows, new)
            for part in parts:
                self._group(rank_at(place), *part)
        self._close(self.open)
        return self.done

    def _close(self, straights: list[list[tuple[int, Place]]]) -> None:
        self.done += [tuple(card for _, card in cards) for cards in straights]
        self.open = [cards for cards in self.open if cards not in straights]

    def _through(self, place: int) -> None:
        if place == ACE:
            self._close([cards for cards in self.open if cards[0][0] == LOW_ACE])
        for cards in self.open:
            cards.append((place, (rank_at(place), 0, True)))

    def _over(self, place: int, long: int, lows: int, new: int) -> None:
        ended = []
        for cards in self.open:
            if len(cards) < SHORTEST:
                continue
            began_low = cards[0][0] == LOW_ACE
            left = lows if began_low else long
            if not left:
                ended.append(cards)
            elif began_low:
                lows -= 1
            else:
                long -= 1
        self._close(ended)
        begun = [self._behind(place) for _ in range(new)]
        self.open += begun
        for cards in self.open:
            cards.append((place, self._field_card(rank_at(place))))

    def _behind(self, place: int) -> list[tuple[int, Place]]:
        """Return the consecutive hand cards just below, with which a new straight begins."""
        first = place
        floor = self.sealed - 2 if self.sealed and self.sealed < place else LOW_ACE
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


_REMEMBERED = 1 << 11


@dataclass(frozen=True, slots=True)
class PackingStart:
    """Initial choice: at most one yaku of hand cards alone."""

    score: int
    hand: int
    """Code of the hand cards that other yaku may use."""
    alone: tuple[int, int]
    """(rank, size) of a group; (place of the top card, 0) of a straight; (0, 0) for none."""
    sealed: int
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
    """Return the possible yaku of hand cards alone, starting with none.

    Args:
        packing: the packing for the table of points.
        hand: the code of the hand.
    """
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
            score = ONE * values.group(size) + 1
            beginnings.append(PackingStart(score, others, (rank, size), 0, whole))
    if whole:
        score = ONE * values.straight + 1
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
        for score, chains in packing.sets(start.hand + fields, start.sealed, start.whole):
            points, made = divmod(score + start.score, ONE)
            value = (points + (bonus if made + laid >= ENOUGH else 0), made)
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
        points, made = divmod(score + start.score, ONE)
        if made + laid >= ENOUGH:
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
        drawn = drawn_up(plan, held_code(self.hand), lying_code(self.fields))
        hand, fields = by_rank(self.hand), by_rank(self.fields)
        made = [
            tuple([(hand if held else fields)[rank][n] for rank, n, held in places])
            for places in drawn
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
    groups = sum([dearest_groups(values, number) for number in map(ranks.count, set(ranks))])
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
    return max(score // ONE for score, _ in packing.sets(lying, 0, False))


def dearest_groups(values: Values, lying: int) -> int:
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
