"""Test that every position of a form has the same parts, zones and reserved contents."""

from arena.presentation.frames import FrameSequence, TrackedArea, TrackedLayout
from arena.presentation.reserved_space import live_frames
from referee.game_checks.random_games import walk
from referee.game_checks.tables import Table as Setup
from referee.presentation.elements import Players
from referee.presentation.registry import presentation_of
from tests.conformance.tables import every_table
from tests.conformance.walks import closely
from tests.examples import examples

Parts = list[TrackedArea | TrackedLayout]


def frames_of(setup: Setup) -> list[FrameSequence]:
    names = tuple(f"bot{seat}" for seat in range(setup.seats))
    sides = setup.game.sides(setup.seats, setup.options)
    frames = []
    for step in closely(setup, walk(setup, 1))[:: examples(10, 25)]:
        players = Players(names, sides, step.state.scores, step.state.actors)
        rendering = presentation_of(setup.game.id).render(step.state.public(), {}, players)
        frames.append(live_frames(rendering, setup.game.id, setup.options))
    return frames


def parts_of(frames: FrameSequence) -> list[Parts]:
    return [
        *(list(zone) for zone in frames.zones),
        *(list(place.parts) for place in frames.places),
        list(frames.below),
    ]


def keys(frames: FrameSequence) -> list[list[str]]:
    return [[part.key for part in parts] for parts in parts_of(frames)]


@every_table
def test_pages_and_updates_of_all_positions_have_the_same_parts(table: Setup) -> None:
    every = frames_of(table)
    for frames in every:
        update = frames.without_reserved()
        assert keys(frames) == keys(update) == keys(every[0])
        assert len(frames.titles) > len(update.titles)
        assert {(span.first, span.last) for span in update.titles} == {(0, 0)}
        for area in (part for parts in parts_of(update) for part in parts):
            spans = area.spans if isinstance(area, TrackedArea) else ()
            assert all((span.first, span.last) == (0, 0) for span in spans)
