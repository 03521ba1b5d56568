"""Test that the final bundle of a tournament is verified against an earlier bundle of it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.formats.contract import FormatEntrant
from arena.records.bundle import folder
from arena.records.bundle.audit import audit
from arena.records.bundle.bundle import Bundle, BundledVersion, changes
from arena.records.bundle.collection import gather
from arena.store.matches import match_leases
from arena.store.schema import MatchState
from arena.store.tournaments import lifecycle
from tests.arena.records.bundle.simulated_arena import SimulatedArena

Change = Callable[[Bundle], Bundle]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bundle, Bundle]:
    """Return two bundles of one tournament: the first while it ran, the second after it closed."""
    simulated_arena = SimulatedArena(tmp_path_factory.mktemp("earlier"))
    tournament = simulated_arena.begin("round-robin", simulated_arena.bots(3))
    simulated_arena.play(match_leases.due(simulated_arena.engine)[0])
    folder.write(gather(simulated_arena.engine, tournament.id), simulated_arena.folder / "noon")
    lifecycle.add_entrants(
        simulated_arena.engine,
        tournament.id,
        [FormatEntrant(name) for name in simulated_arena.bots(1, first=3)],
    )
    simulated_arena.ask()
    lifecycle.withdraw(simulated_arena.engine, tournament.id, "bot0@1")
    simulated_arena.play_out(tournament)
    return folder.read(simulated_arena.folder / "noon"), gather(
        simulated_arena.engine, tournament.id
    )


def test_a_continued_tournament_agrees_with_its_earlier_bundle(
    bundles: tuple[Bundle, Bundle],
) -> None:
    noon, end = bundles
    assert audit(noon).problems == audit(end).problems == ()
    assert len(noon.matches) < len(end.matches)
    assert list(changes(noon, end)) == []


def altered(name: str, value: Any) -> Change:
    def change(end: Bundle) -> Bundle:
        first = replace(end.matches[0], **{name: value})
        return replace(end, matches=(first, *end.matches[1:]))

    return change


def of_plan(name: str, value: Any) -> Change:
    def change(end: Bundle) -> Bundle:
        plan = replace(end.tournament.plan, **{name: value})
        return replace(end, tournament=replace(end.tournament, plan=plan))

    return change


def of_entrant(**values: Any) -> Change:
    def change(end: Bundle) -> Bundle:
        first, *others = end.entries
        entries = (replace(first, **values), *others)
        return replace(end, tournament=replace(end.tournament, entries=entries))

    return change


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        (lambda end: replace(end, matches=end.matches[1:]), "is missing in the later schedule"),
        (altered("commitment", "ab" * 32), "commitment of m-"),
        (altered("entrants", ("bot2@1", "bot1@1")), "entrants of m-"),
        (altered("state", MatchState.VOID), "was closed, and is void"),
        (altered("attempts", 0), "had 1 attempts, and has 0"),
        (lambda end: replace(end, records={}), "has changed since the match was over"),
        (of_plan("boards", 2), "boards of the tournament was 1, and is 2"),
        (of_plan("settings", {"cycles": 2}), "settings of the tournament was {}, and is"),
        (of_entrant(owner="ada"), "has another owner"),
        (of_entrant(joined=1), "joined or left in another round"),
        (of_entrant(name="other@1"), "bot0@1 has another position"),
        (
            lambda end: replace(
                end, versions={**end.versions, "bot1@1": BundledVersion("ab" * 32)}
            ),
            "bot1@1 has another content hash",
        ),
        (
            lambda end: replace(end, tournament=replace(end.tournament, id="t-000000")),
            "the earlier bundle contains tournament t-",
        ),
    ],
)
def test_changes_since_the_earlier_bundle_are_reported(
    bundles: tuple[Bundle, Bundle], change: Change, clause: str
) -> None:
    noon, end = bundles
    assert any(clause in problem for problem in changes(noon, change(end)))


def test_a_withdrawal_or_an_end_cannot_be_undone(
    bundles: tuple[Bundle, Bundle],
) -> None:
    _, end = bundles
    again = replace(
        end,
        tournament=replace(
            end.tournament, entries=tuple(replace(entry, withdrawn=None) for entry in end.entries)
        ),
    )
    assert list(changes(end, end)) == []
    (problem,) = changes(end, again)
    assert problem.startswith("bot0@1 has another owner, or joined or left")


def test_bundles_from_files_and_store_can_be_compared(
    bundles: tuple[Bundle, Bundle], tmp_path: Path
) -> None:
    _, end = bundles
    folder.write(end, tmp_path / "end")
    assert list(changes(folder.read(tmp_path / "end"), end)) == []
