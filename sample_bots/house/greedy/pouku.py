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

NEEDED, NEEDED_IN_TEAMS = 5, 8
"""Points that are needed to go out."""
DOUBLED = 8
"""From this number of points on, they count twice, except in teams."""
BONUS_YAKU_COUNT = 4
"""Number of yaku that the bonus requires."""
SHORTEST_STRAIGHT = 4
GOING_OUT_VALUE = 5.0
"""Value of a set with which the seat can go out, beside its points."""
UNFINISHED_POINT_VALUE = 0.25
"""Value of a point in a set that is not sufficient to go out yet."""
OPPONENT_POINT_COST = 1.0
"""Cost of a point that a discard gives to an opponent through the reference fields."""
KEEP_RISK = 0.35
"""Probability that another seat goes out before a kept yaku is useful."""


def choose(turn: ActRequest) -> tuple[Action, str]:
    """Return the action and a short reason."""
    view = turn.view.pouku
    if view.worth:
        return Action(pouku={"go_out": {}}), f"goes out for {view.worth}"
    best = max(different_actions(turn), key=lambda action: rating(view, turn.seat, action))
    chosen = getattr(best.pouku, best.pouku.WhichOneof("action") or "")
    return best, "a keep that pays" if chosen.keep else "leaves the best hand"


def different_actions(turn: ActRequest) -> Iterator[Action]:
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


def rating(view: PoukuView, seat: int, action: Action) -> float:
    """Rate an action."""
    kind = action.pouku.WhichOneof("action") or ""
    message = getattr(action.pouku, kind)
    gone = {message.card, *message.keep}
    receiver = seat if kind == "discard" else (seat + 2) % 4
    fields = [[card for card in field.cards if card not in gone] for field in view.fields]
    fields[receiver].append(message.card)
    kept_cards = list(message.keep) or kept(view, seat)
    hand = [card for card in view.hand if card not in gone]
    reference = [card for other in view.reference for card in fields[other]]
    value = expected_value(view, hand, reference, kept_cards)
    for other in opponents(view, seat):
        if receiver in refers_to(view, seat, other):
            other_reference = [c for s in refers_to(view, seat, other) for c in fields[s]]
            value -= OPPONENT_POINT_COST * gain_of_opponent(view, message.card, other_reference)
    if message.keep:
        payments = 2 if len(view.fields) == 3 else 1
        value -= KEEP_RISK * payments * points_of_kept(view, kept_cards)
    return value


def gain_of_opponent(view: PoukuView, card: str, reference: list[str]) -> int:
    """Return by how many points a card raises the set in an opponent's reference fields.

    Args:
        view: the view.
        card: the card.
        reference: all cards of these fields, with this card.
    """
    after = counts(reference)
    before = list(after)
    before[RANK[card[0]]] -= 1
    no_hand = [0] * (ACE + 1)
    gain = points_and_yaku(view, no_hand, after)[0] - points_and_yaku(view, no_hand, before)[0]
    return gain + view.point * (card[0] == view.point_card[0])


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


def expected_value(
    view: PoukuView, hand: list[str], reference: list[str], kept_cards: list[str]
) -> float:
    """Return the mean value of the hand with the next card, over all unseen cards."""
    seen = Counter(card[0] for field in view.fields for card in field.cards)
    seen.update(card[0] for keep in view.kept for card in keep.cards)
    seen.update(card[0] for card in (*view.hand, view.point_card))
    held, in_fields = counts(hand), counts(reference)
    point_rank = view.point_card[0]
    point_cards = sum(card[0] == point_rank for card in (*hand, *reference, *kept_cards))
    fixed_points = view.point * point_cards + points_of_kept(view, kept_cards)
    total, number = 0.0, 0
    for rank, name in enumerate(RANKS, 2):
        left = 4 - seen[name]
        if left:
            held[rank] += 1
            points, yaku = points_and_yaku(view, held, in_fields)
            held[rank] -= 1
            points += fixed_points + view.point * (name == point_rank)
            if yaku + bool(kept_cards) >= BONUS_YAKU_COUNT:
                points += view.four_yaku
            total += left * score(view, points, bool(yaku) or not kept_cards)
            number += left
    return total / max(1, number)


def score(view: PoukuView, points: int, has_yaku: bool) -> float:
    """Rate a set for the seat that has it on its turn.

    Args:
        view: the view.
        points: the points of the set.
        has_yaku: whether the set has a yaku that is required to go out.
    """
    needed = NEEDED_IN_TEAMS if view.teams else NEEDED
    if not has_yaku or points < needed:
        return UNFINISHED_POINT_VALUE * min(points, needed)
    is_doubled = points >= DOUBLED and not view.teams
    return GOING_OUT_VALUE + points * (2 if is_doubled else 1)


def points_of_kept(view: PoukuView, cards: list[str]) -> int:
    """Return the points of a kept yaku; 0 without cards."""
    if not cards:
        return 0
    if cards[0][0] != cards[1][0]:
        return view.straight + len(cards) - SHORTEST_STRAIGHT
    return (view.pair, view.three, view.four)[len(cards) - 2]


def points_and_yaku(view: PoukuView, hand: Ranks, fields: Ranks) -> tuple[int, int]:
    """Return the points of a good set of yaku, and the number of yaku."""
    only_groups = groups(view, hand, fields)
    left = list(fields)
    points = yaku = 0
    while straight := longest_straight(hand, left):
        # It uses a field card of each rank that the hand does not have, and at least one.
        from_fields = [rank for rank in straight if not hand[rank]]
        for rank in from_fields or [rank for rank in straight if left[rank]][:1]:
            left[rank] -= 1
        points += view.straight + len(straight) - SHORTEST_STRAIGHT
        yaku += 1
    if not yaku:
        return only_groups
    group_points, group_yaku = groups(view, hand, left)
    return max(only_groups, (points + group_points, yaku + group_yaku))


def groups(view: PoukuView, hand: Ranks, fields: Ranks) -> tuple[int, int]:
    """Return the points of pairs, threes and fours, and their number.

    Each group needs a field card, except one group of cards of the hand.
    """
    values = (0, 0, view.pair, view.three, view.four)
    points = yaku = hand_group = 0
    for rank in range(2, ACE + 1):
        size = min(4, hand[rank] + fields[rank])
        if size < 2:
            continue
        if fields[rank]:
            points += values[size]
            yaku += 1
        else:
            hand_group = max(hand_group, values[size])
    return points + hand_group, yaku + bool(hand_group)


def longest_straight(hand: Ranks, left: Ranks) -> list[int]:
    """Return the ranks of the longest straight with a field card; otherwise an empty list."""
    best: list[int] = []
    straight: list[int] = []  # available ranks up to the present place
    # The ace is at place 1, below the two, and at place 14.
    for place in range(1, ACE + 2):
        rank = ACE if place == 1 else place
        if place <= ACE and (hand[rank] or left[rank]) and rank not in straight[:1]:
            straight.append(rank)
            continue
        is_longer = len(straight) > max(SHORTEST_STRAIGHT - 1, len(best))
        if is_longer and any(left[r] for r in straight):
            best = straight
        straight = []
    return best
