"""What spectators may have of the news, and when."""

import pytest

from arena.events.messages import Event, GameOver, MatchClosed, MatchStarted, Position
from arena.web.data.changes import Changes, position_of
from arena.web.data.event_subscriber import EventSubscriber


def position(decision: int, match: str = "m-1") -> Position:
    return Position(match, 0, 0, 0, decision, (0,), ("a@1", "b@1"), {"poke": {}})


class SubscriberHarness:
    """A newsroom, and all that came out of it."""

    def __init__(self, *, spectators: bool = True, delay: float = 0.0) -> None:
        self.news: list[Event] = []
        self.nudges = 0
        self.changes = Changes()
        self.room = EventSubscriber(self.changes, self._nudge, spectators=spectators, delay=delay)
        self.room.join(self.news.append)

    def _nudge(self) -> None:
        self.nudges += 1


def test_a_position_is_stored_and_forwarded() -> None:
    heard = SubscriberHarness()
    heard.room.receive(position(1), 0.0)
    heard.room.receive(position(2), 0.1)
    assert heard.news == [position(1), position(2)]
    assert heard.room.positions == {"m-1": position(2)}
    assert heard.changes.newest({position_of("m-1")}) == heard.changes.last == 2


def test_without_spectators_no_position_is_forwarded() -> None:
    heard = SubscriberHarness(spectators=False)
    events: list[Event] = [MatchStarted("m-1", "t-1", 1), position(1), GameOver("m-1", 1, 2)]
    for event in events:
        heard.room.receive(event, 0.0)
    assert heard.news == [events[0], events[2]]
    assert heard.room.positions == {}


def test_positions_and_game_ends_are_delayed() -> None:
    heard = SubscriberHarness(delay=10.0)
    heard.room.receive(MatchStarted("m-1", "t-1", 1), 0.0)
    heard.room.receive(position(1), 1.0)
    heard.room.receive(GameOver("m-1", 1, 2), 2.0)
    heard.room.release(10.9)
    assert heard.news == [MatchStarted("m-1", "t-1", 1)]
    assert heard.room.positions == {}
    heard.room.release(11.0)
    assert heard.news[1:] == [position(1)]
    heard.room.release(12.0)
    assert heard.news[2:] == [GameOver("m-1", 1, 2)]


def test_with_a_long_delay_positions_are_sampled() -> None:
    heard = SubscriberHarness(delay=1000.0)
    for tenth in range(10_000):
        heard.room.receive(position(tenth), tenth / 10)
    heard.room.release(2000.0)
    assert 150 <= len(heard.news) <= 201


def test_a_closed_match_is_forwarded_at_once_without_delayed_events() -> None:
    heard = SubscriberHarness(delay=10.0)
    heard.room.receive(position(1), 0.0)
    heard.room.receive(position(1, "m-2"), 0.0)
    heard.room.receive(MatchClosed("m-1", "t-1"), 1.0)
    heard.room.release(20.0)
    assert heard.news == [MatchClosed("m-1", "t-1"), position(1, "m-2")]
    assert set(heard.room.positions) == {"m-2"}


@pytest.mark.parametrize(
    ("news", "nudges"),
    [
        (MatchStarted("m-1", "t-1", 1), 1),
        (GameOver("m-1", 1, 2), 1),
        (MatchClosed("m-1", "t-1"), 1),
        (position(1), 0),
    ],
)
def test_events_trigger_reads_of_the_store(news: Event, nudges: int) -> None:
    heard = SubscriberHarness()
    heard.room.receive(news, 0.0)
    assert heard.nudges == nudges


def test_positions_of_abandoned_matches_expire() -> None:
    heard = SubscriberHarness()
    for number in range(1500):
        heard.room.receive(position(1, f"m-{number}"), float(number))
    assert len(heard.room.positions) == 1000
    assert "m-1499" in heard.room.positions
