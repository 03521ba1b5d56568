"""Play tables with actions in words, so that tests read like the rules pages."""

from typing import Any

from referee.games.contract import Action
from referee.games.poke import Poke
from referee.games.poke.actions import Answer, Draw, Lead, Stand
from referee.games.pokex import Pokex
from referee.games.pokex.actions import Bid, NameWild, PassBid, PlayCard, PlayPair
from referee.games.pouku import Pouku
from referee.games.pouku.actions import Discard, Give, GoOut
from referee.games.saint_poker import SaintPoker
from referee.games.saint_poker.actions import PickUp, River, Show
from referee.games.shared.cards import DECK_WITH_JOKERS as WITH_JOKERS
from referee.games.shared.cards import Card, cards, deck_of
from referee.games.shared.dealing import Arranged


def action(text: str) -> Action:
    """Parse an action, for example ``"lead 9S 9H"`` or ``"pick_up 9S"``."""
    word, *rest = text.split()
    named = tuple(map(Card, rest))
    match word:
        case "stand":
            return Stand()
        case "draw":
            return Draw(named)
        case "lead":
            return Lead(named)
        case "answer":
            return Answer(named)
        case "river":
            return River(*named)
        case "show":
            return Show(named)
        case "pick_up":
            return PickUp(*named)
        case "pass":
            return PassBid()
        case "bid":
            return Bid(int(rest[0]))
        case "name":
            return NameWild(rest[0])
        case "play":
            return PlayCard(*named) if len(named) == 1 else PlayPair(named)
        case "discard" | "give":
            card, *keep = (c for c in named if c != "keep")
            return (Discard if word == "discard" else Give)(card, tuple(keep))
        case "go_out":
            return GoOut()
    raise AssertionError(f"unknown action {text}")


def poke(
    seat_0: str,
    seat_1: str,
    stock: str = "",
    dealer: int = 1,
    must_beat: bool = True,
    later: dict[int, tuple[Card, ...]] | None = None,
) -> Any:
    """Return a rubber of Poke with these cards; ``later``: the packs of later deals."""
    packs = {0: deck_of(cards(seat_0), cards(seat_1), cards(stock)), **(later or {})}
    luck = Arranged(
        numbers={("dealer", 0): dealer},
        orders={("deck", deal): pack for deal, pack in packs.items()},
    )
    return Poke().start(luck, 2, {"must_beat": must_beat})


def saint_poker(
    *hands: str, middle: str = "", ties: dict[int, tuple[int, ...]] | None = None
) -> Any:
    """Return a game of Saint Poker; ``middle``: the cards turned up, then the stock."""
    pack = deck_of(*map(cards, hands), cards(middle))
    orders: dict[tuple[str, int], Any] = {("deck", 0): pack}
    orders |= {("ties", number): order for number, order in (ties or {}).items()}
    return SaintPoker().start(Arranged(orders=orders), len(hands))


def pokex(
    *hands: str,
    centre: str = "",
    dealer: int = -1,
    order: str = "",
    later: dict[int, tuple[Card, ...]] | None = None,
) -> Any:
    """Return a game of Pokex with these cards in its first deal.

    Args:
        hands: the hand of each seat.
        centre: the centre, and with two seats the cards set aside.
        dealer: the first dealer; by default the last seat, so that seat 0 begins.
        order: with two seats the order in which the twelve are turned up.
        later: the packs of later deals.
    """
    pack = deck_of(*(cards(text, WITH_JOKERS) for text in (*hands, centre)), deck=WITH_JOKERS)
    orders: dict[tuple[str, int], Any] = {("deck", 0): pack}
    orders |= {("deck", deal): other for deal, other in (later or {}).items()}
    if order:
        orders["centre", 0] = cards(order, WITH_JOKERS)
    luck = Arranged({("dealer", 0): dealer % len(hands)}, orders)
    return Pokex().start(luck, len(hands))


def pouku(
    point_card: str,
    hands: tuple[str, ...],
    fields: tuple[str, ...],
    stock: str = "",
    dealer: int = 0,
    later: dict[int, tuple[Card, ...]] | None = None,
    **options: object,
) -> Any:
    """Return a game of Pouku with these cards; ``later``: the packs of later deals."""
    groups = (point_card, *hands, *fields, stock)
    packs = {0: deck_of(*map(cards, groups)), **(later or {})}
    luck = Arranged(
        numbers={("dealer", 0): dealer},
        orders={("deck", deal): pack for deal, pack in packs.items()},
    )
    return Pouku().start(luck, len(hands), options)


def play(state: Any, *turns: str) -> Any:
    """Return the position after these actions; ``" / "`` separates simultaneous choices."""
    for turn in turns:
        spoken = turn.split(" / ")
        assert len(spoken) == len(state.actors), f"{turn}: it is the turn of {state.actors}"
        state = state.play(dict(zip(state.actors, map(action, spoken), strict=True)))
    return state


def is_legal(state: Any, text: str) -> bool:
    return action(text) in state.legal(state.actors[0])


def listed(state: Any, seat: int | None = None) -> list[Action]:
    """Return the listed actions of a seat, by default of the first seat to act."""
    return list(state.legal(state.actors[0] if seat is None else seat))
