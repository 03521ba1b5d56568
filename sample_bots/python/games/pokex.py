"""Pokex: bids by the strongest rank in the hand, and plays strong cards where they win."""

from collections import Counter

from pokearena_bot import PokexAction, PokexChoice, PokexTurn

RANKS = "23456789TJQKA"


def choose(turn: PokexTurn) -> PokexChoice:
    """Return the best action."""
    return max(turn.legal, key=lambda action: worth(action, turn))


def worth(action: PokexChoice, turn: PokexTurn) -> int:
    """Rate an action; the table of points is X-7.2."""
    view = turn.pokex
    ranks = Counter(card[0] for card in view.hand)
    match action:
        case PokexAction.Bid(tricks=tricks):  # Wild cards win tricks: the jokers and one rank.
            jokers = ranks.pop("X", 0)
            return tricks if tricks <= jokers + max(ranks.values()) - 2 else -1
        case PokexAction.NameWild(rank=rank):  # The most cards; low ones are worth less otherwise.
            return 20 * ranks[rank] - RANKS.index(rank)
        case PokexAction.PlayPair(cards=cards):  # Together with the centre card of the trick.
            groups = Counter(card[0] for card in [*cards, *view.turned])
            wilds = sum(card[0] in ("X", view.wild_rank) for card in cards)
            return 20 * max(groups.values()) - 15 * wilds + sum(height(card) for card in cards)
        case PokexAction.PlayCard(card=card):
            return 20 * sum(card[0] == turned[0] for turned in view.turned) + height(card)
    return 0


def height(card: str) -> int:
    """Return 0 for a two to 12 for an ace, and 13 for a joker."""
    return 13 if card[0] == "X" else RANKS.index(card[0])
