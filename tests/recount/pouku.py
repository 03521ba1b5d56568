"""Recount Pouku from its rules page."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

from referee.games.shared.dealing import Seeded
from tests.recount.five_cards import PACK
from tests.recount.pouku_sets import Values, price, rank, tops, value, values_of, yaku
from tests.recount.recount_contract import GameResult, Plain, Recount, Word

TOO_MANY = 3000
"""Above this number, keeps are not enumerated."""


@dataclass
class Deal:
    seats: int
    teams: bool
    left: bool
    values: Values
    point: str
    hands: list[list[str]]
    fields: list[list[str]]
    stock: list[str]
    kept: list[list[str]] = field(default_factory=list)
    """The yaku that each seat keeps; in teams both seats of a team keep the same."""

    def of(self, name: str) -> int:
        return dict(self.values)[name]

    def reference(self, seat: int) -> list[str]:
        way = -1 if self.left else 1
        return [c for step in (1, 2) for c in self.fields[(seat + way * step) % self.seats]]

    def points(self, cards: Iterable[str]) -> int:
        return self.of("point") * sum(card[0] == self.point[0] for card in cards)

    def keep_worth(self, seat: int) -> int:
        """Return the points of a seat's kept yaku with its point cards."""
        kept = self.kept[seat]
        return value(map(rank, kept), self.values) + self.points(kept) if kept else 0

    def worth(self, seat: int) -> int | None:
        """Return the value of going out without the bonus of the first turn; None if it is not
        legal."""
        seen = self.hands[seat] + self.reference(seat)
        tops_by_number = tops(
            map(rank, self.hands[seat]), map(rank, self.reference(seat)), self.values
        )
        kept = int(bool(self.kept[seat]))
        worths = [
            top + (self.of("four_yaku") if number + kept >= 4 else 0)
            for number, top in enumerate(tops_by_number)
            if top is not None and number >= kept
        ]
        if not worths:
            return None
        worth = max(worths) + self.points(seen) + self.keep_worth(seat)
        return worth if worth >= (8 if self.teams else 5) else None

    def pays(self, seat: int) -> int:
        """Return the payment of a seat when another seat (in teams, the other team) goes out."""
        if self.teams:
            return self.keep_worth(seat)
        lying = self.reference(seat)
        whole = price(map(rank, lying), self.values) + self.points(lying)
        return 2 * whole + self.keep_worth(seat) * (2 if self.seats == 3 else 1)


def recount(luck: Seeded, seats: int, options: Mapping[str, Any]) -> Recount:
    """Play a match in which every seat deals twice."""
    first = luck.below("dealer", 0, seats)
    scores, points = [options["points"]] * seats, options["points"]
    for number in range(10 * seats if points else 2 * seats):
        deal = set_up(luck.shuffled("deck", number, PACK), seats, options)
        turn, turns = (first + number) % seats, 0
        while deal.stock:
            deal.hands[turn].append(deal.stock.pop(0))
            answers = yield {turn: Turn(deal, turn)}
            kind, values = answers[turn]
            if kind == "goOut":
                gained = end(deal, turn, turns < seats)
                scores = [score + more for score, more in zip(scores, gained, strict=True)]
                break
            discard(deal, turn, kind, values)
            turn, turns = (turn + 1) % seats, turns + 1
        if points and min(scores) <= 0:
            break
    return GameResult(scores)


def set_up(pack: Iterable[str], seats: int, options: Mapping[str, Any]) -> Deal:
    stock = list(pack)
    teams = options["teams"]
    numbers = {n: v for n, v in options.items() if n not in ("teams", "reference", "points")}
    point = stock.pop(0)
    hands = [[stock.pop(0) for _ in range(3 if teams else 2)] for _ in range(seats)]
    fields = [[stock.pop(0) for _ in range(2)] for _ in range(seats)]
    left = options["reference"] == "left"
    values = values_of(numbers)
    nothing: list[list[str]] = [[] for _ in range(seats)]
    return Deal(seats, teams, left, values, point, hands, fields, stock, nothing)


