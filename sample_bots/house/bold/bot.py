"""Takes the action that looks best now, regardless of later costs.

Poke: draws as long as the hand is less than two pairs, and pays for it in tricks.
Pouku: goes out as soon as possible, and keeps the largest yaku.
Saint Poker: shows its best cards in every round, and picks up the highest.
Pokex: bids three tricks at once, and plays its largest groups first.
Pokino: plays the longest run that is listed, and lays dominoes only for beads.
"""

from collections import Counter

from pokearena.v1.bot_pb2 import Action, ActRequest
from pokearena_bot import run

RANKS = "23456789TJQKAX"
THREE_TRICKS = 3


def rank(card: str) -> int:
    """Return 0 for a two to 12 for an ace, 13 for a joker."""
    return RANKS.index(card[0])


def weight(cards: list[str]) -> tuple[int, ...]:
    """Return a sort key for cards: groups first, then high ranks."""
    counts = Counter(map(rank, cards))
    return tuple(
        n for each in sorted(((c, r) for r, c in counts.items()), reverse=True) for n in each
    )


def held(turn: ActRequest) -> list[str]:
    """Return the table cards that an action's cards are rated with."""
    view = turn.view
    return list(view.saint_poker.river if view.HasField("saint_poker") else view.pokex.turned)


def named(action: Action) -> list[str]:
    """Return the cards in an action."""
    of_game = getattr(action, action.WhichOneof("game") or "")
    message = getattr(of_game, of_game.WhichOneof("action"))
    lists = [value for field, value in message.ListFields() if field.name in ("cards", "card")]
    return [card for value in lists for card in ([value] if isinstance(value, str) else value)]


def draw(turn: ActRequest) -> tuple[Action, str]:
    """Discard up to three single cards, unless the hand has two pairs or better."""
    counts = Counter(rank(card) for card in turn.view.poke.hand)
    loose = sorted((c for c in turn.view.poke.hand if counts[rank(c)] == 1), key=rank)[:3]
    if len(counts) <= 3 or not loose:
        return turn.legal[0], "good enough"
    return Action(poke={"draw": {"discards": loose}}), "another card may help"


def declare(turn: ActRequest) -> tuple[Action, str]:
    """Bid three tricks or pass, and name the most frequent rank of the hand."""
    if turn.view.pokex.phase == "bid":
        bids = [a for a in turn.legal if a.pokex.bid.tricks == THREE_TRICKS]
        return (bids or turn.legal)[0], "three tricks will do"
    ranks = Counter(card[0] for card in turn.view.pokex.hand)
    return max(turn.legal, key=lambda a: ranks[a.pokex.name_wild.rank]), "held most"


def lay_or_run(turn: ActRequest) -> tuple[Action, str]:
    """Play the longest listed run; without a run, lay the last listed domino."""
    longest = max(turn.legal, key=lambda action: len(action.pokino.run.cards))
    if longest.pokino.HasField("run"):
        return longest, "the longest run there is"
    return turn.legal[-1], "beads for runs"


def choose(turn: ActRequest) -> tuple[Action, str]:
    """Return the action and a short reason."""
    if turn.view.HasField("pokino"):
        return lay_or_run(turn)
    if turn.view.poke.phase == "draw":
        return draw(turn)
    if turn.view.saint_poker.phase == "river":
        return turn.legal[0], "the lowest is nobody's help"
    if turn.view.pokex.phase in ("bid", "name"):
        return declare(turn)
    if turn.legal[-1].pouku.HasField("go_out"):
        return turn.legal[-1], "a certain win"
    table = held(turn)
    best = max(turn.legal, key=lambda action: weight([*table, *named(action)]))
    return best, "the best at this moment"


if __name__ == "__main__":
    run(choose)
