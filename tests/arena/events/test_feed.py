"""What spectators hear of a tournament that is being played, by everything real.

The leak test of the feed: all that was not public is dealt again, and every byte that was told
while the match was open comes out the same.
"""

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from redis.client import PubSub

from arena.config import SettingError
from arena.events import messages
from arena.events.messages import (
    Event,
    GameOver,
    MatchClosed,
    MatchStarted,
    Position,
    TournamentChanged,
)
from arena.services import worker_process
from arena.services.local import Services
from arena.services.web_process import Pages, WebSettings, listen_near
from arena.store.matches import results
from arena.store.matches.spec import Clock, TournamentPlan
from arena.store.tournaments.tournaments import Tournament
from arena.system import redis_connection
from arena.tournaments import scheduler
from referee.game_codec import json_of
from referee.games.contract import State
from referee.games.registry import find
from referee.games.shared.dealing import Seeded
from referee.record import read
from referee.replay import steps
from tests.arena.services.test_services import Arena, wait_until

NAP = 0.02


@dataclass
class Ear:
    """Hears everything there is on the channel, byte by byte."""

    url: str
    messages: list[bytes] = field(default_factory=list)

    def __enter__(self) -> "Ear":
        self._client = redis_connection.connect(self.url)
        self._heard: PubSub = self._client.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
        self._heard.psubscribe("*")
        wait_until(lambda: self._client.pubsub_numpat() == 1)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._hear)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._heard.close()
        self._client.close()

    def _hear(self) -> None:
        while not self._over.is_set():
            message = self._heard.get_message(timeout=0.1)
            if message is not None and message["channel"].startswith(b"pokearena:"):
                self.messages.append(message["data"])

    @property
    def news(self) -> list[Event]:
        """What was told; all of it is news of ours."""
        told = [messages.parse(message) for message in self.messages]
        assert None not in told
        return [one for one in told if one is not None]


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    """An arena without services."""
    arena = Arena(tmp_path)
    yield arena
    arena.engine.dispose()


def cup(arena: Arena, game: str, players: int, options: dict[str, Any], boards: int) -> Tournament:
    """A tournament of bots that take their time."""
    entrants = [arena.admit(f"bot{n}", -(n % 2), NAP) for n in range(players)]
    plan = TournamentPlan("cup", game, options, players, boards, clock=Clock(20_000, 5000))
    return scheduler.begin(arena.engine, plan, entrants, bytes(32))


@dataclass(frozen=True)
class Told:
    """What was told of the only match of a tournament, and what came of it."""

    news: list[Event]
    messages: list[bytes]
    record: Any

    @property
    def positions(self) -> list[Position]:
        """In the order in which they were told."""
        return [one for one in self.news if isinstance(one, Position)]

    def states(self) -> dict[tuple[int, int], State]:
        """By game and decision, where each game really stood."""
        return {
            (game.number, step.decision): step.state
            for game in self.record.games
            for step in steps(self.record.match, game, self.record.seed)
        }


def played(arena: Arena, begin: Callable[[], Tournament], pages: Pages | None = None) -> Told:
    """Plays a tournament with services of its own, and listens."""
    with Services(arena.where, 1, {}, pages) as services, Ear(services.snapshot.redis.url) as ear:
        tournament = begin()
        wait_until(lambda: TournamentChanged(tournament.id, "closed") in ear.news)
    [match] = results.closed(arena.engine, [tournament.id])
    return Told(ear.news, ear.messages, read(results.record(arena.engine, match.id)))


def gives_away(message: bytes, position: Position, state: State) -> bool:
    """Whether a message that tells of a position would be another if hidden cards were.

    position: what the message says of the match and the game, which is public.
    state: where the game really stood.
    """
    game = next(iter(position.view))
    for luck in (None, Seeded(bytes(32)), Seeded(bytes([1] * 32))):
        dealt = state if luck is None else state.redeal(None, luck)
        as_well = replace(position, actors=dealt.actors, view={game: json_of(dealt.public())})
        if json.loads(message) != json.loads(messages.text_of(as_well)):
            return True
    return False


