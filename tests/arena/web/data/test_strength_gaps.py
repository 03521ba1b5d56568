"""Differences of strength that pages request."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, current_thread

from sqlalchemy import event

from arena.ladders import ladder_key, ladder_rows, rater
from arena.ladders.ladder_rows import Ladder
from arena.store.access.audit_log import COMMAND_LINE
from arena.store.matches import corrections, listing
from arena.web.data.strength_gaps import FittedGaps
from tests.arena.records.bundle.simulated_arena import SimulatedArena


def ladders_of(arena: SimulatedArena) -> list[Ladder]:
    rater.advance(arena.engine)
    keys = ladder_key.of_seasons(arena.engine)
    return [ladder_rows.read_ladder(arena.engine, key) for key in keys]


def test_an_entrant_without_results_any_more_has_differences(tmp_path: Path) -> None:
    arena = SimulatedArena(tmp_path)
    arena.begin("round-robin", arena.bots(2))
    arena.wave()
    [ladder] = ladders_of(arena)
    [match] = listing.matches(arena.engine)
    corrections.void(arena.engine, match.id, COMMAND_LINE, "a wrong table")
    rater.advance(arena.engine)
    assert FittedGaps(arena.engine).of(ladder).between(*ladder.table.lines).margin > 0


def test_a_request_does_not_wait_for_the_fit_of_another_ladder(tmp_path: Path) -> None:
    arena = SimulatedArena(tmp_path)
    bots = arena.bots(4)
    arena.begin("round-robin", bots)
    arena.begin("round-robin", bots, game="saint_poker", seats=4)
    arena.wave()
    first, second = ladders_of(arena)
    gaps, has_begun, may_end = FittedGaps(arena.engine), Event(), Event()

    @event.listens_for(arena.engine, "before_cursor_execute")
    def hold(*of_statement: object) -> None:
        if current_thread().name.startswith("slow"):
            has_begun.set()
            assert may_end.wait(30)

    with ThreadPoolExecutor(1, "slow") as slow, ThreadPoolExecutor(1, "fast") as fast:
        try:
            held = slow.submit(gaps.of, first)
            assert has_begun.wait(30)
            fast.submit(gaps.of, second).result(30)
        finally:
            may_end.set()
        held.result()
