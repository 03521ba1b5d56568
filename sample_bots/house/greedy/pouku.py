"""Pouku by rules of thumb.

Goes out as soon as possible. Before that it looks one card ahead: for every action, it rates the
hand and the reference fields with each possible next card. It counts yaku approximately: the
longest straights first or the groups first, whichever is more.
"""

from collections import Counter
from collections.abc import Iterator

from pokearena.v1.bot_pb2 import Action, ActRequest
from pokearena.v1.pouku_pb2 import PoukuView

RANKS = "23456789TJQKA"
RANK = {rank: number for number, rank in enumerate(RANKS, 2)}
ACE = 14

Ranks = list[int]
"""Number of cards of each rank, 2 to 14; index 1 is unused."""

HOPE = 0.25
"""Value of a point in a set that is not sufficient to go out yet."""
HELP = 1.0
"""Cost of a point that a discard gives to an opponent through the reference fields."""
RISK = 0.35
"""Probability that another seat goes out before a kept yaku is useful."""


def choose(turn: ActRequest) -> tuple[Action, str]:
    """Return the action and a short reason."""
    view = turn.view.pouku
    if view.worth:
        return Action(pouku={"go_out": {}}), f"goes out for {view.worth}"
    best = max(different(turn), key=lambda action: plan(view, turn.seat, action))
    chosen = getattr(best.pouku, best.pouku.WhichOneof("action") or "")
    return best, "a keep that pays" if chosen.keep else "leaves the best hand"


def different(turn: ActRequest) -> Iterator[Action]:
    """Yield the listed actions; of those that differ only in suits, the first."""
    view = turn.view.pouku
    owner = {card: seat for seat, field in enumerate(view.fields) for card in field.cards}
    seen = set()
    for action in turn.legal:
        kind = action.pouku.WhichOneof("action") or ""
        message = getattr(action.pouku, kind)
        taken = sorted((card[0], owner.get(card, -1)) for card in message.keep)
        key = (kind, message.card[0], *taken)
        if key not in seen:
            seen.add(key)
            yield action


def counts(cards: list[str]) -> Ranks:
    """Count the cards by rank."""
    numbers = [0] * (ACE + 1)
    for card in cards:
        numbers[RANK[card[0]]] += 1
    return numbers


def plan(view: PoukuView, seat: int, action: Action) -> float:
    """Rate an action."""
    kind = action.pouku.WhichOneof("action") or ""
    message = getattr(action.pouku, kind)
    gone = {message.card, *message.keep}
    to = seat if kind == "discard" else (seat + 2) % 4
    fields = [[card for card in field.cards if card not in gone] for field in view.fields]
    fields[to].append(message.card)
    laid = list(message.keep) or kept(view, seat)
    hand = [card for card in view.hand if card not in gone]
    near = [card for other in view.reference for card in fields[other]]
    value = hopes(view, hand, near, laid)
    for other in opponents(view, seat):
        if to in refers_to(view, seat, other):
            lying = counts([c for s in refers_to(view, seat, other) for c in fields[s]])
            before = list(lying)
            before[RANK[message.card[0]]] -= 1
            nothing = [0] * (ACE + 1)
            gain = set_worth(view, nothing, lying)[0] - set_worth(view, nothing, before)[0]
            value -= HELP * (gain + view.point * (message.card[0] == view.point_card[0]))
    if message.keep:
        times = 2 if len(view.fields) == 3 else 1
        value -= RISK * times * kept_worth(view, laid)
    return value


def kept(view: PoukuView, seat: int) -> list[str]:
    """Return the kept yaku that counts for a seat."""
    cards = list(view.kept[seat].cards)
    return cards or (list(view.kept[(seat + 2) % 4].cards) if view.teams else [])


def opponents(view: PoukuView, seat: int) -> list[int]:
    """Return the seats of other sides."""
    others = [s for s in range(len(view.fields)) if s != seat]
    return [s for s in others if not view.teams or (s - seat) % 2]


def refers_to(view: PoukuView, seat: int, other: int) -> list[int]:
    """Return the seats whose fields are the reference fields of another seat."""
    return [(r - seat + other) % len(view.fields) for r in view.reference]


def hopes(view: PoukuView, hand: list[str], near: list[str], laid: list[str]) -> float:
    """Return the mean value of the hand with the next card, over all unseen cards."""
    seen = Counter(card[0] for field in view.fields for card in field.cards)
    seen.update(card[0] for keep in view.kept for card in keep.cards)
    seen.update(card[0] for card in (*view.hand, view.point_card))
    held, lying = counts(hand), counts(near)
    point = view.point_card[0]
    fixed = view.point * sum(card[0] == point for card in (*hand, *near, *laid))
    fixed += kept_worth(view, laid)
    total, number = 0.0, 0
    for rank, name in enumerate(RANKS, 2):
        left = 4 - seen[name]
        if left:
            held[rank] += 1
            worth, made = set_worth(view, held, lying)
            held[rank] -= 1
            worth += fixed + view.point * (name == point)
            if made + bool(laid) > 3:
                worth += view.four_yaku
            total += left * score(view, worth, bool(made) or not laid)
            number += left
    return total / max(1, number)


def score(view: PoukuView, worth: int, enough: bool) -> float:
    """Rate a set for the seat that has it on its turn."""
    if not enough or worth < (8 if view.teams else 5):
        return HOPE * min(worth, 8 if view.teams else 5)
    return 5.0 + worth * (2 if worth > 7 and not view.teams else 1)


def kept_worth(view: PoukuView, laid: list[str]) -> int:
    """Return the value of a kept yaku."""
    if not laid:
        return 0
    if laid[0][0] != laid[1][0]:
        return view.straight + len(laid) - 4
    return (view.pair, view.three, view.four)[len(laid) - 2]


def set_worth(view: PoukuView, hand: Ranks, lying: Ranks) -> tuple[int, int]:
    """Return the points of a good set of yaku, and the number of yaku."""
    plain = groups(view, hand, lying)
    left = list(lying)
    points = made = 0
    while run := longest(hand, left):
        spent = [place for place in run if not hand[place]] or [p for p in run if left[p]][:1]
        for place in spent:
            left[place] -= 1
        points += view.straight + len(run) - 4
        made += 1
    if not made:
        return plain
    more, others = groups(view, hand, left)
    return max(plain, (points + more, made + others))


def groups(view: PoukuView, hand: Ranks, lying: Ranks) -> tuple[int, int]:
    """Return the points of pairs, threes and fours, and their number."""
    values = (0, 0, view.pair, view.three, view.four)
    points = made = alone = 0
    for rank in range(2, ACE + 1):
        size = min(4, hand[rank] + lying[rank])
        if size < 2:
            continue
        if lying[rank]:
            points += values[size]
            made += 1
        else:
            alone = max(alone, values[size])
    return points + alone, made + bool(alone)


def longest(hand: Ranks, left: Ranks) -> list[int]:
    """Return the ranks of the longest straight with a field card; otherwise an empty list."""
    best: list[int] = []
    run: list[int] = []
    for place in range(1, ACE + 2):
        rank = ACE if place == 1 else place
        if place <= ACE and (hand[rank] or left[rank]) and rank not in run[:1]:
            run.append(rank)
            continue
        if len(run) > max(3, len(best)) and any(left[r] for r in run):
            best = run
        run = []
    return best
