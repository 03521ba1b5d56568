"""Games with deliberate leaks, which the suite must detect."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, cast

from referee.games.contract import Action, Game, Legal, Options, State, View
from referee.games.game_packages import BUILT_IN
from referee.games.registry import find_game
from referee.games.shared.cards import Card
from referee.games.shared.dealing import Chance

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


def next_card(state: Any, seat: int) -> tuple[Card, ...]:
    """Return the first card in the hand of the next seat, if it has one."""
    return tuple(state.hands[(seat + 1) % len(state.hands)][:1])


def reveals(state: Any, seat: int) -> bool:
    return next_card(state, seat) > ("8",)


def leaks_of(game: Game) -> Iterator[Leak]:
    """Yield leaks of the next seat's hand: a card, an order in the view, an order of actions."""
    yield Leak(
        game,
        "a card of the next hand",
        lambda s, seat, v: replace(v, hand=v.hand + next_card(s, seat)),
    )
    yield Leak(
        game,
        "the order of the hand",
        lambda s, seat, v: replace(v, hand=v.hand[:: -1 if reveals(s, seat) else 1]),
    )
    yield Leak(
        game,
        "the order of the actions",
        legal=lambda s, seat, right: Reordered(right, reveals(s, seat)),
    )
    yield Leak(game, "to a spectator a hand", public=lambda s, v: replace(v, hand=s.hands[0]))
    yield Leak(
        game,
        "to a spectator the view of a seat",
        public=lambda s, v: s.view(len(s.hands) - 1),
    )


LEAKS = tuple(leak for game in BUILT_IN for leak in leaks_of(find_game(game)))
