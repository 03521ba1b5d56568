"""Find the best sets of yaku in Pouku, from its rules page.

The search tries all sets that may be the best. Ranks are numbers from 1 (ace) to 13 (king); in a
straight the ace may also have the number 14.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain, combinations

ACE = 1
GROUPS = {2: "pair", 3: "three", 4: "four"}
Values = tuple[tuple[str, int], ...]
Own = tuple[int, ...]
"""The ranks of the one yaku that has hand cards only; empty without one."""
Tops = tuple[int | None, ...]
"""The maximum points of exactly 0, 1, 2, 3 yaku, and of four or more; None if impossible."""
NOTHING: Tops = (0, None, None, None, None)


def values_of(options: Mapping[str, int]) -> Values:
    return tuple(sorted(options.items()))


def rank(card: str) -> int:
    return "A23456789TJQK".index(card[0]) + 1


def yaku(ranks: Iterable[int]) -> str | None:
    """Return the name of the yaku that cards of these ranks form, if they form exactly one."""
    held = sorted(ranks)
    if len(held) in GROUPS and len(set(held)) == 1:
        return GROUPS[len(held)]
    ends = [held] if ACE not in held else [held, sorted(set(held) - {ACE} | {14})]
    straight = any(run == list(range(run[0], run[0] + len(run))) for run in ends)
    return "straight" if 4 <= len(held) <= 13 and len(set(held)) == len(held) and straight else None


def value(ranks: Iterable[int], values: Values) -> int:
    held = list(ranks)
    name = yaku(held)
    assert name is not None
    return dict(values)[name] + (len(held) - 4 if name == "straight" else 0)


def tops(hand: Iterable[int], field: Iterable[int], values: Values) -> Tops:
    """Return the maximum points of legal sets of hand and field cards, by the number of yaku.

    At most one yaku may consist of hand cards alone, so the search tries each of these and none,
    and adds the best yaku with field cards.
    """
    held = tuple(sorted(hand))
    lying = Counter(field)
    best = NOTHING
    for alone in owns(held):
        rest = _tops(1, tuple(lying[r] for r in range(1, 14)), held, alone, values)
        best = better(best, add(rest, value(alone, values)) if alone else rest)
    return best


def owns(held: Own) -> set[Own]:
    """Return every yaku of hand cards alone, and the empty one."""
    subsets = chain.from_iterable(combinations(held, size) for size in range(2, len(held) + 1))
    return {(), *(tuple(sorted(cards)) for cards in subsets if yaku(cards))}


@cache
def _tops(low: int, lying: Own, held: Own, alone: Own, values: Values) -> Tops:
    """Return the maximum of yaku with a field card each, with at least this lowest rank.

    A field card is in at most one yaku, so a yaku with a field card cannot contain another such
    yaku. It could only contain the yaku of hand cards alone, which is not legal. Straights from
    the ace have the lowest rank 1, groups of aces 14.
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
    """Yield the sets of field cards that a straight may use, without superfluous cards.

    A straight uses a field card for every rank that the hand lacks. It uses one more if it would
    have no field card otherwise, or would contain all of the hand's own straight.
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
    """Return the maximum points of groups of one rank that have a field card each."""
    best = NOTHING
    owned = len(set(alone)) == 1 and alone[0] == of
    for size in GROUPS:
        for taken in range(1, min(size, lying) + 1):
            mine = size - taken
            if mine > held or (owned and mine == held):
                continue  # too few cards, or the group would contain the hand's own group
            rest = groups(lying - taken, held, alone, of, values)
            best = better(best, add(rest, value([of] * size, values)))
    return best


def better(first: Tops, second: Tops) -> Tops:
    return tuple(
        max((top for top in pair if top is not None), default=None)
        for pair in zip(first, second, strict=True)
    )


def add(tops: Tops, worth: int) -> Tops:
    """Return the maximum points after one more yaku."""
    shifted = [None, *(None if top is None else top + worth for top in tops)]
    return better(tuple(shifted[:5]), (None,) * 4 + (shifted[5],))


def both(first: Tops, second: Tops) -> Tops:
    best: Tops = (None,) * 5
    for number, top in enumerate(first):
        for more, worth in enumerate(second):
            if top is not None and worth is not None:
                at = min(4, number + more)
                best = better(best, tuple(top + worth if n == at else None for n in range(5)))
    return best


def price(field: Iterable[int], values: Values) -> int:
    """Return the points of the best set of yaku in a loser's reference fields, before doubling."""
    lying = Counter(field)
    counts = tuple(lying[r] for r in range(1, 14))
    return runs(1, counts, values) + sum(dearest(number, values) for number in counts)


@cache
def runs(low: int, lying: Own, values: Values) -> int:
    """Return the maximum points of straights without common cards.

    Groups do not matter here: a group cannot contain a straight, nor a straight a group.
    """
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
            if all(may_count_together(first, second) for first, second in combinations(family, 2)):
                best = max(best, sum(dict(values)[GROUPS[len(group)]] for group in family))
    return best


def may_count_together(first: set[int], second: set[int]) -> bool:
    if len(first) == len(second):
        return not first & second
    return not (first <= second or second <= first)