@pytest.mark.parametrize(
    ("game", "players", "options"),
    [("poke", 2, {"must_beat": True}), pytest.param("saint_poker", 3, {}, marks=pytest.mark.long)],
    ids=["poke", "saint_poker"],
)
def test_what_spectators_are_told_is_public_and_told_in_order(
    arena: Arena, game: str, players: int, options: dict[str, Any]
) -> None:
    told = played(arena, lambda: cup(arena, game, players, options, boards=1))
    match, games = told.record.match["match"], len(told.record.games)
    tournament = told.record.match["tournament"]

    [begun] = [n for n, one in enumerate(told.news) if isinstance(one, MatchStarted)]
    [closed] = [n for n, one in enumerate(told.news) if isinstance(one, MatchClosed)]
    assert told.news[begun] == MatchStarted(match, tournament, 1)
    assert told.news[closed] == MatchClosed(match, tournament)
    assert all(begun < told.news.index(one) < closed for one in told.positions)
    counted = [one for one in told.news if isinstance(one, GameOver)]
    assert counted == sorted(counted, key=lambda one: one.games)
    assert {one.planned for one in counted} == {games}

    order = [(one.table, one.game, one.decision) for one in told.positions]
    assert order == sorted(set(order))
    assert {table for table, _, _ in order} == set(range(players))
    states, records = told.states(), {record.number: record for record in told.record.games}
    for message, one in zip(told.messages, told.news, strict=True):
        if isinstance(one, Position):
            record = records[one.game]
            of_the_game = replace(
                one,
                match=match,
                table=record.game["table"],
                board=record.game["board"],
                seating=tuple(record.game["seating"]),
            )
            assert not gives_away(message, of_the_game, states[one.game, one.decision])


def test_without_spectators_workers_tell_no_positions(arena: Arena) -> None:
    pages = Pages(listen_near("127.0.0.1", 8000), WebSettings(spectators=False))
    told = played(arena, lambda: cup(arena, "poke", 2, {"must_beat": True}, 1), pages)
    assert told.positions == []
    assert [type(one) for one in told.news].count(MatchClosed) == 1


def test_a_worker_that_cannot_tell_how_often_to_show_does_not_start(arena: Arena) -> None:
    with pytest.raises(SettingError, match="POKEARENA_WATCH_MS"):
        worker_process.run(arena.where, "w1", {"POKEARENA_WATCH_MS": "often"})


def mutants(state: State) -> Iterator[tuple[str, dict[str, Any]]]:
    """Messages of a first position of Poke that say more than they should."""
    right = Position("m", 0, 0, 0, 0, state.actors, ("a@1", "b@1"), {})
    public = json.loads(messages.text_of(replace(right, view={"poke": json_of(state.public())})))
    yield "nothing", public
    yield "a hand", {**public, "view": {"poke": json_of(state.view(1))}}
    yield "the next card", {**public, "next": state.stock[0]}  # type: ignore[attr-defined]
    yield "a time", {**public, "ms": 12.5}
    yield "who has yet to choose", {**public, "actors": [0, 1]}


def test_a_message_that_says_more_is_caught() -> None:
    state = find("poke").start(Seeded(bytes(32)))
    said = dict(mutants(state))
    right = messages.parse(json.dumps(said["nothing"]))
    assert isinstance(right, Position)
    caught = {
        name: gives_away(json.dumps(message).encode(), right, state)
        for name, message in said.items()
    }
    assert caught == {name: name != "nothing" for name in said}


def test_a_tournament_comes_out_the_same_when_redis_dies_while_news_are_told(
    arena: Arena,
) -> None:
    tournament = cup(arena, "poke", 2, {"must_beat": True}, 2)
    with Services(arena.where, 1, {}) as services:
        url = services.snapshot.redis.url
        with Ear(url) as ear:
            wait_until(lambda: any(isinstance(one, Position) for one in ear.news))
            client = redis_connection.connect(url)
            redis = int(client.info("server")["process_id"])
            client.close()
        os.kill(redis, signal.SIGKILL)
        wait_until(lambda: arena.closed(tournament))
    [match] = results.closed(arena.engine, [tournament.id])
    assert len(match.games) == 4
    log = (arena.where.logs / "worker-1.log").read_text()
    assert log.count("attempt ") == 1
    assert log.count("events are lost") <= 1
