"""`db check` and `tournament verify` detect damaged records and changed results."""

import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, delete, insert, select, text, update

from arena.records import rebuilt_results
from arena.records.bundle import store_audit
from arena.records.bundle.store_audit import MatchAudit
from arena.store import backup_file, database, schema
from arena.store.matches import match_leases, raw_rows
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.examples import store_cases

Damage = Callable[[Connection, str], None]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Back up a finished Swiss tournament with a void match and a fault."""
    simulated_arena = SimulatedArena(tmp_path_factory.mktemp("records"))
    bots = simulated_arena.bots(4)
    simulated_arena.begin("swiss", bots, settings={"rounds": 2}, corrections=1)
    void = match_leases.due(simulated_arena.engine)[0]
    simulated_arena.play(void, most=1)
    match_leases.void(simulated_arena.engine, void, "the referee was lost three times")
    while due := match_leases.due(simulated_arena.engine):
        for match in due:
            simulated_arena.play(match, fault=match == due[-1])
        simulated_arena.ask()
    file = simulated_arena.folder / "backup.db"
    backup_file.backup(simulated_arena.engine, file, _quietly)
    simulated_arena.engine.dispose()
    return file


@pytest.fixture
def store(original: Path, url: str, tmp_path: Path) -> Iterator[Engine]:
    if url.startswith("sqlite"):
        shutil.copy(original, tmp_path / "copy.db")
        engine = database.open(f"sqlite:///{tmp_path}/copy.db")
    else:
        engine = database.open(url)
        backup_file.restore(engine, original, _quietly)
    yield engine
    engine.dispose()


def _quietly(what: str, done: int, of: int) -> None:
    pass


def audited(store: Engine) -> dict[str, MatchAudit]:
    reports = {report.match: report for report in store_audit.audit(store, _quietly)}
    assert len(reports) == 4
    return {name: report for name, report in reports.items() if report.problems}


def tournament(store: Engine) -> str:
    with database.reading(store) as connection:
        return str(connection.execute(select(schema.tournaments.c.id)).scalar_one())


def different(store: Engine) -> list[str]:
    return list(store_audit.differences(store, tournament(store), _quietly))


def closed_match(store: Engine) -> str:
    faulted = select(schema.faults.c.match)
    query = select(schema.results.c.match).where(schema.results.c.match.not_in(faulted))
    with database.reading(store) as connection:
        return str(connection.execute(query.order_by(schema.results.c.match)).scalars().first())


def faulty_match(store: Engine) -> str:
    with database.reading(store) as connection:
        return str(connection.execute(select(schema.faults.c.match)).scalars().first())


def change(store: Engine, damage: Damage, match: str) -> None:
    with database.writing(store) as connection:
        damage(connection, match)


def of_game(column: str, alter: Callable[[Any], Any], game: int = 0) -> Damage:
    table = schema.games

    def damage(connection: Connection, match: str) -> None:
        place = (table.c.match == match, table.c.game == game)
        value = connection.execute(select(table.c[column]).where(*place)).scalar_one()
        connection.execute(update(table).where(*place).values(**{column: alter(value)}))

    return damage


def of_line(kind: str, alter: Callable[[dict[str, Any]], object]) -> Damage:
    """Return damage that changes the first line of a kind in the record of game 0."""

    def altered(record: str) -> str:
        lines = [json.loads(line) for line in record.splitlines()]
        alter(next(line for line in lines if line["type"] == kind))
        return "".join(json.dumps(line) + "\n" for line in lines)

    return of_game("record", altered)


def of_match(statement: str) -> Damage:
    def damage(connection: Connection, match: str) -> None:
        connection.execute(text(statement), {"match": match})

    return damage


def swap_games(connection: Connection, match: str) -> None:
    table = schema.games
    query = select(table.c.game, table.c.record).where(table.c.match == match)
    records = {row.game: row.record for row in connection.execute(query)}
    for game, other in ((0, 1), (1, 0)):
        place = (table.c.match == match, table.c.game == game)
        connection.execute(update(table).where(*place).values(record=records[other]))


def swap_matches(connection: Connection, match: str) -> None:
    table = schema.games
    query = select(table.c.record).where(table.c.match != match, table.c.game == 0)
    other = connection.execute(query.order_by(table.c.match)).scalars().first()
    place = (table.c.match == match, table.c.game == 0)
    connection.execute(update(table).where(*place).values(record=other))


def add_fault(connection: Connection, match: str) -> None:
    version = connection.execute(select(schema.match_entrants.c.version)).scalars().first()
    row = {"match": match, "game": 0, "number": 0, "decision": 0, "seat": 0, "version": version}
    more = {"verdict": "timeout", "sentence": "It was silent.", "ended": "", "output": ""}
    connection.execute(insert(schema.faults), [row | more])


RECORDS: dict[str, Damage] = {
    "emptied": of_game("record", lambda record: ""),
    "blank": of_game("record", lambda record: "\n \n"),
    "truncated": of_game("record", lambda record: record[: len(record) // 2]),
    "without its result": of_game("record", lambda r: r[: r.rindex("\n", 0, -1) + 1]),
    "not JSON": of_game("record", lambda record: record.replace("{", "[", 1)),
    "nested deeply": of_game("record", lambda record: "[" * 100_000),
    "a number": of_game("record", lambda record: "1\n" + record),
    "with a line of an unknown type": of_game("record", lambda r: r + '{"type":"actiom"}\n'),
    "with a seed": of_game("record", lambda r: r + json.dumps({"type": "seed", "seed": "00" * 32})),
    "with a match line": of_game("record", lambda record: '{"type":"match"}\n' + record),
    "game twice": of_game("record", lambda record: record + record),
    "games swapped": swap_games,
    "swapped between matches": swap_matches,
    "another action": of_line("action", lambda line: line.update(action={"poke": {"pass": {}}})),
    "another seat": of_line("action", lambda line: line.update(seat=1 - line["seat"])),
    "another decision": of_line("action", lambda line: line.update(decision=9)),
    "a decision that is text": of_line("action", lambda line: line.update(decision="x")),
    "by the referee": of_line("action", lambda line: line.update(by="referee")),
    "other scores": of_line("result", lambda line: line.update(scores=[1, -1])),
    "other places": of_line("result", lambda line: line.update(places=[1, 1])),
    "other verdicts": of_line("result", lambda line: line.update(verdicts=["timeout", "finished"])),
    "no verdicts": of_line("result", lambda line: line.pop("verdicts")),
    "verdicts of another type": of_line("result", lambda line: line.update(verdicts=7)),
    "other corrections": of_line("result", lambda line: line.update(corrections=[9, 0])),
    "no default actions": of_line("result", lambda line: line.pop("defaults")),
    "too many corrections": of_line("action", lambda line: line.update(corrections=2)),
    "another board": of_line("game", lambda line: line.update(board=1)),
    "another table": of_line("game", lambda line: line.update(table=1)),
    "other seats": of_line("game", lambda line: line["seating"].reverse()),
    "another number": of_line("game", lambda line: line.update(game=7)),
}
"""Damage to a record, which only a backup can repair."""

SCHEDULE: dict[str, Damage] = {
    "commitment": of_match("UPDATE matches SET commitment = 'ab' WHERE id = :match"),
    "key": of_match("UPDATE matches SET key = 'ab' WHERE id = :match"),
    "number": of_match("UPDATE matches SET number = 77 WHERE id = :match"),
    "boards": of_match("UPDATE matches SET boards = 2 WHERE id = :match"),
    "attempt": of_match("UPDATE games SET attempt = 9 WHERE match = :match"),
    "a game's number": of_match("UPDATE games SET game = 7 WHERE match = :match AND game = 1"),
    "a result is missing": of_match("DELETE FROM results WHERE match = :match"),
    "a game is missing": of_match("DELETE FROM games WHERE match = :match AND game = 1"),
}

RESULTS: dict[str, Damage] = {
    "places of a game": of_game("places", lambda places: [*reversed(places)]),
    "scores of a game": of_game("scores", lambda scores: [score + 1 for score in scores]),
    "no scores of a game": of_game("scores", lambda scores: None),
    "verdicts of a game": of_game("verdicts", lambda verdicts: ["crash", "finished"]),
    "faults of a game": of_game("faults", lambda faults: [3, 3]),
    "faults that are booleans": of_game("faults", lambda faults: [False, False]),
    "tally of a game": of_game("tally", lambda tally: {**tally, "bank_ms": [9, 9]}),
    "thinking of a game": of_game("thinking", lambda thinking: [[], []]),
    "corrections of a game": of_game("corrections", lambda corrections: [1, 0]),
    "default actions of a game": of_game("defaults", lambda defaults: [0, 1]),
    "table of a game": of_game("table_number", lambda table: 5),
    "board of a game": of_game("board", lambda board: 5),
    "an added fault": add_fault,
}
"""Damage to results with intact records, which `ladder rebuild` repairs."""


def test_an_unaltered_store_has_no_problems(store: Engine) -> None:
    assert audited(store) == {}
    assert different(store) == []
    reports = list(store_audit.audit(store, _quietly))
    with database.reading(store) as connection:
        games = len(connection.execute(select(schema.games.c.game)).all())
    assert sum(report.games for report in reports) == games
    assert sum(report.actions for report in reports) > games


@store_cases({**SCHEDULE, **RECORDS}, len(SCHEDULE) + 9)
def test_a_damaged_match_is_reported(store: Engine, case: str) -> None:
    match = closed_match(store)
    change(store, {**SCHEDULE, **RECORDS}[case], match)
    problems = audited(store)
    assert list(problems) == [match]
    assert not problems[match].repairable
    assert case in SCHEDULE or all(match in each for each in problems[match].problems)


@store_cases(RESULTS, 6)
def test_an_altered_result_is_reported_and_can_be_corrected(store: Engine, case: str) -> None:
    match = closed_match(store)
    change(store, RESULTS[case], match)
    problems = audited(store)
    assert list(problems) == [match]
    assert problems[match].repairable
    assert different(store)
    assert all(match in difference for difference in different(store))
    for rebuilt in rebuilt_results.rebuilt(store, [tournament(store)]):
        if rebuilt.differences:
            rebuilt_results.store_rebuilt(store, rebuilt)
    assert audited(store) == {}


@store_cases(["sentence", "verdict", "version", "seat", "decision", "output"])
def test_an_altered_fault_is_reported(store: Engine, case: str) -> None:
    match = faulty_match(store)
    values: dict[str, object] = {"seat": 0, "decision": 99}
    with database.writing(store) as connection:
        table = schema.faults
        value = values.get(case, "altered")
        if case == "version":
            faulty = select(table.c.version).where(table.c.match == match)
            versions = schema.versions.c.id
            value = connection.execute(
                select(versions).where(versions.not_in(faulty)).limit(1)
            ).scalar_one()
        connection.execute(update(table).where(table.c.match == match).values(**{case: value}))
    assert list(audited(store)) == [match]
    assert different(store)


def test_a_missing_fault_is_reported(store: Engine) -> None:
    match = faulty_match(store)
    with database.writing(store) as connection:
        connection.execute(delete(schema.faults).where(schema.faults.c.match == match))
    assert list(audited(store)) == [match]


@store_cases(["emptied", "truncated", "other scores", "another seat"])
def test_games_of_a_void_match_are_checked(store: Engine, case: str) -> None:
    with database.reading(store) as connection:
        table = schema.matches
        void = connection.execute(select(table.c.id).where(table.c.state == "VOID")).scalar_one()
    change(store, RECORDS[case], void)
    assert list(audited(store)) == [void]


@store_cases(
    [
        """UPDATE tournaments SET options = '{"must_beat": false}'""",
        "UPDATE tournaments SET options = '[]'",
        "UPDATE tournaments SET policy = 'unforgiving'",
        "UPDATE tournaments SET allowance_ms = 1",
        "UPDATE tournaments SET boards = 2",
        "UPDATE tournaments SET game = 'pouku'",
        "UPDATE tournaments SET game = 'bridge'",
        "UPDATE versions SET content_hash = 'ab'",
    ],
)
def test_altered_terms_of_a_tournament_concern_all_its_matches(store: Engine, case: str) -> None:
    change(store, of_match(case), "")
    assert len(audited(store)) == 4


def test_a_seed_not_derived_from_the_tournament_is_reported(store: Engine) -> None:
    with database.writing(store) as connection:
        connection.execute(update(schema.tournaments).values(seed=b"x" * 32))
    assert len(audited(store)) == 4


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("column", ["record", "places", "verdicts", "tally", "thinking"])
@pytest.mark.parametrize(
    "garbage",
    [
        b"\xff\xfe",
        b"{",
        *(pytest.param(text, marks=pytest.mark.long) for text in (b"", b"null", b"1")),
    ],
)
def test_bytes_that_are_not_text_are_a_problem_of_their_match(
    store: Engine, column: str, garbage: bytes
) -> None:
    match = closed_match(store)
    with database.writing(store) as connection:
        connection.exec_driver_sql(
            f"UPDATE games SET {column} = CAST(? AS TEXT) WHERE match = ?", (garbage, match)
        )
    assert list(audited(store)) == [match]
    assert different(store)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_flipped_bit_outside_unverified_fields_is_reported(
    store: Engine,
) -> None:
    """Flip bits in fields that are verified. Exact times are not (docs/reference/bundle.md)."""
    match, dice = closed_match(store), random.Random(0)
    path = str(store.url.database)
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        place = "WHERE match = ? AND game = 0"
        (record,) = connection.execute(f"SELECT record FROM games {place}", (match,)).fetchone()
        for _ in range(40):
            at = dice.randrange(len(record))
            damaged = bytearray(record)
            damaged[at] ^= 1 << dice.randrange(8)
            query = f"UPDATE games SET record = CAST(? AS TEXT) {place}"
            connection.execute(query, (bytes(damaged), match))
            connection.commit()
            within = record[: at + 1].rsplit(b'"', 2)[-2:]
            if within[0] in (b"ms", b"bank_ms") or damaged.strip() == record.strip():
                continue
            with raw_rows.reading_invalid_text(store) as reader:
                (rows,) = raw_rows.read(reader, [match])
            assert store_audit.check(rows).problems, (at, bytes(damaged[at - 20 : at + 20]))
