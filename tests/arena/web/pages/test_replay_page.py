"""The replay page of a game, in the browser and as JSON."""

import gzip
import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.presentation import narration
from arena.ratings.call_figures import CallFigures
from arena.store.access import organisers
from arena.store.bots import owners, versions
from arena.store.matches import model_calls, results
from arena.store.matches.model_calls import Caller, CallPlace
from arena.web import assets
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from referee.game_checks.tables import Table
from referee.record import read
from tests.arena.stored_analysis import store_analysis
from tests.arena.web.closed_matches import StoredMatch, play, table
from tests.conformance.tables import TABLES, is_extreme

POKE = table("poke-2-must_beat=true")
SLOW = ("pokex", "pokino")
"""Games with many positions."""
EVIL = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return Workspace(tmp_path_factory.mktemp("arena") / "data")


@pytest.fixture(scope="module")
def client(workspace: Workspace) -> Iterator[TestClient]:
    with TestClient(create(WebState(workspace.store, ServerSettings(rate=0)))) as client:
        yield client


@pytest.fixture(scope="module")
def held(workspace: Workspace) -> StoredMatch:
    """Play a match of Poke."""
    return play(workspace, POKE)


def with_note(text: str) -> str:
    """Add a note to the first action of a record."""
    return text.replace('"ms":0.0}', '"ms":250.0,"note":' + json.dumps(EVIL) + "}", 1)


def later(page: str) -> list[tuple[int, int, str]]:
    """Return the parts of a page that are text: first step, last step and markup."""
    attributes = re.findall(r"data-later='([^']*)'", page)
    lines = [line.split(" ", 2) for text in attributes for line in unescape(text).split("\n")]
    return [(int(first), int(last), markup) for first, last, markup in lines]


def headings(html: str) -> list[str]:
    """Return the visible headings above the table."""
    title = html.partition('class="title stack"')[2].partition('class="seats')[0]
    return [
        re.sub("<[^>]*>", "", text)
        for how, text in re.findall(r"<div( [^>]*)>(.*?)</div>", title, re.DOTALL)
        if " hidden" not in how
    ]


@pytest.mark.parametrize(
    "table",
    [
        pytest.param(
            table,
            marks=[pytest.mark.long]
            * (table.game.id in SLOW or table.seats != min(table.game.seats)),
        )
        for table in filter(is_extreme, TABLES)
    ],
    ids=str,
)
def test_a_page_contains_a_whole_game_within_its_size_limit(
    workspace: Workspace, client: TestClient, table: Table
) -> None:
    held = play(workspace, table)
    answer = client.get(f"/matches/{held.match}/games/0")
    assert answer.status_code == 200
    record = read(results.record(workspace.store, held.match))
    assert record.seed is not None
    steps = len(list(narration.positions(record.match, record.games[0], record.seed)))
    assert f'data-last="{steps - 1}"' in answer.text
    assert answer.text.count("<li data-step=") == steps
    sides = len(set(table.game.sides(table.seats, table.options)))
    assert answer.text.count("<polyline ") == sides
    title = answer.text.partition('class="title stack"')[2].partition('class="seats')[0]
    at_once = [
        (int(first), int(last))
        for first, last in re.findall(r'data-a="(\d+)" data-b="(\d+)"', title)
    ]
    spans = at_once + [(first, last) for first, last, _ in later(title)]
    # Every step has exactly one heading, as an element or as text.
    headed = sorted(step for first, last in spans for step in range(first, last + 1))
    assert headed == list(range(steps))
    assert all(0 <= first <= last < steps for first, last, _ in later(answer.text))
    # The compressed size counts: a random game of Pokex has hundreds of positions.
    assert len(gzip.compress(answer.content)) < 150_000
    assert " style=" not in answer.text
    # Only the scripts before the first paint are part of the page.
    inlined = re.findall(r"<script>(.*?)</script>", answer.text, re.DOTALL)
    assert inlined == [assets.FIRST_PAINT, assets.TABLE_SIZE]
    for script in inlined:
        assert assets.policy_source(script) in answer.headers["Content-Security-Policy"]
    assert len(re.findall(r"<script", answer.text)) == 2


