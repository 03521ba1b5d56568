"""Test the annotations of a recorded game: the action of each seat, exclusions, and new deals."""

from dataclasses import replace
from pathlib import Path

import pytest

from arena.presentation.recorded_frames import RecordedFrames, recorded_frames
from referee.game_checks.tables import Table
from referee.games.poke.actions import Draw, Lead
from referee.games.registry import find_game
from referee.games.shared.cards import Card
from referee.presentation.registry import presentation_of
from referee.record import MatchRecord, read
from referee.replay import codec_of
from tests.conformance.golden import path
from tests.conformance.tables import every_table

GOLDEN = Path(__file__).parents[2] / "golden"


def golden(name: str) -> MatchRecord:
    return read((GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8"))


def recorded_game(record: MatchRecord, game: int = 0) -> RecordedFrames:
    assert record.seed is not None
    return recorded_frames(record.match, record.games[game], record.seed)


@every_table
def test_every_action_is_described_once_after_it(table: Table) -> None:
    record = read(path(table).read_text(encoding="utf-8"))
    recorded = recorded_game(record)
    actions = [action for moment in recorded.moments for action in moment.actions]
    lines = sorted(record.games[0].actions, key=lambda line: int(line["decision"]))
    assert [(a.decision, a.seat) for a in sorted(actions, key=lambda a: a.decision)] == [
        (line["decision"], line["seat"]) for line in lines
    ]
    assert recorded.moments[0].actions == ()
    assert recorded.frames.steps == len(recorded.moments)
    # The wording is a spectator's: "leads 4C", not the protocol's "lead 4C".
    assert all(action.words.split()[0].endswith("s") for action in actions)


def test_a_deal_starts_after_the_score_of_the_previous_one() -> None:
    recorded = recorded_game(golden("poke-2-must_beat=true"))
    begins = [moment.step for moment in recorded.moments if moment.begins]
    assert begins[:2] == [0, 15]
    assert [moment.chapter for moment in recorded.moments if moment.begins] == list(
        range(len(begins))
    )
    assert all(recorded.moments[step].is_event for step in begins)


def test_a_fault_is_shown_at_its_question() -> None:
    record = golden("poke-2-must_beat=true")
    fault = {
        "type": "fault",
        "game": 0,
        "decision": 5,
        "seat": 1,
        "verdict": "timeout",
        "sentence": "the answer came too late",
    }
    game = replace(record.games[0], faults=(fault,))
    recorded = recorded_game(replace(record, games=(game,)))
    (moment,) = (moment for moment in recorded.moments if moment.stops)
    (stop,) = moment.stops
    assert (moment.step, stop.name, stop.verdict) == (5, "luck1@1", "timeout")
    assert moment.is_event
    assert not moment.begins


@pytest.mark.parametrize(
    ("game", "action", "words"),
    [
        ("poke", {"lead": {"cards": ["4C", "4H"]}}, "leads 4C 4H"),
        ("poke", {"draw": {"discards": ["7H"]}}, "discards 7H and draws 1"),
        ("saint_poker", {"pickUp": {"card": "2C"}}, "picks up 2C"),
        ("pokex", {"nameWild": {"rank": "T"}}, "makes 10 wild"),
        ("pokex", {"bid": {"tricks": 5}}, "bids 5"),
        ("pouku", {"discard": {"card": "2H", "keep": ["4H", "4D"]}}, "keeps 4H 4D and discards 2H"),
        (
            "pokino",
            {"domino": {"domino": "3-12", "x": 4, "y": -1, "direction": "up", "draw": True}},
            "lays 3-12",
        ),
        ("pokino", {"passTurn": {"draw": False}}, "passes and draws no card"),
    ],
)
def test_actions_are_described_in_the_third_person(
    game: str, action: dict[str, object], words: str
) -> None:
    decoded = codec_of(find_game(game)).decode_json({_camel(game): action})
    assert presentation_of(game).phrase(decoded) == words


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def test_hidden_discards_are_described_by_their_number() -> None:
    poke = presentation_of("poke")
    drawn, lead = Draw((Card("7H"), Card("TC"))), Lead((Card("4C"),))
    assert poke.public_phrase(drawn) == "discards 2 cards and draws as many"
    assert poke.public_phrase(lead) == ""
