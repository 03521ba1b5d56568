"""Fit strengths, by which ladders are ranked, to all matches at once.

The order of matches does not matter. The unit is the whole match, with all its tables over the same
boards. `arena.ratings.strength.solver` describes the model and its sources. Values are on the Elo
scale: an entrant that is 400 points stronger has an expected score of 10/11. numpy is loaded by the
first fit, not by importing this module.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Collection, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Final, Literal, cast

from arena.ratings.meetings import Meetings
from arena.ratings.scale import DECIMALS, ELO, Z95
from arena.ratings.strength.connectivity import components
from arena.ratings.strength.kept_strengths import (
    SCIPY_MISSING,
    IndependentErrors,
    KnownStrengths,
    TooManyEntrants,
    has_scipy,
)
from arena.ratings.strength.settings import StrengthSettings
from referee.games.shared.coded_errors import InvalidValue

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

    from arena.ratings.strength.lack_of_fit import LackOfFit
    from arena.ratings.strength.meeting_arrays import Floats, Ints, MeetingArrays
    from arena.ratings.strength.misfit import PairDeviations
    from arena.ratings.strength.solver import Fit, StrengthDifferences


Groups = tuple[tuple[str, ...], ...]

MAX_DENSE_ENTRANTS: Final = 2_000
"""Above this number of entrants, only pairs that have met are stored, and errors are estimated from
samples (`arena.ratings.strength.sparse_fit`). This requires SciPy."""

_BLAS_THREADS: Final = "OPENBLAS_NUM_THREADS"
_ONE_LARGE_FIT: Final = Lock()
"""A web server fits ladders and their histories in several threads; two large fits at once would
need twice the memory."""


@dataclass(frozen=True, slots=True)
class StrengthBound:
    """A one-sided bound on the strength of an entrant that won, or lost, every game.

    Attributes:
        side: "above": it won every game, and its strength is at least `value`; "below": it lost
            every game, and its strength is at most `value`.
        value: the bound in Elo points.
        confidence: lower limit of the probability, over all outcomes, that no false bound is given.
    """

    side: Literal["above", "below"]
    value: float
    confidence: float

    @property
    def mark(self) -> str:
        """The sign that marks the strength in tables."""
        return ">" if self.side == "above" else "<"

    def to_json(self) -> dict[str, object]:
        return {"side": self.side, "value": self.value, "confidence": self.confidence}


@dataclass(frozen=True, slots=True)
class Strength:
    """The strength of one entrant, in Elo points.

    Attributes:
        first: the first rank it may have: one more than the number of certainly stronger entrants.
            Certain is a likelihood of superiority of 97.5 %, for each pair separately.
        last: the last rank it may have: the number of entrants that are not certainly weaker.
        low: the lower end of its 95 % interval.
        high: the upper end of its 95 % interval.
        matches: number of matches.
        opponents: number of different opponents.
        provisional: whether half its interval is wider than the settings allow, or it has not
            played, or no matches connect it to the largest group. In the last case only the prior
            determines its value relative to that group.
        anchored: whether its value is fixed.
        group: the index of its group in `Strengths.groups`.
        bound: if it won or lost every game: the bound that replaces its interval, which is not
            valid then (`arena.ratings.strength.one_sided`).
        superiority_to_next: likelihood that it is stronger than the entrant of the next line, as
            "CFS" in Ordo; None on the last line.
    """

    entrant: str
    first: int
    last: int
    value: float
    low: float
    high: float
    error: float
    matches: int
    opponents: int
    provisional: bool
    anchored: bool
    group: int
    bound: StrengthBound | None = None
    superiority_to_next: float | None = None

    @property
    def margin(self) -> float:
        """Half the width of its 95 % interval."""
        return (self.high - self.low) / 2


@dataclass(frozen=True, slots=True)
class Strengths:
    """The strengths of all entrants, the strongest first.

    Attributes:
        gaps: the differences between each two lines, by their places from 0.
        groups: groups of entrants connected by matches, the largest first. Strengths are comparable
            only within a group.
        lack_of_fit: the test whether one number for each entrant explains the results; None without
            enough matches.
        pair_deviation: standard deviation, in Elo points, by which the results of pairs deviate
            from the strengths beyond chance; None without enough matches.
        unfitted: the code of the reason why the lines are the last known ones; None: they are
            fitted to all matches.
    """

    settings: StrengthSettings
    lines: tuple[Strength, ...]
    gaps: StrengthDifferences
    groups: Groups
    lack_of_fit: LackOfFit | None
    pair_deviation: float | None = None
    unfitted: str | None = None

    def of(self, entrant: str) -> Strength:
        """Return the line of an entrant.

        Raises:
            KeyError: it has no line.
        """
        return {line.entrant: line for line in self.lines}[entrant]


def strengths(
    meetings: Meetings,
    settings: StrengthSettings | None = None,
    entrants: Iterable[str] = (),
    known: KnownStrengths | None = None,
) -> Strengths:
    """Fit the strengths of everyone who played, and of `entrants`, which may not have played.

    The same matches give the same digits, in whatever order they were summed up.

    Args:
        known: the values to return for a ladder that is too large to be fitted.

    Raises:
        TooManyEntrants: the ladder is too large to be fitted, and `known` is missing.
        ValueError: an anchor is not among the entrants.
    """
    settings = settings or StrengthSettings()
    names = sorted({*meetings.entrants, *entrants})
    _check(names, settings)
    load_numpy()
    import numpy as np

    from arena.ratings.strength.solver import DenseCovariance, StrengthDifferences

    if not names:
        nothing = DenseCovariance(np.zeros((0, 0)))
        return Strengths(settings, (), StrengthDifferences((), nothing), (), None)
    with one_thread():
        return _strengths(names, settings, _fitted(names, meetings, settings, known))


def is_too_large(entrants: int) -> bool:
    """Return whether a ladder with this number of entrants is too large for this machine."""
    return entrants > MAX_DENSE_ENTRANTS and not has_scipy()


def values(
    meetings: Meetings, settings: StrengthSettings | None = None
) -> dict[str, tuple[float, float]]:
    """Return the strength and standard error of everyone who played, by name.

    The values equal those of `strengths` in every digit, but differences are not computed.
    """
    names = list(meetings.entrants)
    settings = (settings or StrengthSettings()).among(names)
    if not names:
        return {}
    load_numpy()
    with one_thread():
        fitted = _fitted(names, meetings, settings).fit
    errors = _errors(fitted)
    return {
        name: (_value(settings, fitted, place), errors[place]) for place, name in enumerate(names)
    }


@cache
def load_numpy() -> bool:
    """Import numpy, and return whether its BLAS has been limited to one thread for this process.

    The number of threads is read when numpy is imported, and starting them takes a third of that
    time. If numpy is loaded already, its other users keep their threads.
    """
    if "numpy" in sys.modules or _BLAS_THREADS in os.environ:
        return False
    os.environ[_BLAS_THREADS] = "1"
    try:
        import numpy  # noqa: F401
    finally:
        del os.environ[_BLAS_THREADS]
    return True


def one_thread() -> AbstractContextManager[object]:
    """Limit numpy to one thread.

    On a busy machine the threads of OpenBLAS wait for each other: 2.7 s instead of 0.05 s for 200
    entrants. With one thread, no digit depends on the number of cores.
    """
    if load_numpy():
        return nullcontext()
    return cast("AbstractContextManager[object]", _libraries_of_numpy().limit(limits=1))


@cache
def _libraries_of_numpy() -> ThreadpoolController:
    """Return the loaded libraries with threads; the search takes longer than a small fit."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """A fit, with everything it was computed from.

    Attributes:
        groups: the groups of entrants that are connected by matches.
        deviations: the deviations of the pairs from strengths.
        opponents: number of opponents of each entrant.
        points: the largest possible sum of mean scores of each entrant, and the actual one.
        unfitted: see `Strengths.unfitted`.
    """

    table: MeetingArrays
    groups: Groups
    deviations: PairDeviations | None
    fit: Fit
    opponents: Ints
    points: tuple[Floats, Floats]
    unfitted: str | None = None


def _fitted(
    names: list[str],
    meetings: Meetings,
    settings: StrengthSettings,
    known: KnownStrengths | None = None,
) -> _Fitted:
    from arena.ratings.strength.meeting_arrays import columns

    if len(names) <= MAX_DENSE_ENTRANTS:
        return _by_matrices(columns(meetings, names), names, settings)
    if is_too_large(len(names)):
        if known is None:
            raise TooManyEntrants(MAX_DENSE_ENTRANTS)
        return _kept(names, meetings, settings, known)
    with _ONE_LARGE_FIT:
        return _by_graph(columns(meetings, names), names, settings)


def _by_matrices(table: MeetingArrays, names: list[str], settings: StrengthSettings) -> _Fitted:
    """Fit with arrays of everyone against everyone."""
    import numpy as np

    from arena.ratings.strength.misfit import pair_deviations
    from arena.ratings.strength.solver import fit

    groups = _groups(table, names)
    precision = _precision(settings)
    deviations = pair_deviations(table, names, precision)
    weights = _weights(table, settings, deviations)
    anchors, loose = _anchors(names, settings)
    shares = None if anchors or loose else _shares(table, names, groups[0])
    return _Fitted(
        table,
        groups,
        deviations,
        fit(table, weights, precision, anchors, loose, shares),
        np.count_nonzero(table.count, axis=1),
        (table.count.sum(axis=1), table.score.sum(axis=1)),
    )


def _by_graph(table: MeetingArrays, names: list[str], settings: StrengthSettings) -> _Fitted:
    """Fit with the pairs that have met."""
    from arena.ratings.strength import sparse_fit
    from arena.ratings.strength.pair_graph import pair_graph

    graph = pair_graph(table)
    labels = sparse_fit.labels(graph).tolist()
    groups = components(names, ((name, names[at]) for name, at in zip(names, labels, strict=True)))
    anchors, loose = _anchors(names, settings)
    shares = None if anchors or loose else _shares(table, names, groups[0])
    fitted, deviations = sparse_fit.fit(
        table, graph, settings.weighting, _precision(settings), anchors, loose, shares
    )
    return _Fitted(table, groups, deviations, fitted, graph.opponents, graph.points)


def _kept(
    names: list[str], meetings: Meetings, settings: StrengthSettings, known: KnownStrengths
) -> _Fitted:
    """Return the last strengths; those of active entrants are fitted if these are few enough."""
    import numpy as np

    from arena.ratings.strength.meeting_arrays import columns
    from arena.ratings.strength.pair_graph import pair_graph
    from arena.ratings.strength.solver import Fit

    latest = dict(known.last)
    if len(known.active) <= MAX_DENSE_ENTRANTS:
        latest |= values(meetings.among(known.active), settings)
    unknown = settings.centre, settings.prior
    value, error = np.array([latest.get(name, unknown) for name in names]).T
    covariance = IndependentErrors((error / ELO) ** 2)
    table = columns(meetings, names)
    graph = pair_graph(table)
    return _Fitted(
        table,
        (tuple(names),),
        None,
        Fit((value - settings.centre) / ELO, covariance),
        graph.opponents,
        graph.points,
        SCIPY_MISSING,
    )


def _weights(
    table: MeetingArrays, settings: StrengthSettings, deviations: PairDeviations | None
) -> Floats:
    import numpy as np

    from arena.ratings.strength.misfit import pair_weights

    if settings.weighting == "random-effects":
        return pair_weights(table, deviations, _precision(settings))
    counts = np.sort(table.count[np.triu(table.count, 1) > 0])
    if settings.weighting == "pairs" and len(counts):
        enough = counts[(len(counts) - 1) // 2]
        return np.asarray(enough / np.maximum(table.count, enough))
    return np.ones((table.size, table.size))


def _value(settings: StrengthSettings, fitted: Fit, place: int) -> float:
    return round(settings.centre + ELO * float(fitted.strength[place]), DECIMALS)


def _errors(fitted: Fit) -> list[float]:
    variances = fitted.covariance.variances.tolist()
    return [round(ELO * math.sqrt(variance), DECIMALS) for variance in variances]


def _check(names: list[str], settings: StrengthSettings) -> None:
    unknown = sorted(set(settings.anchored) - set(names))
    if unknown:
        raise InvalidValue(
            f"the anchor {unknown[0]} is not among the entrants", code="unknown-anchor"
        )


def _precision(settings: StrengthSettings) -> float:
    return (ELO / settings.prior) ** 2


def _groups(table: MeetingArrays, names: list[str]) -> Groups:
    import numpy as np

    played = np.argwhere(np.triu(table.count, 1) > 0)
    return components(names, ((names[first], names[second]) for first, second in played))


def _anchors(
    names: list[str], settings: StrengthSettings
) -> tuple[dict[int, float], dict[int, tuple[float, float]]]:
    """Return the anchors and the loose anchors by number, in natural units."""
    anchors = {
        names.index(name): (value - settings.centre) / ELO for name, value in settings.anchors
    }
    loose = {
        names.index(name): ((value - settings.centre) / ELO, (ELO / deviation) ** 2)
        for name, value, deviation in settings.loose_anchors
    }
    return anchors, loose


def _shares(table: MeetingArrays, names: list[str], group: Collection[str]) -> Floats:
    """Return the weights of the mean that defines the zero point, by number of matches."""
    import numpy as np

    members = frozenset(group)
    linked = np.array([name in members for name in names])
    shares = np.where(linked, np.maximum(table.matches, 1e-9), 0.0)
    return np.asarray(shares / shares.sum())


def _strengths(names: list[str], settings: StrengthSettings, computed: _Fitted) -> Strengths:
    import numpy as np

    from arena.ratings.strength.misfit import lack_of_fit
    from arena.ratings.strength.solver import StrengthDifferences

    table, groups, fitted = computed.table, computed.groups, computed.fit
    deviations = computed.deviations

    values = [_value(settings, fitted, place) for place in range(len(names))]
    errors = _errors(fitted)
    order = sorted(range(len(names)), key=lambda place: (-values[place], names[place]))
    gaps = StrengthDifferences(
        [values[place] for place in order], fitted.covariance.reordered(np.array(order))
    )
    bounds = _bounds(settings, names, computed)
    group_of = {name: number for number, members in enumerate(groups) for name in members}
    lines = tuple(
        _line(
            names[place],
            settings,
            group_of[names[place]],
            ranks,
            values[place],
            errors[place],
            (int(table.matches[place]), int(computed.opponents[place])),
            bounds.get(place),
            superiority_to_next,
        )
        for place, (ranks, superiority_to_next) in zip(order, gaps.lines(), strict=True)
    )
    return Strengths(
        settings,
        lines,
        gaps,
        groups,
        lack_of_fit(deviations, names) if deviations else None,
        round(ELO * math.sqrt(deviations.variance), DECIMALS) if deviations else None,
        computed.unfitted,
    )


def _line(
    name: str,
    settings: StrengthSettings,
    group: int,
    ranks: tuple[int, int],
    value: float,
    error: float,
    played: tuple[int, int],
    bound: StrengthBound | None,
    superiority_to_next: float | None,
) -> Strength:
    """Create a line; `played` are the numbers of matches and opponents."""
    anchored = name in dict(settings.anchors)
    return Strength(
        entrant=name,
        first=ranks[0],
        last=ranks[1],
        value=value,
        low=round(value - Z95 * error, DECIMALS),
        high=round(value + Z95 * error, DECIMALS),
        error=error,
        matches=played[0],
        opponents=played[1],
        provisional=not anchored
        and (Z95 * error > settings.provisional or group > 0 or not played[0]),
        anchored=anchored,
        group=group,
        bound=bound,
        superiority_to_next=superiority_to_next,
    )


def _bounds(
    settings: StrengthSettings, names: list[str], computed: _Fitted
) -> dict[int, StrengthBound]:
    """Return the bounds of the entrants that won or lost every game, by number."""
    from arena.ratings.strength.one_sided import CONFIDENCE, bound, extremes

    table, fitted = computed.table, computed.fit
    scale = computed.deviations.scale if computed.deviations else None
    anchored = settings.anchored
    bounds = {}
    for places, won in zip(extremes(*computed.points), (True, False), strict=True):
        for place in map(int, places):
            if names[place] not in anchored:
                value = bound(table, place, won, fitted.strength, fitted.covariance, scale)
                value = round(settings.centre + ELO * value, DECIMALS)
                bounds[place] = StrengthBound("above" if won else "below", value, CONFIDENCE)
    return bounds
