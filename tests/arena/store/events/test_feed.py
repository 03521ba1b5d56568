"""Test the events of a running tournament, with real services.

The leak test redeals all hidden cards. Every message that was published while the match was open
must be identical, byte by byte, after the redeal.
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

from arena.bots import resolver
from arena.bots.processes import Processes
from arena.bots.sandbox import available_levels
from arena.config import SettingError
from arena.services import worker_process
from arena.services.local import Services
from arena.services.web_process import Pages, WebSettings, listen_near
from arena.store.bots import remote_bots, versions
from arena.store.events import messages
from arena.store.events.messages import (
    Event,
    GameOver,
    MatchClosed,
    MatchStarted,
    Position,
    TournamentChanged,
)
from arena.store.match_settings import Clock, TournamentPlan
from arena.store.matches import results
from arena.store.tournaments.tournaments import Tournament
from arena.system import redis_connection
from arena.tournaments import scheduler
from referee.game_codec import json_of
from referee.games.contract import State
from referee.games.registry import find_game
from referee.games.shared.dealing import Seeded
from referee.record import read
from referee.replay import steps
from tests.arena.poke_plan import poke_plan
from tests.arena.services.test_services import ServicesArena
from tests.errors import has_code
from tests.waiting import wait_until

NAP = 0.02


@dataclass
class EventRecorder:
    """Subscribes to all channels and stores each message as bytes."""

    url: str
    messages: list[bytes] = field(default_factory=list)

    def __enter__(self) -> "EventRecorder":
        self._client = redis_connection.connect(self.url)
        self._pubsub: PubSub = self._client.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
        self._pubsub.psubscribe("*")
        wait_until(lambda: self._client.pubsub_numpat() == 1)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._receive)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._pubsub.close()
        self._client.close()

    def _receive(self) -> None:
        while not self._over.is_set():
            message = self._pubsub.get_message(timeout=0.1)
            if message is not None and message["channel"].startswith(b"pokearena:"):
                self.messages.append(message["data"])

    @property
    def events(self) -> list[Event]:
        """Decode all messages; an invalid message fails the test."""
        events = [messages.parse(message) for message in self.messages]
        assert None not in events
        return [event for event in events if event is not None]


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[ServicesArena]:
    arena = ServicesArena(tmp_path)
    yield arena
    arena.engine.dispose()


def begun_tournament(
    arena: ServicesArena, game: str, players: int, options: dict[str, Any], boards: int
) -> Tournament:
    entrants = [arena.admit(f"bot{n}", -(n % 2), NAP) for n in range(players)]
    plan = TournamentPlan(
        name="cup",
        game=game,
        options=options,
        seats=players,
        boards=boards,
        clock=Clock(20_000, 5000),
    )
    return scheduler.begin(arena.engine, plan, entrants, bytes(32))


@dataclass(frozen=True)
class PublishedMatch:
    """The events of the only match of a tournament, and its record."""

    events: list[Event]
    messages: list[bytes]
    record: Any

    @property
    def positions(self) -> list[Position]:
        return [event for event in self.events if isinstance(event, Position)]

    def states(self) -> dict[tuple[int, int], State]:
        return {
            (game.number, step.decision): step.state
            for game in self.record.games
            for step in steps(self.record.match, game, self.record.seed)
        }


def played(
    arena: ServicesArena, begin: Callable[[], Tournament], pages: Pages | None = None
) -> PublishedMatch:
    with (
        Services(arena.where, 1, {}, pages) as services,
        EventRecorder(services.snapshot.redis.url) as recorder,
    ):
        tournament = begin()
        wait_until(lambda: TournamentChanged(tournament.id, "closed") in recorder.events)
    [match] = results.closed(arena.engine, [tournament.id])
    return PublishedMatch(
        recorder.events, recorder.messages, read(results.record(arena.engine, match.id))
    )


def reveals_hidden_cards(message: bytes, position: Position, state: State) -> bool:
    """Return whether the message of a position changes when hidden cards are redealt.

    position: the public fields of the message, such as match, game and decision.
    state: the true state of the game at that position.
    """
    game = next(iter(position.view))
    for luck in (None, Seeded(bytes(32)), Seeded(bytes([1] * 32))):
        dealt = state if luck is None else state.redeal(None, luck)
        as_well = replace(position, actors=dealt.actors, view={game: json_of(dealt.public())})
        if json.loads(message) != json.loads(messages.text_of(as_well)):
            return True
    return False


@pytest.mark.long
@pytest.mark.parametrize(
    ("game", "players", "options"),
    [
        pytest.param("poke", 2, {"must_beat": True}, id="poke"),
        pytest.param("saint_poker", 3, {}, id="saint_poker", marks=pytest.mark.repetition),
    ],
)
def test_events_are_public_and_in_order(
    arena: ServicesArena, game: str, players: int, options: dict[str, Any]
) -> None:
    published = played(arena, lambda: begun_tournament(arena, game, players, options, boards=1))
    match, games = published.record.match["match"], len(published.record.games)
    tournament = published.record.match["tournament"]

    [begun] = [n for n, event in enumerate(published.events) if isinstance(event, MatchStarted)]
    [closed] = [n for n, event in enumerate(published.events) if isinstance(event, MatchClosed)]
    assert published.events[begun] == MatchStarted(match, tournament, 1)
    assert published.events[closed] == MatchClosed(match, tournament)
    assert all(begun < published.events.index(event) < closed for event in published.positions)
    counted = [event for event in published.events if isinstance(event, GameOver)]
    assert counted == sorted(counted, key=lambda event: event.games)
    assert {event.planned for event in counted} == {games}

    order = [(event.table, event.game, event.decision) for event in published.positions]
    assert order == sorted(set(order))
    assert {table for table, _, _ in order} == set(range(players))
    states, records = (
        published.states(),
        {record.number: record for record in published.record.games},
    )
    for message, event in zip(published.messages, published.events, strict=True):
        if isinstance(event, Position):
            record = records[event.game]
            of_the_game = replace(
                event,
                match=match,
                table=record.game["table"],
                board=record.game["board"],
                seating=tuple(record.game["seating"]),
            )
            assert not reveals_hidden_cards(
                message, of_the_game, states[event.game, event.decision]
            )


@pytest.mark.long
def test_the_feed_shows_no_board_that_a_bot_with_a_network_still_plays(
    arena: ServicesArena,
) -> None:
    with Processes(level=available_levels.best_level()) as elsewhere:
        ours = arena.admit("ours", 0, NAP)
        theirs = versions.find_version(arena.engine, arena.admit("theirs", -1, NAP))
        address = elsewhere.start(0, resolver.from_folder(Path(theirs.folder)))
        far = remote_bots.add_direct(arena.engine, "far", "1", address).id

        def begin() -> Tournament:
            clock = Clock(20_000, 5000)
            plan = poke_plan(boards=2, clock=clock)
            return scheduler.begin(arena.engine, plan, [ours, far], bytes(32))

        published = played(arena, begin)
    assert {event.table for event in published.positions} == {0, 1}
    # The deal of each game, as the stocks and hands of its first position.
    deals = {
        game.number: next(steps(published.record.match, game, published.record.seed)).state
        for game in published.record.games
    }
    assert len({repr(state) for state in deals.values()}) == len(deals) == 4
    shown: dict[int, set[int]] = {}
    for event in published.positions:
        shown.setdefault(event.board, set()).add(event.game)
    # No board is played again after the feed has shown a position of it.
    assert all(len(games) == 1 for games in shown.values())
    assert set(shown) == {game.game["board"] for game in published.record.games}


@pytest.mark.long
def test_without_spectators_no_positions_are_published(arena: ServicesArena) -> None:
    pages = Pages(listen_near("127.0.0.1", 8000), WebSettings(spectators=False))
    published = played(
        arena, lambda: begun_tournament(arena, "poke", 2, {"must_beat": True}, 1), pages
    )
    assert published.positions == []
    assert [type(event) for event in published.events].count(MatchClosed) == 1


def test_an_invalid_watch_interval_is_a_setting_error(arena: ServicesArena) -> None:
    with pytest.raises(SettingError, check=has_code("not-a-time")):
        worker_process.run(arena.where, "w1", {"POKEARENA_WATCH_MS": "often"})


def mutants(state: State) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield messages of an opening position of Poke by name; only the first reveals no secret."""
    right = Position("m", 0, 0, 0, 0, state.actors, ("a@1", "b@1"), {})
    public = json.loads(messages.text_of(replace(right, view={"poke": json_of(state.public())})))
    yield "nothing", public
    yield "a hand", {**public, "view": {"poke": json_of(state.view(1))}}
    yield "the next card", {**public, "next": state.stock[0]}  # type: ignore[attr-defined]
    yield "a time", {**public, "ms": 12.5}
    yield "who has yet to choose", {**public, "actors": [0, 1]}


