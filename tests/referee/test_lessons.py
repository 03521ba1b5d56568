"""Lessons: the rules reach their positions, and by the rules the right answers are the best."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest

from arena.presentation import shipped_docs
from referee.games.game_packages import BUILT_IN
from referee.games.pokex.state import declared
from referee.games.pokino.actions import Run
from referee.games.shared.cards import RANK
from referee.games.shared.poker import best_hand
from referee.games.shared.wild_cards import is_wild, wild_hand
from referee.presentation.lesson import LESSONS, Lesson, example_lessons, lesson_position
from referee.presentation.registry import presentation_of


def harmless(state: Any, **chosen: Any) -> Any:
    """Return the next position: given actions of seats, the first legal ones of the others."""
    return state.play(
        {seat: chosen.get(f"seat_{seat}", next(iter(state.legal(seat)))) for seat in state.actors}
    )


def hand_kept(before: Any, action: Any, after: Any) -> Any:
    """Return the price of a draw, then what stays of the hand, then the number of new cards."""
    cards = getattr(action, "discards", ())
    kept = [card for card in before.hands[0] if card not in cards]
    groups = sum(sum(card[0] == other[0] for other in kept) > 1 for card in kept)
    return -after.multipliers[0], groups, len(cards)


def tricks_taken(before: Any, action: Any, after: Any) -> Any:
    """Return the tricks of the lead and its answer, then the lowness of the played cards."""
    trick = (after if after.tricks else harmless(after)).tricks[-1]
    won = len(trick.lead) * (trick.winner == 0)
    return won, -sum(RANK[card] for card in action.cards)


def best_show(before: Any, action: Any, after: Any) -> Any:
    """Return the best hand that the seat can show after the river is complete."""
    pairs = combinations(after.hands[0], 2)
    return max(best_hand((*after.river, *pair)) for pair in pairs)


def shown(before: Any, action: Any, after: Any) -> Any:
    return best_hand((*before.river, *action.cards))


def largest_group(before: Any, action: Any, after: Any) -> Any:
    ranks = [card[0] for card in after.hands[0]]
    return max(map(ranks.count, ranks))


def next_river(before: Any, action: Any, after: Any) -> Any:
    """Return the best hand of the future river and three cards of the hand."""
    triples = combinations(after.hands[0], 3)
    return max(best_hand((*before.future, *triple)) for triple in triples)


def score_of_four_tricks(before: Any, action: Any, after: Any) -> Any:
    return declared(action.tricks, 4)


def lowest_bid(before: Any, action: Any, after: Any) -> Any:
    return -getattr(action, "tricks", 9)


def wild_cards(before: Any, action: Any, after: Any) -> Any:
    return sum(is_wild(card, action.rank) for card in before.hands[0])


def hand_of_side(before: Any, action: Any, after: Any) -> Any:
    """Return whether the side takes the trick, then the value of its hand."""
    trick = after.tricks[-1]
    cards = [card for play in trick.played if play.seat % 2 == 0 for card in play.cards]
    return trick.taken[0], wild_hand((*trick.centre, *cards), after.wild_rank)


def gain(before: Any, action: Any, after: Any) -> Any:
    return after.scores[0]


def set_left(before: Any, action: Any, after: Any) -> Any:
    return after.offer(0).worth()


def kept_worth(before: Any, action: Any, after: Any) -> Any:
    return len(after.kept[0])


def beads(before: Any, action: Any, after: Any) -> Any:
    return after.beads[0]


def later_runs(before: Any, action: Any, after: Any) -> Any:
    """Return the number of runs at the next turn, with beads for all."""
    later = harmless(after).but(beads=(9, 9))
    return sum(isinstance(each, Run) for each in later.legal(0))


Measure = Callable[[Any, Any, Any], Any]
MEASURES: dict[str, tuple[Measure, ...]] = {
    "poke": (hand_kept, hand_kept, tricks_taken, tricks_taken, tricks_taken),
    "saint_poker": (best_show, shown, shown, largest_group, next_river),
    "pokex": (score_of_four_tricks, lowest_bid, wild_cards, hand_of_side, hand_of_side),
    "pouku": (gain, set_left, kept_worth, set_left, set_left),
    "pokino": (beads, later_runs, gain, gain, gain),
}
"""What the right answer of each lesson makes greatest, of the position before and after it."""
CASES = [
    pytest.param(game, lesson, measure, id=f"{game}: {lesson.title}")
    for game in BUILT_IN
    for lesson, measure in zip(presentation_of(game).lessons(), MEASURES[game], strict=True)
]


@pytest.mark.parametrize(("game", "lesson", "measure"), CASES)
def test_the_right_answer_is_legal_and_the_best_of_the_listed_ones(
    game: str, lesson: Lesson, measure: Measure
) -> None:
    presentation = presentation_of(game)
    state = lesson_position(lesson, presentation)
    values = {}
    for answer in lesson.answers:
        action = presentation.parse(answer.action)
        assert action in state.legal(lesson.seat), answer.action
        assert answer.why.endswith((".", "!"))
        after = harmless(state, **{f"seat_{lesson.seat}": action})
        values[answer.action] = measure(state, action, after)
    best = max(values, key=values.__getitem__)
    assert sorted(values.values())[-2] < values[best]
    assert [a.action for a in lesson.answers if a.is_right] == [best]


@pytest.mark.parametrize("game", BUILT_IN)
def test_each_lesson_cites_a_rule_of_the_page(game: str) -> None:
    lessons = presentation_of(game).lessons()
    assert len(lessons) == LESSONS
    for lesson in lessons:
        assert lesson.rule in shipped_docs.rule(game, lesson.rule)


@pytest.mark.parametrize("game", BUILT_IN)
def test_a_game_without_lessons_of_its_own_shows_legal_actions_of_an_example_game(
    game: str,
) -> None:
    presentation = presentation_of(game)
    lessons = example_lessons(presentation)
    assert len(lessons) == LESSONS
    assert len({lesson.turns for lesson in lessons}) == LESSONS
    for lesson in lessons:
        legal = lesson_position(lesson, presentation).legal(lesson.seat)
        assert lesson.answers
        assert all(presentation.parse(answer.action) in legal for answer in lesson.answers)
