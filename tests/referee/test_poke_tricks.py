"""Poke: the tricks (docs/rules/poke.md, P-3, P-4)."""

from itertools import permutations
from typing import Any

import pytest

from referee.games.contract import IllegalAction
from referee.games.shared.cards import cards
from tests.referee.action_texts import action, is_legal, listed, play, poke


def tricks_of(seat_0: str, seat_1: str, must_beat: bool = True) -> Any:
    """Return the tricks of a deal without draws; seat 0 leads."""
    return play(poke(seat_0, seat_1, must_beat=must_beat), "stand", "stand")


NINES = "9S 9H 3C 4C 6D"
TENS = "TS TD 9D 9C 2H"


def test_the_non_dealer_leads() -> None:
    """P-3.1."""
    for dealer in (0, 1):
        state = play(poke(NINES, TENS, dealer=dealer), "stand", "stand")
        assert (state.phase, state.actors) == ("lead", (1 - dealer,))


def test_the_winner_leads_next() -> None:
    """P-3.1."""
    state = play(tricks_of(NINES, TENS), "lead 9S", "answer TS")
    assert (state.phase, state.actors) == ("lead", (1,))
    state = play(state, "lead 2H", "answer 9H", "lead 6D", "answer 9D", "lead TD")
    assert state.actors == (0,)
    state = play(state, "answer 4C")
    assert state.actors == (1,)


def test_a_lead_is_cards_of_one_rank_and_a_group_may_be_split() -> None:
    """P-3.2, P-8.3."""
    state = tricks_of("9S 9H 9D 4C 4D", "2C 2D 2H 3S 3C")
    for legal in ("9S", "9H", "4C", "9S 9H", "9H 9D", "9D 9S", "9S 9H 9D", "4C 4D", "4D 4C"):
        assert is_legal(state, f"lead {legal}"), legal
    for illegal in ("", "9S 4C", "9S 9S", "9C", "2C", "9S 9H 9C", "9S 9H 9D 4C", "9S 9H 9D 9S"):
        assert not is_legal(state, f"lead {illegal}"), illegal
        with pytest.raises(IllegalAction):
            play(state, f"lead {illegal}")
    assert len(listed(state)) == 5 + 4 + 1


def test_four_of_a_kind_may_be_led_together() -> None:
    """P-3.2, P-3.5."""
    state = tricks_of("9S 9H 9D 9C 4D", "2C 2D 2H 2S 3C")
    assert action("lead 9C 9D 9H 9S") in listed(state)
    assert len(listed(state)) == 5 + 6 + 4 + 1
    state = play(state, "lead 9S 9H 9D 9C", "answer 2C 2D 2H 2S")
    assert state.actors == (0,)
    assert len(listed(state)) == 1
    state = play(state, "lead 4D", "answer 3C")
    assert state.deals[0].below == (5, 0)


def test_only_leading_is_an_action_of_the_leader_and_only_answering_of_the_other() -> None:
    """P-3.1."""
    state = tricks_of(NINES, TENS)
    for illegal in ("answer 9S", "stand", "draw 9S"):
        assert not is_legal(state, illegal)
    state = play(state, "lead 3C")
    for illegal in ("lead 9D", "stand", "draw 9D"):
        assert not is_legal(state, illegal)


@pytest.mark.parametrize("must_beat", [True, False])
def test_the_answer_has_exactly_as_many_cards(must_beat: bool) -> None:
    """P-3.3, P-8.3."""
    state = play(tricks_of(NINES, TENS, must_beat), "lead 9S 9H")
    for illegal in ("", "TS", "TS TD 9D", "TS TS", "TS 9S", "9S 9H", "TC TS", "3C 4C"):
        assert not is_legal(state, f"answer {illegal}"), illegal


@pytest.mark.parametrize(
    ("lead", "answer", "winner"),
    [
        ("9S 9H", "TS TD", 1),  # the checks of the rules page
        ("9S 9H", "TS 9D", 0),
        ("9S 9H", "9C 9D", 0),
        ("9S 9H", "TS 2H", 0),
        ("9S", "TS", 1),
        ("9S", "9D", 0),
        ("9S", "2H", 0),
        ("3C", "9C", 1),
        ("3C", "2H", 0),
    ],
)
def test_the_answer_wins_if_it_is_of_one_rank_that_is_higher(
    lead: str, answer: str, winner: int
) -> None:
    """P-3.4, P-4.3."""
    state = play(tricks_of(NINES, TENS, must_beat=False), f"lead {lead}", f"answer {answer}")
    assert state.tricks[-1].winner == winner
    assert state.actors == (winner,)


def test_the_ace_is_the_highest() -> None:
    """P-3.4."""
    state = play(tricks_of("KS 3C 4C 6D 7D", "AH 2H 2S 5H 5S"), "lead KS", "answer AH")
    assert state.tricks[0].winner == 1
    state = play(tricks_of("AS 3C 4C 6D 7D", "KH 2H 2S 5H 5S"), "lead AS", "answer KH")
    assert state.tricks[0].winner == 0


def test_the_ace_is_not_low_in_the_tricks() -> None:
    """P-3.4."""
    state = play(tricks_of("2C 3C 4C 6D 7D", "AH KH QS 5H 5S"), "lead 2C", "answer AH")
    assert state.tricks[0].winner == 1


def test_every_card_counts_as_one_trick() -> None:
    """P-3.5."""
    state = play(tricks_of(NINES, TENS), "lead 9S 9H", "answer TS TD", "lead 9D 9C", "answer 3C 4C")
    assert state.actors == (1,)
    state = play(state, "lead 2H", "answer 6D")
    (deal,) = state.deals
    assert [(trick.winner, len(trick.lead)) for trick in deal.tricks] == [(1, 2), (1, 2), (0, 1)]
    assert deal.below == (1, 4)


