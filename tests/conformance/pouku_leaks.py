"""Pouku with deliberate leaks."""

from collections.abc import Iterator
from dataclasses import replace

from referee.games.pouku import Pouku
from referee.games.pouku.actions import PoukuCards
from referee.games.shared.cards import DECK, RANK
from tests.conformance.leaks import Leak, Look, Reordered, high


def pouku_leaks() -> Iterator[Leak]:
    def leak(name: str, view: Look | None = None, legal: Look | None = None) -> Leak:
        return Leak(Pouku(), name, view, legal)

    yield leak(
        "the drawn card to everyone",
        lambda s, seat, v: replace(v, drawn=s.drawn),
    )
    yield leak(
        "what somebody else could go out with",
        lambda s, seat, v: replace(v, worth=s.scored(s.turn)[1]),
    )
    yield leak(
        "the next card in the size of the stock",
        lambda s, seat, v: replace(v, stock=high(s.stock[:1])),
    )
    yield leak(
        "the highest card of the seat before in the sizes of the hands",
        lambda s, seat, v: replace(v, hand_sizes=(*v.hand_sizes[:-1], high(s.hands[seat - 1]))),
    )
    yield leak(
        "fields in an order that reveals the stock",
        lambda s, seat, v: replace(
            v,
            fields=tuple(
                PoukuCards(f.cards[:: 1 if high(s.stock[:1]) > 8 else -1]) for f in v.fields
            ),
        ),
    )
    yield leak(
        "the next point card in the number of the deal",
        lambda s, seat, v: replace(
            v, deal=RANK[s.luck.shuffled("deck", len(s.deals) + 1, DECK)[0]]
        ),
    )
    yield leak(
        "that one may keep only while the seat before has nothing high",
        lambda s, seat, v: replace(v, may_keep=high(s.hands[seat - 1]) < 12),
    )
    yield leak(
        "legal actions in an order that reveals the hand of the seat before",
        legal=lambda s, seat, right: Reordered(right, high(s.hands[seat - 1]) > 10),
    )


POUKU_LEAKS = tuple(pouku_leaks())
