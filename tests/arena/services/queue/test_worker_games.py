"""Test what differences between the games of the registered workers mean."""

from arena.services.queue.worker_games import game_problems
from arena.services.queue.worker_registrations import WorkerInfo


def workers(*games: dict[str, str], silent: float = 0) -> list[WorkerInfo]:
    return [
        WorkerInfo(name=f"w{number}", host="host", pid=1, silent=silent, games=each)
        for number, each in enumerate(games)
    ]


def test_equal_games_are_no_problem() -> None:
    assert game_problems(workers({}, {})) == []
    assert game_problems(workers({"race": "a"}, {"race": "a"})) == []
    assert game_problems([*workers({"race": "a"}), *workers({"race": "b"}, silent=60)]) == []


def test_a_missing_game_and_different_code_are_problems() -> None:
    [without, different] = game_problems(workers({"race": "a" * 64}, {}, {"race": "b" * 64}))
    assert "race" in without
    assert "w1" in without
    assert "aaaaaaaa, bbbbbbbb" in different
