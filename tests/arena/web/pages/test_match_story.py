"""The story of a match, from its scores, its faults and its analysis."""

from collections.abc import Sequence
from typing import Any

import pytest

from arena.ratings.closed_match import FINISHED, PlayedFault, PlayedGame, means, scores
from arena.ratings.decision_histogram import DecisionHistogram
from arena.ratings.lead_changes import lead_changes
from arena.records.analysis.swings import Swing, largest_swings
from arena.web.pages.match_story import (
    EntrantResult,
    MatchEvidence,
    MatchStory,
    Reason,
    match_story,
)

ENTRANTS = ("a@1", "b@1")


def played(*points: Sequence[int], crashed: Sequence[int] = ()) -> list[PlayedGame]:
    """Return games with these points; in the `crashed` ones the second entrant had a fault."""
    return [
        PlayedGame(
            number,
            tuple(1 + sum(other > score for other in by_entrant) for score in by_entrant),
            tuple(by_entrant),
            (FINISHED, "crash" if number in crashed else FINISHED, FINISHED)[: len(by_entrant)],
            (0, int(number in crashed), 0)[: len(by_entrant)],
        )
        for number, by_entrant in enumerate(points)
    ]


def evidence(games: Sequence[PlayedGame], **more: Any) -> MatchEvidence:
    entrants = ("a@1", "b@1", "c@1")[: len(games[0].places)]
    shares = means(scores(games))
    sides = [
        EntrantResult(
            name=name,
            wins=(wins := sum(game.is_won(at) for game in games)),
            draws=(draws := sum(game.is_drawn(at) for game in games)),
            losses=len(games) - wins - draws,
            points=0,
            boards=len(games),
            share=shares[at],
            ahead=shares[at] >= max(shares) - 1e-9,
            faults=0,
            thinking=DecisionHistogram(),
            longest=None,
        )
        for at, name in enumerate(entrants)
    ]
    return MatchEvidence(entrants, sides, games, **more)


def story_of(*points: Sequence[int], **more: Any) -> MatchStory:
    return match_story(evidence(played(*points), **more))


def analysis(luck: float = 0.0, costliest: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    by_entrant = [{"mean": luck, "error": 0.1}, {"mean": -luck, "error": 0.1}]
    return {"luck": by_entrant, "costliest": costliest, "chance": [CHANCE]}


MISTAKE = {
    "entrant": 1,
    "game": 2,
    "decision": 7,
    "before": 0.7,
    "after": 0.4,
    "played": "leads 4C",
    "choice": "leads 5C",
}
CHANCE = {"game": 1, "decision": 9, "luck": [[0.5, 0.01], [-0.5, 0.01]]}
SWINGS = [(Swing(1, 8, 9, 0, 0.2, 0.9), "a@1"), (Swing(2, 2, 3, 0, 0.6, 0.1), "a@1")]


def test_lead_changes_follow_the_score_and_not_the_points() -> None:
    games = played((900, 0), (0, 10), (0, 10), (5, 0), (5, 0))
    assert [(change.game.game, change.entrant) for change in lead_changes(games)] == [
        (0, 0),
        (2, 1),
        (4, 0),
    ]
    assert lead_changes([]) == []


def test_without_an_analysis_the_lead_explains_a_result() -> None:
    story = story_of((1, 0), (0, 1), (0, 1), (1, 0), (1, 0))
    assert (story.winners, story.reason) == (("a@1",), Reason.LEAD)
    assert (story.decisive.game, story.decisive.entrant) == (4, "a@1")
    assert [point.game for point in story.turning_points] == [2, 4]
    clear = story_of((10, 0), (500, 20), (0, 10))
    assert (clear.decisive.game, clear.turning_points) == (1, ())


def test_faults_that_lost_most_lost_games_explain_a_result() -> None:
    fault = PlayedFault(2, 5, 1, "b@1", "crash", "it ended")
    games = played((0, 1), (1, 0), (1, 0), (1, 0), crashed=(2, 3))
    story = match_story(evidence(games, faults=[fault], analysis=analysis(costliest=[MISTAKE])))
    assert story.reason is Reason.FAULTS
    assert (story.decisive.game, story.decisive.decision) == (2, 5)
    few = match_story(evidence(played(*[(1, 0)] * 5, crashed=(2,)), faults=[fault]))
    assert few.reason is Reason.LEAD


@pytest.mark.parametrize(
    ("stored", "reason", "place"),
    [
        (analysis(luck=2.0), Reason.LUCK, (1, 8)),
        (analysis(luck=2.0, costliest=[MISTAKE]), Reason.LUCK, (1, 8)),
        (analysis(costliest=[{**MISTAKE, "entrant": 0}, MISTAKE]), Reason.MISTAKE, (2, 7)),
        (analysis(costliest=[{**MISTAKE, "entrant": 0}]), Reason.SWING, (1, 8)),
    ],
)
def test_an_analysis_explains_a_result(
    stored: dict[str, Any], reason: Reason, place: tuple[int, int]
) -> None:
    story = story_of((1, 0), (1, 0), (0, 1), analysis=stored, swings=SWINGS)
    assert story.reason is reason
    assert (story.decisive.game, story.decisive.decision) == place
    # Drawn cards followed the first decision; the second one turned the game itself.
    assert [(point.game, point.decision) for point in story.turning_points] == [(1, 8), (2, 2)]


def test_turning_points_name_the_actions_that_turned_a_game() -> None:
    actions = {(1, 8): ("b@1", "draws 5H"), (2, 2): ("a@1", "stands")}
    points = ((1, 0), (1, 0), (0, 1))
    story = story_of(*points, analysis=analysis(), swings=SWINGS, actions=actions)
    luck, mistake = (point.clause for point in story.turning_points)
    assert "b@1 draws 5H" in luck
    assert "it stands" in mistake


def test_a_shared_first_place_has_no_winner_to_explain() -> None:
    story = story_of((1, 0), (0, 1), analysis=analysis(luck=2.0), swings=SWINGS)
    assert (story.winners, story.reason) == (ENTRANTS, Reason.LEVEL)
    assert (story.decisive.game, story.decisive.entrant) == (1, "b@1")
    assert story_of((1, 1), (2, 2)).decisive.game == 1


def test_a_match_of_three_sides_has_its_story() -> None:
    story = story_of((3, 2, 1), (1, 3, 2), (3, 1, 2))
    assert story.winners == ("a@1",)
    assert story.decisive.entrant == "a@1"


def test_the_largest_swings_stay_within_a_game() -> None:
    means_by_position = [(0, 0, 0.5), (0, 4, 0.9), (0, 8, 0.85), (1, 0, 0.1), (1, 2, 0.5)]
    positions = [
        {"game": game, "decision": decision, "expectations": [[mean, 0.01], [1 - mean, 0.01]]}
        for game, decision, mean in means_by_position
    ]
    swings = largest_swings(positions, [0, 1])
    assert [(swing.game, swing.decision, swing.seat) for swing in swings] == [(0, 4, 0), (1, 2, 0)]
    assert [swing.since for swing in swings] == [0, 0]
    assert [swing.game for swing in largest_swings(positions, [0, 1], most=1)] == [0]
