"""Nothing hidden is told: what spectators get of an open match, in all its forms.

All that nobody at the table can know is dealt again: the seeds, the hands, the results, records,
faults and times of the games that are over. Every byte of every answer stays what it was.
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
from arena.events.messages import GameOver, MatchStarted, Position
from arena.store import schema
from arena.store.database import reading, writing
from arena.web import app as app_module
from arena.web.app import create
from arena.web.data.web_state import ServerSettings, WebState
from arena.web.openapi import Samples, names, plain
from arena.web.page import Page, PageRequest, PageRoute
from arena.web.routes import PAGES
from arena.web.serving.feed import Feed, FeedFilter
from arena.web.serving.page_formats import KINDS
from referee.games.contract import State
from referee.games.shared.dealing import Seeded
from referee.replay import codec_of
from tests.arena.web.closed_matches import PlayedMatch, play, table

TABLE = "poke-2-must_beat=true"
DECISIONS = 9
NOW = 1_800_000_000.0
SEED = bytes(range(32))
OTHER = bytes(range(32, 64))


def middle() -> State:
    """A position in the middle of a game."""
    game = table(TABLE).game
    state: State = game.start(Seeded(SEED), 2, table(TABLE).options)
    for _ in range(DECISIONS):
        state = state.play({seat: next(iter(state.legal(seat))) for seat in state.actors})
    return state


def position(of: PlayedMatch, state: State) -> Position:
    """The same as the news tell it."""
    public_view = codec_of(table(TABLE).game).view(state.public())
    view = MessageToDict(bot_pb2.View.FromString(public_view))
    actors = tuple(state.actors)
    return Position(of.match, 0, 3, 1, DECISIONS, actors, ("luck0@1", "luck1@1"), view)


def deal_again(workspace: Workspace, held: PlayedMatch) -> None:
    """Changes all that is hidden of an open match: other seeds, games that went otherwise."""
    matches, games, faults = schema.matches, schema.games, schema.faults
    with writing(workspace.store) as connection:
        connection.execute(update(matches).where(matches.c.id == held.match).values(seed=OTHER))
        connection.execute(
            update(schema.tournaments)
            .where(schema.tournaments.c.id == held.tournament)
            .values(seed=OTHER)
        )
        rows = connection.execute(select(games).where(games.c.match == held.match)).all()
        assert rows
        connection.execute(delete(games).where(games.c.match == held.match))
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
            insert(schema.analyses).values(
                match=held.match, attempts=1, claimed_until=0, analysis={"form": 1}, ended=1.0
            )
        )
        connection.execute(
            insert(faults).values(
                match=held.match,
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


def addresses(web: WebState, held: PlayedMatch) -> list[str]:
    """Every address of every page in every form, of the open match wherever one is asked for."""
    known: Mapping[str, str] = {
        "match": held.match,
        "tournament": held.tournament,
        "form": "poke",
        "name": "luck0",
        "n": "0",
        "game": "poke",
        "page": "ratings",
    }
    addresses_row = []
    for address in PAGES:
        path = plain(address.path)
        for name in names(address.path):
            kind = ("match" if "/matches/" in path else "tournament") if name == "id" else name
            path = path.replace(f"{{{name}}}", known[kind])
        query = Samples(web).query(address) or {}
        words = "?" + "&".join(f"{name}={value}" for name, value in query.items()) if query else ""
        addresses_row += [path + ("" if kind == "html" else f".{kind}") + words for kind in KINDS]
        addresses_row += [path + words + ("&" if words else "?") + "eyes=0"]
    match, tournament = f"/matches/{held.match}", f"/tournaments/{held.tournament}"
    return [
        *addresses_row,
        f"{match}.jsonl",
        f"{match}/record",
        f"{tournament}/bundle.tar.gz",
        f"{tournament}.zip",
    ]


def all_responses(workspace: Workspace, held: PlayedMatch, state: State) -> dict[str, bytes]:
    """Every answer there is, by its address; the news as lines and as events."""
    web = WebState(workspace.store, ServerSettings(rate=0))
    bodies: dict[str, bytes] = {}
    at = position(held, state)
    with TestClient(create(web)) as client:
        assert client.portal is not None
        client.portal.call(web.events.receive, at, 0.0)
        for address in addresses(web, held):
            answer = client.get(address, follow_redirects=False)
            assert answer.status_code in (200, 400, 404, 406, 409), address
            bodies[address] = str(answer.status_code).encode() + answer.content
            bodies[address] += answer.headers.get("etag", "").encode()
    bodies["the feed"] = asyncio.run(_fed(web, held, at))
    return bodies


async def _fed(web: WebState, held: PlayedMatch, at: Position) -> bytes:
    feed = Feed(web)
    running = asyncio.create_task(feed.run())
    await asyncio.sleep(0)
    lines = feed.read(FeedFilter(match=None), events=False)
    events = feed.read(FeedFilter(match=held.match), events=True)
    messages = [await anext(lines), await anext(events)]
    news = (MatchStarted(held.match, held.tournament, 1), at, GameOver(held.match, 2, 4))
    for event in news:
        web.events.receive(event, 0.0)
        messages += [await anext(lines), await anext(events)]
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return b"".join(messages)


def seeds(workspace: Workspace, held: PlayedMatch) -> list[bytes]:
    """The seeds of an open match and of its tournament, as they could be written."""
    matches, tournaments = schema.matches, schema.tournaments
    with reading(workspace.store) as connection:
        mine = select(matches.c.seed).where(matches.c.id == held.match)
        whole = select(tournaments.c.seed).where(tournaments.c.id == held.tournament)
        counts = [connection.execute(query).scalar_one() for query in (mine, whole)]
    written = [
        (seed.hex(), seed.hex().upper(), base64.b64encode(seed).decode()) for seed in counts if seed
    ]
    return [text.encode() for forms in written for text in forms]


def played_workspace(folder: Path) -> tuple[Workspace, PlayedMatch]:
    """Return an arena with a closed match and an open match, whose last game is still to come.

    The two have different seeds, because pages show the seed of a closed tournament.
    """
    workspace = Workspace(folder / "data")
    play(workspace, table(TABLE), boards=1)
    return workspace, play(workspace, table(TABLE), boards=2, close=False, seed=SEED)


def differences(workspace: Workspace, held: PlayedMatch) -> list[str]:
    """The addresses at which what is hidden makes a difference."""
    state = middle()
    dealt = state.redeal(None, Seeded(OTHER))
    assert state.view(0) != dealt.view(0)
    before = all_responses(workspace, held, state)
    assert before[f"/matches/{held.match}"].startswith(b"200")
    assert held.match.encode() in before[f"/tournaments/{held.tournament}"]
    assert b'"decision":9' in before["the feed"]
    assert b'"decision": 9' in before[f"/matches/{held.match}.json"]
    for text in seeds(workspace, held):
        assert [address for address, body in before.items() if text in body] == []
    deal_again(workspace, held)
    after = all_responses(workspace, held, dealt)
    return [address for address, body in before.items() if body != after[address]]


@pytest.mark.long
def test_hidden_information_does_not_change_any_response(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: NOW)
    assert differences(*played_workspace(tmp_path)) == []


@pytest.mark.parametrize("column", ["places", "scores", "faults", "record"])
def test_a_leaking_page_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str
) -> None:
    def leaking(web: WebState, page_request: PageRequest) -> Page:
        query = select(schema.games.c[column]).where(
            schema.games.c.match == page_request.path["id"]
        )
        with reading(web.engine) as connection:
            values = [str(value) for value in connection.execute(query).scalars()]
        return Page("Games", "error.html", {"sentence": "No."}, data={"games": values})

    monkeypatch.setattr("time.time", lambda: NOW)
    leak = PageRoute("/matches/{id}/leak", leaking, "Leaks.")
    for module in (sys.modules[__name__], app_module):
        monkeypatch.setattr(module, "PAGES", (leak,))
    workspace, held = played_workspace(tmp_path)
    state = middle()
    before = all_responses(workspace, held, state)
    deal_again(workspace, held)
    after = all_responses(workspace, held, state)
    changed = {address for address, body in before.items() if body != after[address]}
    assert changed == {f"/matches/{held.match}/leak.json"}