def test_the_address_selects_the_position(client: TestClient, held: StoredMatch) -> None:
    address = f"/matches/{held.match}/games/0"
    first = client.get(address).text
    (heading,) = headings(first)
    assert heading.startswith("Deal 1 · the draw")
    last = client.get(f"{address}?step=999999").text
    assert [h.strip() for h in headings(last)] != [h.strip() for h in headings(first)]
    assert "the rubber is over" in headings(last)[0]
    third = client.get(f"{address}?step=3&eyes=1").text
    assert 'data-step="3"' in third
    assert 'data-eyes="1"' in third
    # Without JavaScript, every link keeps the position and the point of view.
    assert 'href="?step=4&amp;eyes=1" title="one step on' in third
    assert 'href="?step=3&amp;eyes=all"' in third


def test_json_has_every_position_and_the_record(
    workspace: Workspace, client: TestClient, held: StoredMatch
) -> None:
    document = client.get(f"/matches/{held.match}/games/1.json").json()
    record = read(results.record(workspace.store, held.match))
    assert record.seed is not None
    expected = list(narration.positions(record.match, record.games[1], record.seed))
    assert document["positions"] == json.loads(json.dumps(expected))
    download = client.get(f"/matches/{held.match}.jsonl")
    assert download.text == results.record(workspace.store, held.match)
    assert download.headers["content-disposition"] == f'attachment; filename="{held.match}.jsonl"'
    lines = client.get(f"/matches/{held.match}/games/1.csv").text.splitlines()
    assert lines[0] == "step,bot,did,ms,note"
    assert len(lines) == 1 + len(record.games[1].actions)


def test_a_record_is_verified_at_its_first_view(workspace: Workspace, client: TestClient) -> None:
    held = play(workspace, POKE)
    page = client.get(f"/matches/{held.match}/games/0").text
    record = read(results.record(workspace.store, held.match))
    assert record.seed is not None
    assert record.seed.hex() in page
    assert record.match["commitment"] in page
    assert re.search(r"✓ \d{4}-\d\d-\d\d \d\d:\d\d UTC", page)


def test_an_incorrect_record_is_reported(workspace: Workspace, client: TestClient) -> None:
    held = play(workspace, POKE, change=lambda text: text.replace('"scores":[', '"scores":[1', 1))
    page = client.get(f"/matches/{held.match}/games/0").text
    assert "is not correct" in page
    assert "the rules give" in page


def test_notes_of_bots_are_escaped(workspace: Workspace, client: TestClient) -> None:
    held = play(workspace, POKE, change=with_note)
    for address in (f"/matches/{held.match}/games/0", f"/embed/matches/{held.match}/games/0"):
        page = client.get(address).text
        assert EVIL not in page
        assert "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;" in page
        assert ">0.2 s</small>" in page


