"""Actions as a spectator would tell them: "leads 4C 4H"; cards in the notation of the rules."""

from collections.abc import Sequence
from typing import Any

from referee.codec import DecodeError
from referee.games.contract import Action, Game
from referee.games.poke.words import Answer, Draw, Lead, Stand
from referee.games.pokex.words import Bid, NameWild, PassBid, PlayCard, PlayPair
from referee.games.pokino.words import Domino, PassTurn, Run
from referee.games.pouku.words import Discard, Give, GoOut
from referee.games.saint_poker.words import PickUp, River, Show
from referee.replay import codec_of, in_words


def phrase(game: Game, action: dict[str, Any]) -> str:
    """An action in the protocol's JSON form, told in the third person."""
    try:
        told = _told(codec_of(game).decode_json(action))
    except DecodeError:
        told = ""
    return told or in_words(game, action)


def outside(game: Game, action: dict[str, Any]) -> str:
    """What those see of an action who do not see its cards; nothing if they see all of it."""
    try:
        made = codec_of(game).decode_json(action)
    except DecodeError:
        return ""
    if not isinstance(made, Draw):
        return ""
    number = len(made.discards)
    return f"discards {number} card{'' if number == 1 else 's'} and draws as many"


def _told(action: Action) -> str:
    """The phrase; nothing for an action of a game that has none here."""
    match action:
        case Stand():
            return "stands"
        case Draw(discards):
            return f"discards {_cards(discards)} and draws {len(discards)}"
        case Lead(cards):
            return f"leads {_cards(cards)}"
        case Answer(cards):
            return f"answers {_cards(cards)}"
        case River(card):
            return f"adds {card} to the river"
        case Show(cards):
            return f"shows {_cards(cards)}"
        case PickUp(card):
            return f"picks up {card}"
        case PassBid():
            return "passes"
        case Bid(tricks):
            return f"bids {tricks}"
        case NameWild(rank):
            return f"makes {'10' if rank == 'T' else rank} wild"
        case PlayPair(cards):
            return f"plays {_cards(cards)}"
        case PlayCard(card):
            return f"plays {card}"
        case GoOut():
            return "goes out"
        case Discard(card, keep):
            return f"{_kept(keep)}discards {card}"
        case Give(card, keep):
            return f"{_kept(keep)}gives {card} to the teammate's field"
    return _pokino(action)


def _pokino(action: Action) -> str:
    match action:
        case Domino(domino, x, y, direction, draw):
            return f"lays {domino} on {x},{y} going {direction}{_undrawn(draw)}"
        case Run(path, cards, draw):
            way = " to ".join(map(str, (path[0], path[-1])))
            return f"runs {_cards(cards)} from {way}{_undrawn(draw)}"
        case PassTurn(draw):
            return f"passes{_undrawn(draw)}"
    return ""


def _cards(cards: Sequence[str]) -> str:
    return " ".join(cards)


def _kept(keep: Sequence[str]) -> str:
    return f"keeps {_cards(keep)} and " if keep else ""


def _undrawn(draw: bool) -> str:
    return "" if draw else " and draws no card"
