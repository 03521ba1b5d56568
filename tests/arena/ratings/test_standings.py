"""Test the standings: the counts and the order."""

import json
import random
from collections.abc import Iterable

from arena.ratings import standings as module
from arena.ratings.closed_match import ClosedMatch, PlayedGame
from arena.ratings.decision_histogram import DecisionHistogram
from arena.ratings.entrant_sums import EntrantSums, of_match
from arena.ratings.standings import Standings, StandingsLine
from arena.ratings.strength.settings import StrengthSettings

CLIP = 1000


def table(
    matches: Iterable[ClosedMatch],
    entrants: Iterable[str] = (),
) -> tuple[StandingsLine, ...]:
    return module.of_matches(matches, CLIP, entrants).table.lines


def game(
    number: int,
    places: tuple[int, ...],
    scores: tuple[int, ...] | None = None,
    verdicts: tuple[str, ...] | None = None,
) -> PlayedGame:
    verdicts = verdicts or ("finished",) * len(places)
    faults = tuple(int(word not in ("finished", "forfeit")) for word in verdicts)
    return PlayedGame(number, places, scores, verdicts, faults)


def match(
    number: int, entrants: tuple[str, ...], *games: PlayedGame, in_round: int = 0
) -> ClosedMatch:
    return ClosedMatch(f"m-{number}", in_round, number, entrants, games)


def by_name(standings: tuple[StandingsLine, ...]) -> dict[str, StandingsLine]:
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


def test_an_infrastructure_fault_is_not_charged_to_any_entrant() -> None:
    broken = game(0, (1, 1), None, ("infrastructure", "infrastructure"))
    assert all(not s.faults and not s.forfeits for s in table([match(0, ("a", "b"), broken)]))


def test_the_mean_score_weights_every_match_equally() -> None:
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


def test_the_strongest_is_first_and_indistinguishable_entrants_share_ranks() -> None:
    standings = table([match(0, ("c", "b", "a"), game(0, (1, 2, 3)))])
    assert [s.entrant for s in standings] == ["c", "b", "a"]
    assert [(s.strength.first, s.strength.last) for s in standings] == [(1, 3)] * 3
    many = [match(n, ("c", "b", "a"), game(0, (1, 2, 3)), in_round=n) for n in range(60)]
    assert [(s.strength.first, s.strength.last) for s in table(many)] == [(1, 1), (2, 2), (3, 3)]


def test_entrants_are_ranked_by_strength_and_not_by_elo() -> None:
    # Elo gives the last rounds the most weight: late wins count more than early ones.
    played = [match(n, ("a", "b"), game(0, (1, 2)), in_round=n) for n in range(20)]
    played += [match(n, ("a", "b"), game(0, (2, 1)), in_round=n) for n in range(20, 40)]
    first, second = table(played)
    assert (first.entrant, second.entrant) == ("a", "b")
    assert first.strength.value == second.strength.value
    assert first.elo < second.elo


def test_equal_entrants_are_ordered_by_name() -> None:
    standings = table([match(0, ("d", "c", "b", "a"), game(0, (1, 2, 2, 4)))])
    assert [s.entrant for s in standings] == ["d", "b", "c", "a"]


def test_points_per_board_are_the_points_ahead_of_the_table() -> None:
    first, second = table([match(0, ("a", "b"), game(0, (1, 2), (9, 3)))])
    assert first.board is not None
    assert second.board is not None
    assert (first.board.mean, second.board.mean) == (6.0, -6.0)


def test_an_entrant_without_a_match_has_the_initial_rating_and_no_mean() -> None:
    idle = by_name(table([], entrants=["idle"]))["idle"]
    assert (idle.elo, idle.mean, idle.matches, idle.games) == (1200.0, None, 0, 0)
    assert (idle.strength.value, idle.strength.provisional, idle.board) == (1200.0, True, None)


def test_the_order_of_matches_does_not_matter() -> None:
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


def test_matches_that_are_added_and_subtracted_leave_no_trace() -> None:
    dice = random.Random(3)
    matches = [
        match(n, tuple(dice.sample("abcde", 2)), game(0, (1, 2), (n, 0)), in_round=n // 3)
        for n in range(30)
    ]
    times = (DecisionHistogram.of([1.0, 20.0]), DecisionHistogram.of([3.0]))
    sums: dict[str, EntrantSums] = {}
    changes = [(added, 1) for added in matches] + [(gone, -1) for gone in matches[10:]]
    for changed, sign in dice.sample(changes, len(changes)):
        for name, counted in of_match(changed, CLIP, times).items():
            sums.setdefault(name, EntrantSums()).add(counted, sign)
    kept = by_name(table(matches[:10]))
    nothing = {name: of for name, of in sums.items() if name not in kept}
    assert set(map(repr, nothing.values())) <= {repr(EntrantSums())}
    for name, line in kept.items():
        of = EntrantSums.from_row(json.loads(json.dumps(sums[name].to_row())))
        assert (of.matches, of.wins, of.points, of.mean) == (
            line.matches,
            line.wins,
            line.points,
            line.mean,
        )
        assert of.points_per_board(name) == line.board
        assert DecisionHistogram(of.thinking).decisions in (line.matches, 2 * line.matches) or (
            line.matches < DecisionHistogram(of.thinking).decisions < 2 * line.matches
        )


def test_decision_times_do_not_affect_equality_of_tables() -> None:
    (line,) = table([], entrants=["a"])
    tables = [
        Standings((line,), StrengthSettings(), CLIP, thinking={"a": DecisionHistogram.of(times)})
        for times in ([1.0, 2.0], [300.0])
    ]
    assert tables[0] == tables[1]
    assert [each.thinking["a"].decisions for each in tables] == [2, 1]


def test_a_line_counts_games_faults_and_points() -> None:
    _, line = table([match(0, ("a", "b"), game(0, (1, 2), None, ("finished", "crash")))])
    assert (line.entrant, line.matches, line.games, line.elo) == ("b", 1, 1, 1195.0)
    assert (line.wins, line.draws, line.losses, line.points, line.mean) == (0, 0, 1, 0, 0)
    assert line.faults == {"crash": 1}
    assert (line.strength.first, line.strength.last) == (1, 2)
    assert line.strength.low < line.strength.value < line.strength.high
    assert (line.board, line.forfeits, line.strength.provisional) == (None, 0, True)


def test_entrants_without_a_match_have_the_last_places() -> None:
    played = [match(n, ("a", "b"), game(0, (1, 2)), game(1, (2, 1))) for n in range(20)]
    upset = match(20, ("a", "b"), game(0, (1, 2)))
    fitted = module.of_matches([*played, upset], CLIP, ["idle"]).table
    assert fitted.entrants == ("a", "idle", "b")
    assert [(place, line.entrant) for place, line in fitted.ranked] == [
        *((1, "a"), (2, "b"), (3, "idle"))
    ]
    # A line that another one follows than by strength has no superiority to it.
    assert fitted.ranked[0][1].strength.superiority_to_next is None


def test_entrants_that_never_met_the_largest_group_are_placed_after_it() -> None:
    large = [match(n, pair, game(0, (1, 2))) for n, pair in enumerate([("a", "b"), ("b", "c")])]
    apart = [match(n, ("x", "y"), game(0, (1, 2))) for n in range(2, 20)]
    fitted = module.of_matches([*large, *apart], CLIP).table
    assert fitted.entrants[0] == "x"
    assert [line.entrant for _, line in fitted.ranked] == ["a", "b", "c", "x", "y"]
