"""Test the guarantees that every tournament format gives."""

import random
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.formats.contract import (
    Format,
    FormatEntrant,
    FormatMatch,
    FormatOver,
    MatchStatus,
    NextMatches,
    WaitForMatches,
)
from arena.formats.registry import FORMATS, make, settings_of
from tests.arena.formats.simulated_tournament import SimulatedTournament, everyone
from tests.errors import has_code
from tests.examples import examples


def every(name: str, sides: int) -> Format:
    limits = {
        "ladder": {"limit": examples(40, 25)},
        "sprt": {"limit": 60},
        "knockout": {"best_of": 3},
    }
    return make(name, sides, limits.get(name))


SIDES = {name: [2] if name in ("knockout", "sprt") else [2, 3, 4] for name in FORMATS}
KINDS = [(name, sides) for name in FORMATS for sides in SIDES[name]]
OPEN_TO_ALL = [(name, sides) for name, sides in KINDS if name not in ("knockout", "sprt")]


def crowd(name: str, count: int) -> list[FormatEntrant]:
    return everyone(2 if name == "sprt" else count)


def cases(kinds: list[tuple[str, int]]) -> list[Any]:
    """Return test cases; a ladder of four sides is slow, and covered by one of three."""
    return [
        pytest.param(*kind, marks=pytest.mark.long) if kind == ("ladder", 4) else kind
        for kind in kinds
    ]


kinds = pytest.mark.parametrize(("name", "sides"), cases(KINDS))
open_to_all = pytest.mark.parametrize(("name", "sides"), cases(OPEN_TO_ALL))


@kinds
@given(count=st.integers(4, 10), seed=st.integers(0, 2**32))
@settings(max_examples=examples(6, 3))
def test_a_format_ends_after_matches_of_distinct_entrants_at_unique_positions(
    name: str, sides: int, count: int, seed: int
) -> None:
    playing = SimulatedTournament(
        every(name, sides), crowd(name, count), seed, random.Random(seed), void=0.1
    )
    assert isinstance(playing.play(), FormatOver)
    playing.finish()
    assert isinstance(playing.ask(), FormatOver)
    seeds = {entrant.name: place for place, entrant in enumerate(playing.entrants)}
    places = [(fixture.round, fixture.number) for fixture in playing.fixtures]
    assert len(set(places)) == len(places)
    for fixture in playing.fixtures:
        assert len(set(fixture.entrants)) == sides
        assert sorted(fixture.entrants, key=seeds.__getitem__) == list(fixture.entrants)


@kinds
@given(count=st.integers(4, 10), seed=st.integers(0, 2**32), orders=st.tuples(*[st.integers()] * 2))
@settings(max_examples=examples(6, 3))
def test_the_order_in_which_matches_close_does_not_matter(
    name: str, sides: int, count: int, seed: int, orders: tuple[int, int]
) -> None:
    ends = []
    for order in orders:
        playing = SimulatedTournament(
            every(name, sides), crowd(name, count), seed, random.Random(order), void=0.1
        )
        end = playing.play()
        assert end is not None
        playing.finish()
        counting = {m.place: m for m in playing.matches if m.place not in end.drained}
        ends.append((counting, end.ranking))
    assert ends[0] == ends[1]


@open_to_all
@given(count=st.integers(6, 11), seed=st.integers(0, 2**32), data=st.data())
@settings(max_examples=examples(6, 3))
def test_withdrawn_entrants_are_not_paired_and_joined_entrants_are(
    name: str, sides: int, count: int, seed: int, data: st.DataObject
) -> None:
    playing = SimulatedTournament(every(name, sides), crowd(name, count), seed, random.Random(seed))
    playing.ask()
    for _ in range(data.draw(st.integers(0, 3 * count))):
        if playing.opened():
            playing.close(playing.dice.choice(playing.opened()))
        if isinstance(playing.ask(), FormatOver):
            return
    leaver = data.draw(st.integers(1, count - 1))
    playing.withdraw(leaver)
    before = len(playing.fixtures)
    playing.join("newcomer@1")
    playing.play()
    gone = playing.entrants[leaver].name
    coming = playing.fixtures[before:]
    assert not any(gone in fixture.entrants for fixture in coming)
    if coming:
        assert any("newcomer@1" in fixture.entrants for fixture in coming)


@pytest.mark.parametrize("sides", [3, 4])
@pytest.mark.parametrize("name", [name for name, sides in OPEN_TO_ALL if sides == 3])
@given(owners=st.lists(st.sampled_from(["", "ann", "ben"]), min_size=8, max_size=14))
@settings(max_examples=examples(8, 4))
def test_bots_of_one_owner_share_a_larger_table_only_if_allowed(
    name: str, sides: int, owners: list[str]
) -> None:
    entrants = everyone(len(owners), owners)
    owner = {entrant.name: entrant.owner for entrant in entrants}
    if len(set(owners) - {""}) + owners.count("") < sides:
        return
    playing = SimulatedTournament(every(name, sides), entrants)
    playing.play(60)
    for fixture in playing.fixtures:
        for first, second in combinations(fixture.entrants, 2):
            assert not owner[first] or owner[first] != owner[second]


