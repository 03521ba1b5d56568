"""Compare two versions in the store and print the comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from arena.cli import output
from arena.cli.errors import FAILED, USAGE, CommandError
from arena.ladders.key import Scope

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from arena.ladders.head_to_head import Comparison, Found
    from arena.ratings.duel import Interval
    from arena.ratings.sprt import Sprt


def test_of(
    bounds: tuple[float, float] | None, alpha: float, beta: float, model: str
) -> Sprt | None:
    """Return the requested test, if any.

    Raises:
        CommandError: its settings are not valid.
    """
    from arena.ratings.sprt import Model, Sprt

    if bounds is None:
        return None
    try:
        return Sprt(*bounds, alpha=alpha, beta=beta, model=cast("Model", model))
    except ValueError as error:
        raise CommandError(f"{error}.", USAGE) from None


def compare(
    engine: Engine,
    scopes: Sequence[Scope],
    pair: tuple[str, str],
    unit: str | None,
    test: Sprt | None,
) -> Found:
    """Compare two versions on the only one of these ladders on which they have met.

    Raises:
        CommandError: they have met on none or several of the ladders, or the matches cannot be
            counted by this unit.
    """
    from arena.ladders import head_to_head

    first, second = pair
    if first == second:
        raise CommandError(f"{first} is no other than itself.", USAGE)
    met = [scope for scope in scopes if head_to_head.have_met(engine, scope, pair)]
    if not met:
        raise CommandError(f"{first} and {second} have not met here.", FAILED, "pokearena matrix")
    if len(met) > 1:
        forms = ", ".join(scope.form for scope in met)
        raise CommandError(f"{first} and {second} have met in {forms}; name one of them.", USAGE)
    try:
        return head_to_head.compare_stored(engine, met[0], pair, unit, test)
    except head_to_head.Uneven as error:
        raise CommandError(f"{error}; --tournament names one of them.", USAGE) from None
    except head_to_head.NoBoards as error:
        raise CommandError(f"{error}; here use --by match.", USAGE) from None


def show(found: Found) -> None:
    """Print a comparison."""
    one = found.comparison
    games = one.wins + one.draws + one.losses
    output.heading(f"{found.form} · {one.first} against {one.second}")
    facts = {
        "matches": f"{one.matches}, {games} games",
        "games": f"{one.wins} won, {one.draws} drawn, {one.losses} lost: {one.duel.score:.1%}",
        "pairs": _pairs(one),
        "Elo": _interval(one.elo),
        "normalized": _interval(one.normalized) if one.duel.error else "",
        "LOS": "" if one.superiority is None else f"{one.superiority:.2%}",
        "points": _points(one),
    }
    for name, value in facts.items():
        if value:
            output.line(f"{name:<12}{value}")
    if one.test:
        output.line(f"{'SPRT':<12}{_test(one)}")
    output.hint(
        f"counted by {one.unit}; 95 % intervals in brackets, LOS is how likely {one.first} is "
        "stronger (docs/explanation/ratings.md)"
    )


def go_on(found: Found, pair: tuple[str, str]) -> tuple[str, ...]:
    """Return the command that continues until a test decides; none for larger tables."""
    if found.comparison.pairs is None:
        return ()
    test = found.comparison.test.settings if found.comparison.test else None
    bounds = f" --set low={test.low:g} --set high={test.high:g}" if test else ""
    game = found.form.partition("-")[0]
    return (f"pokearena tournament run {game} {pair[0]} {pair[1]} --format sprt{bounds}",)


def _pairs(one: Comparison) -> str:
    if one.pairs is None:
        return ""
    words = ("LL", "LD", "WL", "DD", "WD", "WW")
    return "  ".join(f"{word} {count}" for word, count in zip(words, one.pairs, strict=True))


def _interval(found: Interval) -> str:
    if not math.isfinite(found.value):
        return f"{'+' if found.value > 0 else '-'}∞: everything was {_all(found.value)}"
    return f"{found.value:+.2f} ({_end(found.low)} to {_end(found.high)})"


def _end(value: float) -> str:
    """Format an end of an interval; it may be infinite if there are few matches."""
    return f"{value:+.2f}" if math.isfinite(value) else f"{'+' if value > 0 else '-'}∞"


def _all(value: float) -> str:
    return "won" if value > 0 else "lost"


def _points(one: Comparison) -> str:
    if one.points is None:
        return ""
    told = f"{one.points.mean:+.2f}"
    if one.points.low is not None and one.points.high is not None:
        told += f" ({one.points.low:+.2f} to {one.points.high:+.2f})"
    return f"{told} a board ahead of the table"


def _test(one: Comparison) -> str:
    assert one.test is not None
    s = one.test.settings
    low, high = s.bounds
    told = (
        f"LLR {one.test.ratio:.2f} ({low:.2f} to {high:.2f}) for {s.high:g} against {s.low:g} "
        f"points, {s.model}: "
    )
    if one.test.decided is None:
        return told + "open"
    says = {"high": f"better by {s.high:g}", "low": f"no better than by {s.low:g}"}
    return f"{told}{says[one.test.verdict]}, decided after {one.test.decided[0]} matches"
