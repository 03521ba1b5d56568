"""The rules of the table: what is counted, and who stands above whom."""

import json
import random

from arena.ratings.elo import EloSettings
from arena.results import ClosedGame, ClosedMatch
from arena.standings import Standing, table


def game(
    number: int,
    places: tuple[int, ...],
    scores: tuple[int, ...] | None = None,
    verdicts: tuple[str, ...] | None = None,
) -> ClosedGame:
    verdicts = verdicts or ("finished",) * len(places)
    faults = tuple(int(word not in ("finished", "forfeit")) for word in verdicts)
    return ClosedGame(number, places, scores, verdicts, faults)


def match(
    number: int, entrants: tuple[str, ...], *games: ClosedGame, in_round: int = 0
) -> ClosedMatch:
    return ClosedMatch(f"m-{number}", in_round, number, entrants, games)


def by_name(standings: tuple[Standing, ...]) -> dict[str, Standing]:
    return {standing.entrant: standing for standing in standings}


def test_a_win_is_the_first_place_alone_a_draw_the_first_place_shared() -> None:
    standings = by_name(
        table(
            [
                match(
                    0,
                    ("a", "b", "c"),
                    game(0, (1, 2, 3)),
                    game(1, (1, 1, 3)),
                    game(2, (3, 1, 2)),
                    game(3, (1, 2, 2)),
                )
            ]
        )
    )
    assert [(s.wins, s.draws, s.losses) for s in (standings["a"], standings["b"])] == [
        (2, 1, 1),
        (1, 1, 2),
    ]
    assert (standings["c"].wins, standings["c"].draws, standings["c"].losses) == (0, 0, 4)


def test_matches_games_and_points_are_added_up() -> None:
    a = by_name(
        table(
            [
                match(0, ("a", "b"), game(0, (1, 2), (30, -5)), game(1, (2, 1), (7, 8))),
                match(1, ("c", "a"), game(0, (1, 1), (4, 4)), in_round=1),
            ]
        )
    )["a"]
    assert (a.matches, a.games, a.points) == (2, 3, 41)


def test_a_game_ended_by_a_fault_has_no_points_but_a_winner() -> None:
    standings = by_name(
        table(
            [
                match(
                    0,
                    ("a", "b"),
                    game(0, (1, 2), (9, 3)),
                    game(1, (1, 2), None, ("finished", "timeout")),
                )
            ]
        )
    )
    assert (standings["a"].wins, standings["a"].points) == (2, 9)
    assert (standings["b"].losses, standings["b"].points) == (2, 3)


def test_faults_are_counted_by_kind_and_forfeits_apart() -> None:
    words = ("illegal", "timeout", "illegal", "forfeit", "forfeit")
    games = [game(n, (2, 1), None, (word, "finished")) for n, word in enumerate(words)]
    standings = by_name(table([match(0, ("a", "b"), *games)]))
    assert standings["a"].faults == {"timeout": 1, "illegal": 2}
    assert standings["a"].forfeits == 2
    assert standings["b"].faults == {}
    assert standings["b"].forfeits == 0


def test_a_fault_of_the_infrastructure_is_charged_to_nobody() -> None:
    broken = game(0, (1, 1), None, ("infrastructure", "infrastructure"))
    assert all(not s.faults and not s.forfeits for s in table([match(0, ("a", "b"), broken)]))


def test_the_mean_score_counts_every_match_alike_however_many_games_it_has() -> None:
    standings = by_name(
        table(
            [
                match(0, ("a", "b"), *(game(n, (1, 2)) for n in range(8))),
                match(1, ("a", "c"), game(0, (2, 1)), in_round=1),
            ]
        )
    )
    assert standings["a"].mean == 0.5


def test_the_mean_score_at_a_larger_table_is_the_mean_over_the_opponents() -> None:
    standings = by_name(table([match(0, ("a", "b", "c"), game(0, (1, 2, 3)))]))
    assert [standings[name].mean for name in "abc"] == [1.0, 0.5, 0.0]


def test_the_best_rating_stands_first() -> None:
    standings = table([match(0, ("c", "b", "a"), game(0, (1, 2, 3)))])
    assert [(s.rank, s.entrant) for s in standings] == [(1, "c"), (2, "b"), (3, "a")]
    assert standings[0].elo > standings[1].elo > standings[2].elo


def test_equal_entrants_share_a_rank_in_the_order_of_their_names() -> None:
    standings = table([match(0, ("d", "c", "b", "a"), game(0, (1, 2, 2, 4)))])
    assert [(s.rank, s.entrant) for s in standings] == [(1, "d"), (2, "b"), (2, "c"), (4, "a")]


def test_between_equal_ratings_the_better_mean_score_stands_first() -> None:
    # y wins twice and loses once, x and s win their only match: each is one win up.
    played = [
        match(0, ("x", "p"), game(0, (1, 2))),
        match(1, ("y", "q"), game(0, (1, 2))),
        match(2, ("y", "r"), game(0, (1, 2))),
        match(3, ("y", "s"), game(0, (2, 1))),
    ]
    standings = table(played)[:3]
    assert {s.elo for s in standings} == {1205.0}
    assert [(s.rank, s.entrant) for s in standings] == [(1, "s"), (1, "x"), (3, "y")]


def test_who_has_not_played_stands_below_equal_ratings_that_were_earned() -> None:
    standings = table([match(0, ("y", "z"), game(0, (1, 1)))], entrants=["idle"])
    assert len({s.elo for s in standings}) == 1
    assert [(s.rank, s.entrant) for s in standings] == [(1, "y"), (1, "z"), (3, "idle")]


def test_an_entrant_without_a_match_stands_at_the_initial_rating_without_a_mean() -> None:
    idle = by_name(table([], EloSettings(initial=1500), entrants=["idle"]))["idle"]
    assert (idle.rank, idle.elo, idle.mean, idle.matches, idle.games) == (1, 1500.0, None, 0, 0)


def test_the_settings_decide_the_ratings() -> None:
    played = [match(0, ("a", "b"), game(0, (1, 2)))]
    assert table(played, EloSettings(k=40))[0].elo == 1220.0
    assert table(played)[0].elo == 1205.0


def test_the_order_in_which_matches_arrive_does_not_matter() -> None:
    dice = random.Random(7)
    matches = [
        match(
            number,
            tuple(dice.sample("abcdefg", 3)),
            *(game(n, tuple(dice.sample((1, 2, 3), 3)), (1, 2, 3)) for n in range(3)),
            in_round=number // 4,
        )
        for number in range(40)
    ]
    expected = table(matches)
    for _ in range(10):
        dice.shuffle(matches)
        assert table(matches) == expected


def test_a_line_can_be_written_as_json_with_every_column() -> None:
    played = match(0, ("a", "b"), game(0, (1, 2), None, ("finished", "crash")))
    lines = json.loads(json.dumps([standing.to_json() for standing in table([played])]))
    assert lines[1] == {
        "rank": 2,
        "entrant": "b",
        "matches": 1,
        "games": 1,
        "wins": 0,
        "draws": 0,
        "losses": 1,
        "points": 0,
        "mean": 0.0,
        "faults": {"crash": 1},
        "forfeits": 0,
        "elo": 1195.0,
    }