@pytest.mark.parametrize("name", [name for name, sides in OPEN_TO_ALL if sides == 3])
def test_bots_of_one_owner_meet_if_allowed(name: str) -> None:
    entrants = everyone(6, ["ann"] * 6)
    permitting = make(name, 3, {"owners_meet": True})
    assert isinstance(permitting.next(entrants, ()), NextMatches)


@pytest.mark.parametrize("name", [name for name, sides in OPEN_TO_ALL if sides == 3])
def test_bots_of_one_owner_always_meet_in_games_of_two(name: str) -> None:
    assert isinstance(make(name, 2).next(everyone(6, ["ann"] * 6), ()), NextMatches)


def test_a_ladder_with_too_few_owners_waits_for_more() -> None:
    step = make("ladder", 3).next(everyone(6, ["ann"] * 6), ())
    assert step == WaitForMatches(
        "a match needs 3 entrants of different owners; `tournament add` lets more in"
    )


@pytest.mark.parametrize("name", ["round-robin", "gauntlet", "swiss"])
def test_too_few_entrants_are_refused(name: str) -> None:
    with pytest.raises(ValueError, check=has_code("too-few-owners")):
        make(name, 3).next(everyone(6, ["ann"] * 6), ())


def test_a_void_match_gives_everyone_a_draw() -> None:
    assert FormatMatch(0, 0, ("a@1", "b@1", "c@1"), MatchStatus.VOID).points == (2, 2, 2)


def test_a_match_with_an_unknown_entrant_is_refused() -> None:
    with pytest.raises(ValueError, check=has_code("unknown-entrant")):
        make("swiss", 2).next(everyone(4), [FormatMatch(0, 0, ("aa@1", "stranger@1"))])


def test_two_matches_at_one_position_are_refused() -> None:
    both = [FormatMatch(0, 0, ("aa@1", "ab@1")), FormatMatch(0, 0, ("ac@1", "ad@1"))]
    with pytest.raises(ValueError, check=has_code("place-twice")):
        make("swiss", 2).next(everyone(4), both)


def test_a_name_entered_twice_is_refused() -> None:
    with pytest.raises(ValueError, check=has_code("named-twice")):
        make("ladder", 2).next([*everyone(2), *everyone(2)], ())


def test_a_closed_match_without_games_is_refused() -> None:
    with pytest.raises(ValueError, check=has_code("games")):
        FormatMatch(0, 1, ("a@1", "b@1"), MatchStatus.CLOSED)


def test_formats_are_created_by_name_with_settings() -> None:
    assert settings_of("knockout") == {"best_of": int, "extra": int}
    made = make("gauntlet", 3, {"cycles": 2, "challengers": 2})
    assert made == FORMATS["gauntlet"](sides=3, cycles=2, challengers=2)


@pytest.mark.parametrize(
    ("name", "sides", "given", "code"),
    [
        ("lottery", 2, {}, "unknown-format"),
        ("swiss", 2, {"round": 3}, "unknown-setting"),
        ("swiss", 2, {"rounds": "3"}, "setting-type"),
        ("swiss", 2, {"rounds": True}, "setting-type"),
        ("swiss", 2, {"rounds": -1}, "below-zero"),
        ("knockout", 3, {}, "sides"),
        ("sprt", 2, {"low": 5, "high": 5}, "bounds"),
        ("ladder", 2, {"adaptive": 91}, "adaptive"),
        ("ladder", 2, {"anchors": "a@1"}, "invalid-anchor"),
        ("ladder", 2, {"anchors": "a@1=3300"}, "invalid-anchor"),
        ("ladder", 2, {"anchors": "a@1=1000,a@1 =1100"}, "invalid-anchor"),
    ],
)
def test_invalid_settings_are_refused(
    name: str, sides: int, given: dict[str, object], code: str
) -> None:
    with pytest.raises(ValueError, check=has_code(code)):
        make(name, sides, given)


def test_the_page_of_formats_lists_every_setting_with_its_default() -> None:
    reference = Path(__file__).parents[3] / "docs" / "reference"
    page = (reference / "formats.md").read_text(encoding="utf-8")
    for name in FORMATS:
        section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
        documented = dict(
            re.findall(r"`(\w+)` \(([\w.]+)", section.split("Settings: ")[1].split("\n")[0])
        )
        made = make(name, 2)
        usual = {word: getattr(made, word) for word in settings_of(name)}
        shown = {
            word: (str(value).lower() or "none") if isinstance(value, bool | str) else f"{value:g}"
            for word, value in usual.items()
        }
        assert documented == shown


@pytest.mark.parametrize(("name", "newest"), [("gauntlet", 2), ("ladder", 3), ("swiss", 2)])
def test_an_unknown_version_of_the_pairing_rules_is_refused(name: str, newest: int) -> None:
    assert make(name, 2, {"pairing": 1}) == make(name, 2, {"pairing": newest})
    for version in (newest + 1, 0, True, "1"):
        with pytest.raises(ValueError, check=has_code("pairing")):
            make(name, 2, {"pairing": version})
