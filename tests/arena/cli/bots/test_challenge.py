"""`pokearena bot challenge`: a match in an arena at a URL, within the organiser's limits."""

import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.ladders import ladder_key
from arena.store.bots import owners, quarantine, remote_bots, versions
from arena.store.match_settings import Clock, TournamentPlan
from arena.store.matches import games, match_leases
from arena.store.tournaments import lifecycle, tournaments
from arena.tournaments import scheduler
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from referee.games.registry import GAMES
from tests.arena.cli.stored_tournament import record
from tests.arena.cli.terminal import Cli
from tests.arena.web.page_server import served
from tests.waiting import wait_until


class ChallengeArena:
    """An arena at a URL, with bots of two owners and of the organiser."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.workspace = Workspace(folder / "data")
        self.store = self.workspace.store
        self.token = owners.add_owner(self.store, "ada")
        bots: tuple[tuple[str, str, dict[str, object]], ...] = (
            ("mine@1", "ada", {}),
            ("mine@2", "ada", {}),
            ("rival@1", "bob", {}),
            ("shy@1", "bob", {"challenges": False}),
            ("other@1", "bob", {"games": ["saint_poker"]}),
            ("greedy@1", "", {}),
        )
        for number, (bot, owner, manifest) in enumerate(bots):
            name, _, version = bot.partition("@")
            values = {"run": ["x"], **manifest}
            versions.add_version(
                self.store, name, version, f"{number:064x}", f"/{bot}", values, owner
            )
        self._stack = stack
        self.url = self.serve()

    def serve(self, **settings: Any) -> str:
        """Serve the pages with these settings; return the URL."""
        web = WebState(self.store, ServerSettings(rate=0, **settings))
        return self._stack.enter_context(served(web))

    def play(self) -> None:
        """Play all pending matches as a worker would; the first entrant wins every game."""
        while due := match_leases.due(self.store):
            lease = match_leases.lease(self.store, due[0], "w", 600)
            assert lease is not None
            names = lease.spec.versions
            for number in range(lease.spec.games):
                text = record(number, lease.spec.boards, names, names)
                match_leases.commit_game(self.store, lease, games.read(text, names))
        scheduler.Scheduler(self.store).advance()


@pytest.fixture
def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChallengeArena]:
    with ExitStack() as stack:
        arena = ChallengeArena(tmp_path / "arena", stack)
        monkeypatch.setenv("POKEARENA_TOKEN", arena.token)
        monkeypatch.setattr("arena.cli.bots.challenge._POLL_SECONDS", 0.05)
        yield arena


def test_a_challenge_is_played_and_its_result_is_printed(cli: Cli, arena: ChallengeArena) -> None:
    playing = threading.Thread(target=play_when_due, args=(arena,))
    playing.start()
    result = cli("bot", "challenge", "greedy", "--in", arena.url, "-n", 2, "--json")
    playing.join()
    assert result.status == 0, result.err
    document = result.json
    assert document["entrants"] == ["mine@2", "greedy@1"]
    assert (document["form"], document["boards"], document["games"]) == ("poke", 2, 4)
    assert [(side["entrant"], side["wins"]) for side in document["result"]["sides"]] == [
        ("mine@2", 4),
        ("greedy@1", 0),
    ]
    (tournament,) = tournaments.list_tournaments(arena.store)
    assert (tournament.id, tournament.plan.format) == (document["challenge"], "challenge")
    # The match does not count for a ladder.
    assert ladder_key.of_forms(arena.store) == []


def play_when_due(arena: ChallengeArena) -> None:
    wait_until(lambda: match_leases.due(arena.store))
    arena.play()


@pytest.mark.long
def test_the_result_is_a_table_for_people(cli: Cli, arena: ChallengeArena) -> None:
    started = cli("bot", "challenge", "rival", "--in", arena.url, "--no-wait")
    assert started.status == 0
    assert started.out.startswith(f"{arena.url}/tournaments/t-")
    arena.play()
    assert tournaments.list_tournaments(arena.store)[0].ended is not None
    playing = threading.Thread(target=play_when_due, args=(arena,))
    playing.start()
    result = cli("bot", "challenge", "rival@1", "--in", arena.url, "--bot", "mine@1")
    playing.join()
    assert result.status == 0
    assert [line.split() for line in result.out.splitlines()[1:]][-2:] == [
        ["mine@1", "20", "0", "0", "0"],
        ["rival@1", "0", "0", "20", "0"],
    ]


def test_the_place_of_a_waiting_match_is_printed(cli: Cli, arena: ChallengeArena) -> None:
    words = ("bot", "challenge", "greedy", "--in", arena.url, "--no-wait")
    for ahead in range(2):
        (waiting,) = [line for line in cli(*words).err.splitlines() if "/challenges" in line]
        assert re.findall(r"\b\d+\b", waiting.partition("http")[0]) == [str(ahead)]


def test_a_match_without_a_result_is_a_failure(cli: Cli, arena: ChallengeArena) -> None:
    def cancel() -> None:
        wait_until(lambda: tournaments.list_tournaments(arena.store))
        (made,) = tournaments.list_tournaments(arena.store)
        lifecycle.cancel(arena.store, made.id)

    stopping = threading.Thread(target=cancel)
    stopping.start()
    result = cli("bot", "challenge", "greedy", "--in", arena.url)
    stopping.join()
    assert (result.status, result.out) == (1, "")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("nobody",), "nobody"),
        (("greedy@7",), "greedy@7"),
        (("shy",), "shy@1 accepts no"),
        (("far",), "far@1 is a remote bot"),
        (("mine", "--bot", "mine@2"), "two different"),
        (("greedy", "--bot", "rival"), "rival@1"),
        (("greedy", "--bot", "away"), "away@1 is not connected"),
        (("old",), "old"),
        (("sick@1",), "quarantine"),
        (("other", "--form", "poke"), "other@1 does not play poke"),
        (("greedy", "--form", "whist"), "whist"),
        (("greedy", "--form", "poke-9"), "poke-9"),
        (("greedy", "--form", "pokino-3"), "two sides"),
        (("greedy", "-n", 21), "20"),
    ],
)
def test_a_challenge_that_a_rule_forbids_is_refused(
    cli: Cli, arena: ChallengeArena, words: tuple[object, ...], what: str
) -> None:
    remote_bots.add_relayed(arena.store, "far", "1", "bob")
    remote_bots.add_relayed(arena.store, "away", "1", "ada")
    for name in ("old", "sick"):
        versions.add_version(arena.store, name, "1", name * 9, f"/{name}", {}, "bob")
    versions.retire(arena.store, "old@1")
    assert quarantine._quarantine(arena.store, "sick@1")
    bot = () if "--bot" in words else ("--bot", "mine")
    result = cli("bot", "challenge", *words, *bot, "--in", arena.url, "--no-wait")
    assert (result.status, result.code) == (1, "refused")
    assert what in result.err
    assert tournaments.list_tournaments(arena.store) == ()


def test_an_owner_of_several_bots_must_name_one(cli: Cli, arena: ChallengeArena) -> None:
    versions.add_version(arena.store, "second", "1", "s" * 64, "/second", {}, "ada")
    assert cli("bot", "challenge", "greedy", "--in", arena.url).code == "refused"
    words = ("--bot", "second", "--no-wait")
    assert cli("bot", "challenge", "mine", "--in", arena.url, *words).status == 0


def test_the_settings_are_those_of_the_open_ladder(cli: Cli, arena: ChallengeArena) -> None:
    ladder = TournamentPlan(
        name="ladder",
        game="pokex",
        options=GAMES["pokex"].settle({}),
        seats=2,
        boards=5,
        format="ladder",
        settings={"open": True},
        clock=Clock(5000, 77, 888),
        faults="unforgiving",
    )
    scheduler.begin(arena.store, ladder, ["greedy@1", "rival@1"])
    for form in ((), ("--form", "pokex-2")):
        cli("bot", "challenge", "greedy", "--in", arena.url, "--no-wait", *form)
    made = [
        tournament.plan
        for tournament in tournaments.list_tournaments(arena.store)
        if tournament.plan.format == "challenge"
    ]
    assert [(each.form, each.clock, each.faults) for each in made] == [
        ("pokex-2", ladder.clock, "unforgiving")
    ] * 2
    assert all(each.settings == {} for each in made)


def test_the_organiser_limits_challenges(cli: Cli, arena: ChallengeArena) -> None:
    url = arena.serve(challenges=3)

    def challenge(*words: str) -> str:
        return cli("bot", "challenge", "greedy", "--in", url, "--no-wait", *words).code

    assert [challenge() for _ in range(3)] == ["", "", "refused"]
    assert "2 challenges of ada are open" in cli("bot", "challenge", "greedy", "--in", url).err
    arena.play()
    assert [challenge(), challenge()] == ["", "refused"]
    assert "within a day" in cli("bot", "challenge", "greedy", "--in", url).err
    assert challenge("--token", owners.add_owner(arena.store, "bob"), "--bot", "rival") == ""
    assert challenge("--token", "unknown") == "refused"
    closed = arena.serve(challenges=0)
    assert cli("bot", "challenge", "greedy", "--in", closed).code == "refused"


def test_challenges_have_a_web_page(cli: Cli, arena: ChallengeArena) -> None:
    assert cli("bot", "challenge", "greedy", "--in", arena.url, "--no-wait").status == 0
    (tournament,) = tournaments.list_tournaments(arena.store)
    sign = {"Authorization": f"Bearer {arena.token}"}
    with TestClient(create(WebState(arena.store, ServerSettings(rate=0)))) as client:
        listed = client.get("/challenges.json").json()
        assert [each["tournament"] for each in listed["challenges"]] == [tournament.id]
        assert client.get("/tournaments.json").json()["tournaments"] == []
        assert "mine challenges greedy" in client.get("/challenges").text
        for headers, status in (({}, 401), (sign, 422)):
            refused = client.post("/challenges?opponent=greedy&boards=x", headers=headers)
            assert (refused.status_code, list(refused.json())) == (status, ["error"])


@pytest.mark.parametrize(
    ("words", "code"), [((), "no-url"), (("--in", "arena.example.org"), "invalid-url")]
)
def test_a_wrong_address_is_wrong_usage(cli: Cli, words: tuple[str, ...], code: str) -> None:
    result = cli("bot", "challenge", "greedy", *words, "--token", "x")
    assert (result.status, result.code) == (2, code)
