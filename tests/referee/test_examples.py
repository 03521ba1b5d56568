"""Every example of the rules pages has a test; this table lists it line by line."""

import re
from pathlib import Path

import pytest

from tests.referee.test_rules_pages import HERE, PAGES

TESTS = {
    "poke": {
        "Lead `9S 9H`": "test_the_answer_wins_if_it_is_of_one_rank_that_is_higher",
        "The non-dealer redoubled": (
            "test_tricks_score_below_the_line_times_the_opponents_multiplier"
        ),
        "Totals of 20 and 20": (
            "test_at_equal_totals_the_leg_goes_on_until_they_differ "
            "test_if_both_have_20_the_higher_wins_the_leg"
        ),
        "A rubber won by two legs": "test_the_winner_of_the_rubber_can_lose_the_game",
    },
    "saint_poker": {
        "With two seats a game uses": "test_a_future_river_is_turned_up_in_round_8_too",
        "River `2S 3S 4S 5S 9D`": "test_a_straight_flush_below_beats_four_of_a_kind",
        "Seats 0 and 3": "test_the_permutation_orders_only_those_that_are_tied",
    },
    "pokex": {
        "The wild rank is 7": (
            "test_a_hand_has_the_category_of_the_rules test_four_aces_lose_to_five_of_a_kind"
        ),
        "Two full houses": "test_of_two_equal_full_houses_the_one_without_a_wild_card_wins",
        "Five wild cards": "test_a_hand_has_the_category_of_the_rules",
        "`AS 9S 5S 2S`": "test_the_wild_card_of_a_flush_is_a_second_ace",
        "Bid 2, took 5": "test_a_deal_is_scored_by_sides",
    },
    "pouku": {
        "Three pairs": (
            "test_three_pairs_and_a_point_card_beside_them_are_enough "
            "test_four_of_a_kind_and_a_pair_give_sixteen"
        ),
        "Reference fields `2 2 3 4 5`": "test_reference_fields_have_the_cost_of_the_rules",
        "Kept `3 3 3 3`": (
            "test_a_kept_yaku_is_paid_for_once_with_four_seats "
            "test_a_kept_yaku_is_paid_for_twice_with_three_seats"
        ),
        "Hand `4 5 6 7`": "test_no_yaku_is_contained_in_another",
        "Hand `2`": "test_a_field_card_is_in_one_yaku_and_a_card_of_the_hand_in_several",
        "Hand `3 3`": (
            "test_no_yaku_is_contained_in_another test_at_most_one_yaku_uses_only_hand_cards"
        ),
        "Hand `5 6 7`": "test_four_straights_with_the_same_three_cards_of_the_hand",
    },
    "pokino": {
        "The inner squares": "test_the_example_of_the_spoke",
        "A run of three cards": (
            "test_a_run_costs_a_bead_a_card test_its_borders_are_closed_to_all_its_owner_included"
        ),
        "A hand of exactly two": "test_playing_the_last_cards_wins_at_once",
        "With two seats": "test_cards_and_dominoes_are_dealt_seat_by_seat_then_the_spoke",
    },
}
"""The tests of each example, by the beginning of its line on the page."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_example_of_a_page_is_a_test(page: Path) -> None:
    text = page.read_text()
    _, examples = text.split("## Examples\n")
    lines = re.findall(r"^- (.*)", examples, flags=re.MULTILINE)
    tests_by_example = TESTS[page.stem]
    assert [
        next((b for b in tests_by_example if line.startswith(b)), line) for line in lines
    ] == list(tests_by_example)
    files = "".join(file.read_text() for file in sorted(HERE.glob("test_*.py")))
    named = {name for tests in tests_by_example.values() for name in tests.split()}
    assert {name for name in named if f"def {name}(" not in files} == set()
