"""The ladders of clock classes on the pages and on the command line."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.cli.errors import USAGE
from arena.cli.services import serve
from arena.cli.workspace import Workspace
from arena.ratings.call_figures import CallFigures
from arena.store import webhooks
from arena.store.match_settings import Clock, ClockClass, canonical_ladder, ladder_name
from arena.store.matches import listing, model_calls, search
from arena.store.matches.model_calls import Caller, CallPlace
from arena.submissions import open_ladders
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from tests.arena.cli.terminal import Cli
from tests.arena.records.bundle.simulated_arena import SimulatedArena

SLOW = Clock(allowance_ms=5_000)
MODEL = Clock(allowance_ms=60_000)


@pytest.fixture
def arena(cwd: Path) -> SimulatedArena:
    """Play a fast and a slow tournament of one form."""
    arena = SimulatedArena(cwd, store=Workspace().store)
    bots = arena.bots(2)
    for clock in (Clock(), SLOW):
        arena.play_out(arena.begin("round-robin", bots, clock=clock))
    return arena


@pytest.mark.long
def test_each_clock_class_has_its_own_address(arena: SimulatedArena) -> None:
    with TestClient(create(WebState(arena.engine, ServerSettings(rate=0)))) as client:
        for name, clock_class in (("poke", "fast"), ("poke~slow", "slow")):
            ladder = client.get(f"/ladders/{name}.json").json()
            assert (ladder["ladder"], ladder["form"]) == (name, "poke")
            assert ladder["clock_class"] == clock_class
            assert [line["matches"] for line in ladder["standings"]] == [1, 1]
            pages = ["", "/matrix", "/compare?one=bot0&other=bot1", ".csv", ".atom", ".png"]
            statuses = [client.get(f"/ladders/{name}{page}").status_code for page in pages]
            assert statuses == [200] * len(pages)
        assert client.get("/ladders/poke~model").status_code == 404
        cards = client.get("/ladders.json").json()["ladders"]
        assert [(card["ladder"], card["clock_class"]) for card in cards] == [
            ("poke", "fast"),
            ("poke~slow", "slow"),
        ]
        bot = client.get("/bots/bot0.json").json()
        assert list(bot["ladders"]) == ["poke", "poke~slow"]
        assert {row["ladder"] for row in bot["matches"]} == {"poke", "poke~slow"}
        for path in ("/", "/bots", "/bots/bot0?form=poke~slow", "/games", "/games/poke"):
            answer = client.get(path, headers={"Accept": "text/html"})
            assert answer.status_code == 200, path
            assert "/ladders/poke~slow" in answer.text or path == "/bots", path


def add_calls(arena: SimulatedArena, clock: Clock) -> str:
    """Play a tournament of `bot0` and `bot1`, in which `bot0` calls a model; return the match."""
    played = arena.begin("round-robin", arena.bots(2), clock=clock)
    arena.play_out(played)
    [match] = listing.matches(arena.engine, tournament=played.id)
    for identifier in (match.id, "examination"):
        caller = Caller("ada", "bot0@1", identifier, 1, 0)
        worst = CallFigures(60_000, 40_000, 0.5)
        call = model_calls.reserve_call(
            arena.engine, caller, CallPlace(0), "small", worst, 1_000_000
        )
        model_calls.settle_call(arena.engine, call, CallFigures(900, 100, 0.25))
    return match.id


def test_only_ladders_of_models_show_what_was_measured(arena: SimulatedArena, cli: Cli) -> None:
    matches = {name: add_calls(arena, clock) for name, clock in (("slow", SLOW), ("model", MODEL))}
    with TestClient(create(WebState(arena.engine, ServerSettings(rate=0)))) as client:
        page = client.get("/ladders/poke~model.json").json()["standings"]
        usage = {line["entrant"]: line["tokens_per_game"] for line in page}
        games = page[0]["games"]
        assert usage == {"bot0@1": round(1000 / games), "bot1@1": None}
        assert "tokens/game" in client.get("/ladders/poke~model.html").text
        assert "tokens/game" not in client.get("/ladders/poke~slow.html?columns=all").text
        lines = client.get("/ladders/poke~slow.json").json()["standings"]
        assert {line["cost_per_game"] for line in lines} == {None}
        for match in matches.values():
            sides = client.get(f"/matches/{match}.json").json()["sides"]
            assert [side["measured_usage"] for side in sides] == [
                {"input_tokens": 900, "output_tokens": 100, "cost": 0.25},
                None,
            ]
    assert "cost/game" in cli("standings", "poke~model").out
    assert "cost/game" in cli("standings", "poke~model", "--anchor", "bot0@1=1500").out
    assert "cost/game" not in cli("standings", "poke~slow").out
    timing = cli("standings", "poke~model", "--json", "--timing").json["timing"]
    assert timing["poke~model"]["usage"]["bot0@1"]["cost"] == 0.25


def test_commands_select_the_ladder_of_a_clock_class(arena: SimulatedArena, cli: Cli) -> None:
    ladders = cli("standings", "poke", "--json").json["ladders"]
    assert list(ladders) == ["poke", "poke~slow"]
    assert list(cli("standings", "poke~slow", "--json").json["ladders"]) == ["poke~slow"]
    assert cli("compare", "bot0", "bot1", "poke~slow", "--json").json["matches"] == 1
    assert cli("compare", "bot0", "bot1", "poke", "--json").json["form"] == "poke"
    assert cli("compare", "bot0", "bot1").code == "several-forms"
    assert cli("matrix", "poke~slow").status == 0
    begun = cli("ladder", "new-season", "poke~slow", "--json").json
    assert begun["season"] == 2
    assert cli("ladder", "new-season", "poke~fats").code == "unknown-form"


def test_matches_are_filtered_by_form_and_by_ladder(arena: SimulatedArena) -> None:
    with TestClient(create(WebState(arena.engine, ServerSettings(rate=0)))) as client:
        for name, ladders in (
            ("poke", {"poke", "poke~slow"}),
            ("poke~slow", {"poke~slow"}),
            ("poke~fast", {"poke"}),
            ("poke~model", set()),
        ):
            matches = client.get(f"/matches.json?form={name}").json()["matches"]
            assert {match["ladder"] for match in matches} == ladders


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("poke", "poke"),
        ("POKE-2-must_beat=true~slow", "poke~slow"),
        ("poke~fast", "poke~fast"),
        ("saint-poker", "saint_poker-2"),
        ("Saint-Poker-4~model", "saint_poker-4~model"),
        ("pokex", "pokex-4"),
        ("pokino-3-greed=true", "pokino-3-greed"),
    ],
)
def test_a_name_becomes_that_of_the_stored_ladder(name: str, canonical: str) -> None:
    assert canonical_ladder(name) == canonical


def test_other_names_of_a_ladder_select_it(arena: SimulatedArena, cli: Cli) -> None:
    with TestClient(create(WebState(arena.engine, ServerSettings(rate=0)))) as client:
        matches = client.get("/matches.json?form=POKE-2").json()["matches"]
        assert {match["ladder"] for match in matches} == {"poke", "poke~slow"}
        for name in ("poke-2", "poke-2~fast", "Poke"):
            assert client.get(f"/ladders/{name}.json").json()["ladder"] == "poke"
            [ladder] = client.get(f"/bots/bot0.json?form={name}").json()["ladders"]
            assert ladder == "poke"
            assert client.get(f"/bots.json?form={name}").json()["bots"]
        assert client.get("/bots/bot0?form=poek").status_code == 400
        assert client.get("/bots/bot0?form=pokex").status_code == 400
    ladders = cli("standings", "poke-2~slow", "--json").json["ladders"]
    assert list(ladders) == ["poke~slow"]
    assert cli("standings", "pokex-4").code == "not-played"
    hook = ("webhook", "add", "https://example.org/hook", "--event", "match.closed", "--json")
    assert cli(*hook, "--form", "saint-poker").json["only"]["form"] == "saint_poker-2"


@pytest.mark.parametrize("name", ["poke~slwo", "pok", "poke-9", "poke-must_beat=maybe"])
def test_an_unknown_form_or_ladder_is_refused(arena: SimulatedArena, name: str) -> None:
    with TestClient(create(WebState(arena.engine, ServerSettings(rate=0)))) as client:
        for page in ("/matches.json", "/bots.json", "/feed"):
            assert client.get(page, params={"form": name}).status_code == 400, page


def test_a_webhook_is_planned_only_for_the_events_of_its_ladder(
    arena: SimulatedArena, cli: Cli
) -> None:
    command = ("webhook", "add", "https://example.org/hook", "--event", "match.closed")
    cli(*command, "--form", "poke~slow")
    for clock in (Clock(), SLOW):
        arena.play_out(arena.begin("round-robin", arena.bots(2), clock=clock))
    webhooks.plan(arena.engine)
    planned = [each.subject for each in webhooks.log(arena.engine)]
    slow = search.closed_matches(arena.engine, search.MatchFilter(form="poke~slow"))
    assert planned == [slow.matches[0].match]


def test_a_webhook_of_an_unknown_ladder_is_refused(cli: Cli, cwd: Path) -> None:
    refused = cli("webhook", "add", "https://example.org/hook", "--form", "poke~slwo")
    assert (refused.status, refused.code) == (USAGE, "unknown-name")


@pytest.mark.parametrize("clock_class", ClockClass)
def test_an_open_ladder_has_a_clock_of_its_class(clock_class: ClockClass) -> None:
    plan = serve.ladder_of(ladder_name("poke", clock_class), "--ladder")
    assert (plan.clock.clock_class, plan.settings["open"]) == (clock_class, True)


def test_a_season_of_a_ladder_leaves_that_of_another_clock_class(arena: SimulatedArena) -> None:
    for season in (2, 3):
        settings = {"limit": 3, "season": season}
        arena.begin(
            "ladder", [f"bot{number}@1" for number in range(2)], settings=settings, clock=SLOW
        )
    begun = open_ladders.begin_season(arena.engine, open_ladders.plan_of("poke"))
    assert begun.plan.settings["season"] == 2
