"""The remaining tables and boards of a match."""

from dataclasses import replace

from arena.matches.runner import record_text
from arena.ratings.closed_match import PlayedGame
from arena.store.match_settings import Clock
from arena.store.matches.spec import Entrant
from arena.store.matches.table_plan import BoardPlan, RemainingResources, plan
from tests.arena.match_spec import SEED, poke_spec

SPEC = poke_spec(
    (Entrant("a@1", "aa", "/a", {}), Entrant("b@1", "bb", "/b", {})),
    boards=2,
    clock=Clock(bank_ms=1000),
)
THREE = replace(
    SPEC,
    game="saint_poker",
    options={},
    seats=3,
    entrants=(*SPEC.entrants, Entrant("c@1", "cc", "/c", {})),
)


def committed(
    game: int, bank_ms: tuple[float, ...], faults: tuple[int, ...], crashes: tuple[int, ...]
) -> PlayedGame:
    tally = {"bank_ms": bank_ms, "faults": faults, "crashes": crashes}
    table, board = divmod(game, SPEC.boards)
    entrants = len(bank_ms)
    verdicts = ("finished",) * entrants
    return PlayedGame(
        game, (1,) * entrants, None, verdicts, faults, table=table, board=board, tally=tally
    )


def test_a_match_of_two_sides_plays_all_boards_in_both_seatings() -> None:
    first, second = plan(SPEC)
    assert (first.table, first.seating) == (0, (0, 1))
    assert (second.table, second.seating) == (1, (1, 0))
    assert first.boards == (BoardPlan(0, 0), BoardPlan(1, 1))
    assert second.boards == (BoardPlan(2, 0), BoardPlan(3, 1))
    assert first.rights == (RemainingResources(1000), RemainingResources(1000))


def test_a_match_of_three_sides_plays_all_rotations() -> None:
    assert [table.seating for table in plan(THREE)] == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]


def test_with_a_remote_bot_every_table_has_its_own_boards() -> None:
    remote = replace(SPEC, entrants=(SPEC.entrants[0], Entrant("grpc://h:1", "", "", {})))
    assert [table.boards for table in plan(remote)] == [
        (BoardPlan(0, 0), BoardPlan(1, 1)),
        (BoardPlan(2, 2), BoardPlan(3, 3)),
    ]
    assert remote.line()["mirrored"] is False
    assert "mirrored" not in SPEC.line()


def test_a_committed_game_is_not_played_again() -> None:
    left = plan(SPEC, [committed(0, (0, 0), (0, 0), (0, 0))])
    assert [table.boards for table in left] == [
        (BoardPlan(1, 1),),
        (BoardPlan(2, 0), BoardPlan(3, 1)),
    ]


def test_a_table_with_no_boards_left_is_skipped() -> None:
    nothing = ((0, 0), (0, 0), (0, 0))
    left = plan(SPEC, [committed(0, *nothing), committed(1, *nothing)])
    assert [table.table for table in left] == [1]
    everything = [committed(game, *nothing) for game in range(4)]
    assert plan(SPEC, everything) == ()


def test_a_resumed_table_keeps_used_resources() -> None:
    (rest,) = plan(
        SPEC,
        [
            committed(0, (0, 0), (0, 0), (0, 0)),
            committed(1, (0, 0), (0, 0), (0, 0)),
            committed(2, (100.5, 2000), (1, 2), (1, 0)),
        ],
    )
    assert rest.rights == (RemainingResources(899, 1, 1), RemainingResources(0, 2, 0))


def test_every_table_starts_with_full_resources() -> None:
    rest = plan(SPEC, [committed(0, (500, 0), (2, 0), (1, 0))])
    assert rest[1].rights == (RemainingResources(1000), RemainingResources(1000))


def test_a_record_has_its_games_in_order_and_the_seed_at_the_end() -> None:
    games = {10: "ten\n", 2: "two\n"}
    text = record_text(SPEC, games, SEED).splitlines()
    assert text[0].startswith('{"type":"match","format":1,"match":"m-0123456789","game":"poke"')
    assert text[1:3] == ["two", "ten"]
    assert text[3] == f'{{"type":"seed","seed":"{SEED.hex()}"}}'


def test_a_record_keeps_the_seed_secret_while_the_match_is_played() -> None:
    assert SEED.hex() not in record_text(SPEC, {0: "one\n"}, None)
