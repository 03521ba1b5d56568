"""Games that leak private information to a spectator; the suite must detect each."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from referee.games.contract import Game
from referee.games.poke import Poke
from referee.games.pokex import Pokex
from referee.games.pokino import Pokino
from referee.games.pokino.actions import PokinoCards
from referee.games.pouku import Pouku
from referee.games.saint_poker import SaintPoker
from referee.games.saint_poker.actions import SaintPokerCards
from referee.games.shared.cards import DECK, RANK
from tests.conformance.leaks import Leak, Show, high


def last_seat_s_view(state: Any, view: Any) -> Any:
    return state.view(len(state.hands) - 1)


def turned(things: Any, state: Any) -> Any:
    """Return the elements in reverse order if the last card of the first hand is high."""
    return things[::-1] if state.hands[0][-1:] > ("8",) else things


def public_leaks() -> Iterator[Leak]:
    def leak(game: Game, name: str, public: Show) -> Leak:
        return Leak(game, f"to a spectator {name}", public=public)

    for game in (Poke(), Pokex(), Pokino(), Pouku(), SaintPoker()):
        yield leak(game, "the view of a seat", last_seat_s_view)
        yield leak(game, "a hand", lambda s, v: replace(v, hand=s.hands[0]))
    yield leak(Poke(), "discards", lambda s, v: replace(v, discards=s.discards[1]))
    yield leak(
        Poke(),
        "whether the hand that leads is high",
        lambda s, v: replace(v, must_beat=high(s.hands[s.turn]) > 12),
    )
    yield leak(
        Poke(),
        "the next pack in the number of the deal",
        lambda s, v: replace(v, deal=RANK[s.luck.shuffled("deck", len(s.deals) + 1, DECK)[0]]),
    )
    yield leak(
        Pokex(),
        "cards set aside or held in the centre",
        lambda s, v: replace(v, centre=v.centre + (s.aside or s.hands[0])[:1]),
    )
    yield leak(
        Pokex(), "the centre in an order", lambda s, v: replace(v, centre=turned(v.centre, s))
    )
    yield leak(Pokino(), "dominoes", lambda s, v: replace(v, dominoes=s.dominoes[0]))
    yield leak(
        Pokino(),
        "the second card of the deck in its size",
        lambda s, v: replace(v, deck_size=RANK[s.deck[1]] if len(s.deck) > 1 else 0),
    )
    yield leak(
        Pokino(),
        "all cards as known ones",
        lambda s, v: replace(v, known=tuple(map(PokinoCards, s.hands))),
    )
    yield leak(Pouku(), "the drawn card", lambda s, v: replace(v, drawn=s.drawn))
    yield leak(
        Pouku(),
        "that somebody may go out",
        lambda s, v: replace(v, worth=s.view(s.turn).worth),
    )
    yield leak(
        SaintPoker(),
        "all cards as known ones",
        lambda s, v: replace(v, known=tuple(map(SaintPokerCards, s.hands))),
    )
    yield leak(
        SaintPoker(),
        "the next card of the stock",
        lambda s, v: replace(v, future=v.future + s.stock[:1]),
    )
    yield leak(
        SaintPoker(),
        "who will win ties",
        lambda s, v: (
            v if v.order else replace(v, order=s.luck.shuffled("ties", s.round, range(s.seats)))
        ),
    )


PUBLIC_LEAKS = tuple(public_leaks())
