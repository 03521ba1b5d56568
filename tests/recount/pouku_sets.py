"""What sets of yaku are worth in Pouku, from its page: by trying all that could be best.

Ranks are numbers, 1 for the ace to 13 for the king; in a straight the ace may stand at 14.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain, combinations

ACE = 1
GROUPS = {2: "pair", 3: "three", 4: "four"}
Values = tuple[tuple[str, int], ...]
Own = tuple[int, ...]
"""The ranks of the one yaku of hand cards alone; empty without one."""
Tops = tuple[int | None, ...]
"""The maximum points of exactly 0, 1, 2, 3 yaku, and of four or more; None if impossible."""
NOTHING: Tops = (0, None, None, None, None)


def values_of(options: Mapping[str, int]) -> Values:
    """The options in a form that can be remembered by."""
    return tuple(sorted(options.items()))


def rank(card: str) -> int:
    """The rank of a card."""
    return "A23456789TJQK".index(card[0]) + 1


def yaku(ranks: Iterable[int]) -> str | None:
    """What cards of these ranks are, if they are exactly one yaku."""
    held = sorted(ranks)
    if len(held) in GROUPS and len(set(held)) == 1:
        return GROUPS[len(held)]
    ends = [held] if ACE not in held else [held, sorted(set(held) - {ACE} | {14})]
    straight = any(run == list(range(run[0], run[0] + len(run))) for run in ends)
    return "straight" if 4 <= len(held) <= 13 and len(set(held)) == len(held) and straight else None


def value(ranks: Iterable[int], values: Values) -> int:
    """What one yaku is worth."""
    held = list(ranks)
    name = yaku(held)
    assert name is not None
    return dict(values)[name] + (len(held) - 4 if name == "straight" else 0)


def tops(hand: Iterable[int], field: Iterable[int], values: Values) -> Tops:
    """The most that legal sets of hand and field cards are worth, by the number of yaku."""
    held = tuple(sorted(hand))
    lying = Counter(field)
    best = NOTHING
    for alone in owns(held):
        rest = _tops(1, tuple(lying[r] for r in range(1, 14)), held, alone, values)
        best = better(best, add(rest, value(alone, values)) if alone else rest)
    return best


def owns(held: Own) -> set[Own]:
    """Every yaku of hand cards alone, and none."""
    subsets = chain.from_iterable(combinations(held, size) for size in range(2, len(held) + 1))
    return {(), *(tuple(sorted(cards)) for cards in subsets if yaku(cards))}


@cache
def _tops(low: int, lying: Own, held: Own, alone: Own, values: Values) -> Tops:
    """Return the maximum of yaku with a field card each, with at least this lowest rank.

    A field card is in one yaku at most, so none of these holds all of another: only the yaku of
    the hand alone could lie in one. Ace low straights are at 1, groups of aces at 14.
    """
    if low == 14:
        return groups(lying[0], held.count(ACE), alone, ACE, values)
    best = _tops(low + 1, lying, held, alone, values)
    if low > 1:
        mine = groups(lying[low - 1], held.count(low), alone, low, values)
        best = both(best, mine)
    for high in range(low + 3, min(14, low + 12) + 1):
        run = [ACE if at == 14 else at for at in range(low, high + 1)]
        for used in spent(run, lying, held, alone):
            left = tuple(lying[r - 1] - (r in used) for r in range(1, 14))
            best = better(best, add(_tops(low, left, held, alone, values), value(run, values)))
    return best


def spent(run: list[int], lying: Own, held: Own, alone: Own) -> Iterator[set[int]]:
    """The field cards that a straight may take; never one more than it must.

    It takes what the hand lacks. It takes one more if it would have no field card otherwise, or
    would hold all of the hand's own straight.
    """
    lacking = {r for r in run if r not in held}
    for more in [set(), *({r} for r in run if r in held)]:
        used = lacking | more
        swallows = len(set(alone)) > 1 and set(alone) <= set(run) - used
        if used and not swallows and all(lying[r - 1] for r in used):
            yield used
            if not more:
                return


@cache
def groups(lying: int, held: int, alone: Own, of: int, values: Values) -> Tops:
    """The most of groups of one rank that have a field card each."""
    best = NOTHING
    owned = len(set(alone)) == 1 and alone[0] == of
    for size in GROUPS:
        for taken in range(1, min(size, lying) + 1):
            mine = size - taken
            if mine > held or (owned and mine == held):
                continue  # fewer; otherwise it would contain all of the hand's own group
            rest = groups(lying - taken, held, alone, of, values)
            best = better(best, add(rest, value([of] * size, values)))
    return best


def better(first: Tops, second: Tops) -> Tops:
    """The better of both, number by number."""
    return tuple(
        max((top for top in pair if top is not None), default=None)
        for pair in zip(first, second, strict=True)
    )


def add(tops: Tops, worth: int) -> Tops:
    """One yaku more."""
    shifted = [None, *(None if top is None else top + worth for top in tops)]
    return better(tuple(shifted[:5]), (None,) * 4 + (shifted[5],))


def both(first: Tops, second: Tops) -> Tops:
    """Yaku of the one and of the other."""
    best: Tops = (None,) * 5
    for number, top in enumerate(first):
        for more, worth in enumerate(second):
            if top is not None and worth is not None:
                at = min(4, number + more)
                best = better(best, tuple(top + worth if n == at else None for n in range(5)))
    return best


def price(field: Iterable[int], values: Values) -> int:
    """The dearest set of yaku in a loser's reference fields, before it is doubled."""
    lying = Counter(field)
    counts = tuple(lying[r] for r in range(1, 14))
    return runs(1, counts, values) + sum(dearest(number, values) for number in counts)


@cache
def runs(low: int, lying: Own, values: Values) -> int:
    """The dearest straights that share no card. No group can lie in one, nor one in a group."""
    if low > 11:
        return 0
    best = runs(low + 1, lying, values)
    for high in range(low + 3, min(14, low + 12) + 1):
        run = [ACE if at == 14 else at for at in range(low, high + 1)]
        if all(lying[r - 1] for r in run):
            left = tuple(lying[r - 1] - (r in run) for r in range(1, 14))
            best = max(best, runs(low, left, values) + value(run, values))
    return best


@cache
def dearest(number: int, values: Values) -> int:
    """Return the best groups among this number of cards of one rank, by trying every family."""
    cards = range(number)
    every = [set(c) for size in GROUPS for c in combinations(cards, size)]
    best = 0
    for count in range(1, len(every) + 1):
        for family in combinations(every, count):
            if all(may_stand(first, second) for first, second in combinations(family, 2)):
                best = max(best, sum(dict(values)[GROUPS[len(group)]] for group in family))
    return best


def may_stand(first: set[int], second: set[int]) -> bool:
    """Whether two groups may be counted side by side."""
    if len(first) == len(second):
        return not first & second
    return not (first <= second or second <= first)
