"""The features and the choice of the policy: Saint Poker, trained with two seats.

The value of a choice is the weighted sum of its features. train.py fits the weights for each round
and each kind of decision. The features describe the remaining hand, its fit to the next river, and
the strength of the played hand. The code uses only the names of a view's fields, so it accepts both
the views of the training environment and the messages of the protocol.
"""

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from strength import CARDS, CATEGORY, COUNT, RANK, SUITS, counted, worth

PHASES = ("river", "show", "pick_up")
Features = list[float]
Weights = Mapping[str, Sequence[float]]
"""For each round and phase ("3 show"), one weight per feature."""


def load(path: Path) -> Weights:
    """Read the weights from a file."""
    weights: Weights = json.loads(path.read_text(encoding="utf-8"))
    return weights


def kind(view: Any) -> str:
    """Return the kind of a decision: its round and its phase."""
    return f"{view.round} {view.phase}"


def value(weights: Sequence[float], features: Features) -> float:
    """Return the value of a choice: the expected lead in points at the end."""
    return sum(weight * number for weight, number in zip(weights, features, strict=True))


def choices(view: Any, lying: Sequence[str]) -> dict[tuple[str, ...], Features]:
    """Return the features of every choice; a choice is one card, or two to show.

    Args:
        view: the view of the seat.
        lying: the cards to pick up from.
    """
    if view.phase == "pick_up":
        return {(card,): _pick_up(view, card, lying) for card in lying}
    if view.phase == "river":
        return {(card,): _river(view, card) for card in view.hand}
    return _shows(view)


def _theirs(view: Any) -> list[str]:
    """Return the known cards of the other seat."""
    return [card for pile in view.known for card in pile.cards if card not in view.hand]


def _of_theirs(theirs: Sequence[str]) -> Features:
    """Return features of those cards. They are equal for all choices, but explain the result."""
    ranks = [RANK[card] for card in theirs]
    return [sum(ranks) / 60, (len(ranks) - len(set(ranks))) / 2]


def _without(hand: Sequence[str], gone: Sequence[str]) -> list[str]:
    return [card for card in hand if card not in gone]


def _kept(cards: Sequence[str], future: Sequence[str]) -> Features:
    """Return features of kept cards and the known part of the next river."""
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


def _strong(made: int) -> Features:
    """Return features of the strength of a hand."""
    category = made // CATEGORY
    within = made % CATEGORY / CATEGORY
    return [*(float(category == n) for n in range(1, 8)), within, within * (category == 1)]


def _pick_up(view: Any, card: str, lying: Sequence[str]) -> Features:
    """Return features of a pick-up: the hand, and the cards left for the other seat."""
    left, theirs = _without(lying, [card]), _theirs(view)
    ranks = {RANK[other] for other in theirs}
    leaves = [
        max((RANK[other] for other in left), default=0) / 12,
        sum(RANK[other] in ranks for other in left) / 3,
    ]
    return [*leaves, *_of_theirs(theirs), *_kept([*view.hand, card], view.future)]


def _unseen(view: Any) -> list[str]:
    """Return the cards that the other seat may hold."""
    gone = {*view.hand, *view.river, *view.future}
    gone.update(card for done in view.rounds for card in done.discards)
    return [card for card in CARDS if card not in gone]


def _share(worths: Sequence[int], mine: int) -> float:
    """Return the share of these sorted values below mine; 1 without values."""
    return bisect_left(worths, mine) / len(worths) if worths else 1.0


def _river(view: Any, card: str) -> Features:
    """Return features of adding a card to the river: the best hand with it."""
    rest, river = _without(view.hand, [card]), [*view.river, card]
    table = counted(river)
    made, best = max(
        (worth(table + COUNT[first] + COUNT[second], (*river, first, second)), (first, second))
        for first, second in combinations(rest, 2)
    )
    pairs = list(combinations(_unseen(view), 2))[::5]
    theirs = [worth(table + COUNT[c] + COUNT[d], (*river, c, d)) for c, d in pairs]
    beaten = _share(sorted(theirs), made)
    given = [RANK[card] / 12, float(RANK[card] in [RANK[c] for c in view.river])]
    odds = [beaten, beaten**4, beaten**12, beaten**36]
    known = _of_theirs(_theirs(view))
    return [*odds, *_strong(made), *given, *known, *_kept(_without(rest, best), view.future)]


def _shows(view: Any) -> dict[tuple[str, ...], Features]:
    """Return features of every two cards: the chance that they beat the other seat's cards."""
    hand, river = list(view.hand), list(view.river)
    known = _theirs(view)
    hidden = _without(_unseen(view), known)
    table = counted(river)

    def made(first: str, second: str) -> int:
        return worth(table + COUNT[first] + COUNT[second], (*river, first, second))

    open_pairs = [made(*pair) for pair in combinations(known, 2)]
    half_open = [sorted(made(card, other) for other in hidden) for card in known]
    closed = sorted(made(*pair) for pair in combinations(hidden, 2))
    more = max(0, len(hand) - len(known))
    best_known = max(open_pairs, default=0)
    theirs = _of_theirs(known)

    def odds(mine: int) -> Features:
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

    features: dict[tuple[str, ...], Features] = {}
    for pair in combinations(hand, 2):
        given = (RANK[pair[0]] + RANK[pair[1]]) / 24
        kept = _kept(_without(hand, pair), view.future)
        features[pair] = [*odds(made(*pair)), given, *theirs, *kept]
    return features
