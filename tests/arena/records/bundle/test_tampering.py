"""Test that every change to a bundle is detected and reported."""

import json
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from arena.records.bundle import folder
from arena.records.bundle.audit import audit
from arena.records.bundle.collection import gather
from arena.records.bundle.folder import BundleFileError
from arena.store.matches import match_leases
from arena.system.structured_file import FileProblem
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.examples import quick_cases

Json = dict[str, Any]


@dataclass
class Forger:
    where: Path

    def read(self, name: str = "tournament.json") -> Json:
        document: Json = json.loads((self.where / name).read_text())
        return document

    def replace(self, value: Json, name: str = "tournament.json") -> None:
        (self.where / name).write_text(json.dumps(value))

    def record(self, match: str) -> Path:
        return self.where / "matches" / f"{match}.jsonl"

    def lines(self, match: str) -> list[Json]:
        return [json.loads(line) for line in self.record(match).read_text().splitlines()]

    def write(self, match: str, lines: list[Json]) -> None:
        self.record(match).write_text("".join(json.dumps(line) + "\n" for line in lines))

    def matches(self) -> list[Json]:
        matches: list[Json] = self.read()["matches"]
        return matches

    def problems(self) -> tuple[str, ...]:
        return audit(folder.read(self.where)).problems


@pytest.fixture(scope="module")
def swiss(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the bundle of a finished Swiss tournament with a void match and a fault."""
    simulated_arena = SimulatedArena(tmp_path_factory.mktemp("swiss"))
    tournament = simulated_arena.begin("swiss", simulated_arena.bots(4), settings={"rounds": 3})
    void = match_leases.due(simulated_arena.engine)[0]
    simulated_arena.play(void, most=1)
    match_leases.void(simulated_arena.engine, void, "the referee was lost three times")
    while True:
        due = match_leases.due(simulated_arena.engine)
        if not due:
            break
        for match in due:
            simulated_arena.play(match, fault=match == due[-1])
        simulated_arena.ask()
    folder.write(gather(simulated_arena.engine, tournament.id), simulated_arena.folder / "bundle")
    return simulated_arena.folder / "bundle"


@pytest.fixture
def forger(swiss: Path, tmp_path: Path) -> Forger:
    where = tmp_path / "bundle"
    shutil.copytree(swiss, where)
    return Forger(where)


def closed(forger: Forger) -> list[str]:
    return [match["match"] for match in forger.matches() if match["state"] == "CLOSED"]


def test_an_unchanged_bundle_has_no_problems(forger: Forger) -> None:
    assert forger.problems() == ()


def assigns(path: str, value: object, problem: str) -> Callable[[Any], str]:
    """Return a function that changes the value at a path, and returns a part of the problem."""

    def change(document: Any) -> str:
        *way, last = (int(name) if name.lstrip("-").isdigit() else name for name in path.split("."))
        for name in way:
            document = document[name]
        document[last] = value
        return problem

    change.__name__ = path
    return change


# Each function changes the lines of a record and returns the expected part of the problem.
def action(lines: list[Json]) -> str:
    acts = [line for line in lines if line["type"] == "action"]
    first, other = acts[0], next(act for act in acts if act["action"] != acts[0]["action"])
    first["action"] = other["action"]
    return f"game 1, decision {first['decision'] + 1}: "


def silence(lines: list[Json]) -> str:
    fault = next(line for line in lines if line["type"] == "fault")
    lines.remove([line for line in lines if line["type"] == "action"][-1])
    return f"faulted at decision {fault['decision'] + 1}, which was not open to it"


def forgiven(lines: list[Json]) -> str:
    result = lines[-2]
    result |= {"verdicts": ["finished"] * 2, "places": [1, 1]}
    return "ends before it is over, and nobody faulted"


def verdict(lines: list[Json]) -> str:
    result = next(line for line in lines if line["type"] == "result")
    result |= {"verdicts": ["timeout", "finished"], "places": [2, 1]}
    return "seat 1 has the verdict timeout without a fault"


def seating(lines: list[Json]) -> str:
    first = next(line for line in lines if line["type"] == "game")
    first["seating"].reverse()
    return "game 1 is recorded at table 1 with"


def board(lines: list[Json]) -> str:
    first = next(line for line in lines if line["type"] == "game")
    first["board"] = 7
    return "game 1 was played on board 8"


def lost(lines: list[Json]) -> str:
    lines[:] = [line for line in lines if line.get("game") != 1 or line["type"] == "match"]
    return "has 1 games in its record; it has 2"


def doubled(lines: list[Json]) -> str:
    games = [line for line in lines if line.get("game") == 0 and line["type"] != "match"]
    lines[1:] = [*games, *games, lines[-1]]
    return "it has games [1, 1]"


def hidden(lines: list[Json]) -> str:
    del lines[-1]
    return "the seed is not revealed"


RECORDS = [
    *(action, verdict, seating, board, lost, doubled, hidden),
    assigns("-1.seed", "ab" * 32, "the seed is not the one that was committed to"),
    assigns(
        "0.options",
        {"must_beat": False},
        "is {'must_beat': False} in its record, and {'must_beat': True} in the tournament",
    ),
    assigns("0.clock.bank_ms", 1, "in its record, and {'start_ms': 10000"),
    assigns("0.entrants.0.1", "ab" * 32, "entrants of"),
]
FAULTS = [silence, forgiven]


@pytest.mark.parametrize("change", RECORDS, ids=lambda change: change.__name__)
def test_a_changed_record_is_reported(forger: Forger, change: Callable[[list[Json]], str]) -> None:
    name = closed(forger)[0]
    lines = forger.lines(name)
    clause = change(lines)
    forger.write(name, lines)
    problems = forger.problems()
    assert any(name in problem and clause in problem for problem in problems), problems


@pytest.mark.parametrize("change", FAULTS, ids=lambda change: change.__name__)
def test_a_changed_fault_is_reported(forger: Forger, change: Callable[[list[Json]], str]) -> None:
    lines = {name: forger.lines(name) for name in closed(forger)}
    name = next(n for n in lines if any(line["type"] == "fault" for line in lines[n]))
    clause = change(lines[name])
    forger.write(name, lines[name])
    assert any(name in problem and clause in problem for problem in forger.problems())


def test_one_changed_action_is_one_problem(forger: Forger) -> None:
    name = closed(forger)[0]
    lines = forger.lines(name)
    action(lines)
    forger.write(name, lines)
    assert len(forger.problems()) == 1


def test_swapped_records_are_reported(forger: Forger) -> None:
    first, other = closed(forger)[:2]
    texts = forger.record(first).read_text(), forger.record(other).read_text()
    forger.record(first).write_text(texts[1])
    forger.record(other).write_text(texts[0])
    problems = forger.problems()
    assert f"the record of {first} is that of {other}" in problems
    assert f"the record of {other} is that of {first}" in problems


def test_a_missing_record_is_reported(forger: Forger) -> None:
    name = closed(forger)[0]
    forger.record(name).unlink()
    assert forger.problems()[0].startswith(f"the record is missing of {name} (round 0, match 1)")


def test_a_superfluous_record_is_reported(forger: Forger) -> None:
    forger.record("m-0123456789").write_text(forger.record(closed(forger)[0]).read_text())
    assert forger.problems() == (
        "there is a record of m-0123456789, which the tournament does not have",
    )


def test_an_invalid_record_is_reported(forger: Forger) -> None:
    name = closed(forger)[0]
    for text, clause in (
        ("", "the record is empty"),
        ("{}", "line 1"),
        ("\0\xff", "line 1 is not valid JSON"),
    ):
        forger.record(name).write_text(text)
        assert forger.problems()[0].startswith(f"the record of {name} cannot be read: {clause}")


def test_a_void_match_with_a_seed_is_reported(forger: Forger) -> None:
    (void,) = [match["match"] for match in forger.matches() if match["state"] == "VOID"]
    forger.write(void, [*forger.lines(void), {"type": "seed", "seed": "ab" * 32}])
    (problem,) = forger.problems()
    assert problem.startswith(f"{void} is void, but its record reveals the seed")


# Each function changes tournament.json and returns the expected part of the problem.
def entrant(document: Json) -> str:
    last = document["matches"][-1]
    names = [row["entrant"] for row in document["entrants"]]
    last["entrants"] = [name for name in names if name not in last["entrants"]]
    return f"{last['match']} (round 2, match 1) is"


def swapped(document: Json) -> str:
    first, other = document["matches"][-2:]
    first["number"], other["number"] = other["number"], first["number"]
    return "is bot"


def dropped(document: Json) -> str:
    last = document["matches"].pop()
    return f"round 2, match 1 ({' v '.join(last['entrants'])}) is missing"


def added(document: Json) -> str:
    document["matches"].append({**document["matches"][-1], "match": "m-0123456789", "number": 2})
    return "m-0123456789 (round 2, match 2) is not a match of the format"


def twice(document: Json) -> str:
    document["matches"].append(document["matches"][0])
    return f"{document['matches'][0]['match']} is listed 2 times"


def voided(document: Json) -> str:
    document["matches"][1] |= {"state": "VOID", "reason": "an excuse"}
    # The record may reveal the seed, because organisers can void closed matches.
    return "where the format pairs"


def option(document: Json) -> str:
    del document["options"]["must_beat"]
    return "options of poke are missing"


DOCUMENTS = [
    *(entrant, swapped, dropped, added, twice),
    assigns("matches.-1.entrants.0", "nobody@1", "nobody@1 plays in"),
    assigns("entrants.0.content_hash", "ab" * 32, "has a wrong id"),
    assigns("matches.-1.number", 5, "(round 2, match 5) has a wrong id"),
    assigns("matches.1.key", "ab" * 32, "is not the hash of its settings, place and entrants"),
    assigns("matches.1.commitment", "ab" * 32, "does not follow from the tournament's"),
    assigns("seed", "ab" * 32, "does not follow from the tournament's"),
    assigns("matches.1.state", "RUNNING", "is running, but the tournament is closed"),
    voided,
    assigns("matches.0.reason", None, "is void without a reason"),
    assigns(
        "matches.0.state",
        "CANCELLED",
        "is cancelled, although none of its entrants has withdrawn",
    ),
    assigns("matches.-1.why", "because I say so", "has the reason 'because I say so'"),
    assigns("entrants.0.withdrawn", 1, "but left before round 1"),
    assigns("entrants.0.joined", 1, "but joined for round 1"),
    assigns("settings.rounds", 2, "is not a match of the format"),
    assigns("settings.rounds", 4, "round 3, match 0"),
    assigns("pairing", "roundrobin", "unknown format 'roundrobin'"),
    assigns("game", "bridge", "unknown game 'bridge'"),
    assigns("seats", 0, "poke needs 2 seats"),
    option,
    assigns("policy", "unforgiving", "policy of"),
]


@pytest.mark.parametrize("change", quick_cases(DOCUMENTS, 9), ids=lambda change: change.__name__)
def test_a_changed_schedule_is_reported(forger: Forger, change: Callable[[Json], str]) -> None:
    document = forger.read()
    clause = change(document)
    forger.replace(document)
    problems = forger.problems()
    assert any(clause in problem for problem in problems), problems


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        for name, data in inside:
            yield from leaves(data, (*path, name))
    else:
        yield path


def changed(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value}x" if isinstance(value, str) else 1


def test_a_changed_value_of_the_standings_is_reported(forger: Forger) -> None:
    true = forger.read("standings.json")
    bundle = folder.read(forger.where)
    every = list(leaves(true))
    assert ("standings", 0, "elo") in every
    for path in random.Random(0).sample(every, 12):
        document = json.loads(json.dumps(true))
        inside = document
        for name in path[:-1]:
            inside = inside[name]
        inside[path[-1]] = changed(inside[path[-1]])
        forger.replace(document, "standings.json")
        (problem,) = forger.problems()
        assert problem.startswith("standings: ")
        assert str(path[-1]) in problem or isinstance(path[-1], int)
    assert bundle.standings == true


def test_a_value_that_differs_in_the_last_digit_is_reported(forger: Forger) -> None:
    document = forger.read("standings.json")
    first = document["standings"][0]
    true, first["elo"] = first["elo"], first["elo"] + 1e-12
    assert first["elo"] != true
    forger.replace(document, "standings.json")
    assert forger.problems() == (
        f"standings: elo of {first['entrant']} of standings is {first['elo']}; "
        f"it follows from the records as {true}",
    )


def test_missing_standings_are_reported(forger: Forger) -> None:
    (forger.where / "standings.json").unlink()
    assert forger.problems() == ("the standings are missing",)


@pytest.mark.parametrize(
    ("change", "problem", "key"),
    [
        ({"format": 2}, FileProblem.VALUE, "format"),
        ({"seats": "2"}, FileProblem.VALUE, "seats"),
        ({"seats": -2}, FileProblem.VALUE, "seats"),
        ({"boards": True}, FileProblem.VALUE, "boards"),
        ({"clock": {"start_ms": 1, "allowance_ms": -3}}, FileProblem.VALUE, "clock.allowance_ms"),
        ({"clock": {}}, FileProblem.MISSING_KEY, "clock.start_ms"),
        ({"state": "over"}, FileProblem.VALUE, "state"),
        ({"seed": "xy"}, FileProblem.VALUE, "seed"),
        ({"seed": "abc"}, FileProblem.VALUE, "seed"),
        ({"created": "today"}, FileProblem.VALUE, "created"),
        ({"created": "2026-01-01T00:00:00"}, FileProblem.VALUE, "created"),
        ({"ended": 3}, FileProblem.VALUE, "ended"),
        ({"matches": [1]}, FileProblem.VALUE, "matches[0]"),
        ({"matches": [{}]}, FileProblem.MISSING_KEY, "matches[0].match"),
        (
            {"entrants": [{"entrant": "a@1", "remote": 0}]},
            FileProblem.MISSING_KEY,
            "entrants[0].content_hash",
        ),
    ],
)
def test_an_invalid_document_is_refused_with_its_key(
    forger: Forger, change: Json, problem: FileProblem, key: str
) -> None:
    text = json.dumps({**forger.read(), **change}, indent=1)
    (forger.where / "tournament.json").write_text(text)
    with pytest.raises(BundleFileError) as caught:
        forger.problems()
    error = caught.value
    path = forger.where / "tournament.json"
    assert (error.file, error.problem, error.key) == (path, problem, key)


@pytest.mark.parametrize("name", ["tournament.json", "standings.json"])
def test_a_file_that_is_not_json_is_refused(forger: Forger, name: str) -> None:
    (forger.where / name).write_text("{\n,")
    with pytest.raises(BundleFileError) as caught:
        forger.problems()
    error = caught.value
    assert (error.file.name, error.problem, error.line) == (name, FileProblem.SYNTAX, 2)