class ReasoningArena:
    """A closed match of ada's bot luck0 and bob's bot luck1, which sent reasoning."""

    def __init__(self, folder: Path, client: Callable[[Workspace], TestClient]) -> None:
        workspace = Workspace(folder / "data")
        store = workspace.store
        match = play(workspace, POKE, reasoning=f"{EVIL} of").match
        for owner, label in (("ada", "luck0@1"), ("bob", "luck1@1")):
            versions.set_owner(store, versions.find_version(store, label), owner)
        self.tokens = {
            "ada": owners.add_owner(store, "ada"),
            "eve": owners.add_owner(store, "eve"),
            "org": organisers.add_organiser(store, "org"),
        }
        for seat, version in enumerate(("luck0@1", "luck1@1")):
            caller, place = Caller("ada", version, match, 1, 0), CallPlace(seat, 0, seat)
            figures = CallFigures(4000 + seat, 30)
            call = model_calls.reserve_call(store, caller, place, "small", figures, 1_000_000)
            model_calls.settle_call(store, call, figures)
        self.client = client(workspace)
        self.page = f"/matches/{match}/games/0"

    def html(self, who: str) -> str:
        """Return the page in the browser of a person; "" is not signed in."""
        self.client.cookies.clear()
        if who:
            self.client.post("/sign-in", data={"token": self.tokens[who]}, follow_redirects=False)
        text = self.client.get(self.page).text
        self.client.cookies.clear()
        return text

    def in_browser(self, who: str) -> set[str]:
        """Return the bots whose reasoning a person reads in the browser."""
        html = self.html(who)
        assert EVIL not in html
        # Pages omit the version of a bot with a single one.
        return {f"{bot}@1" for bot in ("luck0", "luck1") if f"{EVIL} of {bot}" in unescape(html)}

    def as_json(self, who: str) -> set[str]:
        """Return the bots whose reasoning a program with the token of a person reads."""
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who else {}
        lines = self.client.get(f"{self.page}.json", headers=headers).json()["reasoning"]
        texts = [decision["text"] for line in lines for decision in line["decisions"]]
        return {text.removeprefix(f"{EVIL} of ") for text in texts}

    def measured(self, who: str) -> tuple[list[int], list[str]]:
        """Return the measured tokens in the JSON and on the page of a person."""
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who else {}
        usage = self.client.get(f"{self.page}.json", headers=headers).json()["measured_usage"]
        shown = re.findall(
            r"small, (400\d|4,00\d) \+ 30 tokens, 1 request \(measured\)", self.html(who)
        )
        return [each["input_tokens"] for each in usage], shown

    def change(self, **values: str) -> int:
        """Send a change of ada's reasoning; return the status."""
        headers = {"Authorization": f"Bearer {self.tokens['ada']}"}
        return self.client.post("/account/reasoning", json=values, headers=headers).status_code


@pytest.fixture
def reasoning_arena(tmp_path: Path) -> Iterator[ReasoningArena]:
    with ExitStack() as stack:

        def client(workspace: Workspace) -> TestClient:
            app = create(WebState(workspace.store, ServerSettings(rate=0)))
            return stack.enter_context(TestClient(app))

        yield ReasoningArena(tmp_path, client)


@pytest.mark.parametrize(
    ("who", "names"),
    [("ada", {"luck0@1"}), ("org", {"luck0@1", "luck1@1"}), ("eve", set()), ("", set())],
)
def test_reasoning_is_shown_to_its_owner_and_the_organiser(
    reasoning_arena: ReasoningArena, who: str, names: set[str]
) -> None:
    assert reasoning_arena.in_browser(who) == names
    assert reasoning_arena.as_json(who) == names


def test_measured_usage_is_shown_with_the_reasoning(reasoning_arena: ReasoningArena) -> None:
    measured = reasoning_arena.measured
    assert measured("ada") == ([4000], ["4,000"])
    assert measured("org") == ([4000, 4001], ["4,000", "4,001"])
    assert measured("eve") == ([], [])


def test_an_unknown_token_is_refused_by_a_replay(reasoning_arena: ReasoningArena) -> None:
    headers = {"Authorization": "Bearer unknown"}
    answer = reasoning_arena.client.get(f"{reasoning_arena.page}.json", headers=headers)
    assert answer.status_code == 403


@pytest.mark.long
def test_an_owner_publishes_hides_and_deletes_reasoning(reasoning_arena: ReasoningArena) -> None:
    change, as_json = reasoning_arena.change, reasoning_arena.as_json
    assert change(state="published", bot="luck1") == 404
    assert change(state="open") == 422
    assert change(state="published", bot="luck0") == 200
    assert as_json("eve") == {"luck0@1"}
    assert change(state="private") == 200
    assert as_json("eve") == set()
    assert change(state="deleted") == 200
    assert as_json("ada") == set()
    assert as_json("org") == {"luck1@1"}


