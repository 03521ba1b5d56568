"""`pokearena standings`: ranks, strengths, anchors and filters."""

import json
import subprocess
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from arena.cli import output
from arena.cli.ladders import ladder_table
from arena.cli.workspace import Workspace
from arena.formats.ladder import LadderFormat
from arena.ladders import ladder_key, ladder_rows, rater
from arena.ratings.closed_match import ClosedMatch, PlayedGame
from arena.ratings.standings import of_matches
from arena.records import rebuilt_results
from arena.store import database, schema
from arena.submissions import open_ladders
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.cli.stored_tournament import StoreTournament, store_tournament
from tests.arena.cli.terminal import POKEARENA, Cli
from tests.arena.records.bundle.simulated_arena import SimulatedArena
from tests.guarded_process import GuardedProcess

BOTS = ("ace", "bee", "cat")


@pytest.fixture
def begun_tournament(cwd: Path, stored_tournament: StoreTournament) -> str:
    """Store a tournament of thirty rounds; ace wins every game, and bee and cat are equal."""
    level = {frozenset(("bee", "cat")): [*[("bee", "cat")] * 2, *[("cat", "bee")] * 2]}
    return stored_tournament(BOTS, level, 30)


def test_the_certain_winner_is_first_and_the_others_share_a_range_of_ranks(
    cli: Cli, begun_tournament: str
) -> None:
    result = cli("standings", "poke")
    head, columns, *rows = result.out.splitlines()
    assert (result.status, head) == (0, "poke")
    assert columns.split() == "# bot strength Elo matches W–D–L points/board p95 ms".split()
    cells = [row.split() for row in rows]
    assert [(cell[0], cell[1]) for cell in cells] == [
        ("1", "ace@1"),
        ("2–3", "bee@1"),
        ("2–3", "cat@1"),
    ]
    assert cells[0][-3:] == ["+10.0", "±0.0", "3.08"]
    assert cells[1][5:7] == ["60", "30–0–90"]
    assert max(map(len, result.out.splitlines())) <= 100


def test_the_columns_are_explained_on_stderr(cli: Cli, begun_tournament: str) -> None:
    error_output = cli("standings").err
    assert "docs/explanation/ratings.md" in error_output
    assert "K 10, from 1200" in error_output
    assert "order matters" in error_output


def test_a_strength_with_an_error_above_100_points_is_provisional(cli: Cli, cwd: Path) -> None:
    store_tournament(Workspace(), BOTS, {})
    assert cli("standings").out.count("?") == 3
    ladder_rows = cli("standings", "--json").json["ladders"]["poke"]
    assert all(line["provisional"] for line in ladder_rows)


def test_json_contains_the_parameters_of_the_table(cli: Cli, begun_tournament: str) -> None:
    document = cli("standings", "--tournament", begun_tournament, "--json").json
    first = document["ladders"]["poke"][0]
    assert (first["entrant"], first["ranks"], first["matches"]) == ("ace@1", [1, 1], 60)
    assert first["interval"][0] < first["strength"] < first["interval"][1]
    details = document["details"]["poke"]
    assert details["strength"]["prior"] == 600
    assert details["groups"] == [["ace@1", "bee@1", "cat@1"]]
    assert details["lack_of_fit"] is None
    assert (details["clip"], details["gifts"]) == (2400, [])


def test_a_bot_that_won_every_game_is_marked_and_has_a_bound(
    cli: Cli, begun_tournament: str
) -> None:
    shown = cli("standings", "poke")
    lines = cli("standings", "--json").json["ladders"]["poke"]
    bound = lines[0]["bound"]
    assert (bound["side"], bound["confidence"]) == ("above", 0.95)
    assert lines[1]["strength"] < bound["value"]
    assert [line["bound"] for line in lines[1:]] == [None, None]
    assert f" >{bound['value']:.0f}" in shown.out.splitlines()[2]
    assert "> or won all" in " ".join(shown.err.split())


def test_the_likelihood_of_superiority_to_the_next_line_is_a_column(
    cli: Cli, begun_tournament: str
) -> None:
    lines = cli("standings", "--json").json["ladders"]["poke"]
    likely = [line["superiority_to_next"] for line in lines]
    assert likely[0] > 0.975
    assert likely[1] == pytest.approx(0.5, abs=0.01)
    assert likely[2] is None
    assert f"{100 * likely[1]:.1f} %" in cli("standings", "poke", "--los").out.splitlines()[3]


