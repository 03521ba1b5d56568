"""Responses about an open match do not depend on hidden information.

The test replaces the seeds, the hands, and the results, records, faults, times and reasoning of
finished games. Every byte of every response must stay the same.
"""

import asyncio
import base64
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from google.protobuf.json_format import MessageToDict
from pokearena.v1 import bot_pb2
from sqlalchemy import delete, insert, select, update
from starlette.testclient import TestClient

from arena.cli.workspace import Workspace
from arena.store import schema
from arena.store.database import reading, writing
from arena.store.events.messages import GameOver, MatchStarted, Position
from arena.store.matches import listing
from arena.store.tournaments import tournaments
from arena.web import app as app_module
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.openapi import Samples, names, plain
from arena.web.page import Page, PageRequest, PageRoute
from arena.web.routes import PAGES
from arena.web.serving.feed import Feed, FeedFilter
from arena.web.serving.page_kinds import KINDS
from referee.games.contract import State
from referee.games.shared.dealing import Seeded
from referee.replay import codec_of
from tests.arena.web.closed_matches import StoredMatch, play, table
from tests.examples import quick_cases
from tests.waiting import wait_until

TABLE = "poke-2-must_beat=true"
DECISIONS = 9
NOW = 1_800_000_000.0
SEED = bytes(range(32))
OTHER = bytes(range(32, 64))


def middle() -> State:
    """Return a position in the middle of a game."""
    game = table(TABLE).game
    state: State = game.start(Seeded(SEED), 2, table(TABLE).options)
    for _ in range(DECISIONS):
        state = state.play({seat: next(iter(state.legal(seat))) for seat in state.actors})
    return state


def position(match: StoredMatch, state: State) -> Position:
    """Return the event that publishes a position."""
    public_view = codec_of(table(TABLE).game).view(state.public())
    view = MessageToDict(bot_pb2.View.FromString(public_view))
    actors = tuple(state.actors)
    return Position(match.match, 0, 3, 1, DECISIONS, actors, ("luck0@1", "luck1@1"), view)


def replace_hidden_data(workspace: Workspace, open_match: StoredMatch) -> None:
    """Replace the hidden data of an open match: other seeds and other results of finished games."""
    matches, games, faults = schema.matches, schema.games, schema.faults
    with writing(workspace.store) as connection:
        connection.execute(
            update(matches).where(matches.c.id == open_match.match).values(seed=OTHER)
        )
        connection.execute(
            update(schema.tournaments)
            .where(schema.tournaments.c.id == open_match.tournament)
            .values(seed=OTHER)
        )
        rows = connection.execute(select(games).where(games.c.match == open_match.match)).all()
        assert rows
        reasoning = schema.reasoning
        thoughts = connection.execute(
            delete(reasoning).where(reasoning.c.match == open_match.match)
        )
        assert thoughts.rowcount
        connection.execute(delete(games).where(games.c.match == open_match.match))
        for row in rows:
            columns = dict(row._mapping)
            columns["places"] = columns["places"][::-1]
            columns["scores"] = [score + 7 for score in columns["scores"]]
            columns["verdicts"] = ["timeout" for _ in columns["verdicts"]]
            columns["faults"] = [faults + 3 for faults in columns["faults"]]
            columns["thinking"] = None
            columns["record"] = columns["record"].replace('"ms":', '"note":"aces","ms":1')
            connection.execute(insert(games).values(**columns))
        # No worker claims an open match; if one did, no page would show its analysis.
        connection.execute(
            insert(schema.tasks).values(
                kind=schema.TaskKind.ANALYSIS,
                key=open_match.match,
                queue=open_match.match,
                created=0,
                attempt=1,
                held_until=0,
                result={"form": 1},
                ended=1.0,
            )
        )
        connection.execute(
            insert(faults).values(
                match=open_match.match,
                game=rows[0].game,
                number=0,
                decision=1,
                seat=0,
                version="luck0@1",
                verdict="timeout",
                sentence="late, holding QS",
                ended="",
                output="my hand is QS",
            )
        )


def addresses(web: WebState, open_match: StoredMatch) -> list[str]:
    """Return the address of every page in every format, with the open match as the parameter."""
    known: Mapping[str, str] = {
        "match": open_match.match,
        "tournament": open_match.tournament,
        "form": "poke",
        "name": "luck0",
        "n": "0",
        "game": "poke",
        "page": "ratings",
    }
    paths = []
    for address in PAGES:
        path = plain(address.path)
        for name in names(address.path):
            kind = ("match" if "/matches/" in path else "tournament") if name == "id" else name
            path = path.replace(f"{{{name}}}", known[kind])
        query = Samples(web).query(address) or {}
        words = "?" + "&".join(f"{name}={value}" for name, value in query.items()) if query else ""
        paths += [path + ("" if kind == "html" else f".{kind}") + words for kind in KINDS]
        paths += [path + words + ("&" if words else "?") + "eyes=0"]
    match, tournament = f"/matches/{open_match.match}", f"/tournaments/{open_match.tournament}"
    return [
        *paths,
        f"{match}.jsonl",
        f"{match}/record",
        f"{tournament}/bundle.tar.gz",
        f"{tournament}.zip",
    ]


