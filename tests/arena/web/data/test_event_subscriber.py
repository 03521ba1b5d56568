"""Events for spectators: which of them are forwarded, and with which delay."""

import pytest

from arena.store.events.messages import Event, GameOver, MatchClosed, MatchStarted, Position
from arena.web.data.changes import Changes, position_of
from arena.web.data.event_subscriber import EventSubscriber


def position(decision: int, match: str = "m-1") -> Position:
    return Position(match, 0, 0, 0, decision, (0,), ("a@1", "b@1"), {"poke": {}})


class SubscriberHarness:
    """An event subscriber with the events that it forwarded."""

    def __init__(self, *, spectators: bool = True, delay: float = 0.0) -> None:
        self.forwarded: list[Event] = []
        self.nudges = 0
        self.changes = Changes()
        self.subscriber = EventSubscriber(
            self.changes, self._nudge, spectators=spectators, delay=delay
        )
        self.subscriber.add_listener(self.forwarded.append)

    def _nudge(self) -> None:
        self.nudges += 1


def test_a_position_is_stored_and_forwarded() -> None:
    harness = SubscriberHarness()
    harness.subscriber.receive(position(1), 0.0)
    harness.subscriber.receive(position(2), 0.1)
    assert harness.forwarded == [position(1), position(2)]
    assert harness.subscriber.positions == {"m-1": position(2)}
    assert harness.changes.newest({position_of("m-1")}) == harness.changes.last == 2


def test_without_spectators_no_position_is_forwarded() -> None:
    harness = SubscriberHarness(spectators=False)
    events: list[Event] = [MatchStarted("m-1", "t-1", 1), position(1), GameOver("m-1", 1, 2)]
    for event in events:
        harness.subscriber.receive(event, 0.0)
    assert harness.forwarded == [events[0], events[2]]
    assert harness.subscriber.positions == {}


def test_positions_and_game_ends_are_delayed() -> None:
    harness = SubscriberHarness(delay=10.0)
    harness.subscriber.receive(MatchStarted("m-1", "t-1", 1), 0.0)
    harness.subscriber.receive(position(1), 1.0)
    harness.subscriber.receive(GameOver("m-1", 1, 2), 2.0)
    harness.subscriber.release(10.9)
    assert harness.forwarded == [MatchStarted("m-1", "t-1", 1)]
    assert harness.subscriber.positions == {}
    harness.subscriber.release(11.0)
    assert harness.forwarded[1:] == [position(1)]
    harness.subscriber.release(12.0)
    assert harness.forwarded[2:] == [GameOver("m-1", 1, 2)]


def test_with_a_long_delay_positions_are_sampled() -> None:
    harness = SubscriberHarness(delay=1000.0)
    for tenth in range(10_000):
        harness.subscriber.receive(position(tenth), tenth / 10)
    harness.subscriber.release(2000.0)
    assert 150 <= len(harness.forwarded) <= 201


def test_a_closed_match_is_forwarded_at_once_without_delayed_events() -> None:
    harness = SubscriberHarness(delay=10.0)
    harness.subscriber.receive(position(1), 0.0)
    harness.subscriber.receive(position(1, "m-2"), 0.0)
    harness.subscriber.receive(MatchClosed("m-1", "t-1"), 1.0)
    harness.subscriber.release(20.0)
    assert harness.forwarded == [MatchClosed("m-1", "t-1"), position(1, "m-2")]
    assert set(harness.subscriber.positions) == {"m-2"}


@pytest.mark.parametrize(
    ("forwarded", "nudges"),
    [
        (MatchStarted("m-1", "t-1", 1), 1),
        (GameOver("m-1", 1, 2), 1),
        (MatchClosed("m-1", "t-1"), 1),
        (position(1), 0),
    ],
)
def test_events_trigger_reads_of_the_store(forwarded: Event, nudges: int) -> None:
    harness = SubscriberHarness()
    harness.subscriber.receive(forwarded, 0.0)
    assert harness.nudges == nudges


def test_positions_of_abandoned_matches_expire() -> None:
    harness = SubscriberHarness()
    for number in range(1500):
        harness.subscriber.receive(position(1, f"m-{number}"), float(number))
    assert len(harness.subscriber.positions) == 1000
    assert "m-1499" in harness.subscriber.positions