def test_an_anchor_with_a_deviation_is_a_prior(cli: Cli, begun_tournament: str) -> None:
    words = ("standings", "--anchor", "bee@1=1500:40", "--json")
    document = cli(*words).json
    line = next(line for line in document["ladders"]["poke"] if line["entrant"] == "bee@1")
    assert not line["anchored"]
    assert line["strength"] == pytest.approx(1500, abs=5)
    assert line["error"] == pytest.approx(40, abs=5)
    assert document["details"]["poke"]["strength"]["loose_anchors"] == {"bee@1": [1500, 40]}


def test_the_worth_of_seats_is_shown_on_request(cli: Cli, begun_tournament: str) -> None:
    document = cli("standings", "--seats", "--json").json
    seats = document["seats"]["poke"]
    assert [(each["seats"], each["matches"]) for each in seats] == [([0], 90), ([1], 90)]
    assert seats[0]["score"]["mean"] + seats[1]["score"]["mean"] == pytest.approx(1)
    assert seats[0]["points"] == {"mean": 0, "interval": [0, 0]}
    assert "seats" not in cli("standings", "--json").json
    table = cli("standings", "--seats").out.splitlines()[-3:]
    assert table[0].split() == "seat matches score Elo points per game".split()
    assert [row.split()[:2] for row in table[1:]] == [["1", "90"], ["2", "90"]]


def test_an_anchor_shifts_all_strengths_and_is_marked(cli: Cli, begun_tournament: str) -> None:
    free, fixed = (
        cli("standings", *words, "--json").json["ladders"]["poke"]
        for words in ((), ("--anchor", "bee@1=1500"))
    )
    assert [line["anchored"] for line in fixed] == [False, True, False]
    assert fixed[1]["strength"] == 1500
    gaps = [[line["strength"] - table[1]["strength"] for line in table] for table in (free, fixed)]
    assert gaps[0] == pytest.approx(gaps[1], abs=1e-3)
    assert "1500 set" in cli("standings", "--anchor", "bee@1=1500").out


@pytest.mark.parametrize(
    ("anchors", "code"),
    [
        (("bee@1",), "invalid-anchor"),
        (("bee@1=strong",), "invalid-anchor"),
        (("dog@1=1200",), "unknown-anchor"),
        (("bee@1=1200", "bee@1=1300"), "invalid-anchor"),
        (("bee@1=nan",), "invalid-anchor"),
    ],
)
def test_an_invalid_anchor_is_refused(
    cli: Cli, begun_tournament: str, anchors: tuple[str, ...], code: str
) -> None:
    words = [word for anchor in anchors for word in ("--anchor", anchor)]
    result = cli("standings", *words)
    assert (result.status, result.code, result.out) == (2, code, "")


def test_cyclic_results_are_reported(cli: Cli, cwd: Path) -> None:
    circle = [("ace", "bee"), ("bee", "cat"), ("cat", "ace")]
    results = {frozenset(two): [*[two] * 5, two[::-1]] for two in circle}
    store_tournament(Workspace(), BOTS, results, cycles=12)
    assert "strength alone does not explain all results" in cli("standings").err
    details = cli("standings", "--json").json["details"]["poke"]
    assert details["lack_of_fit"]["p"] < 0.05


def test_without_matches_there_is_no_ladder(cli: Cli, cwd: Path) -> None:
    assert Workspace().store is not None
    result = cli("standings")
    assert (result.status, result.out) == (0, "")
    assert "no match is closed yet" in result.err


def test_two_hundred_bots_with_long_names_fit_into_a_hundred_columns() -> None:
    names = [f"a-bot-with-a-long-name-{at:03}@2.1" for at in range(200)]
    played = [
        ClosedMatch(
            f"m-{at}",
            0,
            at,
            (first, other),
            (PlayedGame(0, (1, 2), (1050, -900), ("finished",) * 2, (0, 0)),),
        )
        for at, (first, other) in enumerate(pairwise(names))
    ]
    lines = output.aligned(*ladder_table.ladder_text(of_matches(played, 2400).table))
    assert len(lines) == 201
    assert max(map(len, lines)) <= 100