def test_the_leak_test_finds_a_message_with_hidden_information() -> None:
    state = find_game("poke").start(Seeded(bytes(32)))
    mutants_by_name = dict(mutants(state))
    right = messages.parse(json.dumps(mutants_by_name["nothing"]))
    assert isinstance(right, Position)
    caught = {
        name: reveals_hidden_cards(json.dumps(message).encode(), right, state)
        for name, message in mutants_by_name.items()
    }
    assert caught == {name: name != "nothing" for name in mutants_by_name}


@pytest.mark.long
def test_a_killed_redis_does_not_change_the_results_of_a_tournament(
    arena: ServicesArena,
) -> None:
    tournament = begun_tournament(arena, "poke", 2, {"must_beat": True}, 1)
    with Services(arena.where, 1, {}) as services:
        url = services.snapshot.redis.url
        with EventRecorder(url) as recorder:
            wait_until(lambda: any(isinstance(event, Position) for event in recorder.events))
            client = redis_connection.connect(url)
            redis = int(client.info("server")["process_id"])
            client.close()
        os.kill(redis, signal.SIGKILL)
        wait_until(lambda: arena.closed(tournament))
    [match] = results.closed(arena.engine, [tournament.id])
    assert len(match.games) == 2
    log = (arena.where.service_logs / "worker-1.log").read_text()
    assert log.count("attempt ") == 1
    assert log.count("events are lost") <= 1
