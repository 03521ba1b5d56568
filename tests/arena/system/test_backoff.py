"""Test the pauses between attempts at work that keeps failing."""

from arena.system.backoff import Backoff


def test_pauses_double_up_to_the_longest() -> None:
    backoff = Backoff(0.5, 3.0)
    assert [backoff.after() for _ in range(5)] == [0.5, 1.0, 2.0, 3.0, 3.0]


def test_the_first_pause_follows_a_steady_run() -> None:
    backoff = Backoff(0.5, 30.0, steady=60.0)
    assert [backoff.after(ran) for ran in (0.0, 59.9, 60.0, 0.0)] == [0.5, 1.0, 0.5, 1.0]


def test_the_first_pause_follows_a_reset() -> None:
    backoff = Backoff(0.5, 30.0)
    backoff.after()
    backoff.reset()
    assert backoff.after() == 0.5