@pytest.mark.long
def test_a_watched_ladder_is_redrawn_when_a_match_closes(cwd: Path, begun_tournament: str) -> None:
    words = [str(POKEARENA), "standings", "--watch", "--json"]
    with GuardedProcess(words, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        tables = (json.loads(line)["ladders"]["poke"] for line in watching.stdout)
        matches = (sum(row["matches"] for row in table) for table in tables)
        try:
            assert next(matches) == 180
            store_tournament(Workspace(), BOTS, {})
            # The ladder may also be printed between two of the three matches.
            while (number := next(matches)) != 186:
                assert number in (182, 184)
        finally:
            watching.terminate()


def test_equal_tournaments_have_equal_json_except_decision_times(cli: Cli, tmp_path: Path) -> None:
    documents, timings = [], []
    for run in ("first", "second"):
        folder = tmp_path / run
        folder.mkdir()
        simulated_arena = SimulatedArena(folder)
        tournament = simulated_arena.begin("round-robin", simulated_arena.bots(3), seed=bytes(32))
        simulated_arena.play_out(tournament)
        if run == "second":
            _slow_down(simulated_arena, tournament.id)
        simulated_arena.engine.dispose()
        documents.append(cli("standings", "--json", "--data", str(folder)).out)
        timed = cli("standings", "--json", "--timing", "--data", str(folder)).json
        timings.append(timed.pop("timing"))
        assert timed == json.loads(documents[-1])
    assert documents[0] == documents[1]
    assert timings[0] != timings[1]
    assert timings[0]["poke"]["thinking"]["bot0@1"]["decisions"] > 0


def _slow_down(simulated_arena: SimulatedArena, tournament: str) -> None:
    """Multiply the decision times of every bot by ten, in the records and in the results."""
    games = schema.games
    with database.writing(simulated_arena.engine) as connection:
        rows = connection.execute(select(games.c.match, games.c.game, games.c.record)).all()
        for row in rows:
            lines = [json.loads(line) for line in row.record.splitlines()]
            slower = [{**line, "ms": 10 * line["ms"]} if "ms" in line else line for line in lines]
            record = "".join(json.dumps(line) + "\n" for line in slower)
            workspace = (games.c.match == row.match, games.c.game == row.game)
            connection.execute(update(games).where(*workspace).values(record=record))
    for match in rebuilt_results.rebuilt(simulated_arena.engine, [tournament]):
        rebuilt_results.store_rebuilt(simulated_arena.engine, match)
    (scope,) = ladder_key.of_forms(simulated_arena.engine)
    rater.rebuild(simulated_arena.engine, scope)


def history(form: str) -> dict[tuple[int, str], tuple[float, float]]:
    """Return strength and error of all points of a ladder, by round and entrant."""
    engine = Workspace().store
    (key,) = ladder_key.of_forms(engine, form)
    points = ladder_rows.read_history(engine, key)
    return {(each.round, each.version): (each.strength, each.error) for each in points}


def test_a_ladder_can_store_anchors(
    cli: Cli, cwd: Path, stored_tournament: StoreTournament
) -> None:
    """They count for all tournaments of the form, also on pages and in histories."""
    stored_tournament(BOTS, {}, 2)
    workspace = Workspace()
    plan = open_ladders.plan_of("poke")
    text = "bee@1=1500:40, dog@1=1300"
    anchored = replace(plan, settings={**plan.settings, "anchors": text})
    by_command = cli("standings", "--anchor", "bee@1=1500:40", "--json").json
    open_ladders.create_missing(workspace.store, [anchored])
    stored = cli("standings", "--json").json
    assert stored["details"]["poke"]["strength"]["loose_anchors"] == {"bee@1": [1500, 40]}
    strengths = [
        {line["entrant"]: line["strength"] for line in document["ladders"]["poke"]}
        for document in (stored, by_command)
    ]
    assert strengths[0] == strengths[1]
    web = WebState(workspace.store, ServerSettings())
    with TestClient(create(web)) as client:
        client.portal.call(web.read_store)  # type: ignore[union-attr]
        page = client.get("/ladders/poke.json").json()["standings"]
        assert {line["entrant"]: line["strength"] for line in page} == strengths[0]
        points = web.snapshot.charts["poke"].past.points
        latest = {name: value.strength for name, value in points[-1].values.items()}
        assert latest == pytest.approx(strengths[0])
    written = history("poke")
    cli("ladder", "rebuild", "poke")
    assert history("poke") == written
    fixed = cli("standings", "--anchor", "cat@1=1200", "--json").json
    assert fixed["details"]["poke"]["strength"]["anchors"] == {"cat@1": 1200}


@pytest.mark.parametrize("text", ["bee@1", "bee@1=strong", "bee@1=1200:0", "a@1=1,a@1=2"])
def test_an_invalid_stored_anchor_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="anchors: "):
        LadderFormat(anchors=text)
