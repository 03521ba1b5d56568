"""Score going out and compute payments (docs/rules/pouku.md, U-4 and U-6)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from referee.games.pouku.actions import PoukuYaku
from referee.games.pouku.packing import (
    ENOUGH,
    PLACES,
    Chain,
    Counts,
    Packing,
    rank_at,
    runs_of,
    straight_of,
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
from referee.games.shared.cards import RANK, Hand, in_order
from referee.games.shared.fast_values import fast_value

# Reconstruction of the cards of each yaku in a packing.


Place = tuple[int, int, bool]
"""A card: its rank, its index among the cards of the rank, and whether it is a hand card."""
Cards = tuple[Place, ...]
Plan = tuple[Counts, tuple[int, int], Chain]
"""A set of yaku in three parts.

1. The hand cards available to yaku with field cards.
2. The yaku of hand cards alone, as :attr:`PackingStart.alone`.
3. The choices of the packing.
"""


def drawn_up(plan: Plan, hand: Counts, fields: Counts) -> list[Cards]:
    """Return the yaku of a plan."""
    _, alone, chain = plan
    return [*_alone(alone), *_Drawing(plan, hand, fields).yaku(chain)]


def _alone(alone: tuple[int, int]) -> Iterator[Cards]:
    """Yield the yaku of hand cards alone, if there is one."""
    top, size = alone
    if size:
        yield tuple((top, number, True) for number in range(size))
    elif top:
        yield tuple((rank_at(place), 0, True) for place in range(top - SHORTEST + 1, top + 1))


class _Drawing:
    """Replays the choices of a packing place by place, with actual cards."""

    def __init__(self, plan: Plan, hand: Counts, fields: Counts) -> None:
        self.others, (top, size), _ = plan
        self.hand, self.fields = hand, fields
        self.sealed = 0 if size else top
        self.taken = [0] * (ACE + 1)
        self.open: list[list[tuple[int, Place]]] = []
        self.done: list[Cards] = []

    def yaku(self, chain: Chain) -> list[Cards]:
        """Return the chosen yaku.

        1. Unroll the chain into the choices by place.
        2. At each place, close, extend or begin straights as the packing did.
        3. Form the chosen groups from the remaining field cards of the rank.
        """
        chosen: dict[int, tuple[int, int, int, tuple[tuple[int, int], ...]]] = {}
        while chain is not None:
            chain, place, long, lows, new, parts = chain  # type: ignore[assignment]
            chosen[place] = (long, lows, new, parts)  # type: ignore[index,assignment]
        low = chosen[LOW_ACE][2] if LOW_ACE in chosen else 0
        runs = runs_of(self.hand, self.fields, low)
        for place in PLACES:
            long, lows, new, parts = chosen.get(place, (0, 0, 0, ()))
            if not runs >> place & 1 or place == self.sealed:
                self._close(self.open)
            elif self.hand[rank_at(place)]:
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
        while first > floor and self.hand[rank_at(first - 1)]:
            first -= 1
        return [(at, (rank_at(at), 0, True)) for at in range(first, place)]

    def _field_card(self, rank: int) -> Place:
        self.taken[rank] += 1
        return rank, self.taken[rank] - 1, False

    def _group(self, rank: int, used: int, size: int) -> None:
        """Form a group; size 0 means the hand's straight with this card instead of the hand's."""
        cards = [self._field_card(rank) for _ in range(used)]
        if size:
            spared = self.hand[rank] - self.others[rank]  # a card of the yaku without field cards
            cards += [(rank, spared + number, True) for number in range(size - used)]
        else:
            cards += [(r, 0, True) for r, held in enumerate(self.hand) if held and r != rank]
        self.done.append(tuple(cards))


_REMEMBERED = 1 << 11


@dataclass(frozen=True, slots=True)
class PackingStart:
    """Initial choice: at most one yaku of hand cards alone."""

    score: int
    hand: Counts
    """Number of hand cards of each rank that other yaku may use."""
    alone: tuple[int, int]
    """(rank, size) of a group; (place of the top card, 0) of a straight; (0, 0) for none."""


def counts(cards: Iterable[str]) -> Counts:
    """Count the cards of each rank."""
    numbers = [0] * (ACE + 1)
    for card in cards:
        numbers[RANK[card]] += 1  # type: ignore[index]
    return tuple(numbers)


@lru_cache(64)
def packing_of(values: Values, grouping: bool) -> Packing:
    """Return the cached packing for a table of points."""
    return Packing(values, grouping)


@lru_cache(_REMEMBERED)
def starts(packing: Packing, hand: Counts) -> tuple[PackingStart, ...]:
    """Return the possible yaku of hand cards alone, starting with none."""
    values = packing.values
    beginnings = [PackingStart(0, hand, (0, 0))]
    for rank, held in enumerate(hand):
        if held > 1:
            size = max((size for size in GROUPS if size <= held), key=values.group)
            # otherwise another yaku could contain this one
            others = (*hand[:rank], held - 1, *hand[rank + 1 :])
            beginnings.append(PackingStart(ONE * values.group(size) + 1, others, (rank, size)))
    if top := straight_of(hand):
        beginnings.append(PackingStart(ONE * values.straight + 1, hand, (top, 0)))
    return tuple(beginnings)


@lru_cache(_REMEMBERED)
def best(packing: Packing, hand: Counts, fields: Counts, laid: int) -> tuple[int, int, Plan]:
    """Find the best set of yaku.

    Args:
        packing: the packing for the table of points.
        hand: the cards of the hand.
        fields: the cards of the reference fields.
        laid: number of kept yaku that count towards the bonus.

    Returns:
        Its points with the bonus, its number of yaku, and the set.
    """
    bonus = packing.values.four_yaku
    whole = straight_of(hand) > 0
    highest: tuple[tuple[int, int], PackingStart, Chain] | None = None
    for start in starts(packing, hand):
        top, size = start.alone
        for layer in packing.layers(start.hand, fields, 0 if size else top, whole):
            for score, chain in layer.values():
                points, made = divmod(score + start.score, ONE)
                value = (points + (bonus if made + laid >= ENOUGH else 0), made)
                if highest is None or highest[0] < value:
                    highest = value, start, chain
    assert highest is not None
    (worth, made), start, chain = highest
    return worth, made, (start.hand, start.alone, chain)


@lru_cache(_REMEMBERED)
def reaches(packing: Packing, hand: Counts, fields: Counts, laid: int, needed: int) -> bool:
    """Return whether the best set is worth ``needed`` points.

    With kept yaku, it must also contain at least one further yaku. A lower bound from groups alone
    avoids the search in most cases.
    """
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

    def _fixed(self) -> int:
        """Return the points that do not depend on the set: point cards and kept yaku."""
        rank = self.point_card[0]
        points = [c[0] for c in self.hand + self.fields + self.kept].count(rank)
        return points * self.values.point + kept_worth(self.values, self.kept)

    def reaches(self, needed: int) -> bool:
        """Return whether the points are sufficient to go out."""
        packing = packing_of(self.values, True)
        missing = needed - self._fixed()
        if missing <= 0 and not self.kept:
            return True
        laid = 1 if self.kept else 0
        return reaches(packing, counts(self.hand), counts(self.fields), laid, max(0, missing))

    def worth(self) -> int:
        """Return the points, without the bonus for the first turn."""
        packing = packing_of(self.values, True)
        laid = 1 if self.kept else 0
        points, _, _ = best(packing, counts(self.hand), counts(self.fields), laid)
        return points + self._fixed()

    def yaku(self) -> tuple[PoukuYaku, ...]:
        """Return the best set, with the kept yaku last."""
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
    """Return the cards at (rank, index among the cards of the rank, whether a hand card)."""
    return tuple(_of_rank(hand if held else fields, rank)[n] for rank, n, held in places)


def _of_rank(cards: Hand, rank: int) -> Hand:
    return in_order(c for c in cards if RANK[c] == rank)


def kept_worth(values: Values, kept: Hand) -> int:
    """Return the points of a kept yaku; 0 without one."""
    return values.of(name_of(kept) or "", kept) if kept else 0


def owed(values: Values, fields: Hand, point_card: str) -> int:
    """Return the payment for a seat's reference fields, before doubling (U-6)."""
    lying = counts(fields)
    groups = sum(dearest_groups(values, number) for number in lying)
    straights = _straights(packing_of(values, False), lying) if groups or any(lying) else 0
    return groups + straights + values.point * sum(c[0] == point_card[0] for c in fields)


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


def _straights(packing: Packing, lying: Counts) -> int:
    """Return the maximum points of disjoint straights."""
    nobody = (0,) * (ACE + 1)
    return max(
        score // ONE
        for layer in packing.layers(nobody, lying, 0, False)
        for score, _ in layer.values()
    )


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
