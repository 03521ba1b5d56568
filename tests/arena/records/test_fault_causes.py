"""Faults grouped by cause and version."""

from arena.ratings.closed_match import PlayedFault
from arena.records.fault_causes import fault_causes


def fault(game: int, clause: str, version: str = "a@2", verdict: str = "crash") -> PlayedFault:
    sentence = f"game {game}, decision {3 * game}: seat {game % 2}: {clause}"
    return PlayedFault(game, 3 * game, game % 2, version, verdict, sentence)


def test_one_cause_is_listed_once_with_its_first_fault() -> None:
    crashes = [fault(game, f"it ended after {game} ms") for game in range(20)]
    causes = fault_causes([fault(3, "late", verdict="timeout"), *crashes])
    assert [(cause.first.verdict, cause.times) for cause in causes] == [
        ("crash", 20),
        ("timeout", 1),
    ]
    assert causes[0].first == crashes[0]
    assert causes[0].clause == "it ended after 0 ms"
    assert fault_causes([]) == []


def test_versions_and_different_texts_are_separate_causes() -> None:
    causes = fault_causes([fault(0, "x"), fault(1, "x", "a@3"), fault(2, "y")])
    assert [cause.times for cause in causes] == [1, 1, 1]


def test_a_kind_of_fault_is_new_if_no_earlier_version_had_it() -> None:
    faults = [fault(0, "x"), fault(1, "x", "b@1")]
    assert [cause.is_new for cause in fault_causes(faults)] == [False, False]
    assert fault_causes(faults, {"a@2": frozenset({"timeout"})})[0].is_new
    assert not fault_causes(faults, {"a@2": frozenset({"crash"})})[0].is_new


def test_a_sentence_without_a_place_stays() -> None:
    assert fault_causes([PlayedFault(0, 0, 1, "a@1", "init", "seat 1: no")])[0].clause == "no"
    assert fault_causes([PlayedFault(0, 0, 1, "a@1", "init", "No.")])[0].clause == "No."
