"""Games with deliberate leaks, which the suite must detect."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, cast

from referee.games.contract import Action, Game, Legal, Options, State, View
from referee.games.poke import Poke
from referee.games.poke.legal import can_beat
from referee.games.saint_poker import SaintPoker
from referee.games.saint_poker.actions import SaintPokerCards
from referee.games.shared.cards import DECK, RANK, Card
from referee.games.shared.dealing import Chance
from referee.games.shared.poker import best_hand

Look = Callable[[Any, int, Any], Any]
"""Returns a leaking view or leaking legal actions for a state, a seat and the correct ones."""
Show = Callable[[Any, Any], Any]
"""Returns a leaking spectator's view for a state and the correct view."""


@dataclass(frozen=True)
class Leak:
    """A deliberate leak in a game's views or legal actions."""

    game: Game
    name: str
    view: Look | None = None
    legal: Look | None = None
    public: Show | None = None

    def __str__(self) -> str:
        return f"{self.game.id}-{self.name.replace(' ', '-')}"

    def leaking(self) -> Game:
        leak = self

        class Leaking(type(self.game)):  # type: ignore[misc]
            def _start(self, luck: Chance, seats: int, options: Options) -> State:
                return leaking_state(super()._start(luck, seats, options), leak)

        return cast(Game, Leaking())


def leaking_state(state: State, leak: Leak) -> State:
    class Leaking(type(state)):  # type: ignore[misc]
        __slots__ = ()

        def view(self, seat: int) -> View:
            right: View = super().view(seat)
            return leak.view(self, seat, right) if leak.view else right

        def public(self) -> View:
            right: View = super().public()
            return leak.public(self, right) if leak.public else right

        def legal(self, seat: int) -> Legal:
            right: Legal = super().legal(seat)
            leaked: Legal = leak.legal(self, seat, right) if leak.legal else right
            return leaked

    values = {field.name: getattr(state, field.name) for field in fields(cast(Any, state))}
    return cast(State, Leaking(**values))


@dataclass(frozen=True)
class Reordered(Legal):
    right: Legal
    reverse: bool

    def __contains__(self, action: object) -> bool:
        return action in self.right

    def __iter__(self) -> Iterator[Action]:
        listed = list(self.right)
        return iter(listed[::-1] if self.reverse else listed)


def high(cards: tuple[Card, ...]) -> int:
    """Return the rank of the highest card; 0 without cards."""
    return max((RANK[c] for c in cards), default=0)


def poke_leaks() -> Iterator[Leak]:
    def leak(name: str, view: Look | None = None, legal: Look | None = None) -> Leak:
        return Leak(Poke(), name, view, legal)

    yield leak(
        "the other's highest card in the legs",
        lambda s, seat, v: replace(v, legs=(v.legs[0], high(s.hands[1 - seat]))),
    )
    yield leak(
        "the top of the stock in the number of the deal",
        lambda s, seat, v: replace(v, deal=RANK[s.stock[0]]),
    )
    yield leak(
        "the other's discards among one's own",
        lambda s, seat, v: replace(v, discards=v.discards + s.discards[1 - seat]),
    )
    yield leak(
        "how good the other's hand is after a draw",
        lambda s, seat, v: replace(
            v, drawn=tuple(replace(d, cards=d.cards + good(s.hands[1 - seat])) for d in v.drawn)
        ),
    )
    yield leak(
        "whether the lead can be beaten",
        lambda s, seat, v: replace(v, must_beat=can_be_beaten(s, seat)) if v.phase == "lead" else v,
    )
    yield leak(
        "the seat's own hand in an order that reveals the next card",
        lambda s, seat, v: replace(v, hand=v.hand[:: 1 if RANK[s.stock[0]] > 8 else -1]),
    )
    yield leak(
        "the first card of the next deal",
        lambda s, seat, v: replace(
            v, deal=RANK[s.luck.shuffled("deck", len(s.deals) + 1, DECK)[0]]
        ),
    )
    yield leak(
        "legal actions in an order that reveals the other's hand",
        legal=lambda s, seat, right: Reordered(right, s.hands[1 - seat][:1] > s.hands[seat][:1]),
    )
    yield leak(
        "leads listed only if they cannot be beaten",
        legal=lambda s, seat, right: UnbeatableLeads(right, s.hands[1 - seat]),
    )


def good(hand: tuple[Any, ...]) -> int:
    """Return 1 if a hand of five cards is a pair or better, otherwise 0."""
    return int(len(hand) == 5 and best_hand(hand).category > 0)


def can_be_beaten(state: Any, seat: int) -> bool:
    return can_beat(state.hands[1 - seat], state.hands[seat][:1])


@dataclass(frozen=True)
class UnbeatableLeads(Legal):
    """The leads that the other seat cannot beat, if there are any."""

    right: Legal
    other: tuple[Any, ...]

    def __contains__(self, action: object) -> bool:
        return action in self.right

    def __iter__(self) -> Iterator[Action]:
        listed = list(self.right)
        leads = [a for a in listed if hasattr(a, "cards") and not can_beat(self.other, a.cards)]
        return iter(leads or listed)


def saint_poker_leaks() -> Iterator[Leak]:
    def leak(name: str, view: Look | None = None, legal: Look | None = None) -> Leak:
        return Leak(SaintPoker(), name, view, legal)

    def next_seat(state: Any, seat: int) -> int:
        return (seat + 1) % int(state.seats)

    def secret(state: Any, seat: int) -> tuple[Card, ...]:
        other = next_seat(state, seat)
        return tuple(c for c in state.hands[other] if c not in state.known[other])

    yield leak(
        "the rank of a hidden card in the sizes of the hands",
        lambda s, seat, v: replace(v, hand_sizes=(*v.hand_sizes[:-1], high(secret(s, seat)))),
    )
    yield leak(
        "the next card in the future river",
        lambda s, seat, v: replace(v, future=v.future + s.stock[:1]),
    )
    yield leak(
        "a hidden card among those that are known",
        lambda s, seat, v: replace(v, known=(*v.known[:-1], SaintPokerCards(secret(s, seat)[:1]))),
    )
    yield leak(
        "known cards in an order that reveals the others",
        lambda s, seat, v: replace(
            v,
            known=tuple(
                SaintPokerCards(k.cards[:: 1 if high(secret(s, seat)) > 11 else -1])
                for k in v.known
            ),
        ),
    )
    yield leak(
        "a known card only while a higher one is hidden beside it",
        lambda s, seat, v: replace(
            v,
            known=tuple(
                SaintPokerCards(tuple(c for c in k.cards if RANK[c] < high(secret(s, seat))))
                for k in v.known
            ),
        ),
    )
    yield leak(
        "who will win the ties of this round",
        lambda s, seat, v: (
            v if v.order else replace(v, order=s.luck.shuffled("ties", s.round, range(s.seats)))
        ),
    )
    yield leak(
        "the river in an order that reveals the stock",
        lambda s, seat, v: replace(v, river=v.river[:: 1 if s.stock[-1] > s.stock[0] else -1]),
    )
    yield leak(
        "legal actions in an order that reveals a hidden card",
        legal=lambda s, seat, right: Reordered(right, high(secret(s, seat)) > 12),
    )


LEAKS = (*poke_leaks(), *saint_poker_leaks())
