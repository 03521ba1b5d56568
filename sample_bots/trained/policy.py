"""What the policy looks at, and how it chooses: Saint Poker, learned with two seats.

A choice is worth the sum of what is seen of it times weights, which are learned (train.py) for
each round and each kind of decision. What is seen is what is left in the hand, how well it goes
with the cards that come next, and how strong the hand is that is played. Views are read by the
names of their fields alone, so that the typed views of the training ground and the messages of
the protocol do alike.
"""

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from strength import CARDS, CATEGORY, COUNT, RANK, SUITS, counted, worth

PHASES = ("river", "show", "pick_up")
Seen = list[float]
Weights = Mapping[str, Sequence[float]]
"""For each round and phase ("3 show") a weight for everything that is seen of a choice."""


def load(path: Path) -> Weights:
    """The weights of a file."""
    found: Weights = json.loads(path.read_text(encoding="utf-8"))
    return found


def kind(view: Any) -> str:
    """The kind of a decision: its round and its phase."""
    return f"{view.round} {view.phase}"


def value(weights: Sequence[float], seen: Seen) -> float:
    """What a choice is worth: points that it is ahead in the end."""
    return sum(weight * number for weight, number in zip(weights, seen, strict=True))


def choices(view: Any, lying: Sequence[str]) -> dict[tuple[str, ...], Seen]:
    """What is seen of every choice; a choice is a card, or two to show.

    Args:
        view: what the seat sees.
        lying: the cards that may be picked up.
    """
    if view.phase == "pick_up":
        return {(card,): _pick_up(view, card, lying) for card in lying}
    if view.phase == "river":
        return {(card,): _river(view, card) for card in view.hand}
    return _shows(view)


def _theirs(view: Any) -> list[str]:
    """The cards that the other is known to hold."""
    return [card for pile in view.known for card in pile.cards if card not in view.hand]


def _of_theirs(theirs: Sequence[str]) -> Seen:
    """What is seen of them: no choice changes it, but it explains some of what comes."""
    ranks = [RANK[card] for card in theirs]
    return [sum(ranks) / 60, (len(ranks) - len(set(ranks))) / 2]


def _without(hand: Sequence[str], gone: Sequence[str]) -> list[str]:
    return [card for card in hand if card not in gone]


def _kept(cards: Sequence[str], future: Sequence[str]) -> Seen:
    """What is seen of cards that are kept, with the river of the next round known in part."""
    ranks = [RANK[card] for card in cards]
    counts = [ranks.count(rank) for rank in set(ranks)]
    suits = sorted((sum(card[1] == suit for card in cards) for suit in SUITS), reverse=True)
    pairs = [rank for rank in set(ranks) if ranks.count(rank) == 2]
    coming = [RANK[card] for card in future]
    with_coming = max(sum(c[1] == suit for c in (*cards, *future)) for suit in SUITS)
    run = max(len({*ranks, *coming} & set(range(low, low + 5))) for low in range(9))
    return [
        1.0,
        sum(ranks) / 60,
        sum(rank >= 9 for rank in ranks) / 4,
        max(ranks, default=0) / 12,
        sum(count == 2 for count in counts) / 2,
        sum(pairs) / 12,
        float(sum(count >= 3 for count in counts)),
        suits[0] / 4,
        suits[1] / 4,
        sum(rank in coming for rank in ranks) / 3,
        max((rank for rank in ranks if rank in coming), default=0) / 12,
        float(with_coming >= 5),
        with_coming / 5,
        run / 5,
    ]


def _strong(made: int) -> Seen:
    """What is seen of the worth of a hand."""
    category = made // CATEGORY
    within = made % CATEGORY / CATEGORY
    return [*(float(category == n) for n in range(1, 8)), within, within * (category == 1)]


def _pick_up(view: Any, card: str, lying: Sequence[str]) -> Seen:
    """What is seen of picking a card up: the hand, and what is left for the other."""
    left, theirs = _without(lying, [card]), _theirs(view)
    ranks = {RANK[other] for other in theirs}
    leaves = [
        max((RANK[other] for other in left), default=0) / 12,
        sum(RANK[other] in ranks for other in left) / 3,
    ]
    return [*leaves, *_of_theirs(theirs), *_kept([*view.hand, card], view.future)]


def _unseen(view: Any) -> list[str]:
    """The cards that the other may hold."""
    gone = {*view.hand, *view.river, *view.future}
    gone.update(card for done in view.rounds for card in done.discards)
    return [card for card in CARDS if card not in gone]


def _share(worths: Sequence[int], mine: int) -> float:
    """How many of these, in order, are less than mine; all where there are none."""
    return bisect_left(worths, mine) / len(worths) if worths else 1.0


def _river(view: Any, card: str) -> Seen:
    """What is seen of adding a card to the river: the best hand that is left with it."""
    rest, river = _without(view.hand, [card]), [*view.river, card]
    table = counted(river)
    made, best = max(
        (worth(table + COUNT[one] + COUNT[other], (*river, one, other)), (one, other))
        for one, other in combinations(rest, 2)
    )
    pairs = list(combinations(_unseen(view), 2))[::5]
    theirs = [worth(table + COUNT[one] + COUNT[o], (*river, one, o)) for one, o in pairs]
    beaten = _share(sorted(theirs), made)
    given = [RANK[card] / 12, float(RANK[card] in [RANK[c] for c in view.river])]
    odds = [beaten, beaten**4, beaten**12, beaten**36]
    known = _of_theirs(_theirs(view))
    return [*odds, *_strong(made), *given, *known, *_kept(_without(rest, best), view.future)]


def _shows(view: Any) -> dict[tuple[str, ...], Seen]:
    """What is seen of every two cards: how likely nothing that the other may hold beats them."""
    hand, river = list(view.hand), list(view.river)
    known = _theirs(view)
    hidden = _without(_unseen(view), known)
    table = counted(river)

    def made(one: str, other: str) -> int:
        return worth(table + COUNT[one] + COUNT[other], (*river, one, other))

    open_pairs = [made(*pair) for pair in combinations(known, 2)]
    half_open = [sorted(made(card, other) for other in hidden) for card in known]
    closed = sorted(made(*pair) for pair in combinations(hidden, 2))
    more = max(0, len(hand) - len(known))
    best_known = max(open_pairs, default=0)
    theirs = _of_theirs(known)

    def odds(mine: int) -> Seen:
        alone = _share(closed, mine)
        all_closed = alone ** (more * (more - 1) / 2)
        for worths in half_open:
            all_closed *= _share(worths, mine) ** more
        holds = all_closed * (mine > best_known)
        return [
            alone,
            alone**6,
            float(mine > best_known),
            holds,
            holds**0.5,
            holds**0.2,
            holds**0.05,
        ]

    found: dict[tuple[str, ...], Seen] = {}
    for pair in combinations(hand, 2):
        given = (RANK[pair[0]] + RANK[pair[1]]) / 24
        kept = _kept(_without(hand, pair), view.future)
        found[pair] = [*odds(made(*pair)), given, *theirs, *kept]
    return found