def test_a_higher_pair_in_a_three_card_answer_wins_nothing() -> None:
    """P-3.4."""
    state = tricks_of("2C 2D 2H 7S 7C", "AS AH 3C 3D 4C", must_beat=False)
    state = play(state, "lead 2C 2D 2H", "answer AS AH 3C")
    assert state.tricks[0].winner == 0


def test_a_deal_is_over_when_the_hands_are_empty() -> None:
    """P-3.6, P-8.1."""
    state = tricks_of("AS KS QS JS 2C", "9D 8D 7H 5D 3C")
    for led in ("AS 9D", "KS 8D", "QS 7H", "JS 5D"):
        lead, answer = led.split()
        state = play(state, f"lead {lead}", f"answer {answer}")
    assert [len(hand) for hand in state.hands] == [1, 1]
    assert listed(state) == [action("lead 2C")]
    state = play(state, "lead 2C")
    assert listed(state) == [action("answer 3C")]
    state = play(state, "answer 3C")
    assert (state.phase, len(state.deals)) == ("draw", 1)


def answers(state: Any) -> set[frozenset[str]]:
    return {frozenset(answer.cards) for answer in listed(state)}


def test_a_winning_answer_is_compulsory_and_any_is_legal() -> None:
    """P-4.1."""
    state = play(tricks_of("9S 3C 4C 6D 7D", "TS KD 9D 9C 2H"), "lead 9S")
    assert is_legal(state, "answer TS")
    assert is_legal(state, "answer KD")
    for loser in ("9D", "9C", "2H"):
        assert not is_legal(state, f"answer {loser}")
        with pytest.raises(IllegalAction):
            play(state, f"answer {loser}")
    assert answers(state) == {frozenset({"TS"}), frozenset({"KD"})}


def test_a_pair_must_be_beaten_by_a_held_higher_pair() -> None:
    """P-4.1."""
    state = play(tricks_of(NINES, TENS), "lead 9S 9H")
    assert answers(state) == {frozenset({"TS", "TD"})}
    state = play(tricks_of("9S 9H 3C 4C 6D", "TS TD TH AC AD"), "lead 9H 9S")
    assert answers(state) == {
        frozenset({"TS", "TD"}),
        frozenset({"TS", "TH"}),
        frozenset({"TD", "TH"}),
        frozenset({"AC", "AD"}),
    }


def test_without_a_winning_answer_any_answer_is_legal() -> None:
    """P-4.2."""
    state = play(tricks_of("9S 9H 3C 4C 6D", "AS KD QC 9C 9D"), "lead 9S 9H")
    assert len(answers(state)) == 10
    state = play(tricks_of("AS 3C 4C 6D 7D", "AD KD QC 9C 9D"), "lead AS")
    assert len(answers(state)) == 5


def test_three_of_a_kind_is_beaten_by_three_only() -> None:
    """P-3.4, P-4.2."""
    state = play(tricks_of("2S 2H 2C 4C 6D", "AS AD KC KD 9D"), "lead 2S 2H 2C")
    assert len(answers(state)) == 10


def test_without_must_beat_any_answer_is_legal() -> None:
    """P-4.3."""
    state = play(tricks_of(NINES, TENS, must_beat=False), "lead 9S 9H")
    assert len(answers(state)) == 10
    state = play(tricks_of(NINES, TENS, must_beat=False), "lead 9S")
    assert len(answers(state)) == 5


def test_must_beat_is_the_default_and_public() -> None:
    """P-4.1, P-4.3."""
    assert tricks_of(NINES, TENS).view(0).must_beat is True
    assert poke(NINES, TENS, must_beat=False).view(1).must_beat is False


def test_lead_answer_and_winner_are_public() -> None:
    """P-7.1, P-7.2."""
    state = play(tricks_of(NINES, TENS), "lead 9H 9S")
    assert state.view(0).lead == state.view(1).lead == cards("9H 9S")
    assert state.view(0).hand == cards("3C 4C 6D")
    assert state.view(1).hand == cards("2H 9C 9D TD TS")
    state = play(state, "answer TS TD")
    for seat in (0, 1):
        (trick,) = state.view(seat).tricks
        assert (trick.leader, trick.winner) == (0, 1)
        assert (trick.lead, trick.answer) == (cards("9H 9S"), cards("TD TS"))
        assert state.view(seat).lead == ()
    assert not [c for c in ("9C", "9D", "2H") if c in repr(state.view(0))]
    assert not [c for c in ("3C", "4C", "6D") if c in repr(state.view(1))]


def test_the_order_of_the_cards_in_a_lead_or_an_answer_does_not_matter() -> None:
    """P-8.2."""
    state = tricks_of("9S 9H 9D 4C 4D", "2C 2D 2H 3S 3C")
    led = play(state, "lead 9S 9H 9D")
    for order in permutations(["9S", "9H", "9D"]):
        assert play(state, "lead " + " ".join(order)) == led
    answered = play(led, "answer 2C 3S 2D")
    for order in permutations(["2C", "3S", "2D"]):
        assert play(led, "answer " + " ".join(order)) == answered


def test_the_lowest_cards_are_listed_first() -> None:
    """P-8.4."""
    state = tricks_of("9S 9H 4D 4C AD", "TS 2H 2C 5C 5S")
    assert listed(state)[0] == action("lead 4C")
    state = play(state, "lead 4C")
    assert listed(state)[0] == action("answer 5C")
    state = tricks_of("9S 9H 4D 4C AD", "TS 2H 2C 5C 5S", must_beat=False)
    assert listed(play(state, "lead 4C"))[0] == action("answer 2C")
    assert listed(play(state, "lead 9S 9H"))[0] == action("answer 2C 2H")
