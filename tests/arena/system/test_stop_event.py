"""Test the stop request that a signal handler may set."""

import signal
import threading
from types import FrameType

from arena.system.stop_event import StopEvent


def test_a_signal_handler_may_set_the_event_at_any_moment_of_a_wait() -> None:
    """Try many moments: each round, a timer fires while the main thread waits in short steps."""
    rounds, event = 200, StopEvent()

    def handle(number: int, frame: FrameType | None) -> None:
        event.set()

    before = signal.signal(signal.SIGALRM, handle)
    try:
        for number in range(rounds):
            event = StopEvent()
            signal.setitimer(signal.ITIMER_REAL, 0.0005 + number * 1e-6)
            while not event.wait(1e-6):
                pass
            assert event.is_set()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_all_threads_that_wait_are_woken() -> None:
    event = StopEvent()
    threads = [threading.Thread(target=event.wait, args=(60,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    event.set()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)


def test_an_event_that_is_not_set_ends_the_wait_at_its_time() -> None:
    assert not StopEvent().wait(0.001)