def discard(deal: Deal, seat: int, kind: str, values: Mapping[str, Any]) -> None:
    """Play a keep, if the action has one, and the discard."""
    keep = values.get("keep", [])
    if keep:
        deal.fields = [[c for c in lying if c not in keep] for lying in deal.fields]
        deal.hands[seat] = [c for c in deal.hands[seat] if c not in keep]
        deal.kept[seat] = list(keep)
        if deal.teams:
            deal.kept[(seat + 2) % 4] = list(keep)
    deal.hands[seat].remove(values["card"])
    deal.fields[(seat + 2) % 4 if kind == "give" else seat].append(values["card"])


def end(deal: Deal, winner: int, first_turn: bool) -> list[int]:
    """Return what each seat gains when a seat goes out."""
    worth = deal.worth(winner)
    assert worth is not None
    worth += deal.of("first_turn") if first_turn else 0
    if deal.teams:
        mine, theirs = worth, -deal.pays((winner + 1) % 4)
        return [mine if seat % 2 == winner % 2 else theirs for seat in range(4)]
    gain = 2 * worth if worth >= 8 else worth
    return [gain if seat == winner else -deal.pays(seat) for seat in range(deal.seats)]


@dataclass(frozen=True)
class Turn:
    deal: Deal
    seat: int

    def allows(self, word: Word) -> bool:
        kind, values = word
        if kind == "goOut":
            return self.deal.worth(self.seat) is not None
        keep = values.get("keep", [])
        if kind == "give" and not self.deal.teams:
            return False
        if keep and not self.keeps(keep):
            return False
        return values.get("card") in self.deal.hands[self.seat] and values["card"] not in keep

    def keeps(self, keep: list[str]) -> bool:
        deal = self.deal
        mine = [card for card in keep if card in deal.hands[self.seat]]
        owners = [s for s, lying in enumerate(deal.fields) for c in lying if c in keep]
        return (
            not deal.kept[self.seat]
            and len(set(keep)) == len(keep)
            and len(mine) == 1
            and len(owners) == len(keep) - 1
            and 1 <= len(set(owners)) <= 2
            and self.seat not in owners
            and yaku(map(rank, keep)) is not None
        )

    def every(self) -> set[Plain] | None:
        """Return the normal forms of all legal actions; None if there are too many."""
        keeps: list[list[str]] = [[]]
        for keep in self.keeps_to_try():
            keeps.append(keep)
            if len(keeps) > TOO_MANY:
                return None
        words: list[Word] = [
            (kind, {"card": card, "keep": keep})
            for kind, keep, card in product(("discard", "give"), keeps, self.deal.hands[self.seat])
        ]
        words.append(("goOut", {}))
        return {self.plain(word) for word in words if self.allows(word)}

    def keeps_to_try(self) -> Iterator[list[str]]:
        """Yield candidates for a keep: a card of the hand with field cards of suitable ranks."""
        others = [s for s in range(self.deal.seats) if s != self.seat]
        lying = [card for seat in others for card in self.deal.fields[seat]]
        for mine in self.deal.hands[self.seat]:
            alike = [card for card in lying if card[0] == mine[0]]
            for size in (1, 2, 3):
                yield from ([mine, *more] for more in combinations(alike, size))
            for low, high in combinations(range(1, 15), 2):
                run = [1 if at == 14 else at for at in range(low, high + 1)]
                if 4 <= len(run) <= 13 and rank(mine) in run:
                    rest = [[c for c in lying if rank(c) == r] for r in run if r != rank(mine)]
                    yield from ([mine, *more] for more in product(*rest))

    def plain(self, word: Word) -> Plain:
        """Return the normal form of a turn, with the kept cards in order."""
        kind, values = word
        return kind, values.get("card"), tuple(sorted(values.get("keep", [])))
