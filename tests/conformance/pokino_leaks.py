"""Pokino with deliberate leaks, and incorrect ways to re-deal it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from referee.games.pokino import Pokino
from referee.games.pokino.actions import PokinoCards
from referee.games.shared.cards import RANK
from referee.games.shared.dealing import Chance
from referee.games.shared.dominoes import DOMINOES
from tests.conformance.leaks import Leak, Look, Reordered, high

Dealer = Callable[[Any, int, Chance], Any]


def secret(state: Any, seat: int) -> tuple[Any, ...]:
    """Return the initial cards that the next seat still holds."""
    other = (seat + 1) % len(state.hands)
    return tuple(c for c in state.hands[other] if c not in state.known[other])


def theirs(state: Any, seat: int) -> tuple[Any, ...]:
    held: tuple[Any, ...] = state.dominoes[(seat + 1) % len(state.hands)]
    return held


def pokino_leaks() -> Iterator[Leak]:
    def leak(name: str, view: Look | None = None, legal: Look | None = None) -> Leak:
        return Leak(Pokino(), name, view, legal)

    yield leak(
        "the next domino of the poke in its size",
        lambda s, seat, v: replace(v, poke_size=DOMINOES.index(s.poke[0]) if s.poke else 0),
    )
    yield leak(
        "the second card of the deck in its size",
        lambda s, seat, v: replace(v, deck_size=RANK[s.deck[1]] if len(s.deck) > 1 else 0),
    )
    yield leak(
        "a card that was dealt among those that are known",
        lambda s, seat, v: replace(v, known=(*v.known[:-1], PokinoCards(secret(s, seat)[:1]))),
    )
    yield leak(
        "how many pips the next seat holds in its number of dominoes",
        lambda s, seat, v: replace(
            v, domino_counts=(*v.domino_counts[:-1], DOMINOES.index(theirs(s, seat)[0]))
        ),
    )
    yield leak(
        "the seat's own dominoes in an order that reveals the next one",
        lambda s, seat, v: replace(v, dominoes=v.dominoes[:: 1 if s.poke[-1:] > ("5",) else -1]),
    )
    yield leak(
        "the highest card of the next seat in the beads",
        lambda s, seat, v: replace(v, beads=(*v.beads[:-1], high(secret(s, seat)))),
    )
    yield leak(
        "legal actions in an order that reveals the other's dominoes",
        legal=lambda s, seat, right: Reordered(right, theirs(s, seat)[0] > "3"),
    )


POKINO_LEAKS = tuple(pokino_leaks())


def deals_a_domino_twice(state: Any, seat: int, luck: Chance) -> Any:
    dealt: Any = state.redeal(seat, luck)
    return dealt.but(poke=(*dealt.dominoes[seat][:1], *dealt.poke[1:]))


def loses_a_domino(state: Any, seat: int, luck: Chance) -> Any:
    """Remove a domino from the poke, or a hand if the poke is empty."""
    dealt: Any = state.redeal(seat, luck)
    return dealt.but(poke=dealt.poke[1:]) if dealt.poke else dealt.but(dominoes=state.dominoes[1:])


def leaves_the_dominoes(state: Any, seat: int, luck: Chance) -> Any:
    """Re-deal the cards alone."""
    return state.redeal(seat, luck).but(dominoes=state.dominoes, poke=state.poke)


def leaves_what_was_dealt(state: Any, seat: int, luck: Chance) -> Any:
    """Re-deal the dominoes alone."""
    return state.redeal(seat, luck).but(hands=state.hands, deck=state.deck)


POKINO_FALSE: tuple[Dealer, ...] = (
    deals_a_domino_twice,
    loses_a_domino,
)
POKINO_LAZY: tuple[Dealer, ...] = (leaves_the_dominoes, leaves_what_was_dealt)
