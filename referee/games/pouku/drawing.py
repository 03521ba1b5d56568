"""A packing drawn up: which cards each yaku of it has."""

from collections.abc import Iterator

from referee.games.pouku.packing import PLACES, Chain, Counts, rank_at, runs_of
from referee.games.pouku.yaku import ACE, LOW_ACE, SHORTEST

Place = tuple[int, int, bool]
"""A card: its rank, its number among those of the rank, whether it is of the hand."""
Cards = tuple[Place, ...]
Plan = tuple[Counts, tuple[int, int], Chain]
"""What the yaku with field cards may use of the hand; the one without; what was chosen."""


def drawn_up(plan: Plan, hand: Counts, fields: Counts) -> list[Cards]:
    """The yaku of a plan."""
    _, alone, chain = plan
    return [*_alone(alone), *_Drawing(plan, hand, fields).yaku(chain)]


def _alone(alone: tuple[int, int]) -> Iterator[Cards]:
    """The yaku of hand cards alone."""
    top, size = alone
    if size:
        yield tuple((top, number, True) for number in range(size))
    elif top:
        yield tuple((rank_at(place), 0, True) for place in range(top - SHORTEST + 1, top + 1))


class _Drawing:
    """Goes up the places as the packing did, with the cards in hand."""

    def __init__(self, plan: Plan, hand: Counts, fields: Counts) -> None:
        self.others, (top, size), _ = plan
        self.hand, self.fields = hand, fields
        self.sealed = 0 if size else top
        self.taken = [0] * (ACE + 1)
        self.open: list[list[tuple[int, Place]]] = []
        self.done: list[Cards] = []

    def yaku(self, chain: Chain) -> list[Cards]:
        """The yaku that were chosen."""
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
        """The cards of the hand just below, with which a new straight begins."""
        first = place
        floor = self.sealed - 2 if self.sealed and self.sealed < place else LOW_ACE
        while first > floor and self.hand[rank_at(first - 1)]:
            first -= 1
        return [(at, (rank_at(at), 0, True)) for at in range(first, place)]

    def _field_card(self, rank: int) -> Place:
        self.taken[rank] += 1
        return rank, self.taken[rank] - 1, False

    def _group(self, rank: int, used: int, size: int) -> None:
        """A group; or, if its size is 0, the hand's straight with this card for the hand's."""
        cards = [self._field_card(rank) for _ in range(used)]
        if size:
            spared = self.hand[rank] - self.others[rank]  # a card of the one without field cards
            cards += [(rank, spared + number, True) for number in range(size - used)]
        else:
            cards += [(r, 0, True) for r, held in enumerate(self.hand) if held and r != rank]
        self.done.append(tuple(cards))
