"""The results of tournaments as sums in rows, which follow the sequence of events.

Each event is added exactly once: the sums and the position change in one transaction. A match that
becomes void is subtracted. All sums are whole numbers, so the order does not matter.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Select,
    case,
    delete,
    exists,
    func,
    insert,
    select,
    tuple_,
    update,
)

from arena.formats.contract import REPLAY
from arena.ratings import entrant_sums as counts
from arena.ratings import meetings as line_ups
from arena.ratings.entrant_sums import EntrantSums
from arena.ratings.line_ups import LineUp, Sums
from arena.ratings.meetings import Meetings
from arena.store import closings, schema
from arena.store.closings import Closing
from arena.store.database import id_batches, reading, writing
from arena.store.matches import closed_matches
from arena.store.matches.closed_matches import PlayedMatch
from arena.store.postgresql import lock_decision
from arena.store.schema import OPEN, ClosingKind, MatchState
from referee.presentation.registry import presentation_of

FOLLOWER: Final = "rater"
"""Name of the position in the sequence of events."""
_BATCH: Final = 500
"""Maximum number of events of a transaction."""
_ROWS_AT_ONCE: Final = 5_000


def position(connection: Connection) -> int:
    """Return the position up to which events have been added to the sums."""
    table = schema.followers
    query = select(table.c.seq).where(table.c.name == FOLLOWER)
    return int(connection.execute(query).scalar_one_or_none() or 0)


def consume(engine: Engine, at: int) -> bool:
    """Add the next events to the sums, at most up to one that ends a round.

    Args:
        at: the present position. If another process has moved it, nothing is added, because the
            rounds that ended at the other position have to be handled first.

    Returns:
        Whether there was an event, or the position has moved.
    """
    with reading(engine) as connection:
        if closings.newest_closing(connection) <= position(connection) == at:
            return False
    with writing(engine, "sum_results") as connection:
        lock_decision(connection, FOLLOWER)
        if position(connection) != at:
            return True
        events = closings.closings_after(connection, at, _BATCH)
        if not events:
            return False
        ends = _ends_of_rounds(connection, events)
        until = min(ends.values(), default=events[-1].seq)
        events = [event for event in events if event.seq <= until]
        _add(connection, events)
        for (tournament, number), seq in ends.items():
            if seq == until:
                values = {"tournament": tournament, "round": number, "seq": seq}
                connection.execute(insert(schema.round_ends).values(**values, at=events[-1].at))
        _move(connection, until)
    return True


def _move(connection: Connection, seq: int) -> None:
    table = schema.followers
    moved = connection.execute(update(table).where(table.c.name == FOLLOWER).values(seq=seq))
    if not moved.rowcount:
        connection.execute(insert(table).values(name=FOLLOWER, seq=seq))


def _ends_of_rounds(
    connection: Connection, events: Sequence[Closing]
) -> dict[tuple[str, int], int]:
    """Return the events among these that end a round: by tournament and round.

    A round is over when each of its matches has ended. Replays do not count, so that a round ends
    once. A round without a begun match does not end.
    """
    first, newest = events[0].seq, events[-1].seq
    ends = {}
    rounds = sorted(_finished_rounds(connection, events))
    queries = map(_last_ends, id_batches(rounds))
    for row in (row for query in queries for row in connection.execute(query)):
        last = row.last or 0
        if row.ended < row.matches:
            # The end of the tournament cancelled the others.
            last = max(last, _end_of_tournament(connection, row.tournament))
        if first <= last <= newest:
            ends[row.tournament, row.round] = last
    return ends


def _last_ends(rounds: Sequence[tuple[str, int]]) -> Select[Any]:
    """Select the number of matches, of ended ones, and the last end, of rounds with a begun one."""
    matches, ended = schema.matches, schema.closings
    ending = select(func.min(ended.c.seq)).where(ended.c.match == matches.c.id).scalar_subquery()
    place = matches.c.tournament, matches.c.round
    each = (
        select(*place, matches.c.state, ending.label("seq"))
        .where(tuple_(*place).in_(rounds), matches.c.number < REPLAY)
        .subquery()
    )
    return (
        select(
            *each.c["tournament", "round"],
            func.count().label("matches"),
            func.count(each.c.seq).label("ended"),
            func.max(each.c.seq).label("last"),
        )
        .group_by(*each.c["tournament", "round"])
        .having(func.count(case((each.c.state != MatchState.CANCELLED, 1))) > 0)
    )


def _end_of_tournament(connection: Connection, tournament: str) -> int:
    ended = schema.closings
    over = select(func.max(ended.c.seq)).where(
        ended.c.tournament == tournament, ended.c.kind == ClosingKind.TOURNAMENT_ENDED
    )
    return connection.execute(over).scalar_one() or 0


def _finished_rounds(connection: Connection, events: Sequence[Closing]) -> set[tuple[str, int]]:
    """Return the rounds that these events may end: by tournament and number."""
    matches, known = schema.matches, schema.round_ends
    places = select(*matches.c["tournament", "round"]).distinct()
    queries = [
        places.where(matches.c.id.in_(batch))
        for batch in id_batches([event.match for event in events if event.match])
    ] + [
        places.where(
            matches.c.tournament == event.tournament, matches.c.state == MatchState.CANCELLED
        )
        for event in events
        if event.kind is ClosingKind.TOURNAMENT_ENDED
    ]
    finished: set[tuple[str, int]] = set()
    for query in queries:
        touched = query.subquery()
        ended = exists().where(
            known.c.tournament == touched.c.tournament, known.c.round == touched.c.round
        )
        is_open = exists().where(
            matches.c.tournament == touched.c.tournament,
            matches.c.round == touched.c.round,
            matches.c.number < REPLAY,
            matches.c.state.in_(OPEN),
        )
        rows = connection.execute(select(touched).where(~ended, ~is_open))
        finished |= {(row.tournament, row.round) for row in rows}
    return finished


@dataclass(slots=True)
class _Changes:
    """Changes to the sums of one tournament."""

    line_ups: dict[LineUp, Sums]
    entrants: dict[str, EntrantSums]
    seen: dict[str, float]
    subtracts: bool = False


def _add(connection: Connection, events: Sequence[Closing]) -> None:
    newest = {event.tournament: event.seq for event in events if event.tournament}
    changes: dict[str, _Changes] = {}
    _gather(connection, events, changes)
    # Rows that refer to a tournament lock it: in the order of all transactions.
    for tournament, seq in sorted(newest.items()):
        if of := changes.get(tournament):
            _change_line_ups(connection, tournament, of.line_ups)
            _change_entrants(connection, tournament, of)
        _note(connection, tournament, seq)


def _gather(
    connection: Connection, events: Sequence[Closing], changes: dict[str, _Changes]
) -> None:
    """Add what events change to the changes by tournament."""
    signs = _signs(connection, events)
    found = closed_matches.with_ids(connection, [match for match, _, _ in signs])
    for match, sign, at in signs:
        played = found[match]
        of = changes.setdefault(played.tournament, _Changes({}, {}, {}))
        _add_match(of, played, sign)
        if sign > 0:
            of.seen |= dict.fromkeys(played.entrants, played.closed or at)
        else:
            of.subtracts = True


def clip_of(game: str) -> int:
    """Return the limit of margins of a game for points per board."""
    return presentation_of(game).clip


def _signs(connection: Connection, events: Sequence[Closing]) -> list[tuple[str, int, float]]:
    """Return the matches to add (1) and to subtract (-1), with the times."""
    table = schema.closings
    signs = []
    for event in events:
        if event.kind is ClosingKind.MATCH_CLOSED:
            signs.append((event.match, 1, event.at))
        elif event.kind is ClosingKind.MATCH_VOIDED:
            # A void match may be voided again, by a replay.
            before = select(table.c.kind).where(
                table.c.match == event.match, table.c.seq < event.seq
            )
            if connection.execute(before).scalars().all() == [ClosingKind.MATCH_CLOSED]:
                signs.append((event.match, -1, event.at))
    return signs


def _add_match(changes: _Changes, match: PlayedMatch, sign: int) -> None:
    result = match.result
    line_up, sums = line_ups.sums_of(result)
    before = changes.line_ups.get(line_up)
    changes.line_ups[line_up] = _sum(before, sums, sign)
    of_entrants = counts.of_match(result, clip_of(match.game), match.thinking)
    for name, of_match in of_entrants.items():
        changes.entrants.setdefault(name, EntrantSums()).add(of_match, sign)


def _sum(before: Sums | None, added: Sums, sign: int = 1) -> Sums:
    if before is None:
        before = Sums(0, (0,) * len(added.halves), (0,) * len(added.products))
    return Sums(
        before.matches + sign * added.matches,
        tuple(old + sign * new for old, new in zip(before.halves, added.halves, strict=True)),
        tuple(old + sign * new for old, new in zip(before.products, added.products, strict=True)),
    )


def _change_line_ups(
    connection: Connection, tournament: str, changes: Mapping[LineUp, Sums]
) -> None:
    table = schema.line_ups
    texts = {json.dumps(line_up.entrants): line_up.entrants for line_up in changes}
    stored: dict[LineUp, Sums] = {}
    for batch in id_batches(list(texts)):
        of_line_ups = table.c.tournament == tournament, table.c.entrants.in_(batch)
        for row in connection.execute(select(table).where(*of_line_ups)):
            stored[LineUp(texts[row.entrants], row.games)] = _stored_sums(row)
        connection.execute(delete(table).where(*of_line_ups))
    for line_up, added in changes.items():
        stored[line_up] = _sum(stored.get(line_up), added)
    rows = [
        {
            "tournament": tournament,
            "entrants": json.dumps(line_up.entrants),
            "games": line_up.games,
            "first": line_up.entrants[0] if len(line_up.entrants) == 2 else None,
            "second": line_up.entrants[1] if len(line_up.entrants) == 2 else None,
            "matches": sums.matches,
            "halves": json.dumps(sums.halves),
            "products": json.dumps(sums.products),
        }
        for line_up, sums in stored.items()
        if sums.matches
    ]
    if rows:
        connection.execute(insert(table), rows)


def _stored_sums(row: Any) -> Sums:
    return Sums(row.matches, tuple(json.loads(row.halves)), tuple(json.loads(row.products)))


def _change_entrants(connection: Connection, tournament: str, changes: _Changes) -> None:
    # The recount of a large ladder changes more entrants than one statement can bind.
    for names in id_batches(sorted(changes.entrants)):
        _change_some_entrants(connection, tournament, changes, names)


def _change_some_entrants(
    connection: Connection, tournament: str, changes: _Changes, names: Sequence[str]
) -> None:
    table = schema.entrant_sums
    of_names = table.c.tournament == tournament, table.c.version.in_(names)
    stored = {
        row.version: (EntrantSums.from_row(dict(row._mapping)), float(row.seen))
        for row in connection.execute(select(table).where(*of_names))
    }
    connection.execute(delete(table).where(*of_names))
    last = _last_closed(connection, tournament, names) if changes.subtracts else changes.seen
    rows = []
    for name in names:
        sums, seen = stored.get(name, (EntrantSums(), 0.0))
        sums.add(changes.entrants[name])
        if sums.matches:
            row = {"tournament": tournament, "version": name, "seen": last.get(name, seen)}
            rows.append({**row, **sums.to_row()})
    if rows:
        connection.execute(insert(table), rows)


def _last_closed(connection: Connection, tournament: str, names: Sequence[str]) -> dict[str, float]:
    """Return when the last match of each entrant closed."""
    sides = schema.match_entrants
    query = (
        select(sides.c.version, func.max(sides.c.closed))
        .where(
            sides.c.tournament == tournament,
            sides.c.version.in_(names),
            sides.c.closed.is_not(None),
        )
        .group_by(sides.c.version)
    )
    return {version: float(at) for version, at in connection.execute(query)}


def _note(connection: Connection, tournament: str, seq: int) -> None:
    table = schema.rated_tournaments
    of = update(table).where(table.c.tournament == tournament)
    if not connection.execute(of.values(seq=seq)).rowcount:
        connection.execute(insert(table).values(tournament=tournament, seq=seq))


def meetings(connection: Connection, of: Iterable[str]) -> Meetings:
    """Return the sums of some tournaments by line-up."""
    return _meetings(_line_up_rows(connection, of))


def meetings_before(connection: Connection, tournament: str, number: int) -> tuple[int, Meetings]:
    """Return the sums by line-up of the rounds before one, and the newest event.

    Events that are not in the stored sums yet are added, and the results of the round and later
    ones are subtracted. So the result does not depend on when anything is rated or closed.

    Args:
        number: the first round that is not included.
    """
    until = closings.newest_closing(connection)
    recounted = _recounted(connection, [tournament], position(connection), until)
    changes = recounted[tournament].line_ups if tournament in recounted else {}
    matches = schema.matches
    later = select(matches.c.id).where(
        matches.c.tournament == tournament,
        matches.c.round >= number,
        matches.c.state == MatchState.CLOSED,
    )
    ids = connection.execute(later).scalars().all()
    for played in closed_matches.with_ids(connection, ids, with_thinking=False).values():
        line_up, sums = line_ups.sums_of(played.result)
        changes[line_up] = _sum(changes.get(line_up), sums, -1)
    return until, _meetings(_line_up_rows(connection, [tournament]), changes)


def meetings_between(
    connection: Connection,
    of: Iterable[str],
    versions: Collection[str],
    others: Collection[str],
) -> Meetings:
    """Return the sums of some tournaments by line-up between versions and others.

    Line-ups of more than two are all returned.

    Args:
        others: the other one; empty: any.
    """
    first, second = schema.line_ups.c.first, schema.line_ups.c.second
    if others:
        pair = (first.in_(versions) & second.in_(others)) | (
            first.in_(others) & second.in_(versions)
        )
    else:
        pair = first.in_(versions) | second.in_(versions)
    return _meetings(_line_up_rows(connection, of, pair | first.is_(None)))


def _line_up_rows(
    connection: Connection, of: Iterable[str], only: ColumnElement[bool] | None = None
) -> Iterator[Any]:
    table = schema.line_ups
    for tournament in of:
        query = select(table).where(table.c.tournament == tournament)
        if only is not None:
            query = query.where(only)
        options = {"yield_per": _ROWS_AT_ONCE}
        with connection.execution_options(**options).execute(query) as rows:
            yield from rows


def _meetings(rows: Iterable[Any], changes: Mapping[LineUp, Sums] | None = None) -> Meetings:
    """Return rows as a table, with changes that are not in them."""
    return Meetings.of_line_ups(_line_ups(rows, dict(changes or {})))


def _line_ups(rows: Iterable[Any], left: dict[LineUp, Sums]) -> Iterator[tuple[LineUp, Sums]]:
    loads = json.loads
    for row in rows:
        pair = (row.first, row.second)
        line_up = LineUp(pair if row.second is not None else tuple(loads(row.entrants)), row.games)
        if line_up in left:
            left[line_up] = _sum(_stored_sums(row), left[line_up])
            continue
        # The products of a single match follow from its halves.
        products = tuple(loads(row.products)) if row.matches > 1 else ()
        yield line_up, Sums(row.matches, tuple(loads(row.halves)), products)
    yield from _changed(left)


def _changed(line_ups: Mapping[LineUp, Sums]) -> Iterator[tuple[LineUp, Sums]]:
    for line_up, sums in line_ups.items():
        if sums.matches:
            yield line_up, sums._replace(products=sums.products if sums.matches > 1 else ())


def entrants(
    connection: Connection, of: Iterable[str]
) -> tuple[dict[str, EntrantSums], dict[str, float]]:
    """Return the sums of some tournaments by entrant, and when their last matches closed."""
    table = schema.entrant_sums
    sums: dict[str, EntrantSums] = {}
    seen: dict[str, float] = {}
    for tournament in of:
        for row in connection.execute(select(table).where(table.c.tournament == tournament)):
            of_row = EntrantSums.from_row(dict(row._mapping))
            sums.setdefault(row.version, EntrantSums()).add(of_row)
            seen[row.version] = max(seen.get(row.version, 0.0), row.seen)
    return sums, seen


def recount(engine: Engine, tournament: str) -> None:
    """Compute the sums of a tournament again from its games.

    The games are read outside of the transaction that replaces the rows, so that matches can close
    meanwhile.
    """
    with reading(engine) as connection:
        until = position(connection)
        counted = _recounted(connection, [tournament], 0, until).get(tournament)
    with writing(engine, "recount_results") as connection:
        lock_decision(connection, FOLLOWER)
        for table in (schema.line_ups, schema.entrant_sums):
            connection.execute(delete(table).where(table.c.tournament == tournament))
        later = _recounted(connection, [tournament], until, position(connection)).get(tournament)
        for changes in filter(None, (counted, later)):
            _change_line_ups(connection, tournament, changes.line_ups)
            _change_entrants(connection, tournament, changes)


def meetings_at(engine: Engine, of: Sequence[str], positions: Iterable[int]) -> Iterator[Meetings]:
    """Yield the sums of some tournaments by line-up at ascending positions, from the games."""
    before = 0
    changes: dict[str, _Changes] = {}
    for until in positions:
        with reading(engine) as connection:
            _recounted(connection, of, before, until, changes)
        every = (_changed(each.line_ups) for each in changes.values())
        yield Meetings.of_line_ups(chain.from_iterable(every))
        before = until


def _recounted(
    connection: Connection,
    of: Sequence[str],
    after: int,
    until: int,
    changes: dict[str, _Changes] | None = None,
) -> dict[str, _Changes]:
    """Add what the events of some tournaments between two positions change; return the changes."""
    changes = {} if changes is None else changes
    while events := closings.closings_after(connection, after, _BATCH, of=of, until=until):
        after = events[-1].seq
        _gather(connection, events, changes)
    return changes


def newest(connection: Connection, of: Iterable[str]) -> int:
    """Return the newest event of some tournaments that is in the sums; 0 without one."""
    table = schema.rated_tournaments
    query = select(func.max(table.c.seq)).where(table.c.tournament.in_(list(of)))
    return int(connection.execute(query).scalar_one() or 0)
