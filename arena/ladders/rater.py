"""Rate ladders: follow the sequence of events, and write what has changed as rows.

    closings --> sums (`result_sums`) --> fit --> ladder_fits, standings, rating_points

1. The next events are added to the sums, exactly once, up to one that ends a round.
2. After a round, the strengths of its ladders become points of their histories.
3. When all events are added, the ladders and tournaments whose results have changed are fitted.

Any process may rate, also several at once, and a kill at any point costs only the work since the
last commit. A fit is outside of transactions. Its rows are marked with the event up to which
results are included, and never replace rows of a later one.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from sqlalchemy import Connection, Engine, delete, func, insert, select, update
from sqlalchemy.exc import DBAPIError

from arena.errors import Unreachable
from arena.ladders import elo_rows, ladder_key, ladder_rows, result_sums
from arena.ladders.elo_rows import NO_RATINGS, EloRatings, Round
from arena.ladders.ladder_key import LadderKey
from arena.ladders.ladder_rows import Ladder, Standing
from arena.ratings import crosstable
from arena.ratings.decision_histogram import DecisionHistogram
from arena.ratings.entrant_sums import EntrantSums
from arena.ratings.meetings import Meetings
from arena.ratings.standings import FittedStandings, fitted_standings, of_matches
from arena.ratings.strength import fit
from arena.ratings.strength.kept_strengths import has_scipy
from arena.ratings.strength.settings import StrengthSettings
from arena.store import closings, schema
from arena.store.database import now, read_rows, reading, writing
from arena.store.matches import results
from arena.store.postgresql import lock_decision
from arena.store.tournaments import tournaments

log = logging.getLogger("arena.rater")

POINTS: Final = 40
"""Maximum number of points of a history; of a long one only every second, fourth, ... round."""
MIN_POINTS: Final = 8
VALUES: Final = 10_000
"""Maximum number of values of a history (points times bots), with at least `MIN_POINTS` points."""
_REST_FACTOR: Final = 9
"""Minimum pause between two fits of a ladder, as a multiple of the CPU time of a fit, ..."""
_SHORT_SECONDS: Final = 0.1
"""... if it takes longer than this."""
_FIT_ERRORS: Final = (ArithmeticError, LookupError, ValueError)


def advance(engine: Engine, key: LadderKey | None = None) -> bool:
    """Rate everything that has changed; one ladder at once if it is named.

    Args:
        key: a ladder whose rows the caller reads next. None: all, except those that have been
            fitted a moment ago and take long.

    Returns:
        Whether all are rated; False if a fit was put off.
    """
    while True:
        position = _write_due_points(engine)
        if not result_sums.consume(engine, position):
            break
    if key is not None:
        return _fit_if_changed(engine, key, paused=False)
    are_rated = [_fit_beside_others(engine, each) for each in _changed(engine)]
    return all(are_rated)


def _fit_beside_others(engine: Engine, key: LadderKey) -> bool:
    """Fit a ladder if it has changed; one that cannot be fitted does not stop the others."""
    try:
        return _fit_if_changed(engine, key, paused=True)
    except _FIT_ERRORS:
        log.exception("the ladder %s cannot be rated", key.id)
        return True


def change_mark(engine: Engine) -> tuple[int, int]:
    """Return values that differ if `advance` may have work: those of a finished one stay."""
    fits = select(func.count()).select_from(schema.ladder_fits)
    with reading(engine) as connection:
        return closings.newest_closing(connection), int(connection.execute(fits).scalar_one())


def advance_if_behind(engine: Engine, seconds: float) -> bool:
    """Rate what has changed if nobody else does: if an event has waited for some seconds.

    Another process may be fitting a ladder meanwhile, so it waits longer, the longer a fit takes.

    Returns:
        Whether all are rated, or nothing was done; False if a fit was put off.
    """
    table = schema.closings
    with reading(engine) as connection:
        waiting = table.c.seq > result_sums.position(connection)
        age = select(now() - table.c.at).where(waiting).order_by(table.c.seq).limit(1)
        waited = connection.execute(age).scalar_one_or_none()
        longest = connection.execute(select(func.max(schema.ladder_fits.c.seconds))).scalar_one()
    return waited is None or waited < seconds * (1 + (longest or 0.0)) or advance(engine)


def rebuild(engine: Engine, key: LadderKey) -> None:
    """Compute the rows of a ladder again from the games."""
    for tournament in key.tournaments:
        result_sums.recount(engine, tournament)
    fits, points = schema.ladder_fits, schema.rating_points
    with writing(engine, "delete_ladder") as connection:
        connection.execute(delete(points).where(points.c.ladder == key.id))
        # The lines stay until the next fit replaces them: a large ladder may keep their strengths.
        stale = update(fits).where(fits.c.ladder == key.id)
        connection.execute(stale.values(seq=-1, settled=None))
    _write_all_points(engine, key)
    advance(engine, key)


def current_ladder(engine: Engine, key: LadderKey) -> Ladder:
    """Rate what has changed, and return a ladder with all results.

    Args:
        engine: the store; if it cannot be written, the ladder is computed from the games.
        key: the ladder; it may be any tournaments of one form.
    """
    if not (key.id and _can_advance(engine, key)):
        return Ladder(key, current_fit(engine, key).table, {})
    return ladder_rows.read_ladder(engine, key)


def current_fit(
    engine: Engine, key: LadderKey, settings: StrengthSettings | None = None
) -> FittedStandings:
    """Rate what has changed, and fit the strengths of a ladder to all results.

    Args:
        engine: the store; if it cannot be written, the ladder is computed from the games.
        key: the ladder; it may be any tournaments of one form.
        settings: the parameters of strength; those of the ladder by default.
    """
    if _can_advance(engine, key):
        fitted = fitted_ladder(engine, key, settings)
    else:
        fitted = of_matches(
            results.closed(engine, key.tournaments),
            key.clip,
            key.entrants,
            settings or key.strength,
            known=ladder_rows.known_strengths(engine, key),
        )
    usage = ladder_rows.measured_usage(engine, key)
    return replace(fitted, table=replace(fitted.table, usage=usage))


def _can_advance(engine: Engine, key: LadderKey) -> bool:
    try:
        advance(engine, key if key.id else None)
    except (DBAPIError, Unreachable) as error:
        log.info("ladders cannot be rated: %s", error)
        return False
    return True


def fitted_ladder(
    engine: Engine, key: LadderKey, settings: StrengthSettings | None = None
) -> FittedStandings:
    """Fit the strengths of a ladder now, for values that are not stored.

    Args:
        engine: the store, whose newest results the caller has had rated (`advance`).
        key: the ladder; it may be any tournaments of one form.
        settings: the parameters of strength; those of the ladder by default.
    """
    with reading(engine) as connection:
        newest = result_sums.newest(connection, key.tournaments)
        meetings = result_sums.meetings(connection, key.tournaments)
        sums, _ = result_sums.entrants(connection, key.tournaments)
        elo = _elo(connection, key, _stored_fit(connection, key), newest)
    return _fitted(engine, key, meetings, sums, elo, settings or key.strength)


def _fitted(
    engine: Engine,
    key: LadderKey,
    meetings: Meetings,
    sums: dict[str, EntrantSums],
    elo: EloRatings,
    settings: StrengthSettings,
) -> FittedStandings:
    is_too_large = fit.is_too_large(len({*sums, *key.entrants}))
    known = ladder_rows.known_strengths(engine, key) if is_too_large else None
    return fitted_standings(meetings, sums, elo.ratings, key.clip, key.entrants, settings, known)


def _changed(engine: Engine) -> list[LadderKey]:
    """Return the ladders and tournaments whose rows may not be current, the smallest first."""
    rated, fits = schema.rated_tournaments, schema.ladder_fits
    query = (
        select(rated.c.tournament)
        .outerjoin(fits, fits.c.ladder == rated.c.tournament)
        .where(fits.c.seq.is_(None) | (fits.c.seq < rated.c.seq) | fits.c.unfitted.is_not(None))
    )
    changed = read_rows(engine, query).scalars().all()
    single = [
        ladder_key.of_tournament(tournaments.find_tournament(engine, name)) for name in changed
    ]
    return [*single, *ladder_key.of_seasons(engine)]


def _fit_if_changed(engine: Engine, key: LadderKey, *, paused: bool) -> bool:
    """Fit a ladder, unless its rows are current; return whether they are now."""
    began = time.thread_time()
    with reading(engine) as connection:
        newest = result_sums.newest(connection, key.tournaments)
        stored = _stored_fit(connection, key)
        if stored is not None and stored.seq >= newest and _has_facts(stored, key):
            return True
        if paused and stored is not None and stored.seconds > _SHORT_SECONDS:
            since = float(connection.execute(select(now())).scalar_one()) - stored.at
            if since < stored.seconds * _REST_FACTOR:
                return False
        meetings = result_sums.meetings(connection, key.tournaments)
        sums, seen = result_sums.entrants(connection, key.tournaments)
        elo = _elo(connection, key, stored, newest)
    if stored is not None and stored.facts["anchors"] != list(key.anchors):
        # The history has the scale of the rows. They are written last, so that a kill repeats it.
        _write_all_points(engine, key)
    fitted = _fitted(engine, key, meetings, sums, elo, key.strength)
    _write(engine, key, newest, fitted, elo, seen, began)
    return True


def _stored_fit(connection: Connection, key: LadderKey) -> Any:
    fits = schema.ladder_fits
    return connection.execute(select(fits).where(fits.c.ladder == key.id)).one_or_none()


def _facts(key: LadderKey) -> dict[str, list[str]]:
    """Return what the rows of a ladder depend on besides the results."""
    return {
        "tournaments": list(key.tournaments),
        "entrants": list(key.entrants),
        "anchors": list(key.anchors),
    }


def _has_facts(stored: Any, key: LadderKey) -> bool:
    """Return whether the stored rows depend on the same, and SciPy is not installed since then."""
    return stored.facts == _facts(key) and not (stored.unfitted and has_scipy())


def _elo(connection: Connection, key: LadderKey, stored: Any, until: int) -> EloRatings:
    before, since = NO_RATINGS, 0
    if stored is not None and stored.settled and _begins(stored.facts, key.tournaments):
        table = schema.standings
        query = select(*table.c["version", "settled_elo"]).where(
            table.c.ladder == key.id, table.c.settled_elo.is_not(None)
        )
        settled = {row.version: row.settled_elo for row in connection.execute(query)}
        before, since = EloRatings(Round(*stored.settled), settled, settled), stored.seq
    return elo_rows.advance(connection, key.tournaments, until, before, since)


def _begins(facts: dict[str, list[str]], of: Sequence[str]) -> bool:
    before = facts["tournaments"]
    return list(of[: len(before)]) == before


def _write(
    engine: Engine,
    key: LadderKey,
    seq: int,
    fitted: FittedStandings,
    elo: EloRatings,
    seen: dict[str, float],
    began: float,
) -> None:
    """Write the rows of a ladder in one transaction, unless later ones are stored."""
    fits, table = schema.ladder_fits, fitted.table
    rows = [
        ladder_rows.row_of(
            Standing(
                place,
                line,
                table.thinking.get(line.entrant, DecisionHistogram()),
                seen.get(line.entrant),
            ),
            elo.settled.get(line.entrant),
        )
        for place, line in enumerate(table.lines, 1)
    ]
    values = {
        "clock_class": key.clock_class,
        "seq": seq,
        "facts": _facts(key),
        "matches": table.matches,
        "groups": table.groups,
        "lack_of_fit": table.lack_of_fit and asdict(table.lack_of_fit),
        "pair_deviation": table.pair_deviation,
        "unfitted": table.unfitted,
        "match_variance": crosstable.match_variance(fitted.meetings),
        "settled": elo.settled_round and list(elo.settled_round),
        "seconds": time.thread_time() - began,
    }
    with writing(engine, "write_standings") as connection:
        lock_decision(connection, f"standings {key.id}")
        query = select(fits.c.seq).where(fits.c.ladder == key.id)
        stored = connection.execute(query).scalar_one_or_none()
        if stored is None:
            connection.execute(insert(fits).values(ladder=key.id, at=now(), **values))
        elif stored <= seq:
            connection.execute(
                update(fits).where(fits.c.ladder == key.id).values(at=now(), **values)
            )
        else:
            return
        ladder_rows.replace_rows(connection, key.id, rows)


def _write_due_points(engine: Engine) -> int:
    """Write the points of the ladders in which a round ends at the present position; return it."""
    ends = schema.round_ends
    with reading(engine) as connection:
        seq = result_sums.position(connection)
        query = select(ends.c.tournament).where(ends.c.seq == seq)
        ended = set(connection.execute(query).scalars())
    if not ended:
        return seq
    for key in ladder_key.of_seasons(engine):
        if ended.isdisjoint(key.tournaments):
            continue
        number = _rounds(engine, key, seq)
        if number % _step(engine, key, number) == 0:
            with reading(engine) as connection:
                if _has_point(connection, key, number):
                    continue
                meetings = result_sums.meetings(connection, key.tournaments)
                if result_sums.position(connection) != seq:
                    # Another process has written the point and continued.
                    return seq
            try:
                _write_point(engine, key, number, seq, meetings)
            except _FIT_ERRORS:
                log.exception("the ladder %s has no point of round %d", key.id, number)
    return seq


def _write_all_points(engine: Engine, key: LadderKey) -> None:
    """Write all points of a history; those that exist are replaced."""
    chosen = _chosen_rounds(engine, key) if key.has_history else []
    every = result_sums.meetings_at(engine, key.tournaments, [seq for _, seq in chosen])
    for (number, seq), meetings in zip(chosen, every, strict=True):
        _write_point(engine, key, number, seq, meetings)


def _rounds(engine: Engine, key: LadderKey, seq: int) -> int:
    """Return how many rounds of a ladder were over at a position."""
    ends = schema.round_ends
    query = select(func.count()).where(ends.c.tournament.in_(key.tournaments), ends.c.seq <= seq)
    return int(read_rows(engine, query).scalar_one())


def _has_point(connection: Connection, key: LadderKey, number: int) -> bool:
    points = schema.rating_points
    query = select(points.c.version).where(points.c.ladder == key.id, points.c.round == number)
    return connection.execute(query.limit(1)).first() is not None


def _step(engine: Engine, key: LadderKey, rounds: int) -> int:
    """Return the least power of two by which few enough of the rounds are chosen."""
    table = schema.entrants
    query = select(func.count(table.c.version.distinct())).where(
        table.c.tournament.in_(key.tournaments)
    )
    bots = int(read_rows(engine, query).scalar_one())
    most = min(POINTS, max(VALUES // max(bots, 1), MIN_POINTS))
    step = 1
    while rounds > step * most:
        step *= 2
    return step


def _chosen_rounds(engine: Engine, key: LadderKey) -> list[tuple[int, int]]:
    """Return number and event of the rounds of a ladder whose points are kept."""
    ends = schema.round_ends
    query = select(ends.c.seq).where(ends.c.tournament.in_(key.tournaments)).order_by(ends.c.seq)
    with reading(engine) as connection:
        until = result_sums.position(connection)
        seqs = connection.execute(query.where(ends.c.seq <= until)).scalars().all()
    step = _step(engine, key, len(seqs))
    # An event that ends several rounds makes one point.
    last = {seq: number for number, seq in enumerate(seqs, 1)}
    return [(number, seq) for seq, number in last.items() if number % step == 0]


def _write_point(engine: Engine, key: LadderKey, number: int, seq: int, meetings: Meetings) -> None:
    points, ends = schema.rating_points, schema.round_ends
    if fit.is_too_large(len(meetings.entrants)):
        return
    strengths = fit.values(meetings, key.strength)
    step = _step(engine, key, number)
    with writing(engine, "write_rating_points") as connection:
        lock_decision(connection, f"points {key.id}")
        at = connection.execute(select(func.max(ends.c.at)).where(ends.c.seq == seq)).scalar_one()
        connection.execute(
            delete(points).where(
                points.c.ladder == key.id,
                (points.c.round == number) | (points.c.round % step != 0),
            )
        )
        of_all = {
            "ladder": key.id,
            "round": number,
            "seq": seq,
            "at": at,
            "matches": meetings.matches,
        }
        rows = [
            {
                **of_all,
                "version": version,
                "strength": strength,
                "error": error,
            }
            for version, (strength, error) in strengths.items()
        ]
        if rows:
            connection.execute(insert(points), rows)
