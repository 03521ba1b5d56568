"""Pouku: random games, counted again from their actions by exhaustive search."""

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from referee.games.pouku import Pouku
from referee.games.pouku.actions import GoOut
from referee.games.shared.cards import DECK
from referee.games.shared.dealing import Seeded
from tests.examples import examples
from tests.referee.pouku_by_hand import best_worth, dearest, every_yaku, worth

FEW, MANY = examples(8, 2), 40
"""The numbers of games in the quick suite and in the long one."""
TOO_MANY = 20
"""With more yaku than this, not every set is tried."""
FORMS: list[tuple[int, dict[str, Any]]] = [
    (3, {}),
    (4, {}),
    (4, {"reference": "left"}),
    (4, {"teams": True}),
    (4, {"teams": True, "reference": "left"}),
]
POINTS = {"pair": 1, "three": 3, "straight": 2, "four": 7, "point": 2, "four_yaku": 1}


@dataclass
class Deal:
    """A deal reconstructed from the pack and the actions."""

    seats: int
    options: dict[str, Any]
    pack: list[str]
    dealer: int
    hands: list[set[str]] = field(default_factory=list)
    fields: list[set[str]] = field(default_factory=list)
    kept: list[set[str]] = field(default_factory=list)
    turns: int = 0

    def __post_init__(self) -> None:
        pile = iter(self.pack)
        self.point_card = next(pile)
        size = 3 if self.options.get("teams") else 2
        self.hands = [{next(pile) for _ in range(size)} for _ in range(self.seats)]
        self.fields = [{next(pile), next(pile)} for _ in range(self.seats)]
        self.kept = [set() for _ in range(self.seats)]
        self.stock = list(pile)

    @property
    def turn(self) -> int:
        """Return the seat to act."""
        return (self.dealer + self.turns) % self.seats

    def draw(self) -> None:
        """Begin a turn with a draw."""
        self.hands[self.turn].add(self.stock.pop(0))

    def act(self, action: Any) -> None:
        """End a turn with a discard."""
        seat = self.turn
        to = seat if type(action).__name__ == "Discard" else (seat + 2) % 4
        if action.keep:
            self.kept[seat] = set(action.keep)
            for cards in (*self.hands, *self.fields):
                cards -= self.kept[seat]
        self.hands[seat].remove(action.card)
        self.fields[to].add(action.card)
        self.turns += 1

    def reference(self, seat: int) -> list[str]:
        """Return the reference cards of a seat."""
        steps = (-1, -2) if self.options.get("reference") == "left" else (1, 2)
        return sorted(set().union(*(self.fields[(seat + step) % self.seats] for step in steps)))

    def laid(self, seat: int) -> list[str]:
        """Return the kept yaku that counts for a seat."""
        mate = (seat + 2) % 4 if self.options.get("teams") else seat
        return sorted(self.kept[seat] | self.kept[mate])

    def value(self, seat: int) -> int | None:
        """Return the points for going out without the bonus; None: not legal, -1: not counted."""
        pool = [*self.hands[seat], *self.reference(seat)]
        if len(every_yaku(pool)) > TOO_MANY:
            return -1
        best = best_worth(
            sorted(self.hands[seat]), self.reference(seat), self.laid(seat), self.point_card, POINTS
        )
        return (
            best if best is not None and best >= (8 if self.options.get("teams") else 5) else None
        )

    def after_going_out(self) -> list[int] | None:
        """Return the score of every seat; None if the search is too large."""
        winner, teams = self.turn, bool(self.options.get("teams"))
        best = self.value(winner)
        fields = [self.reference(seat) for seat in range(self.seats)]
        if best == -1 or any(len(every_yaku(lying)) > TOO_MANY for lying in fields):
            return None
        assert best is not None
        won = best + (1 if self.turns < self.seats else 0)
        got = []
        for seat in range(self.seats):
            laid = self.laid(seat)
            points = 2 * sum(c[0] == self.point_card[0] for c in laid)
            aside = worth(frozenset(laid), POINTS) + points if laid else 0
            if seat == winner or (teams and seat == (winner + 2) % 4):
                got.append(won if teams or won < 8 else 2 * won)
            elif teams:
                got.append(-aside)
            else:
                times = 2 if self.seats == 3 else 1
                got.append(-2 * dearest(fields[seat], self.point_card, POINTS) - times * aside)
        return got


@pytest.mark.parametrize("games", [FEW, pytest.param(MANY, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("seats", "options"),
    [
        pytest.param(*form, marks=() if form in (FORMS[0], FORMS[-1]) else pytest.mark.long)
        for form in FORMS
    ],
    ids=str,
)
def test_games_match_their_recount(seats: int, options: dict[str, Any], games: int) -> None:
    """U-1.2, U-2, U-3, U-4, U-5, U-6, U-7, U-8.1: from the packs and the actions alone."""
    chance = random.Random(f"{seats} {options}")
    counted = 0
    for _ in range(games):
        luck = Seeded(chance.randbytes(32))
        state: Any = Pouku().start(luck, seats, options)
        totals = [0] * seats
        for number in range(2 * seats):
            dealer = (luck.below("dealer", 0, seats) + number) % seats
            deal = Deal(seats, options, list(luck.shuffled("deck", number, DECK)), dealer)
            state = played(state, deal, chance)
            assert len(state.deals) == number + 1
            gave = state.deals[-1]
            if not gave.void:
                again = deal.after_going_out()
                counted += again is not None
                assert again is None or tuple(again) == gave.points
                assert gave.winner == deal.turn
            else:
                assert (deal.stock, gave.points) == ([], (0,) * seats)
            totals = [a + b for a, b in zip(totals, gave.points, strict=True)]
            assert state.totals == tuple(totals)
        assert state.actors == ()
    assert counted > games * seats // 2


def played(state: Any, deal: Deal, chance: random.Random) -> Any:
    """Play the deal to its end at random, and reconstruct it at every step."""
    number = len(state.deals)
    while len(state.deals) == number:
        deal.draw()
        assert state.turn == deal.turn
        assert list(map(set, state.hands)) == deal.hands
        assert list(map(set, state.fields)) == deal.fields
        assert list(map(set, state.kept)) == deal.kept
        assert list(state.stock) == deal.stock
        everything = [deal.point_card, *deal.stock]
        everything += [c for part in (deal.hands, deal.fields, deal.kept) for s in part for c in s]
        assert sorted(everything) == sorted(DECK)
        listed = list(state.legal(state.turn))
        value = deal.value(deal.turn)
        assert value == -1 or (listed[-1] == GoOut()) == (value is not None)
        action = chance.choice(listed)
        state = state.play({state.turn: action})
        if action == GoOut():
            return state
        deal.act(action)
    return state
