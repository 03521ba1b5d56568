"""The comparison of two versions as names and texts, for pages and the terminal."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Final

from arena.presentation.wording import percent, signed, with_interval

if TYPE_CHECKING:
    from arena.ladders.head_to_head import Comparison, SequentialTest
    from arena.ratings.duel import Interval
    from arena.ratings.points import Points

PAIRS: Final = ("LL", "LD", "WL", "DD", "WD", "WW")
"""Results of a board over both seatings, in the order of `Comparison.pairs`."""


def comparison_facts(it: Comparison) -> list[tuple[str, str]]:
    """Return the facts that are known; intervals are in brackets."""
    games = it.wins + it.draws + it.losses
    pairs = zip(PAIRS, it.pairs or (), strict=bool(it.pairs))
    facts = {
        "score": percent(it.duel.score, 1),
        "games": f"{games}: {it.wins} won, {it.draws} drawn, {it.losses} lost",
        "matches": str(it.matches),
        "pairs": "  ".join(f"{word} {count}" for word, count in pairs),
        "Elo": _interval(it.elo),
        "normalized": _interval(it.normalized) if it.duel.error else "",
        "LOS": "" if it.superiority is None else percent(it.superiority, 2),
        "points/board": _points(it.points) if it.points else "",
        "SPRT": _test(it.test) if it.test else "",
        "SPRT Elo": _interval(it.test.elo) if it.test else "",
    }
    return [(name, text) for name, text in facts.items() if text]


def _points(points: Points) -> str:
    return with_interval(partial(signed, digits=2), points.mean, points.low, points.high)


def _interval(it: Interval) -> str:
    if not math.isfinite(it.value):
        return f"{_end(it.value)}: all games {'won' if it.value > 0 else 'lost'}"
    return with_interval(_end, it.value, it.low, it.high)


def _end(value: float) -> str:
    """Format an end of an interval; it may be infinite if there are few matches."""
    return signed(value, 2) if math.isfinite(value) else "+∞" if value > 0 else "−∞"


def _test(test: SequentialTest) -> str:
    settings = test.settings
    ratio = with_interval("{:.2f}".format, test.ratio, *settings.bounds)
    text = f"LLR {ratio} for {settings.high:g} against {settings.low:g} points, {settings.model}: "
    if test.decided is None:
        return f"{text}open"
    bound = {
        "high": f"at least {settings.high:g} better",
        "low": f"at most {settings.low:g} better",
    }
    return f"{text}{bound[test.verdict]}, decided after {test.decided[0]} matches"