def test_reasoning_is_folded_with_its_reported_usage(reasoning_arena: ReasoningArena) -> None:
    page = reasoning_arena.html("org")
    section = page[page.index('class="reasoning"') :]
    # One has measured usage only.
    assert section.count("<details>") == 3
    assert "small-1, 900 + 80 tokens, $0.01 (reported)" in section
    frame = reasoning_arena.client.get(f"/embed{reasoning_arena.page}").text
    assert 'class="reasoning"' not in frame


def test_only_the_embedded_page_can_be_framed(client: TestClient, held: StoredMatch) -> None:
    page = client.get(f"/matches/{held.match}/games/0")
    frame = client.get(f"/embed/matches/{held.match}/games/0")
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert "frame-ancestors *" in frame.headers["content-security-policy"]
    assert "published before the first card" in page.text
    assert "published before the first card" not in frame.text


@pytest.mark.parametrize(
    ("address", "status", "sentence"),
    [
        ("/matches/m-none/games/0", 404, "unknown match m-none"),
        ("/matches/{match}/games/7", 404, "has no game 8; it has 2."),
        ("/matches/{match}/games/x", 400, 'a game must be a whole number from 0, not "x".'),
        (
            "/matches/{match}/games/0?step=-1",
            400,
            'a step must be a whole number from 0, not "-1".',
        ),
        ("/matches/{match}/games/0?eyes=2", 400, 'eyes must be all, 0 or 1, not "2".'),
        ("/matches/m-none.jsonl", 404, "unknown match m-none"),
    ],
)
def test_unknown_games_and_positions_are_not_found(
    client: TestClient, held: StoredMatch, address: str, status: int, sentence: str
) -> None:
    answer = client.get(address.format(match=held.match), headers={"Accept": "application/json"})
    assert answer.status_code == status
    assert sentence in answer.json()["error"]


def test_the_replay_of_an_open_match_is_refused(workspace: Workspace, client: TestClient) -> None:
    held = play(workspace, POKE, close=False)
    for kind in ("", ".json"):
        answer = client.get(f"/matches/{held.match}/games/0{kind}")
        assert answer.status_code == 409
        assert "is not closed" in answer.text
    record = client.get(f"/matches/{held.match}.jsonl").text
    assert record.count("\n") == 1
    assert "seed" not in record


def test_an_impossible_record_is_not_a_server_error(
    workspace: Workspace, client: TestClient
) -> None:
    held = play(workspace, POKE, change=lambda text: text.replace('"decision":3,', '"decision":5,'))
    answer = client.get(f"/matches/{held.match}/games/0")
    assert answer.status_code == 409
    assert "its record is not correct: game 1, decision 6" in answer.text
    assert client.get("/openapi.json").status_code == 200


def test_a_replay_can_be_opened_at_a_decision(workspace: Workspace, client: TestClient) -> None:
    # In Saint Poker seats discard at the same time: several decisions lead to one position.
    for form in (POKE, table("saint_poker-3")):
        held = play(workspace, form)
        address = f"/matches/{held.match}/games/0"
        record = read(results.record(workspace.store, held.match))
        for decision in (0, 1, 4, 7):
            html = client.get(f"{address}?decision={decision}").text
            (step,) = re.findall(r'id="replay"[^>]*data-step="(\d+)"', html)
            made = client.get(f"{address}.csv").text.splitlines()[1:]
            before = sum(int(line.split(",")[0]) <= int(step) for line in made)
            until = sum(int(line.split(",")[0]) <= int(step) + 1 for line in made)
            decisions = [action["decision"] for action in record.games[0].actions]
            assert decision in decisions[before:until]
    assert client.get(f"{address}?decision=x").status_code == 400