def is_settled(web: WebState, at: Position) -> object:
    """Return whether the server has computed what it computes in the background, on request."""
    match = listing.find_match(web.engine, at.match)
    plan = tournaments.find_tournament(web.engine, match.tournament).plan
    return web.snapshot.ladders and web.win_probabilities.of(at, plan)


def all_responses(workspace: Workspace, open_match: StoredMatch, state: State) -> dict[str, bytes]:
    """Return all responses by address, and the feed as lines and as events."""
    web = WebState(workspace.store, ServerSettings(rate=0))
    bodies: dict[str, bytes] = {}
    at = position(open_match, state)
    with TestClient(create(web)) as client:
        assert client.portal is not None
        client.portal.call(web.events.receive, at, 0.0)
        wait_until(lambda: is_settled(web, at))
        for address in addresses(web, open_match):
            answer = client.get(address, follow_redirects=False)
            assert answer.status_code in (200, 400, 404, 406, 409), address
            bodies[address] = str(answer.status_code).encode() + answer.content
            bodies[address] += answer.headers.get("etag", "").encode()
    bodies["the feed"] = asyncio.run(_fed(web, open_match, at))
    return bodies


async def _fed(web: WebState, open_match: StoredMatch, at: Position) -> bytes:
    feed = Feed(web)
    running = asyncio.create_task(feed.run())
    await asyncio.sleep(0)
    lines = feed.read(FeedFilter(match=None), events=False)
    events = feed.read(FeedFilter(match=open_match.match), events=True)
    messages = [await anext(lines), await anext(events)]
    feed_events = (
        MatchStarted(open_match.match, open_match.tournament, 1),
        at,
        GameOver(open_match.match, 2, 4),
    )
    for event in feed_events:
        web.events.receive(event, 0.0)
        messages += [await anext(lines), await anext(events)]
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return b"".join(messages)


def seeds(workspace: Workspace, open_match: StoredMatch) -> list[bytes]:
    """Return all notations of the seeds of an open match and of its tournament."""
    matches, tournaments = schema.matches, schema.tournaments
    with reading(workspace.store) as connection:
        match_seed = select(matches.c.seed).where(matches.c.id == open_match.match)
        tournament_seed = select(tournaments.c.seed).where(
            tournaments.c.id == open_match.tournament
        )
        values = [connection.execute(query).scalar_one() for query in (match_seed, tournament_seed)]
    written = [
        (seed.hex(), seed.hex().upper(), base64.b64encode(seed).decode()) for seed in values if seed
    ]
    return [text.encode() for forms in written for text in forms]


def played_workspace(folder: Path) -> tuple[Workspace, StoredMatch]:
    """Return an arena with a closed match and an open match, whose last game is still to come.

    The two have different seeds, because pages show the seed of a closed tournament.
    """
    workspace = Workspace(folder / "data")
    play(workspace, table(TABLE), boards=1)
    open_match = play(
        workspace, table(TABLE), boards=2, close=False, seed=SEED, reasoning="thoughts of"
    )
    with writing(workspace.store) as connection:
        connection.execute(update(schema.bots).values(publishes_reasoning=1))
    return workspace, open_match


def differences(workspace: Workspace, open_match: StoredMatch) -> list[str]:
    """Return the addresses whose responses change with the hidden data."""
    state = middle()
    redealt = state.redeal(None, Seeded(OTHER))
    assert state.view(0) != redealt.view(0)
    before = all_responses(workspace, open_match, state)
    assert before[f"/matches/{open_match.match}"].startswith(b"200")
    assert open_match.match.encode() in before[f"/tournaments/{open_match.tournament}"]
    assert b'"decision":9' in before["the feed"]
    assert b'"decision": 9' in before[f"/matches/{open_match.match}.json"]
    for text in seeds(workspace, open_match):
        assert [address for address, body in before.items() if text in body] == []
    replace_hidden_data(workspace, open_match)
    after = all_responses(workspace, open_match, redealt)
    return [address for address, body in before.items() if body != after[address]]


@pytest.mark.long
def test_hidden_information_does_not_change_any_response(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: NOW)
    assert differences(*played_workspace(tmp_path)) == []


@pytest.mark.parametrize("column", quick_cases(["record", "places", "scores", "faults"], 1))
def test_a_leaking_page_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str
) -> None:
    def leaking(web: WebState, page_request: PageRequest) -> Page:
        query = select(schema.games.c[column]).where(
            schema.games.c.match == page_request.path["id"]
        )
        with reading(web.engine) as connection:
            values = [str(value) for value in connection.execute(query).scalars()]
        model = {"sentence": "No.", "next_page": ("", "Ladders")}
        return Page("Games", "error.html", model, data={"games": values})

    monkeypatch.setattr("time.time", lambda: NOW)
    leak = PageRoute("/matches/{id}/leak", leaking, "Leaks.")
    for module in (sys.modules[__name__], app_module):
        monkeypatch.setattr(module, "PAGES", (leak,))
    monkeypatch.setattr(sys.modules[__name__], "is_settled", lambda web, at: True)
    workspace, open_match = played_workspace(tmp_path)
    state = middle()
    before = all_responses(workspace, open_match, state)
    replace_hidden_data(workspace, open_match)
    after = all_responses(workspace, open_match, state)
    changed = {address for address, body in before.items() if body != after[address]}
    assert changed == {f"/matches/{open_match.match}/leak.json"}