def test_pages_number_games_boards_and_tables_from_one(
    client: TestClient, held: StoredMatch
) -> None:
    page = client.get(f"/matches/{held.match}/games/1").text
    assert "<dd>board 1, table 2 <" in page
    assert f'href="/matches/{held.match}/games/0" aria-label="game 1">1</a>' in page
    assert "game 2</nav>" in page
    assert client.get(f"/matches/{held.match}/games/1.json").json()["game"] == 1


def test_seats_are_numbered_from_one_where_people_read(
    client: TestClient, held: StoredMatch
) -> None:
    address = f"/matches/{held.match}/games/0"
    page = client.get(address).text
    seats = {str(number + 1) for number in range(2)}
    assert set(re.findall(r'aria-label="seat (\d+), ', page)) == seats
    assert set(re.findall(r'class="dot[^>]*>(\d+)<', page)) == seats
    assert "seat 0" not in page
    line = client.get(f"{address}.json").json()
    assert "eyes=0" in page
    assert {action["seat"] for each in line["positions"] for action in each["actions"]} == {0, 1}


def test_the_breadcrumbs_of_a_replay_have_names(client: TestClient, held: StoredMatch) -> None:
    crumbs = [
        re.findall(r'aria-label="Breadcrumbs">(.*?)</nav>', client.get(address).text)[0]
        for address in (f"/matches/{held.match}", f"/matches/{held.match}/games/0")
    ]
    names = [re.sub("<[^>]*>", "", crumb).split(" › ") for crumb in crumbs]
    assert names[1] == [*names[0], "game 1"]


def test_the_result_is_shown_at_the_last_position_only(
    client: TestClient, held: StoredMatch
) -> None:
    address = f"/matches/{held.match}/games/0"
    (first,) = re.findall(r'<p class="result"([^>]*)>', client.get(address).text)
    (last,) = re.findall(r'<p class="result"([^>]*)>', client.get(f"{address}?step=999999").text)
    assert "hidden" in first
    assert "hidden" not in last


@pytest.mark.long
def test_an_analysis_is_shown_with_its_graph_swings_and_costly_decisions(
    workspace: Workspace, client: TestClient
) -> None:
    held = play(workspace, POKE)
    address = f"/matches/{held.match}/games/0"
    assert "win expectation" not in client.get(address).text
    assert client.get(f"{address}.json").json()["analysis"] is None
    store_analysis(workspace.store, held.match)
    # The first page may be cached for 20 s.
    with TestClient(create(WebState(workspace.store, ServerSettings(rate=0)))) as later:
        html = later.get(address).text
        data = later.get(f"{address}.json").json()["analysis"]
        mistaken = later.get(f"/matches/{held.match}/games/1?decision=4").text
    assert 'id="accuracy"' in html
    # A mistake is marked in the list of actions, and beside the table at its position.
    assert [text.count('class="mistake"') for text in (html, mistaken)] == [0, 2]
    # The seats have names without the number of the only version; the actions too.
    assert "luck0@1" not in html
    assert "<strong>luck0</strong>" in html
    assert f'href="/matches/{held.match}/games/1?decision=3"' in html
    swings = re.findall(r'class="swing s0" d="M(\d+) 0V100"', html)
    assert len(swings) == 1
    assert f'href="?step={swings[0]}&amp;eyes=all"' in html
    assert swings[0] in re.findall(r'data-events="([^"]*)"', html)[0].split()
    assert [row["game"] for row in data["positions"]] == [0, 0, 0]


def test_the_tags_of_a_game_lead_to_its_matches(workspace: Workspace) -> None:
    def with_tags(text: str) -> str:
        return text.replace('"scores":', '"tags":[["a&b"],[]],"scores":', 1)

    stored = play(workspace, POKE, change=with_tags)
    with TestClient(create(WebState(workspace.store, ServerSettings(rate=0)))) as client:
        page = client.get(f"/matches/{stored.match}/games/0").text
        assert '<a href="/matches?tag=a%26b">a&amp;b</a>' in page
        positions = client.get(f"/matches/{stored.match}/games/0.json").json()
        assert positions["result"]["tags"] == [["a&b"], []]
